// SPDX-License-Identifier: Apache-2.0
/// A topology file of any of the formats that are known, told apart by how it begins: htsim's .topo
/// with a word, HPCC ns-3's and SimAI's topology.txt with a count.
/// Errors: ConfigError "file:line: ...".
#pragma once

#include <string>

#include "core/text/import_report.h"
#include "core/topology/topology.h"

namespace sluice {

/// `report` hears what was read and what was skipped; may be null.
Topology read_topology_file(const std::string& path, ImportReport* report = nullptr);

}  // namespace sluice
