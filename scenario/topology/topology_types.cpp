// SPDX-License-Identifier: Apache-2.0
#include "core/text/quantity.h"
#include "core/topology/limits.h"
#include "scenario/topology/topology_type.h"

namespace sluice {

// Each is in the file of its reader.
// clang-format off
#define SLUICE_TOPOLOGIES(TYPE)  \
    TYPE(kDumbbellTopology)      \
    TYPE(kStarTopology)          \
    TYPE(kLeafSpineTopology)     \
    TYPE(kFatTreeTopology)       \
    TYPE(kRailOptimizedTopology) \
    TYPE(kThreeTierTopology)     \
    TYPE(kFullMeshTopology)      \
    TYPE(kTorusTopology)         \
    TYPE(kDragonflyTopology)     \
    TYPE(kBCubeTopology)         \
    TYPE(kSpectrumXTopology)     \
    TYPE(kAlibabaHpnTopology)    \
    TYPE(kDcnPlusTopology)       \
    TYPE(kSimaiTopology)         \
    TYPE(kFileTopology)
// clang-format on

#define SLUICE_DECLARE(type) extern const TopologyType type;
SLUICE_TOPOLOGIES(SLUICE_DECLARE)
#undef SLUICE_DECLARE

const std::vector<const TopologyType*>& topology_table() {
#define SLUICE_LIST(type) &type,
    static const std::vector<const TopologyType*> kTypes{SLUICE_TOPOLOGIES(SLUICE_LIST)};
#undef SLUICE_LIST
    return kTypes;
}

std::int64_t read_node_count(ConfigSection& section, const char* key, std::int64_t fallback,
                             std::int64_t lowest) {
    return section.integer(key, fallback, lowest, kMaxNodes);
}

Cable read_cable(ConfigSection& section, const std::string& prefix, const Cable& fallback) {
    Cable cable;
    cable.rate = section.rate(prefix + "rate", fallback.rate);
    cable.delay = section.time(prefix + "delay", fallback.delay, 0, kMaxCableDelay);
    cable.loss = section.number(prefix + "loss", fallback.loss, 0, 0.999);
    return cable;
}

Oversubscription read_oversubscription(ConfigSection& section, const char* key,
                                       const Oversubscription& fallback) {
    const std::string text =
        section.text(key, std::to_string(fallback.down) + ":" + std::to_string(fallback.up));
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) {
        section.fail(key, "is " + shown_text(text) + "; must be DOWN:UP, such as \"3:1\"");
    }
    const std::string place = section.where(key);
    const std::string what = std::string("'") + key + "'";
    return {parse_integer(text.substr(0, colon), {place, 0, what}, 1, 1000),
            parse_integer(text.substr(colon + 1), {place, 0, what}, 1, 1000)};
}

}  // namespace sluice
