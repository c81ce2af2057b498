// SPDX-License-Identifier: Apache-2.0
/// Executes the past of a few nodes, beside everything else: of flows that were held back (core/world/told_flows.h) and
/// are to run as packets after all.
#pragma once

#include <cstdint>
#include <vector>

#include "core/world/world_store.h"

namespace sluice::step {

/// Executes what is due at `nodes` from `from` on and before `to`. Everything else has been executed up to there or
/// beyond. What of it stands at ports of switches among the nodes, and on their links, is not in the way of what is
/// executed now, nor is what they have sent since `from`: where flows of both kinds go by one port they miss each other.
/// Applications that are called back meanwhile hear of it at `to`; returns how many calls these are. Between windows, of
/// a network on one clock and one thread.
std::uint32_t run_alone(WorldStore& store, const std::vector<NodeId>& nodes, Tick from, Tick to);

}  // namespace sluice::step
