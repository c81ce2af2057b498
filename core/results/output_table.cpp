// SPDX-License-Identifier: Apache-2.0
#include "core/results/run_output.h"

namespace sluice {

// Each is in a file of outputs/.
extern const OutputType kFlowsCsv;
extern const OutputType kCollectivesCsv;
extern const OutputType kPortsCsv;
extern const OutputType kPhasesCsv;
extern const OutputType kTraceJson;
extern const OutputType kFctTxt;

const std::vector<OutputType>& output_types() {
    static const std::vector<OutputType> kTypes{kFlowsCsv,  kCollectivesCsv, kPortsCsv,
                                                kPhasesCsv, kTraceJson,      kFctTxt};
    return kTypes;
}

bool every_run(const RunInfo&) { return true; }

std::vector<std::string> usual_outputs() {
    std::vector<std::string> keys;
    for (const OutputType& type : output_types()) {
        if (type.key != nullptr && type.usual) keys.emplace_back(type.key);
    }
    return keys;
}

}  // namespace sluice
