// SPDX-License-Identifier: Apache-2.0
#include "core/results/run_output.h"

namespace sluice {

// Each is in a file of outputs/.
// clang-format off
#define SLUICE_OUTPUTS(OUTPUT) \
    OUTPUT(kFlowsCsv)          \
    OUTPUT(kQueuesBin)         \
    OUTPUT(kCollectivesCsv)    \
    OUTPUT(kPortsCsv)          \
    OUTPUT(kPhasesCsv)         \
    OUTPUT(kSeriesCsv)         \
    OUTPUT(kRttCsv)            \
    OUTPUT(kTraceJson)         \
    OUTPUT(kFctTxt)
// clang-format on

#define SLUICE_DECLARE(type) extern const OutputType type;
SLUICE_OUTPUTS(SLUICE_DECLARE)
#undef SLUICE_DECLARE

const std::vector<OutputType>& output_types() {
#define SLUICE_LIST(type) type,
    static const std::vector<OutputType> kTypes{SLUICE_OUTPUTS(SLUICE_LIST)};
#undef SLUICE_LIST
    return kTypes;
}

std::vector<std::string> run_file_names() {
    std::vector<std::string> names{kSummaryFile};
    for (const OutputType& type : output_types()) names.emplace_back(type.name);
    // What runs of other formats add, HPCC's usual ones and SimAI's, runs with replicas, and
    // those whose ports are recorded.
    for (const char* name : {"pfc.txt", "qlen.txt", "ncclFlowModel_EndToEnd.csv", "replicas.csv",
                             "links.pcapng", "ports.vcd"}) {
        names.emplace_back(name);
    }
    return names;
}

bool every_run(const RunInfo&) { return true; }
bool in_packet_mode(const RunInfo& info) { return info.mode == Mode::packet; }

std::vector<std::string> usual_outputs() {
    std::vector<std::string> keys;
    for (const OutputType& type : output_types()) {
        if (type.key != nullptr && type.usual) keys.emplace_back(type.key);
    }
    return keys;
}

}  // namespace sluice
