// SPDX-License-Identifier: Apache-2.0
/// Whole fabrics as SystemC modules: random experiments give what the plain loop gives, in one go
/// and in pieces; a foreign switch may stand anywhere among our own, and a quantum up to the
/// lookahead changes nothing.
#include "models/foreign/foreign_models.h"
#include "models/network.h"
#include "tests/support/step_random.h"

namespace sluice::test {

using namespace foreign;
namespace {

/// A random experiment through a Network, sc_start() by pieces of `piece` (0: one go).
void check_random(std::uint64_t seed, Tick piece) {
    const Case given = random_case(seed);
    INFO(given.name);
    const Outcome expected = run_windows(given);
    Routing routing(given.topology);
    NetworkOptions options;
    options.link_events = given.events;
    options.stop = given.stop;
    Network network("network", given.topology, routing, given.config, given.flows, given.paths,
                    nullptr, options);
    network.store().world().digest_hops = true;
    if (piece == 0) {
        sc_core::sc_start();
        CHECK(network.clock().finished());
    }
    for (Tick at = 0; piece > 0 && at < given.stop; at += piece) {
        sc_core::sc_start(to_sc_time(piece));
    }
    check_same(outcome_of(network.store(), given.stop), expected);
}

/// A switch of a fabric with one FIFO per port: its own priority queue of arrivals, routes by the
/// network's tables, transmits when a port is free. Sends each packet at the instant at which its
/// transmission begins.
class QueueingSwitch : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(QueueingSwitch);
    QueueingSwitch(const sc_core::sc_module_name& name, const Case& given, const Routing& routing,
                   NodeId self, Network& network)
        : sc_module(name), given_(given), routing_(routing), self_(self) {
        const Topology& topology = given.topology;
        for (std::uint32_t i = 0; i < topology.port_count(self); ++i) {
            const PortId mine = topology.first_port(self) + i;
            ports_.emplace_back(*this, i, network.port(topology.peer_of(mine)));
        }
        queues_.resize(ports_.size());
        free_at_.resize(ports_.size(), 0);
        SC_METHOD(run);
        sensitive << due_;
        dont_initialize();
    }

    void accept(std::uint32_t port, const step::Packet& packet, const sc_core::sc_time& delay) {
        const Tick at = to_ticks(sc_core::sc_time_stamp() + delay);
        arrivals_.emplace(std::make_tuple(at, port, sequence_++), packet);
        wake_at(at);
    }

  private:
    void wake_at(Tick at) { due_.notify(to_sc_time(at) - sc_core::sc_time_stamp()); }

    void run() {
        const Tick now = to_ticks(sc_core::sc_time_stamp());
        const PortId first = given_.topology.first_port(self_);
        while (!arrivals_.empty() && std::get<0>(arrivals_.begin()->first) == now) {
            step::Packet packet = arrivals_.begin()->second;
            arrivals_.erase(arrivals_.begin());
            const FlowSpec& spec = given_.flows[packet.flow];
            const bool data = packet.packet_kind() == step::PacketKind::data;
            const PortId out = routing_.select(self_, data ? data_key(spec) : ack_key(spec));
            packet.hop = packet.hop + 1;
            queues_[out - first].push_back(packet);
        }
        for (std::uint32_t p = 0; p < ports_.size(); ++p) {
            if (!queues_[p].empty() && free_at_[p] <= now) {
                const step::Packet packet = queues_[p].front();
                queues_[p].pop_front();
                free_at_[p] =
                    now + serialization_time(packet.bytes, given_.topology.rate(first + p),
                                             Arithmetic::exact);
                ports_[p].send(packet, free_at_[p] + given_.topology.delay(first + p));
            }
            if (!queues_[p].empty()) {
                wake_at(free_at_[p]);
            }
        }
        if (!arrivals_.empty()) {
            wake_at(std::get<0>(arrivals_.begin()->first));
        }
    }

