// SPDX-License-Identifier: Apache-2.0
/// Whether a network can carry a flow: asked of every flow before it is taken, by every engine.
#pragma once

#include "core/flow/flow.h"
#include "core/routing/routing.h"
#include "core/topology/topology.h"

namespace sluice {

/// ConfigError "flow ID ..." unless the flow goes between two different hosts, has a byte, and a class
/// from 1 to 7.
void check_flow(const Topology& topology, const FlowSpec& flow, FlowId id);

/// ConfigError "flow ID: no path ..." unless its hosts reach each other.
void check_joined(const Routing& routing, const FlowSpec& flow, FlowId id);

}  // namespace sluice
