// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/sharded_layers.h"

#include <utility>

namespace sluice {

ShardedLayers::ShardedLayers(const IterationPlan& plan, JobGraph& graph,
                             const ComputeStreams& streams, LaneCollectives& collectives)
    : plan_(plan),
      graph_(graph),
      streams_(streams),
      collectives_(collectives),
      prefetch_(plan.groups.ranks(), kNone),
      gather_tail_(plan.groups.ranks(), kNone),
      scatter_tail_(plan.groups.ranks(), kNone) {}

void ShardedLayers::gather_parameters(SlotRun& run, const Step& step) {
    Frontier after(plan_.lanes);
    for (Lane lane = 0; lane < plan_.lanes; ++lane) {
        const RankId at = plan_.rank(run.device, lane);
        const OpId now = run.done[lane] != kNone ? run.done[lane] : streams_.last(at);
        after[lane] = join(graph_, at, step.first ? prefetch_[at] : now, gather_tail_[at]);
        prefetch_[at] = now;
    }
    std::swap(run.done, after);
    over_copies(run, step, CollectiveKind::all_gather, plan_.config.parameter_bytes);
    std::swap(run.done, after);
    for (Lane lane = 0; lane < plan_.lanes; ++lane) {
        gather_tail_[plan_.rank(run.device, lane)] = after[lane];
    }
    run.gathered[step.layer] = std::move(after);
}

void ShardedLayers::scatter_gradients(SlotRun& run, const Step& step) {
    Frontier after(plan_.lanes);
    for (Lane lane = 0; lane < plan_.lanes; ++lane) {
        const RankId at = plan_.rank(run.device, lane);
        after[lane] = join(graph_, at, run.done[lane], scatter_tail_[at]);
    }
    std::swap(run.done, after);
    over_copies(run, step, CollectiveKind::reduce_scatter, plan_.config.gradient_bytes);
    std::swap(run.done, after);
    for (Lane lane = 0; lane < plan_.lanes; ++lane) {
        scatter_tail_[plan_.rank(run.device, lane)] = after[lane];
    }
}

/// Dense parameters over all copies, then experts over theirs.
void ShardedLayers::over_copies(SlotRun& run, const Step& step, CollectiveKind kind,
                                std::int64_t value_bytes) {
    const StageCosts& stage = plan_.costs.stages[run.stage];
    CollectiveSpec spec;
    spec.cls = OpClass::dp;
    spec.name = step_name(plan_, run, step);
    spec.bytes = value_bytes * plan_.layer_share(stage.dense_parameters, run.stage, step.layer);
    if (spec.bytes > 0) collectives_.add_over(run, plan_.groups.replicas(), "dp", kind, spec);
    spec.name = "expert " + spec.name;
    spec.bytes = value_bytes * plan_.layer_share(stage.expert_parameters, run.stage, step.layer);
    if (spec.bytes > 0)
        collectives_.add_over(run, plan_.groups.expert_replicas(), "edp", kind, spec);
}

}  // namespace sluice
