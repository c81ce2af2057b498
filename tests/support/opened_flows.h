// SPDX-License-Identifier: Apache-2.0
/// Applications that open flows while a network runs.
#pragma once

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "core/flow/application.h"
#include "core/random.h"
#include "tests/support/step_support.h"

namespace sluice::test {

/// Opens the flows of a list at its begin, each with its number and start time.
class OpensList : public Application {
  public:
    explicit OpensList(std::vector<FlowSpec> flows) : flows_(std::move(flows)) {}

    void on_begin(NodeId host, HostServices& services) override {
        for (FlowId id = 0; id < flows_.size(); ++id) {
            if (flows_[id].src != host) continue;
            FlowSpec spec = flows_[id];
            spec.id = id;
            CHECK(services.open_flow(spec, spec.start) == id);
        }
    }
    void on_received(NodeId, FlowId, Tick, HostServices&) override {}
    void on_sent(NodeId, FlowId, Tick, HostServices&) override {}
    void on_timer(NodeId, std::uint64_t, Tick, HostServices&) override {}

  private:
    std::vector<FlowSpec> flows_;
};

/// Every host has two flows at a time to hosts that it draws, until it has opened `count`.
class Churn : public Application {
  public:
    Churn(std::vector<NodeId> hosts, std::uint32_t count, std::uint32_t largest)
        : hosts_(std::move(hosts)), count_(count), largest_(largest) {}

    void on_begin(NodeId host, HostServices& services) override {
        if (host >= opened.size()) opened.resize(host + std::size_t{1}, 0);
        opened[host] = 0;
        for (std::uint32_t i = 0; i < 2; ++i) open(host, i * kMicrosecond, services);
    }
    void on_received(NodeId, FlowId, Tick, HostServices&) override {}
    void on_sent(NodeId host, FlowId, Tick now, HostServices& services) override {
        open(host, now + uniform_below(3, host, opened[host], 900'000), services);
    }
    void on_timer(NodeId, std::uint64_t, Tick, HostServices&) override {}

    std::vector<std::uint32_t> opened;  ///< by host

  private:
    void open(NodeId host, Tick at, HostServices& services) {
        if (opened[host] == count_) return;
        const std::uint32_t draw = opened[host]++;
        FlowSpec spec;
        spec.src = host;
        const auto others = static_cast<std::uint32_t>(hosts_.size() - 1);
        const std::uint32_t at_most = uniform_below(1, host, draw, others);
        spec.dst = hosts_[at_most] == host ? hosts_[others] : hosts_[at_most];
        spec.size = 1 + uniform_below(2, host, draw, largest_);
        spec.sport = static_cast<std::uint16_t>(10'000 + draw % 50'000);
        CHECK(services.open_flow(spec, at) == opened_flow_id(host, draw));
    }

    std::vector<NodeId> hosts_;
    std::uint32_t count_;
    std::uint32_t largest_;
};

inline Case churn_case(bool spray, double loss) {
    Case given;
    LeafSpineParams params;
    params.leaves = 3;
    params.spines = 2;
    params.hosts_per_leaf = 3;
    params.fabric_cable.loss = loss;
    given.topology = build_leaf_spine(params);
    given.config = config_for(congestion::Law::hpcc);
    given.config.load_balance = spray ? LoadBalance::spray : LoadBalance::ecmp;
    given.stop = kSecond;
    return given;
}

}  // namespace sluice::test
