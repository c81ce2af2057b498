// SPDX-License-Identifier: Apache-2.0
/// The star of docs/embedding.md, and what tests of the page's promises share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/topology/builders.h"
#include "models/network.h"
#include "models/sim_time.h"

namespace sluice::test {

/// The page's star: hosts 0 to 3, the switch is node 4.
struct Star {
    explicit Star(congestion::Law law = congestion::Law::hpcc)
        : topology(build_star(four_hosts())), routing(topology) {
        config.congestion = congestion::default_parameters(law, 100'000'000'000);
        if (law != congestion::Law::hpcc) {
            config.format.extra_header = 0;
            config.format.ack = 60;
        }
        for (NodeId host = 0; host < 3; ++host) {
            add_flow(host, 3, 1'000'000, host * kMicrosecond);
        }
        assign_source_ports(flows);
    }

    static StarParams four_hosts() {
        StarParams params;
        params.hosts = 4;
        return params;
    }

    void add_flow(NodeId src, NodeId dst, std::int64_t size, Tick start) {
        FlowSpec flow;
        flow.src = src;
        flow.dst = dst;
        flow.size = size;
        flow.start = start;
        flows.push_back(flow);
    }

    Star(const Star&) = delete;
    Star& operator=(const Star&) = delete;

    /// Nothing that a FIFO switch of infinite queues does not do, too.
    void without_limits() {
        config.pfc = false;
        config.buffer.egress_alpha = 0;
        config.ecn.enabled = false;
    }

    Topology topology;
    Routing routing;
    NetworkConfig config;
    std::vector<FlowSpec> flows;
    std::vector<FlowPath> paths;
};

/// The same, and no law slows a sender.
struct PlainStar : Star {
    PlainStar() : Star(congestion::Law::none) { without_limits(); }
};

inline FlowSpec message(NodeId src, NodeId dst, std::int64_t size) {
    FlowSpec spec;
    spec.src = src;
    spec.dst = dst;
    spec.size = size;
    return spec;
}

inline step::Packet data_packet(FlowSlot flow, std::uint32_t sequence, bool last) {
    step::Packet packet;
    packet.flow = flow;
    packet.sequence = sequence;
    packet.bytes = 1048;
    packet.traffic_class = 3;
    packet.echo = last ? 1 : 0;
    return packet;
}

inline void throw_reports() {
    sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
}

inline Tick sc_now() { return to_ticks(sc_core::sc_time_stamp()); }

/// No class may take more than three packets of the shared buffer.
struct ThreePackets : sluice::step::ScenarioPolicies {
    static std::int64_t ingress_limit(const sluice::step::World&, const sluice::step::Ingress&,
                                      std::int64_t left) {
        return std::min<std::int64_t>(std::max<std::int64_t>(left, 0), 3 * 1090);
    }
};

template <class Module>
NetworkOptions with_switch() {
    NetworkOptions options;
    options.make_node = [](const char* name, NodeId id, const Node::Context& context,
                           step::SwitchScratch& scratch) -> std::unique_ptr<Node> {
        if (id != 4) {
            return nullptr;
        }
        return std::make_unique<Module>(name, id, context, scratch);
    };
    return options;
}

inline std::vector<Tick> finishes(const Network& network) {
    std::vector<Tick> times;
    for (const FlowResult& result : network.store().results()) {
        times.push_back(result.finish);
    }
    return times;
}

}  // namespace sluice::test
