// SPDX-License-Identifier: Apache-2.0
/// What is never lost or invented: bytes of a flow, bytes in queues and buffers, capacity of links.
/// Looked at between windows, at random instants of random experiments.
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;
using step::kClasses;

namespace {

/// Payload bytes of each flow's data packets on links and in switches.
std::vector<std::int64_t> payload_in_network(const Rig& rig) {
    std::vector<std::int64_t> bytes(rig.store.results().size(), 0);
    const auto count = [&](step::Ring& ring) {
        for (std::uint32_t i = ring.head; i != ring.tail; ++i) {
            const step::Packet& packet = ring.at(i);
            if (packet.packet_kind() == step::PacketKind::data) {
                bytes[packet.flow] += packet.bytes - rig.world.data_overhead;
            }
        }
    };
    for (PortId p = 0; p < rig.topology.port_count(); ++p) {
        count(rig.world.link[p]);
        for (step::Ring& queue : rig.world.egress[p].queue) {
            count(queue);
        }
    }
    return bytes;
}

/// size = delivered in order + in the network + not yet sent, where nothing is lost or reordered.
void check_flows(const Rig& rig, const Case& given) {
    const std::vector<std::int64_t> in_network = payload_in_network(rig);
    for (FlowId f = 0; f < given.flows.size(); ++f) {
        const std::int64_t size = given.flows[f].size;
        const bool active = rig.world.sender_at[f] != kNone;
        const bool finished = rig.store.results()[f].finish != kNever;
        const std::int64_t sent = active     ? step::sender_of(rig.world, f).next_bytes
                                  : finished ? size
                                             : 0;
        const std::int64_t delivered =
            step::bytes_before(rig.world, rig.world.receiver[f].expected, size);
        CHECK(delivered + in_network[f] == sent);
        if (active) {
            CHECK(step::sender_of(rig.world, f).una_bytes <= delivered);
        }
    }
}

/// With losses: what is acknowledged was delivered, what is delivered was sent.
void check_order(const Rig& rig, const Case& given) {
    for (FlowId f = 0; f < given.flows.size(); ++f) {
        if (rig.world.sender_at[f] != kNone && !given.config.nic.back_to_zero) {
            const step::Sender& sender = step::sender_of(rig.world, f);
            CHECK(sender.una <= rig.world.receiver[f].expected);
            CHECK(rig.world.receiver[f].expected <= sender.high);
            CHECK(sender.una <= sender.next);
        }
        if (rig.store.results()[f].finish != kNever) {
            CHECK(rig.world.receiver[f].expected == rig.world.receiver[f].packets);
            CHECK(rig.store.results()[f].received < rig.store.results()[f].finish);
        }
    }
}

/// Every counter of a queue or buffer is the sum over the packets that are there.
void check_buffers(const Rig& rig) {
    const step::World& world = rig.world;
    for (NodeId node = 0; node < world.node_count; ++node) {
        const PortId first = world.first_port[node];
        const PortId last = world.first_port[node + 1];
        std::vector<std::int64_t> held((last - first) * std::size_t{kClasses}, 0);
        std::int64_t lossy = 0;
        for (PortId p = first; p < last; ++p) {
            const step::Egress& egress = world.egress[p];
            std::int64_t queued = 0;
            for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
                step::Ring ring = egress.queue[queue];
                std::int64_t bytes = 0;
                for (std::uint32_t i = ring.head; i != ring.tail; ++i) {
                    const step::Packet& packet = ring.at(i);
                    bytes += packet.bytes;
                    if (queue != 0) {
                        held[packet.ingress * std::size_t{kClasses} + queue] += packet.bytes;
                        lossy += packet.bytes;
                    }
                }
                CHECK(egress.class_bytes[queue] == bytes);
                CHECK((egress.nonempty >> queue & 1U) == (bytes > 0 ? 1U : 0U));
                queued += bytes;
            }
            CHECK(egress.queued_bytes == queued);
        }
        if (world.is_host[node] != 0) {
            continue;
        }
        const step::Buffer& buffer = world.buffer[node];
        std::int64_t shared = 0;
        std::uint32_t held_by_switch = 0;
        for (PortId p = first; p < last; ++p) {
            const step::Ingress& ingress = world.ingress[p];
            std::uint32_t total = 0;
            for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
                const std::uint32_t bytes = ingress.bytes[queue] + ingress.headroom[queue];
                if (world.pfc) {
                    CHECK(bytes == held[(p - first) * std::size_t{kClasses} + queue]);
                }
                CHECK(ingress.headroom[queue] <= ingress.headroom_limit);
                shared += step::shared_use(buffer, ingress, queue);
                held_by_switch += step::is_held(ingress, queue) ? 1 : 0;
                total += bytes;
            }
            CHECK(ingress.total_bytes == total);
        }
        CHECK(buffer.held_classes == held_by_switch);
        CHECK(buffer.shared_used == (world.pfc ? shared : lossy));
        CHECK(buffer.shared_used <= std::max<std::int64_t>(buffer.shared_size, 0));
    }
}

