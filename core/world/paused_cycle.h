// SPDX-License-Identifier: Apache-2.0
/// PFC deadlocks: ports that wait for each other in a circle (Hu et al., "Deadlocks in Datacenter Networks: Why Do They
/// Form, and How to Avoid Them", HotNets 2016).
#pragma once

#include <vector>

#include "core/world/world_store.h"

namespace sluice::step {

/// Egress ports that are paused, each by a switch for bytes that wait there for the next of them; the last is followed by
/// the first. Empty: there is no such cycle. Between windows.
std::vector<PortId> paused_cycle(const WorldStore& store);

}  // namespace sluice::step
