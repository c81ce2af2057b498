// SPDX-License-Identifier: Apache-2.0
/// Flows that a testbench opens while the network runs: between hosts of ours, and from a foreign host,
/// one after the other without end, in memory that follows those alive.
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "models/foreign/foreign_models.h"
#include "models/network.h"
#include "tests/support/step_random.h"

namespace sluice::test {

using namespace foreign;
namespace {

/// Hosts 0 to 4 on switch 5.
Case star() {
    Case given;
    StarParams params;
    params.hosts = 5;
    given.topology = build_star(params);
    given.config = config_for(congestion::Law::none);
    given.config.ecn.enabled = false;
    return given;
}

/// A foreign host that sends one message after the other: opens a flow, sends its packets, waits for the
/// last ACK, closes it.
class Talker : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Talker);
    Talker(const sc_core::sc_module_name& name, const Case& given, NodeId self, std::uint32_t count,
           Network& network)
        : sc_module(name),
          network_(network),
          self_(self),
          count_(count),
          frame_(static_cast<std::uint16_t>(kPayload + given.config.format.header +
                                            given.config.format.extra_header)),
          rate_(given.topology.rate(given.topology.first_port(self))),
          delay_(given.topology.delay(given.topology.first_port(self))),
          port_(*this, 0, network.port(given.topology.peer_of(given.topology.first_port(self)))) {
        SC_THREAD(talk);
    }

    void accept(std::uint32_t, const step::Packet& packet, const sc_core::sc_time& delay) {
        if (packet.packet_kind() == step::PacketKind::ack && packet.flow == slot_ &&
            packet.sequence == packets_) {
            ++acknowledged;
            done_.notify(delay);
        }
    }

    std::uint32_t acknowledged = 0;

  private:
    static constexpr std::int64_t kPayload = 1000;

    void talk() {
        for (std::uint32_t i = 0; i < count_; ++i) {
            packets_ = 1 + i % 3;
            FlowSpec spec;
            spec.src = self_;
            spec.dst = 1 + i % 4;
            spec.size = kPayload * packets_;
            slot_ = network_.open_foreign_flow(spec);
            Tick free_at = to_ticks(sc_core::sc_time_stamp());
            for (std::uint32_t sequence = 0; sequence < packets_; ++sequence) {
                step::Packet packet;
                packet.flow = slot_;
                packet.sequence = sequence;
                packet.bytes = frame_;
                packet.traffic_class = 3;
                packet.echo = sequence + 1 == packets_ ? 1 : 0;
                packet.hop = 1;
                free_at += serialization_time(frame_, rate_, Arithmetic::exact);
                port_.send(packet, free_at + delay_);
            }
            wait(done_);
            network_.close_foreign_flow(slot_);
        }
    }

    Network& network_;
    NodeId self_;
    std::uint32_t count_;
    std::uint16_t frame_;
    Rate rate_;
    Tick delay_;
    FlowSlot slot_ = kNone;
    std::uint32_t packets_ = 0;
    sc_core::sc_event done_;
    ForeignPort<Talker> port_;
};

/// The bar of a million is run by hand: SLUICE_FOREIGN_FLOWS=1000000.
std::uint32_t foreign_flows() {
    const char* const given = std::getenv("SLUICE_FOREIGN_FLOWS");
    return given == nullptr ? 5000U : static_cast<std::uint32_t>(std::stoul(given));
}

/// Opens flows between hosts of the network's own at instants that nobody knew.
class Opener : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Opener);
    Opener(const sc_core::sc_module_name& name, Network& network, std::vector<FlowSpec> flows)
        : sc_module(name), network_(network), flows_(std::move(flows)) {
        SC_THREAD(run);
    }
    std::vector<FlowId> ids;

  private:
    void run() {
        for (const FlowSpec& flow : flows_) {
            wait(sc_core::sc_time(1, sc_core::SC_MS));
            ids.push_back(network_.open_flow(flow, network_.clock().earliest() + kMicrosecond));
        }
    }
    Network& network_;
    std::vector<FlowSpec> flows_;
};

}  // namespace

TEST_CASE("models.network.a_foreign_host_opens_flows_without_end") {
    const Case given = star();
    Routing routing(given.topology);
    NetworkOptions options;
    options.foreign = {0};
    std::uint64_t reported = 0;
    std::int64_t bytes = 0;
    bool complete = true;
    options.hooks.on_finish = [&](const FlowRecord& flow) {
        ++reported;
        bytes += flow.spec.size;
        complete = complete && flow.result.received < flow.result.finish &&
                   flow.result.start < flow.result.received;
    };
    Network network("network", given.topology, routing, given.config, given.flows, given.paths,
                    nullptr, options);
    const std::uint32_t count = foreign_flows();
    Talker talker("talker", given, 0, count, network);
    sc_core::sc_start();
    CHECK(talker.acknowledged == count);
    CHECK(reported == count);
    CHECK(complete);
    const std::int64_t thirds = count / 3;
    CHECK(bytes == 1000 * (6 * thirds + (count % 3 == 0 ? 0 : count % 3 == 1 ? 1 : 3)));
    CHECK(network.store().slot_count() <= 2);
    CHECK(network.store().living_count() == 0);
}

TEST_CASE("models.network.a_testbench_opens_flows_between_our_hosts") {
    const Case given = star();
    Routing routing(given.topology);
    NetworkOptions options;
    std::vector<FlowRecord> finished;
    options.hooks.on_finish = [&](const FlowRecord& flow) { finished.push_back(flow); };
    Network network("network", given.topology, routing, given.config, given.flows, given.paths,
                    nullptr, options);
    std::vector<FlowSpec> flows(20);
    for (std::uint32_t i = 0; i < flows.size(); ++i) {
        flows[i].src = i % 5;
        flows[i].dst = (i + 1) % 5;
        flows[i].size = 5000;
        flows[i].sport = static_cast<std::uint16_t>(10'000 + i);
    }
    Opener opener("opener", network, flows);
    sc_core::sc_start();
    REQUIRE(finished.size() == flows.size());
    // Alone on an idle network each takes as long as any other of its size.
    for (const FlowRecord& flow : finished) {
        CHECK(flow.result.finish - flow.result.start ==
              finished.front().result.finish - finished.front().result.start);
    }
    CHECK(opener.ids.size() == flows.size());
    CHECK(network.store().slot_count() == 1);
}

TEST_CASE("models.network.a_flow_of_the_wrong_host_is_refused") {
    const Case given = star();
    Routing routing(given.topology);
    NetworkOptions options;
    options.foreign = {0};
    Network network("network", given.topology, routing, given.config, given.flows, given.paths,
                    nullptr, options);
    Talker talker("talker", given, 0, 0, network);
    FlowSpec spec;
    spec.src = 0;
    spec.dst = 1;
    spec.size = 1;
    CHECK_THROWS_AS(network.open_flow(spec, 0), InternalError);
    const FlowSlot slot = network.open_foreign_flow(spec);
    spec.src = 1;
    spec.dst = 2;
    CHECK_THROWS_AS(network.open_foreign_flow(spec), InternalError);
    spec.src = 77;
    CHECK_THROWS_AS(network.open_flow(spec, 0), ConfigError);
    sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
    CHECK_THROWS_AS(network.close_foreign_flow(slot + 1), sc_core::sc_report);
    network.close_foreign_flow(slot);
}

}  // namespace sluice::test