/// Nothing is left anywhere, nobody is paused.
void check_empty(const Rig& rig) {
    for (PortId p = 0; p < rig.topology.port_count(); ++p) {
        CHECK(rig.world.link[p].empty());
        CHECK(rig.world.egress[p].queued_bytes == 0);
        CHECK(rig.world.egress[p].paused == 0);
        CHECK(rig.world.ingress[p].paused == 0);
        CHECK(rig.world.ingress[p].total_bytes == 0);
    }
    for (NodeId n = 0; n < rig.world.node_count; ++n) {
        CHECK(rig.world.buffer[n].shared_used == 0);
        CHECK(rig.world.buffer[n].held_classes == 0);
    }
}

/// A directed link carries no more than rate x time, and the packet that it has just begun.
void check_capacity(const Rig& rig, const Case& given, Tick now) {
    const std::int64_t frame = given.config.format.payload + rig.world.data_overhead;
    for (PortId p = 0; p < rig.topology.port_count(); ++p) {
        const Tick least = serialization_time(1, rig.topology.rate(p), Arithmetic::exact) - 1;
        CHECK((rig.world.egress[p].tx_bytes - frame) * least <= now);
    }
}

/// Runs `given` piece by piece to random instants and calls `look(rig, instant)` at each.
template <class Look>
void look_at_random_instants(const Case& given, Dice& dice, Look&& look) {
    Rig rig(given, true);
    engine::Driver driver(rig.store, given.events, {});
    Tick limit = 0;
    while (driver.next() < given.stop) {
        limit = std::max(limit, driver.next()) + 1 + dice.below(40) * kMicrosecond / 3;
        limit = std::min(limit, given.stop);
        driver.advance(limit, rig);
        look(rig, limit);
    }
}

}  // namespace

TEST_CASE("unit.step.conservation.lossless_flows") {
    RandomOptions options;
    options.lossless = true;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        Case given = random_case(seed, options);
        INFO(given.name);
        given.config.buffer.size = Bytes{pfc_share(given.topology, given.config) + (1 << 20)};
        given.stop = 100 * kMillisecond;
        Dice dice(seed + 7000);
        bool finished = false;
        look_at_random_instants(given, dice, [&](const Rig& rig, Tick) {
            check_flows(rig, given);
            check_buffers(rig);
            finished = std::all_of(rig.store.results().begin(), rig.store.results().end(),
                                   [](const FlowResult& r) { return r.finish != kNever; });
            if (finished) {
                check_order(rig, given);
            }
        });
        CHECK(finished);
    }
}

TEST_CASE("unit.step.conservation.buffers_with_loss_and_failures") {
    std::uint64_t drops = 0;
    for (std::uint64_t seed = 700; seed < 724; ++seed) {
        const Case given = random_case(seed);
        INFO(given.name);
        Dice dice(seed);
        look_at_random_instants(given, dice, [&](const Rig& rig, Tick) {
            check_order(rig, given);
            check_buffers(rig);
        });
        drops += run_windows(given).counters.drops;
    }
    CHECK(drops > 0);
}

TEST_CASE("unit.step.conservation.nothing_left_at_the_end") {
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        RandomOptions options;
        options.lossless = true;
        Case given = random_case(seed, options);
        given.stop = kNever;
        INFO(given.name);
        Rig rig(given, true);
        engine::Driver driver(rig.store, given.events, {});
        CHECK(driver.advance(200 * kMillisecond, rig) == kNever);
        check_empty(rig);
    }
}

TEST_CASE("unit.step.capacity.tx_bytes_within_rate_times_time") {
    for (std::uint64_t seed = 800; seed < 824; ++seed) {
        RandomOptions options;
        const Case given = random_case(seed, options);
        INFO(given.name);
        Dice dice(seed);
        look_at_random_instants(given, dice,
                                [&](const Rig& rig, Tick now) { check_capacity(rig, given, now); });
    }
}
