// SPDX-License-Identifier: Apache-2.0
/// A rule of the user's own: no class may take more than three packets of a switch's shared buffer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "models/network.h"

struct ThreePackets : sluice::step::ScenarioPolicies {
    static std::int64_t ingress_limit(const sluice::step::World&, const sluice::step::Ingress&,
                                      std::int64_t left) {
        return std::min<std::int64_t>(std::max<std::int64_t>(left, 0), 3 * 1090);
    }
};

/// Every switch of a network decides by it.
inline std::unique_ptr<sluice::Node> make_node(const char* name, sluice::NodeId id,
                                               const sluice::Node::Context& context,
                                               sluice::step::SwitchScratch& scratch) {
    if (context.world.is_host[id] != 0) {
        return nullptr;
    }
    return std::make_unique<sluice::PolicySwitch<ThreePackets>>(name, id, context, scratch);
}
