// SPDX-License-Identifier: Apache-2.0
#include "experiment/batch/batch_plan.h"

#include <algorithm>

#include <fmt/core.h>

#include "core/error.h"
#include "core/text/human.h"
#include "experiment/build_experiment.h"
#include "experiment/expected_time.h"
#include "scenario/scenario.h"

namespace sluice {

namespace {

struct Planned {
    std::size_t tried = 0;
    std::size_t fit = 0;
    double packet_hops = 0;
    double memory_sum = 0;
    double memory_most = 0;
    double least_s = 0;
    double most_s = 0;
    std::size_t oom = 0;
    std::size_t refused = 0;
    std::string reason;  ///< of the first that would not run
};

void plan_one(const Batch& batch, std::size_t experiment, bool allow_oom, Planned& planned) {
    std::string path;
    ConfigValue values = batch.scenario(experiment, &path);
    Scenario scenario = make_scenario(std::move(values), path);
    scenario.allow_oom = allow_oom;
    const BuiltExperiment built = build_experiment(scenario);
    const double memory = expected_memory(built);
    const ExpectedTime time = expected_time(built, scenario.mode, scenario.phases.audit);
    ++planned.fit;
    planned.packet_hops += built.estimate.packet_hops;
    planned.memory_sum += memory;
    planned.memory_most = std::max(planned.memory_most, memory);
    planned.least_s += time.least_s;
    planned.most_s += time.most_s;
}

void keep_reason(Planned& planned, std::size_t experiment, const ConfigError& error) {
    if (planned.reason.empty()) planned.reason = fmt::format("{}: {}", experiment, error.what());
}

Planned plan(const Batch& batch, bool allow_oom) {
    Planned planned;
    const std::size_t samples = std::min(batch.size(), kPlanned);
    for (std::size_t i = 0; i < samples; ++i) {
        // From the middles of equal parts.
        const std::size_t experiment = (2 * i + 1) * batch.size() / (2 * samples);
        ++planned.tried;
        try {
            plan_one(batch, experiment, allow_oom, planned);
        } catch (const OutOfMemoryError& error) {
            ++planned.oom;
            keep_reason(planned, experiment, error);
        } catch (const ConfigError& error) {
            ++planned.refused;
            keep_reason(planned, experiment, error);
        }
    }
    return planned;
}

}  // namespace

std::string batch_plan(const Batch& batch, unsigned threads, bool allow_oom) {
    const Planned planned = plan(batch, allow_oom);
    const auto all = static_cast<double>(batch.size());
    const double scale = all / static_cast<double>(planned.tried);
    std::string text =
        fmt::format("{}: {}", batch.name(), counted(batch.size(), "experiment", "experiments"));
    for (std::size_t i = 0; i < batch.columns().size(); ++i) {
        text += (i == 0 ? " by " : ", ") + batch.columns()[i];
    }
    text += "\n";
    if (planned.tried < batch.size()) {
        text += fmt::format("  planned with {} of them\n", planned.tried);
    }
    if (planned.oom > 0) {
        text += fmt::format("  oom          {} of {}\n", planned.oom, planned.tried);
    }
    if (planned.refused > 0) {
        text += fmt::format("  refused      {} of {}\n", planned.refused, planned.tried);
    }
    if (!planned.reason.empty()) text += fmt::format("  the first    {}\n", planned.reason);
    if (planned.fit == 0) return text;
    const double lanes = std::min(static_cast<double>(threads), all);
    text +=
        fmt::format("  packet-hops  about {} in all\n", human_count(planned.packet_hops * scale));
    text += fmt::format("  memory       about {}B an experiment, at most {}B; {} at a time: {}B\n",
                        human_count(planned.memory_sum / static_cast<double>(planned.fit)),
                        human_count(planned.memory_most), lanes,
                        human_count(planned.memory_most * lanes));
    const std::string least = human_seconds(planned.least_s * scale / lanes);
    const std::string most = human_seconds(planned.most_s * scale / lanes);
    text += planned.least_s > 0.9 * planned.most_s
                ? fmt::format("  time         about {} on {}\n", most,
                              counted(threads, "thread", "threads"))
                : fmt::format(
                      "  time         {} to {} on {}: the first if all rates become steady, the "
                      "second if none does\n",
                      least, most, counted(threads, "thread", "threads"));
    return text;
}

}  // namespace sluice
