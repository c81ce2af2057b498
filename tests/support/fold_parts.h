// SPDX-License-Identifier: Apache-2.0
/// The classes of core/fold/, put together for one case by hand, without a driver that calls them.
#pragma once

#include <memory>
#include <utility>

#include "core/fold/folds.h"
#include "core/fold/likeness.h"
#include "tests/support/star_support.h"

namespace sluice::test {

/// Flows 0 and 1 go from host 0 to 1, the representative, and from host 2 to 3, its copy.
inline Case two_pairs(congestion::Law law = congestion::Law::hpcc) {
    Case given = lawless_star(4);
    given.config = config_for(law);
    given.flows = {flow(0, 1, 10'000'000, 0), flow(2, 3, 10'000'000, 0)};
    assign_source_ports(given.flows);
    return given;
}

/// Flow i goes from host i of a star to the next one.
inline Case ring_of(std::uint32_t hosts, congestion::Law law = congestion::Law::hpcc) {
    Case given = lawless_star(hosts);
    given.config = config_for(law);
    for (NodeId host = 0; host < hosts; ++host) {
        given.flows.push_back(flow(host, (host + 1) % hosts, 10'000'000, 0));
    }
    assign_source_ports(given.flows);
    return given;
}

/// A case whose flows, all in service from the beginning, have been executed until an instant. A flow's slot is its
/// number. Nothing is folded yet.
struct FoldParts {
    explicit FoldParts(Case which, Tick until = 20 * kMicrosecond, step::CopyNotes* notes = nullptr)
        : given(std::move(which)),
          rig(given, true),
          world(rig.world),
          driver(rig.store, {}, {}),
          folds(rig.store),
          prints(rig.store, notes != nullptr),
          supervision(notes, world, prints),
          marks(rig.store, prints),
          buffers(rig.store, folds, prints),
          members(rig.store, folds, prints, marks),
          paths(rig.store, folds, prints),
          materializer(rig.store, folds, members, supervision),
          divergence(rig.store, folds, materializer),
          parts(rig.store, prints, marks, buffers),
          waiting(rig.store, folds, prints),
          quotients(rig.store, folds, members, materializer, supervision, prints, parts, paths),
          now(until) {
        driver.advance(until, rig);
        folds.reserve_slots();
        for (FlowSlot slot = 0; slot < given.flows.size(); ++slot) {
            prints.enter(slot);
            buffers.enter(slot, prints.of(slot));
        }
    }
    FoldParts(const FoldParts&) = delete;
    FoldParts& operator=(const FoldParts&) = delete;

    /// A fold with a representative and no copy.
    std::uint32_t lead(const step::FlowGroup& flows) { return members.lead(flows); }
    std::unique_ptr<step::Image> pair_up(std::uint32_t id, const step::FlowGroup& leader,
                                         const step::FlowGroup& part) {
        auto image = std::make_unique<step::Image>();
        const step::Pairing pairing(world, folds, prints);
        return pairing.pair_up(folds[id], leader, part, *image) ? std::move(image) : nullptr;
    }
    /// Folds flow 1 of two_pairs() with flow 0. Returns the fold's number.
    std::uint32_t fold_pairs() {
        const std::uint32_t id = lead({0});
        members.add_copy(id, pair_up(id, {0}, {1}));
        members.wake_for_copies(id);
        return id;
    }
    PortId port_of(NodeId host) const { return given.topology.first_port(host); }
    PortId peer_of(PortId port) const { return world.egress[port].peer; }
    void advance(Tick until) {
        now = until;
        driver.advance(until, rig);
    }
    /// Flows and ports are as if nothing had ever been folded.
    void check_as_without() {
        Case alone = given;
        alone.stop = now;
        Rig expected(alone, true);
        engine::Driver(expected.store, {}, {}).advance(now, expected);
        const Outcome a = outcome_of(expected.store, now);
        const Outcome b = outcome_of(rig.store, now);
        CHECK(first_difference(a.flows, b.flows) == -1);
        CHECK(first_difference(a.ports, b.ports) == -1);
    }

    Case given;
    Rig rig;
    step::World& world;
    engine::Driver driver;
    step::FoldTable folds;
    step::FlowPrints prints;
    step::Supervision supervision;
    step::RandomMarks marks;
    step::BufferWatch buffers;
    step::FoldMembers members;
    step::OrbitPaths paths;
    step::Materializer materializer;
    step::Divergence divergence;
    step::PartFinder parts;
    step::WaitingParts waiting;
    step::QuotientFinder quotients;
    Tick now;
};

}  // namespace sluice::test
