// SPDX-License-Identifier: Apache-2.0
/// A snapshot of a running network, put into a store of its own, goes on as the network does: every flow's
/// times, every port's counters, every hop.
#include "core/world/snapshot.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "core/clocks/flow_partitions.h"
#include "core/clocks/window_loop.h"
#include "core/world/skip.h"
#include "tests/support/step_random.h"

namespace sluice::test {
namespace {

/// The same network without its flows, and what a snapshot was put upon.
struct Shadow {
    explicit Shadow(const Case& of)
        : routing(of.topology),
          store(of.topology, routing, of.config, none, no_paths, nullptr),
          step_cell(store.world()) {
        store.world().digest_hops = true;
    }

    void put(const step::Snapshot& snapshot, step::NetworkPart part, Tick now,
             const std::vector<FlowSpec>& specs, bool others) {
        part.flows.clear();
        for (const FlowSpec& spec : specs) {
            part.flows.push_back(store.open_slot(spec));
        }
        snapshot.put(store, part, now, others);
        put_upon = part;
        before = store.world().checksum;
    }

    void run(Tick until) {
        step::World& world = store.world();
        for (Tick begin = step::next_instant(world); begin < until;
             begin = step::next_instant(world)) {
            step::run_window(world, begin, std::min(begin + world.lookahead, until), step_cell);
        }
    }

