// SPDX-License-Identifier: Apache-2.0
/// Folds end before a switch's buffer could matter.
#include "core/fold/buffer_watch.h"

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

namespace {

NodeId switch_of(const FoldParts& parts) {
    return parts.given.topology.node_of(parts.peer_of(parts.port_of(0)));
}

}  // namespace

TEST_CASE("unit.buffer_watch.windows_bound_what_waits") {
    FoldParts parts(two_pairs());
    CHECK(parts.buffers.stays_independent(switch_of(parts), parts.now));
    parts.fold_pairs();
    CHECK(parts.buffers.crowded_folds(parts.now).empty());
}

TEST_CASE("unit.buffer_watch.without_windows_queues_are_looked_at") {
    Case given = two_pairs(congestion::Law::none);
    given.config.congestion.window = false;
    FoldParts parts(std::move(given));
    const NodeId node = switch_of(parts);
    CHECK(parts.buffers.stays_independent(node, parts.now));
    const std::uint32_t id = parts.fold_pairs();
    CHECK(parts.buffers.crowded_folds(parts.now).empty());
    // The port has taken in all that the switch has.
    Ingress& in = parts.world.ingress[parts.peer_of(parts.port_of(0))];
    in.total_bytes = static_cast<std::uint32_t>(parts.given.config.buffer.size.count);
    CHECK(parts.buffers.crowded_folds(parts.now).empty());  // looks again in time only
    parts.buffers.look_again();
    CHECK(parts.buffers.crowded_folds(parts.now) == std::set<std::uint32_t>{id});
    std::set<std::uint32_t> disturbed;
    parts.buffers.add_dependent({0}, parts.now, disturbed);
    CHECK(disturbed == std::set<std::uint32_t>{id});
}

TEST_CASE("unit.buffer_watch.is_asked_once_of_a_switch_in_a_comparison") {
    Case given = two_pairs(congestion::Law::none);
    given.config.congestion.window = false;
    FoldParts parts(std::move(given));
    const NodeId node = switch_of(parts);
    parts.buffers.begin_comparison();
    CHECK(parts.buffers.is_independent(node, parts.now));
    Ingress& in = parts.world.ingress[parts.peer_of(parts.port_of(0))];
    in.total_bytes = static_cast<std::uint32_t>(parts.given.config.buffer.size.count);
    CHECK(parts.buffers.is_independent(node, parts.now));
    parts.buffers.begin_comparison();
    CHECK_FALSE(parts.buffers.is_independent(node, parts.now));
}
