// SPDX-License-Identifier: Apache-2.0
#include "cli/workload_part.h"

#include "core/error.h"

namespace sluice {

namespace {

MakeWorkload read_type(ConfigSection& section, const Scenario& scenario) {
    static const std::vector<std::string> kTypes = {
        "training", "ring-all-reduce", "ring-reduce-scatter", "ring-all-gather", "all-to-all",
        "flows",    "poisson",         "permutation",         "incast",          "ring"};
    const std::string& type = kTypes[section.choice_index("type", "", kTypes)];
    if (type == "training") return read_training(section, scenario);
    if (type == "flows") return read_flows(section, scenario);
    if (type == "all-to-all" || type.rfind("ring-", 0) == 0) {
        return read_collective(section, scenario, type);
    }
    return read_traffic(section, scenario, type);
}

}  // namespace

WorkloadPart read_workload(ConfigSection& section, const Scenario& scenario) {
    const MakeWorkload make = read_type(section, scenario);
    const auto priority = static_cast<std::uint8_t>(section.integer("priority", 3, 1, 7));
    section.finish();
    try {
        WorkloadPart part = make();
        for (FlowSpec& flow : part.flows) flow.priority = priority;
        return part;
    } catch (const ConfigError& error) {
        throw ConfigError(section.where("type") + ": " + error.what());
    }
}

}  // namespace sluice