    std::vector<FlowSpec> none;
    std::vector<FlowPath> no_paths;
    Routing routing;
    step::WorldStore store;
    step::CellStep step_cell;
    step::NetworkPart put_upon;
    std::uint64_t before = 0;
};

std::vector<FlowSpec> specs_of(const step::Snapshot& snapshot) {
    std::vector<FlowSpec> specs;
    for (std::size_t i = 0; i < snapshot.flow_count(); ++i) {
        specs.push_back(snapshot.spec(i));
    }
    return specs;
}

Tick moved(Tick at, Tick dt) { return at == kNever ? kNever : at + dt; }

void check_flow(const FlowResult& a, const FlowResult& b, Tick instant, Tick dt) {
    const auto same = [&](Tick original, Tick put) {
        // What had come about before is as it was.
        CHECK(put == (original < instant ? original : moved(original, dt)));
    };
    same(a.received, b.received);
    same(a.finish, b.finish);
    CHECK((a.finish == kNever || a.retransmitted == b.retransmitted));
}

/// Ports of the whole network, or of partitions; and everything active.
step::NetworkPart whole(const step::WorldStore& store) {
    step::NetworkPart part;
    for (PortId p = 0; p < store.topology().port_count(); ++p) {
        part.ports.push_back(p);
    }
    part.hosts = store.topology().hosts();
    for (const FlowSlot slot : store.network_flows().living()) {
        if (store.world().sender_at[slot] != kNone) {
            part.flows.push_back(slot);
        }
    }
    return part;
}

/// All flows start before `latest`, no link fails, and nothing ends early.
Case settled_case(std::uint64_t seed, Tick latest, const RandomOptions& options = {}) {
    Case given = random_case(seed, options);
    given.events.clear();
    given.stop = 20 * kMillisecond;
    for (FlowSpec& spec : given.flows) {
        spec.start %= latest;
    }
    return given;
}

struct Tally {
    std::size_t cases = 0;
    std::size_t flows = 0;
    std::size_t paused = 0;
    std::size_t waiting = 0;
};

/// ACKs are no packets: they take a time, and are streams to ports.
void leave_answers_out(Dice dice, step::WorldStore& store) {
    store.leave_answers_out();
    for (FlowSlot slot = 0; slot < store.slot_count(); ++slot) {
        store.set_answer_time(slot, (1 + dice.below(20)) * kMicrosecond);
    }
    for (PortId port = 0; port < store.topology().port_count(); ++port) {
        step::CrossStream& cross = store.world().cross[port];
        cross.rate = dice.below(1'000'000);
        cross.parts = dice.below(100'000) << step::kPartShift;
        cross.stretch = dice.below(1U << (step::kStretchShift - 3));
    }
}

/// The whole network, put `shift` later; more than once into one store.
void check_whole(std::uint64_t seed, Tick shift, bool answers, Tally& tally) {
    const Case given = settled_case(seed, 30 * kMicrosecond);
    INFO(given.name);
    Dice dice(seed + 1);
    const Tick at = (30 + dice.below(150)) * kMicrosecond + dice.below(1'000'000);
    Rig rig(given, answers);
    if (answers) {
        leave_answers_out(dice, rig.store);
    }
    engine::Driver driver(rig.store, {}, {});
    driver.advance(at, rig);
    const step::NetworkPart part = whole(rig.store);
    if (part.flows.empty()) {
        return;
    }
    const step::Snapshot snapshot(rig.store, part, at);
    const std::uint64_t checksum = rig.world.checksum;
    driver.advance(given.stop, rig);
    Shadow shadow(given);
    shadow.store.take_int_layout(rig.store);
    if (answers) {
        shadow.store.leave_answers_out();
    }
    for (const Tick dt : {Tick{0}, shift}) {
        shadow.put(snapshot, part, at + dt, specs_of(snapshot), true);
        shadow.run(given.stop + dt);
        if (dt == 0) {
            CHECK(shadow.store.world().checksum - shadow.before == rig.world.checksum - checksum);
        }
        for (std::size_t i = 0; i < snapshot.flow_count(); ++i) {
            check_flow(rig.store.results()[snapshot.spec(i).id],
                       shadow.store.world().result[shadow.put_upon.flows[i]], at, dt);
        }
        CHECK(first_difference(rig.store.port_statistics(given.stop),
                               shadow.store.port_statistics(given.stop + dt)) == -1);
        step::clear_part(shadow.store, shadow.put_upon);
        CHECK(shadow.store.living_count() == 0);
        CHECK(step::next_instant(shadow.store.world()) == kNever);
        CHECK(shadow.store.world().active_senders == 0);
    }
    ++tally.cases;
    tally.flows += part.flows.size();
    tally.waiting += snapshot.flow_count() - part.flows.size();
    tally.paused += rig.store.counters().pfc_pauses > 0 ? 1 : 0;
}

TEST_CASE("unit.snapshot.another_store_goes_on_alike") {
    Tally tally;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        check_whole(seed, static_cast<Tick>(seed * 7919) * 1001, seed % 3 == 0, tally);
    }
    MESSAGE(tally.cases << " networks, " << tally.flows << " flows, " << tally.waiting
                        << " names more, " << tally.paused << " with pauses");
    CHECK(tally.cases > 100);
    CHECK(tally.waiting > 20);
    CHECK(tally.paused > 20);
}

/// Flows between hosts that are neighbours in the list, each pair for itself.
void make_pairs(Dice dice, Case& given) {
    const std::vector<NodeId>& hosts = given.topology.hosts();
    given.flows.clear();
    given.paths.clear();
    for (std::size_t i = 0; i + 1 < hosts.size(); i += 2) {
        for (std::uint32_t n = 1 + dice.below(3); n > 0; --n) {
            const bool back = dice.chance(30);
            given.flows.push_back(flow(hosts[i + (back ? 1 : 0)], hosts[i + (back ? 0 : 1)],
                                       100'000 + dice.size(6.2), dice.below(20) * kMicrosecond));
        }
    }
    assign_source_ports(given.flows);
}

/// One partition of several, where what the others do to shared buffers decides nothing.
std::size_t check_partitions(std::uint64_t seed) {
    RandomOptions options;
    options.lossless = true;
    Case given = settled_case(seed, 30 * kMicrosecond, options);
    make_pairs(Dice(seed + 2), given);
    given.config.buffer.size = Bytes{(1 << 25) + pfc_share(given.topology, given.config)};
    given.config.buffer.admission = Admission{};
    INFO(given.name);
    Dice dice(seed + 1);
    const Tick at = (30 + dice.below(100)) * kMicrosecond + dice.below(1'000'000);
    Rig rig(given);
    step::FlowPartitions partitions(rig.store);
    engine::Driver driver(rig.store, {}, {}, engine::Clocks::one, partitions, nullptr);
    driver.advance(at, rig);
    struct Taken {
        step::NetworkPart part;
        step::Snapshot snapshot;
    };
    std::vector<Taken> taken;
    for (const PartitionId id : partitions.set().partitions()) {
        const step::Extent extent = partitions.extent(id);
        step::NetworkPart part{extent.ports, extent.hosts, {}};
        for (const FlowSlot flow : partitions.set().flows(id)) {
            if (rig.world.sender_at[flow] != kNone) {
                part.flows.push_back(flow);
            }
        }
        taken.push_back({part, step::Snapshot(rig.store, part, at)});
    }
    if (taken.size() < 2) {
        return 0;
    }
    driver.advance(given.stop, rig);
    const std::vector<PortStatistics> ports = rig.store.port_statistics(given.stop);
    Shadow shadow(given);
    shadow.store.take_int_layout(rig.store);
    for (const Taken& one : taken) {
        shadow.put(one.snapshot, one.part, at, specs_of(one.snapshot), true);
        shadow.run(given.stop);
        for (std::size_t i = 0; i < one.snapshot.flow_count(); ++i) {
            check_flow(rig.store.results()[one.snapshot.spec(i).id],
                       shadow.store.world().result[shadow.put_upon.flows[i]], at, 0);
        }
        const std::vector<PortStatistics> alone = shadow.store.port_statistics(given.stop);
        for (const PortId port : one.part.ports) {
            CHECK(same(ports[port], alone[port]));
        }
        step::clear_part(shadow.store, shadow.put_upon);
    }
    return taken.size();
}

TEST_CASE("unit.snapshot.a_partition_goes_on_alone") {
    std::size_t partitions = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        partitions += check_partitions(seed);
    }
    MESSAGE(partitions << " partitions");
    CHECK(partitions > 100);
}

TEST_CASE("unit.snapshot.a_message_that_waits_to_go_elsewhere_is_not_in_it") {
    LeafSpineParams shape;
    shape.leaves = 2;
    shape.spines = 2;
    shape.hosts_per_leaf = 1;
    shape.host_cable = shape.fabric_cable = {gigabits_per_second(100), kMicrosecond};
    std::size_t elsewhere = 0;
    for (std::uint16_t sport = 1; sport <= 8; ++sport) {
        Case given;
        given.topology = build_leaf_spine(shape);
        given.config = config_for(congestion::Law::dctcp, gigabits_per_second(100));
        for (const std::uint16_t port : {std::uint16_t{0}, sport}) {
            given.flows.push_back(flow(0, 1, 1'000'000, 0));
            given.flows.back().connection = 0;
            given.flows.back().sport = port;
            given.flows.back().own_port = port != 0;
        }
        const Tick at = 20 * kMicrosecond;
        Rig rig(given);
        step::FlowPartitions partitions(rig.store);
        engine::Driver driver(rig.store, {}, {}, engine::Clocks::one, partitions, nullptr);
        driver.advance(at, rig);
        const step::Extent extent = partitions.extent(partitions.set().partitions().front());
        const step::NetworkPart part{extent.ports, extent.hosts, {0}};
        const step::Snapshot snapshot(rig.store, part, at);
        driver.advance(kNever, rig);
        Shadow shadow(given);
        shadow.put(snapshot, part, at, specs_of(snapshot), true);
        shadow.run(kSecond);
        for (std::size_t i = 0; i < snapshot.flow_count(); ++i) {
            check_flow(rig.store.results()[i],
                       shadow.store.world().result[shadow.put_upon.flows[i]], at, 0);
        }
        step::clear_part(shadow.store, shadow.put_upon);
        CHECK(step::next_instant(shadow.store.world()) == kNever);
        const std::vector<PortStatistics> sent = shadow.store.port_statistics(kSecond);
        for (PortId port = 0; port < sent.size(); ++port) {
            const bool own = std::binary_search(part.ports.begin(), part.ports.end(), port);
            CHECK((own || sent[port].tx_packets == 0));
        }
        elsewhere += 2 - snapshot.flow_count();
    }
    CHECK(elsewhere > 0);
    CHECK(elsewhere < 8);
}

/// A star of which the first half of the hosts send.
Case half_busy(Dice& dice, std::uint32_t hosts, congestion::Law law) {
    RandomOptions options;
    options.lossless = true;
    Case given;
    given.topology = build_star({2 * hosts, {gigabits_per_second(100), kMicrosecond}});
    given.config = random_config(dice, given.topology, options);
    const NetworkConfig config = config_for(law, gigabits_per_second(100));
    given.config.congestion = config.congestion;
    given.config.congestion.payload = given.config.format.payload;
    given.config.format.extra_header = config.format.extra_header;
    given.config.format.ack = config.format.ack;
    given.config.ecn = config.ecn;
    given.config.marking = Marking::threshold_marking;
    given.stop = 20 * kMillisecond;
    for (std::uint32_t n = 8; n > 0; --n) {
        const NodeId source = dice.below(hosts);
        const NodeId to = dice.chance(50) && source != 0 ? 0 : (source + 1) % hosts;
        FlowSpec spec = flow(source, to, dice.size(6.0), dice.below(10) * kMicrosecond);
        spec.connection = dice.chance(30) ? source * hosts + to : kNone;
        given.flows.push_back(spec);
    }
    assign_source_ports(given.flows);
    return given;
}

/// So many hosts of a star from `first` on, and both ends of their cables.
step::NetworkPart some_hosts(const Topology& star, NodeId first, std::uint32_t count) {
    step::NetworkPart part;
    for (NodeId host = first; host < first + count; ++host) {
        part.hosts.push_back(host);
        part.ports.push_back(star.first_port(host));
    }
    for (NodeId host = first; host < first + count; ++host) {
        part.ports.push_back(star.peer_of(star.first_port(host)));
    }
    return part;
}

/// What the hosts of a star's first half do, put upon its second half, at another time.
void check_copy(std::uint64_t seed, congestion::Law law) {
    Dice dice(seed);
    const std::uint32_t hosts = 3 + dice.below(4);
    const Case given = half_busy(dice, hosts, law);
    INFO("seed " << seed);
    Rig rig(given);
    engine::Driver driver(rig.store, {}, {});
    const Tick at = (12 + dice.below(60)) * kMicrosecond;
    driver.advance(at, rig);
    step::NetworkPart original = some_hosts(given.topology, 0, hosts);
    original.flows = whole(rig.store).flows;
    if (original.flows.empty()) {
        return;
    }
    const step::Snapshot snapshot(rig.store, original, at);
    driver.advance(given.stop, rig);
    std::vector<FlowSpec> specs = specs_of(snapshot);
    for (FlowSpec& spec : specs) {
        spec.src += hosts;
        spec.dst += hosts;
        // Of connections of its own: those of the first half are other queue pairs.
        spec.connection = spec.connection == kNone ? kNone : spec.connection + 4 * hosts * hosts;
    }
    const Tick dt = 3 * kMillisecond + 12345;
    Shadow shadow(given);
    shadow.store.take_int_layout(rig.store);
    shadow.put(snapshot, some_hosts(given.topology, hosts, hosts), at + dt, specs, true);
    shadow.run(given.stop + dt);
    for (std::size_t i = 0; i < snapshot.flow_count(); ++i) {
        check_flow(rig.store.results()[snapshot.spec(i).id],
                   shadow.store.world().result[shadow.put_upon.flows[i]], at, dt);
    }
    const std::vector<PortStatistics> ports = rig.store.port_statistics(given.stop);
    const std::vector<PortStatistics> copies = shadow.store.port_statistics(given.stop + dt);
    for (std::size_t i = 0; i < original.ports.size(); ++i) {
        CHECK(same(ports[original.ports[i]], copies[shadow.put_upon.ports[i]]));
    }
}

TEST_CASE("unit.snapshot.a_copy_elsewhere_and_later_does_the_same") {
    for (const congestion::Law law : kLaws) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            check_copy(seed, law);
        }
    }
}

}  // namespace
}  // namespace sluice::test
