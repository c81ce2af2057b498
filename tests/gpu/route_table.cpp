// SPDX-License-Identifier: Apache-2.0
/// Flat tables answer what Routing answers, for every flow, node and packet, links up and down.
#include "core/packet/route_table.h"

#include <vector>

#include "gpu/lane/route_image.h"
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// Who asks tables, and how often they had to choose, and had nothing to offer.
struct Answers {
    std::size_t asked = 0;
    std::size_t unreachable = 0;
    std::size_t sprayed = 0;
};

void compare_answers(step::WorldStore& store, const Routing& routing, const Case& given, Dice& dice,
                     Answers& answers) {
    const gpu::RouteImage image(given.topology, routing, given.flows);
    const step::RouteTable table{image.columns,     image.column.data(), image.row.data(),
                                 image.next.data(), image.far.data(),    image.ports.data(),
                                 image.way.data()};
    const step::Callbacks callbacks = store.world().callbacks;
    store.world().table = &table;
    for (FlowSlot slot = 0; slot < given.flows.size(); ++slot) {
        for (NodeId node = 0; node < given.topology.node_count(); ++node) {
            for (const step::PacketKind kind : {step::PacketKind::data, step::PacketKind::ack}) {
                const FlowSpec& spec = given.flows[slot];
                const NodeId from = kind == step::PacketKind::data ? spec.src : spec.dst;
                if (given.topology.is_host(node) && node != from) {
                    continue;
                }
                step::Packet packet;
                packet.flow = slot;
                packet.kind = static_cast<std::uint16_t>(kind) & 7U;
                packet.sequence = dice.below(1'000'000);
                packet.transmission = static_cast<std::uint16_t>(dice.below(1 << 16));
                const PortId expected = callbacks.route(callbacks.context, node, packet);
                REQUIRE(step::route_by_table(store.world(), node, packet) == expected);
                ++answers.asked;
                answers.unreachable += expected == kNone ? 1 : 0;
                answers.sprayed += step::is_sprayed(store.world(), slot) ? 1 : 0;
            }
        }
    }
    store.world().table = nullptr;
}

void compare_case(const Case& given, std::uint64_t seed, Answers& answers) {
    INFO(given.name);
    Dice dice(seed);
    Routing routing(given.topology);
    step::WorldStore store(given.topology, routing, given.config, given.flows, given.paths,
                           nullptr);
    store.pin_list();
    compare_answers(store, routing, given, dice, answers);
    for (int change = 0; change < 4; ++change) {
        store.set_link(dice.below(static_cast<std::uint32_t>(given.topology.links().size())),
                       change == 2, 0);
        compare_answers(store, routing, given, dice, answers);
    }
}

}  // namespace

TEST_CASE("unit.route_table.answers_as_routing_does") {
    Answers answers;
    for (std::uint64_t seed = 61'000; seed < 61'150; ++seed) {
        Case given = random_case(seed);
        if (seed % 3 == 0) {
            given.config.sprayed_priorities = 0xa;
        }
        compare_case(given, seed, answers);
    }
    MESSAGE(answers.asked << " asked, " << answers.unreachable << " out of reach, "
                          << answers.sprayed << " sprayed");
    CHECK(answers.unreachable > 1000);
    CHECK(answers.sprayed > 1000);
}

TEST_CASE("unit.route_table.servers_with_nvswitches_and_two_nics") {
    Answers answers;
    for (const bool dual : {false, true}) {
        SimaiParams params;
        params.gpus = 32;
        params.rail_optimized = true;
        params.dual_tor = dual;
        params.nics_per_asw = 2;
        params.psws = 4;
        Case given;
        given.name = dual ? "dual ToR" : "single ToR";
        given.topology = build_simai(params);
        given.config = config_for(congestion::Law::hpcc);
        given.config.sprayed_priorities = 2;
        Dice dice(dual ? 1 : 0);
        for (int i = 0; i < 60; ++i) {
            const NodeId src = dice.below(32);
            FlowSpec spec = flow(src, (src + 1 + dice.below(31)) % 32, 1000, 0);
            spec.sport = static_cast<std::uint16_t>(dice.below(1 << 16));
            spec.priority = i % 2 == 0 ? 1 : 3;
            given.flows.push_back(spec);
        }
        compare_case(given, 7, answers);
    }
    CHECK(answers.sprayed > 0);
}
