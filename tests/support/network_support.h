// SPDX-License-Identifier: Apache-2.0
/// What the tests of topology and routing share.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>

#include "core/error.h"
#include "core/topology/topology.h"
#include "tests/support/error_of.h"

namespace sluice::test {

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Path of a reference file, or "" where the reference collection is absent.
inline std::string reference_file(const std::string& name) {
    const char* folder = std::getenv("SLUICE_REFERENCE");
    const std::filesystem::path path = std::filesystem::path(folder ? folder : "") / name;
    return folder != nullptr && std::filesystem::exists(path) ? path.string() : "";
}

/// A random network: `hosts` hosts with 1 to 3 cables each, switches (some NVSwitches), parallel
/// and host-to-host cables, often not connected. Ids are mixed.
inline Topology random_topology(std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    Topology topology;
    const std::uint32_t nodes = 6 + below(20);
    std::vector<NodeId> switches;
    for (std::uint32_t i = 0; i < nodes; ++i) {
        const std::uint32_t draw = below(5);
        const NodeKind kind = draw < 2   ? NodeKind::host
                              : draw < 4 ? NodeKind::ethernet
                                         : NodeKind::nvswitch;
        topology.add_node(kind);
        if (kind != NodeKind::host) {
            switches.push_back(i);
        }
    }
    const auto join = [&](NodeId a, NodeId b) {
        if (a != b) {
            topology.add_link({a, b, gigabits_per_second(1 + below(400)),
                               static_cast<Tick>(below(2000)) * kNanosecond, 0});
        }
    };
    for (std::uint32_t i = 0; i < nodes && !switches.empty(); ++i) {
        const std::uint32_t cables = topology.is_host(i) ? 1 + below(3) : below(4);
        for (std::uint32_t c = 0; c < cables; ++c) {
            join(i, below(20) == 0 ? below(nodes)
                                   : switches[below(static_cast<std::uint32_t>(switches.size()))]);
        }
    }
    topology.finish();
    return topology;
}

}  // namespace sluice::test
