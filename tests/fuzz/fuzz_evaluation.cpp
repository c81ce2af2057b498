// SPDX-License-Identifier: Apache-2.0
/// Any text is an evaluation or a ConfigError of one line. Its base is always the same, whatever it is called, and no
/// command of it is run.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "eval/evaluation/plan.h"
#include "tests/fuzz/choices.h"

namespace {

sluice::ConfigValue base(const std::string& /*path*/) {
    return sluice::parse_config(
        "seed = 1\n[topology]\ntype = \"star\"\nhosts = 4\n"
        "[[workload]]\ntype = \"permutation\"\nsize = \"1KB\"\n",
        "base");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::fuzz;
    // The first line is an override, the rest the file.
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::size_t end = text.find('\n');
    const std::string assignment = text.substr(0, end);
    const std::vector<std::string> sets =
        assignment.empty() ? std::vector<std::string>{} : std::vector<std::string>{assignment};
    try {
        const sluice::eval::EvaluationPlan plan = sluice::eval::parse_evaluation(
            end == std::string::npos ? "" : text.substr(end + 1), "input", sets, base);
        require(!plan.metrics.empty() && !plan.identity().empty());
        require(plan.aim.confidence > 0 && plan.aim.confidence < 1);
        require(plan.aim.maximum_trials >= 1);
        require(!plan.comparison || plan.comparison->metric < plan.metrics.size());
    } catch (const sluice::ConfigError& error) {
        require_line(error.what());
    }
    return 0;
}
