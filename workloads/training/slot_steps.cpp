// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/slot_steps.h"

#include <utility>

namespace sluice {

namespace {

bool is_expert(StepKind kind) {
    return kind == StepKind::expert_gather || kind == StepKind::expert_reduce;
}

bool is_gather(StepKind kind) {
    return kind == StepKind::tensor_gather || kind == StepKind::expert_gather;
}

}  // namespace

SlotSteps::SlotSteps(const IterationPlan& plan, JobGraph& graph, CollectiveLibrary& library,
                     ComputeStreams& streams, PipelineBoundaries& boundaries,
                     GradientUpdate& update)
    : plan_(plan),
      graph_(graph),
      streams_(streams),
      boundaries_(boundaries),
      update_(update),
      collectives_(plan, library),
      experts_(plan, collectives_),
      sharded_(plan, graph, streams, collectives_) {}

void SlotSteps::add(SlotRun& run, const Step& step) {
    switch (step.kind) {
        case StepKind::compute: add_compute(run, step); break;
        case StepKind::tensor_time: add_tensor_time(run, step); break;
        case StepKind::tensor_gather:
        case StepKind::tensor_reduce:
        case StepKind::expert_gather:
        case StepKind::expert_reduce:
        case StepKind::expert_counts:
        case StepKind::cross_entropy: add_tensor(run, step); break;
        case StepKind::attention_ring: add_attention_ring(run, step); break;
        case StepKind::to_experts:
        case StepKind::from_experts:
            open_slot(run);
            experts_.add(run, step);
            break;
        case StepKind::all_experts: experts_.add_all(run, step); break;
        case StepKind::gather_parameters: sharded_.gather_parameters(run, step); break;
        case StepKind::gradients_ready:
            if (plan_.config.zero == 3) sharded_.scatter_gradients(run, step);
            update_.gradients_ready(run, step.layer);
            break;
    }
}

/// A slot that begins with communication keeps its place on the compute stream by an operation that
/// takes no time, which a boundary message releases.
void SlotSteps::open_slot(SlotRun& run) {
    if (run.open) return;
    const char* name = run.slot.kind == SlotKind::forward ? "activation" : "gradient";
    const Label label = {graph_.intern(name + run.suffix), OpClass::compute, kNone};
    for (Lane lane = 0; lane < plan_.lanes; ++lane)
        run.done[lane] = compute(run, lane, 0, label, 0);
    run.open = true;
}

/// Consecutive operations of the stream need no dependency between them.
OpId SlotSteps::compute(SlotRun& run, Lane lane, Tick time, Label label, double attention) {
    const RankId at = plan_.rank(run.device, lane);
    const OverlapSlowdown& overlap = plan_.config.overlap_slowdown;
    const OpId before = streams_.last(at);
    const OpId op = streams_.add(
        at, time, label, overlap.matrices + attention * (overlap.attention - overlap.matrices));
    if (run.done[lane] != before) graph_.add_dependency(op, run.done[lane]);
    if (!run.open) boundaries_.begins(at, run.slot, op);
    return op;
}

void SlotSteps::add_compute(SlotRun& run, const Step& step) {
    const Label label = {graph_.intern(step_name(plan_, run, step)), OpClass::compute, kNone};
    const bool loaded = step.routed > 0 && plan_.config.expert_load.uneven();
    for (Lane lane = 0; lane < plan_.lanes; ++lane) {
        const Tick time =
            loaded ? slowed(step.time, experts_.slowdown(run.stage, step, lane)) : step.time;
        run.done[lane] = compute(run, lane, time, label, step.attention);
    }
    run.open = true;
    use_parameters(run, step);
}

/// Of the operations that the lanes have just added, where they are a layer's first.
void SlotSteps::use_parameters(const SlotRun& run, const Step& step) {
    if (!step.first) return;
    if (plan_.config.zero == 3) {
        for (Lane lane = 0; lane < plan_.lanes; ++lane) {
            graph_.add_dependency(run.done[lane], run.gathered[step.layer][lane]);
        }
    }
    update_.use_parameters(run, step.layer);
}

void SlotSteps::add_tensor_time(SlotRun& run, const Step& step) {
    const Label label = {graph_.intern(step_name(plan_, run, step)), OpClass::tp, kNone};
    for (Lane lane = 0; lane < plan_.lanes; ++lane) {
        const OpId op = graph_.add_delay(plan_.rank(run.device, lane), step.time, label);
        graph_.add_dependency(op, run.done[lane]);
        run.done[lane] = op;
    }
}

void SlotSteps::add_tensor(SlotRun& run, const Step& step) {
    open_slot(run);
    CollectiveSpec spec;
    spec.name = step_name(plan_, run, step);
    spec.cls = OpClass::tp;
    if (step.kind == StepKind::expert_counts) {
        spec.cls = OpClass::ep;
        spec.bytes = plan_.costs.expert_count_bytes;
        collectives_.add_over(run, plan_.groups.experts(), "ep", CollectiveKind::all_gather, spec);
        return;
    }
    if (step.kind == StepKind::cross_entropy) {
        spec.bytes = plan_.costs.cross_entropy_bytes;
        collectives_.add_over(run, plan_.groups.tensor(), "tp", CollectiveKind::all_reduce, spec);
        return;
    }
    const bool expert = is_expert(step.kind);
    spec.bytes = expert ? plan_.costs.expert_tensor_bytes * plan_.groups.expert_tensor_degree()
                        : plan_.costs.tensor_bytes;
    const CollectiveKind reduce = plan_.config.sequence_parallel || expert
                                      ? CollectiveKind::reduce_scatter
                                      : CollectiveKind::all_reduce;
    collectives_.add_over(run, expert ? plan_.groups.expert_tensor() : plan_.groups.tensor(),
                          expert ? "etp" : "tp",
                          is_gather(step.kind) ? CollectiveKind::all_gather : reduce, spec);
}

/// Forward: projections, then attention to the own keys and values while they travel to the next
/// member, then to each block that arrives. Backward: attention first, while keys and values travel
/// again and their gradients follow, block by block; then the projections.
void SlotSteps::add_attention_ring(SlotRun& run, const Step& step) {
    const Label label = {graph_.intern(step_name(plan_, run, step)), OpClass::compute, kNone};
    const auto project = [&] {
        for (Lane lane = 0; lane < plan_.lanes; ++lane) {
            run.done[lane] = compute(run, lane, step.time - step.scores, label, 0);
        }
        run.open = true;
    };
    if (step.forward) {
        project();
        use_parameters(run, step);
    } else {
        open_slot(run);
    }
    const LaneGroups& groups = plan_.groups.context();
    for (std::size_t g = 0; g < groups.size(); ++g) pass_blocks(run, step, groups[g], g);
    if (!step.forward) project();
}

void SlotSteps::pass_blocks(SlotRun& run, const Step& step, const LaneGroup& group,
                            std::size_t index) {
    const std::size_t n = group.size();
    const Label label = {graph_.intern(step_name(plan_, run, step)), OpClass::compute, kNone};
    const std::string where =
        " layer" + std::to_string(plan_.layer_number(run.stage, step.layer)) + run.suffix;
    CollectiveSpec spec;
    spec.name = (step.forward ? "keys-values" : "keys-values-again") + where;
    spec.group = "pp" + std::to_string(run.device) + ".cp" + std::to_string(index);
    spec.cls = OpClass::cp;
    spec.bytes = plan_.costs.context_bytes;
    CollectiveSpec gradients = spec;
    gradients.name = "keys-values-grad" + where;
    const auto parts = static_cast<Tick>(n);

    std::vector<OpId> block(n);            // what brought the block that a member attends to
    std::vector<OpId> gradient(n, kNone);  // what brought the gradients summed so far
    for (std::size_t i = 0; i < n; ++i) block[i] = run.done[group[i]];
    for (Tick turn = 0; turn < parts; ++turn) {
        const bool passes = turn + 1 < parts;
        const Tick time = step.scores / parts + (turn < step.scores % parts ? 1 : 0);
        std::vector<OpId> next_block(n, kNone);
        std::vector<OpId> next_gradient(n, kNone);
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t next = (i + 1) % n;
            const RankId at = plan_.rank(run.device, group[i]);
            const RankId to = plan_.rank(run.device, group[next]);
            OpId& done = run.done[group[i]];
            done = block[i];
            if (passes) next_block[next] = collectives_.send(at, to, spec, block[i]);
            done = compute(run, group[i], time, label, 1);
            if (step.forward) continue;
            const OpId summed = join(graph_, at, done, gradient[i]);
            if (passes) {
                next_gradient[next] = collectives_.send(at, to, gradients, summed);
            } else {
                done = summed;
            }
        }
        block = std::move(next_block);
        gradient = std::move(next_gradient);
    }
}

}  // namespace sluice
