// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/slot_run.h"

namespace sluice {

std::string step_name(const IterationPlan& plan, const SlotRun& run, const Step& step) {
    if (plan.detail == TrainingDetail::stage) return step.name + run.suffix;
    return std::string(step.name) + " layer" +
           std::to_string(plan.layer_number(run.stage, step.layer)) + run.suffix;
}

OpId join(JobGraph& graph, RankId rank, OpId a, OpId b) {
    if (a == kNone || a == b) return b;
    if (b == kNone) return a;
    const OpId both = graph.add_delay(rank, 0, {graph.intern("join"), OpClass::other, kNone});
    graph.add_dependency(both, a);
    graph.add_dependency(both, b);
    return both;
}

}  // namespace sluice
