// SPDX-License-Identifier: Apache-2.0
#include "core/topology/topology_file.h"
#include "scenario/topology/topology_type.h"

namespace sluice {

namespace {

BuildTopology read_file(ConfigSection& section, const ResolvePath& resolve) {
    const std::string path = section.text("path", std::nullopt);
    section.finish();
    return [file = resolve(path)] { return read_topology_file(file); };
}

}  // namespace

extern const TopologyType kFileTopology{"file", read_file};

}  // namespace sluice
