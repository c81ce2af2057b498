// SPDX-License-Identifier: Apache-2.0
/// A type of the [topology] table: a reader in a file of this folder, and a line in topology_types.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/text/config_section.h"
#include "core/topology/builders.h"

namespace sluice {

/// Turns the path of a topology file into one that can be opened.
using ResolvePath = std::function<std::string(const std::string&)>;
using BuildTopology = std::function<Topology()>;

struct TopologyType {
    const char* name;
    /// Reads the type's keys, finishes the table, and says how to build: the reader's messages have
    /// their place in the file, the builder's have none yet.
    BuildTopology (*read)(ConfigSection& section, const ResolvePath& resolve);
};

/// All types, in the order in which messages list them.
const std::vector<const TopologyType*>& topology_table();

// What readers share.

inline constexpr Tick kMaxCableDelay = kSecond;

/// A number of nodes, cables, ...
std::int64_t read_node_count(ConfigSection& section, const char* key, std::int64_t fallback,
                             std::int64_t lowest = 1);

/// The keys PREFIXrate, PREFIXdelay and PREFIXloss.
Cable read_cable(ConfigSection& section, const std::string& prefix, const Cable& fallback);

/// "3:1": capacity down to capacity up.
Oversubscription read_oversubscription(ConfigSection& section, const char* key,
                                       const Oversubscription& fallback = {});

}  // namespace sluice
