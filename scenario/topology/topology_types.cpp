// SPDX-License-Identifier: Apache-2.0
#include "core/text/quantity.h"
#include "core/topology/limits.h"
#include "scenario/topology/topology_type.h"

namespace sluice {

// Each is in the file of its reader.
extern const TopologyType kDumbbellTopology;
extern const TopologyType kStarTopology;
extern const TopologyType kLeafSpineTopology;
extern const TopologyType kFatTreeTopology;
extern const TopologyType kRailOptimizedTopology;
extern const TopologyType kThreeTierTopology;
extern const TopologyType kFullMeshTopology;
extern const TopologyType kTorusTopology;
extern const TopologyType kDragonflyTopology;
extern const TopologyType kBCubeTopology;
extern const TopologyType kSpectrumXTopology;
extern const TopologyType kAlibabaHpnTopology;
extern const TopologyType kDcnPlusTopology;
extern const TopologyType kSimaiTopology;
extern const TopologyType kFileTopology;

const std::vector<const TopologyType*>& topology_table() {
    static const std::vector<const TopologyType*> kTypes{
        &kDumbbellTopology,      &kStarTopology,      &kLeafSpineTopology, &kFatTreeTopology,
        &kRailOptimizedTopology, &kThreeTierTopology, &kFullMeshTopology,  &kTorusTopology,
        &kDragonflyTopology,     &kBCubeTopology,     &kSpectrumXTopology, &kAlibabaHpnTopology,
        &kDcnPlusTopology,       &kSimaiTopology,     &kFileTopology};
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
