// SPDX-License-Identifier: Apache-2.0
#include "gpu/device_plan.h"

#include <algorithm>
#include <memory>

#include "core/error.h"
#include "experiment/build_experiment.h"
#include "gpu/blocks/block_executor.h"
#include "gpu/lane_run.h"
#include "scenario/combinations/combinations.h"
#include "scenario/scenario.h"

namespace sluice::gpu {

namespace {

/// Windows that a lane of the sample is executed for, to see it grow; none in networks of more than so many
/// hosts, where they would take minutes.
constexpr std::uint64_t kWindows = 2048;
constexpr std::size_t kMostHosts = 2048;

/// Looks at a lane's memory while it executes its first windows, and ends the run then.
class Measure : public LaneExecutor {
  public:
    struct Enough {};
    explicit Measure(std::uint64_t windows) : left_(windows) {}

    DeviceMemory& memory() override { return memory_; }
    LaneReport run(Lane& lane, const LaneOrder& order) override {
        look();
        if (left_ == 0) {
            throw Enough{};
        }
        const std::uint64_t before = lane.windows;
        obey(lane, order);
        const Outcome outcome = run_blocks(lane, {}, left_);
        left_ -= std::min(left_, lane.windows - before);
        return report_of(lane, outcome);
    }
    std::size_t first() const { return first_; }
    std::size_t most() const { return most_; }

  private:
    void look() {
        const std::size_t used = memory_.size() - memory_.room();
        first_ = first_ == 0 ? used : first_;
        most_ = std::max(most_, used);
    }

    HostMemory memory_;
    std::uint64_t left_;
    std::size_t first_ = 0;
    std::size_t most_ = 0;
};

void plan_one(const Batch& batch, std::size_t experiment, bool allow_oom, LanePlan& planned) {
    std::string path;
    ConfigValue values = batch.scenario(experiment, &path);
    Scenario scenario = make_scenario(std::move(values), path);
    refuse(Configuration(scenario), Effect::not_on_a_device);
    scenario.allow_oom = allow_oom;
    const BuiltExperiment built = build_experiment(scenario);
    const bool small = built.experiment.topology.host_count() <= kMostHosts;
    auto measure = std::make_unique<Measure>(small ? kWindows : 0);
    const Measure& seen = *measure;
    LaneDevices host(std::move(measure));
    LaneRun run(built.experiment, host, {});
    try {
        run.run({});
    } catch (const Measure::Enough&) {
        // As much as is wanted.
    }
    ++planned.fit;
    planned.first += seen.first();
    planned.grown += seen.most();
    planned.most = std::max(planned.most, seen.most());
}

}  // namespace

LanePlan plan_lanes(const Batch& batch, bool allow_oom) {
    LanePlan planned;
    const std::size_t samples = std::min(batch.size(), kPlannedLanes);
    for (std::size_t i = 0; i < samples; ++i) {
        // From the middles of equal parts.
        const std::size_t experiment = (2 * i + 1) * batch.size() / (2 * samples);
        ++planned.tried;
        try {
            plan_one(batch, experiment, allow_oom, planned);
        } catch (const ConfigError& error) {
            ++planned.refused;
            if (planned.reason.empty()) {
                planned.reason = std::to_string(experiment) + ": " + error.what();
            }
        }
    }
    return planned;
}

}  // namespace sluice::gpu
