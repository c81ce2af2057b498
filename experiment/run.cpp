// SPDX-License-Identifier: Apache-2.0
#include "experiment/run.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/results/resources.h"
#include "experiment/stall_guard.h"

namespace sluice {

namespace {

/// All watchers as one set of hooks; what nobody wants stays empty, so that engines need not tell it.
class Watchers {
  public:
    explicit Watchers(const std::vector<RunHooks>& all) {
        for (const RunHooks& hooks : all) {
            if (hooks.on_finish) finish_.push_back(hooks.on_finish);
            if (hooks.on_pfc) pfc_.push_back(hooks.on_pfc);
            if (hooks.on_phase) phase_.push_back(hooks.on_phase);
            if (hooks.on_progress) progress_.push_back(hooks.on_progress);
            joined_.interval = std::min(joined_.interval, hooks.interval);
            joined_.checksum = joined_.checksum || hooks.checksum;
            if (hooks.on_sample) take_samples(hooks);
        }
        if (!pfc_.empty()) joined_.on_pfc = [this](const PfcEvent& event) { tell(pfc_, event); };
        if (!phase_.empty()) {
            joined_.on_phase = [this](const PhaseRecord& phase) { tell(phase_, phase); };
        }
    }
    Watchers(const Watchers&) = delete;
    Watchers& operator=(const Watchers&) = delete;

    RunHooks& joined() { return joined_; }
    void finished(const FlowRecord& flow) { tell(finish_, flow); }
    /// Every one is asked; false if one wants the run to end.
    bool progress(Tick now) {
        bool go_on = true;
        for (const auto& hook : progress_) go_on = hook(now) && go_on;
        return go_on;
    }

  private:
    template <typename Hooks, typename... Arguments>
    static void tell(const Hooks& hooks, const Arguments&... arguments) {
        for (const auto& hook : hooks) hook(arguments...);
    }

    void take_samples(const RunHooks& hooks) {
        if (joined_.on_sample) throw InternalError("two watchers of a run sample its queues");
        joined_.on_sample = hooks.on_sample;
        joined_.sample_every = hooks.sample_every;
        joined_.sample_from = hooks.sample_from;
        joined_.sample_to = hooks.sample_to;
    }

    RunHooks joined_;
    std::vector<std::function<void(const FlowRecord&)>> finish_;
    std::vector<std::function<void(const PfcEvent&)>> pfc_;
    std::vector<std::function<void(const PhaseRecord&)>> phase_;
    std::vector<std::function<bool(Tick)>> progress_;
};

}  // namespace

FinishedRun run_experiment(const Experiment& experiment, const RunPlan& plan) {
    FinishedRun done;
    // Other runs may be on other threads.
    const auto usage = plan.caller == Caller::loop ? thread_usage : resource_usage;
    const ResourceUsage unbuilt = usage();
    done.run = plan.maker ? plan.maker(experiment) : make_run(experiment, plan.mode, plan.caller);
    if (plan.on_built) plan.on_built(*done.run);
    Watchers watchers(plan.watchers);
    std::optional<StallGuard> stall;
    if (plan.give_up_stalled) stall.emplace(experiment);
    std::size_t finished = 0;
    RunHooks& hooks = watchers.joined();
    hooks.on_finish = [&](const FlowRecord& flow) {
        ++finished;
        if (stall) stall->finished(flow.result.finish);
        watchers.finished(flow);
    };
    hooks.on_progress = [&](Tick now) {
        const bool wanted = watchers.progress(now);
        bool& interrupted = done.outcome.interrupted;
        interrupted = interrupted || (plan.go_on && !plan.go_on({now, finished, *done.run}));
        const bool stalled = wanted && !interrupted && stall && stall->stalled(now, *done.run);
        done.outcome.stalled = done.outcome.stalled || stalled;
        return wanted && !interrupted && !stalled;
    };
    const ResourceUsage before = usage();
    done.run->run(hooks);
    const ResourceUsage after = usage();

    RunOutcome& outcome = done.outcome;
    if (!outcome.interrupted && !done.run->under_way().empty()) {
        outcome.paused_cycle = done.run->paused_cycle();
    }
    outcome.counters = done.run->counters();
    outcome.ports = done.run->port_statistics();
    outcome.simulated = done.run->now();
    outcome.elaboration_s = done.run->elaboration_seconds();
    outcome.elaboration_user_s = before.user_s - unbuilt.user_s;
    outcome.wall_s = after.wall_s - before.wall_s;
    outcome.user_s = after.user_s - before.user_s;
    return done;
}

}  // namespace sluice