    const Case& given_;
    const Routing& routing_;
    NodeId self_;
    std::deque<ForeignPort<QueueingSwitch>> ports_;
    std::vector<std::deque<step::Packet>> queues_;
    std::vector<Tick> free_at_;
    std::map<std::tuple<Tick, std::uint32_t, std::uint64_t>, step::Packet> arrivals_;
    std::uint64_t sequence_ = 0;
    sc_core::sc_event due_;
};

/// Two leaves with three hosts each (nodes 6 and 7), two spines (8 and 9), cables of different
/// rates; nothing marks, pauses or drops.
Case fabric() {
    Case given;
    LeafSpineParams params;
    params.leaves = 2;
    params.spines = 2;
    params.hosts_per_leaf = 3;
    params.fabric_cable.rate = gigabits_per_second(40);
    params.fabric_cable.delay = 700 * kNanosecond;
    given.topology = build_leaf_spine(params);
    given.config = config_for(congestion::Law::timely);
    given.config.pfc = false;
    given.config.ecn.enabled = false;
    given.config.buffer.egress_alpha = 0;
    Dice dice(5);
    for (std::uint32_t i = 0; i < 24; ++i) {
        given.flows.push_back(flow(i % 6, (i + 1 + dice.below(5)) % 6, dice.size(5.5),
                                   dice.below(50) * kMicrosecond));
    }
    assign_source_ports(given.flows);
    return given;
}

void check_foreign(NodeId foreign, const sc_core::sc_time& quantum) {
    const Case given = fabric();
    const Outcome expected = run_windows(given);
    Routing routing(given.topology);
    NetworkOptions options;
    options.foreign = {foreign};
    Network network("network", given.topology, routing, given.config, given.flows, given.paths,
                    nullptr, options);
    network.store().world().digest_hops = true;
    QueueingSwitch mine("mine", given, routing, foreign, network);
    tlm::tlm_global_quantum::instance().set(quantum);
    sc_core::sc_start();
    CHECK(expected.counters.drops == 0);
    CHECK(network.counters().hop_checksum == expected.checksum);
    CHECK(first_difference(network.store().results(), expected.flows) == -1);
}

}  // namespace

TEST_CASE("models.network.random_1") { check_random(2001, 0); }
TEST_CASE("models.network.random_2") { check_random(2002, 0); }
TEST_CASE("models.network.random_3") { check_random(2003, 0); }
TEST_CASE("models.network.random_4") { check_random(2004, 0); }
TEST_CASE("models.network.random_in_pieces_1") { check_random(2005, 10 * kMicrosecond); }
TEST_CASE("models.network.random_in_pieces_2") { check_random(2006, 333'333); }

TEST_CASE("models.switch.foreign_leaf") { check_foreign(6, sc_core::SC_ZERO_TIME); }
TEST_CASE("models.switch.foreign_spine") { check_foreign(8, sc_core::SC_ZERO_TIME); }

TEST_CASE("models.switch.foreign_leaf_with_a_quantum_of_the_lookahead") {
    // 700 ns and the 11.4 ns of the smallest data packet, 57 bytes, at 40 Gb/s.
    const Case given = fabric();
    CHECK(Rig(given).world.lookahead == 711'400);
    check_foreign(7, sc_core::sc_time(711'400, sc_core::SC_PS));
}

TEST_CASE("models.clock.quantum_beyond_what_the_foreign_model_keeps_is_reported") {
    // With a quantum of 5 us the clock runs past what the foreign leaf still sends.
    sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
    const Case given = fabric();
    Routing routing(given.topology);
    NetworkOptions options;
    options.foreign = {6};
    Network network("network", given.topology, routing, given.config, given.flows, given.paths,
                    nullptr, options);
    QueueingSwitch mine("mine", given, routing, 6, network);
    tlm::tlm_global_quantum::instance().set(sc_core::sc_time(5, sc_core::SC_US));
    CHECK_THROWS_AS(sc_core::sc_start(), sc_core::sc_report);
}

}  // namespace sluice::test
