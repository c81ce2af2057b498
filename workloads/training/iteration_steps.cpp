// SPDX-License-Identifier: Apache-2.0
/// Computing and the collectives of layers.
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/random.h"
#include "core/text/quantity.h"
#include "workloads/training/iteration_builder.h"

namespace sluice {

namespace {

bool is_expert(StepKind kind) {
    return kind == StepKind::expert_gather || kind == StepKind::expert_reduce;
}

bool is_gather(StepKind kind) {
    return kind == StepKind::tensor_gather || kind == StepKind::expert_gather;
}

constexpr std::uint64_t kComputeJitter = 0x636f6d70;  // a stream of draws of its own

/// exp(N(0, sigma)), by Box and Muller.
double log_normal(double sigma, std::uint64_t seed, RankId rank, std::uint64_t n) {
    const std::uint64_t stream = random_stream(kComputeJitter, rank);
    const double radius = std::sqrt(-2 * std::log(1 - uniform(seed, stream, 2 * n)));
    constexpr double kTurn = 6.283185307179586;
    return std::exp(sigma * radius * std::cos(kTurn * uniform(seed, stream, 2 * n + 1)));
}

}  // namespace

/// A slot that begins with communication keeps its place on the compute stream by an operation that
/// takes no time, which a boundary message releases.
void IterationBuilder::open_slot(SlotRun& run) {
    if (run.open) return;
    const char* name = run.slot.kind == SlotKind::forward ? "activation" : "gradient";
    const Label label = {graph_.intern(name + run.suffix), OpClass::compute, kNone};
    for (Lane lane = 0; lane < lanes_; ++lane) run.done[lane] = compute(run, lane, 0, label, 0);
    run.open = true;
}

Tick IterationBuilder::slowed(Tick time, double factor) {
    const double scaled = static_cast<double>(time) * factor;
    if (!(scaled < static_cast<double>(kNever))) {
        throw ConfigError("a slow rank would compute one micro-batch for longer than time lasts (" +
                          format_time(kNever) + "): check stragglers, expert_skew and the times");
    }
    return std::llround(scaled);
}

/// As long as the rank computes what would take others `time`.
Tick IterationBuilder::on_rank(RankId at, Tick time) {
    double factor = slowdown_[at];
    if (config_.compute_jitter > 0 && time > 0) {
        factor *= log_normal(config_.compute_jitter, config_.jitter_seed, at, drawn_[at]++);
    }
    return factor == 1.0 ? time : slowed(time, factor);
}

std::int64_t IterationBuilder::millionths(double slowdown) {
    return static_cast<std::int64_t>(slowdown * 1e6 + 0.5);
}

/// While its rank communicates; where it is not what most compute is.
void IterationBuilder::set_slowdown(OpId op, double slowdown) {
    if (slowdown != config_.overlap_slowdown.matrices) {
        graph_.set_overlap_slowdown(op, millionths(slowdown));
    }
}

/// `attention`: the share of it that has no weights. Consecutive operations of the stream need no dependency between
/// them.
OpId IterationBuilder::compute(SlotRun& run, Lane lane, Tick time, Label label, double attention) {
    const RankId at = rank(run.device, lane);
    const OpId op = graph_.add_compute(at, on_rank(at, time), label);
    const OverlapSlowdown& overlap = config_.overlap_slowdown;
    set_slowdown(op, overlap.matrices + attention * (overlap.attention - overlap.matrices));
    if (run.done[lane] != computed_[at]) graph_.add_dependency(op, run.done[lane]);
    computed_[at] = op;
    if (!run.open) {
        const bool forward = run.slot.kind == SlotKind::forward;
        OpId& first = first_[slot_index(at, forward, run.slot.chunk, run.slot.micro_batch)];
        if (run.slot.kind != SlotKind::backward_weight) first = op;
    }
    return op;
}

void IterationBuilder::add_compute(SlotRun& run, const Step& step) {
    const Label label = {graph_.intern(layer_name(run, step)), OpClass::compute, kNone};
    const bool loaded = step.routed > 0 && config_.expert_load.uneven();
    for (Lane lane = 0; lane < lanes_; ++lane) {
        const Tick time =
            loaded ? slowed(step.time, expert_slowdown(run.stage, step, lane)) : step.time;
        run.done[lane] = compute(run, lane, time, label, step.attention);
    }
    run.open = true;
    use_parameters(run, step);
}

/// Of the operations that the lanes have just added, where they are a layer's first.
void IterationBuilder::use_parameters(const SlotRun& run, const Step& step) {
    if (!step.first) return;
    if (config_.zero == 3) {
        for (Lane lane = 0; lane < lanes_; ++lane) {
            graph_.add_dependency(run.done[lane], run.gathered[step.layer][lane]);
        }
    }
    if (!run.first_forward || !config_.overlap_parameters) return;
    std::vector<Frontier>& uses = uses_[std::size_t{run.device} * chunks_ + run.slot.chunk];
    uses.resize(costs_.stages[run.stage].layers.size());
    uses[step.layer] = run.done;
}

void IterationBuilder::add_tensor_time(SlotRun& run, const Step& step) {
    const Label label = {graph_.intern(layer_name(run, step)), OpClass::tp, kNone};
    for (Lane lane = 0; lane < lanes_; ++lane) {
        const OpId op = graph_.add_delay(rank(run.device, lane), step.time, label);
        graph_.add_dependency(op, run.done[lane]);
        run.done[lane] = op;
    }
}

Members IterationBuilder::members_of(const SlotRun& run, const LaneGroup& group) const {
    Members members;
    members.ranks.reserve(group.size());
    members.after.reserve(group.size());
    for (const Lane lane : group) {
        members.ranks.push_back(rank(run.device, lane));
        members.after.push_back(run.done[lane]);
    }
    return members;
}

void IterationBuilder::take_over(SlotRun& run, const LaneGroup& group,
                                 const std::vector<OpId>& done) const {
    for (std::size_t i = 0; i < group.size(); ++i) run.done[group[i]] = done[i];
}

/// One collective in each of `groups`.
void IterationBuilder::add_over(SlotRun& run, const LaneGroups& groups, const char* group_name,
                                CollectiveKind kind, const CollectiveSpec& spec) {
    CollectiveSpec numbered = spec;
    const std::string prefix = "pp" + std::to_string(run.device) + "." + group_name;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        if (groups[g].size() == 1) continue;
        numbered.group = prefix + std::to_string(g);
        take_over(run, groups[g], library_.add(kind, numbered, members_of(run, groups[g])));
    }
}

void IterationBuilder::add_tensor(SlotRun& run, const Step& step) {
    open_slot(run);
    CollectiveSpec spec;
    spec.name = layer_name(run, step);
    spec.cls = OpClass::tp;
    if (step.kind == StepKind::expert_counts) {
        spec.cls = OpClass::ep;
        spec.bytes = costs_.expert_count_bytes;
        add_over(run, groups_.experts(), "ep", CollectiveKind::all_gather, spec);
        return;
    }
    if (step.kind == StepKind::cross_entropy) {
        spec.bytes = costs_.cross_entropy_bytes;
        add_over(run, groups_.tensor(), "tp", CollectiveKind::all_reduce, spec);
        return;
    }
    const bool expert = is_expert(step.kind);
    spec.bytes =
        expert ? costs_.expert_tensor_bytes * groups_.expert_tensor_degree() : costs_.tensor_bytes;
    const CollectiveKind reduce = config_.sequence_parallel || expert
                                      ? CollectiveKind::reduce_scatter
                                      : CollectiveKind::all_reduce;
    add_over(run, expert ? groups_.expert_tensor() : groups_.tensor(), expert ? "etp" : "tp",
             is_gather(step.kind) ? CollectiveKind::all_gather : reduce, spec);
}

/// Forward: projections, then attention to the own keys and values while they travel to the next
/// member, then to each block that arrives. Backward: attention first, while keys and values travel
/// again and their gradients follow, block by block; then the projections.
void IterationBuilder::add_attention_ring(SlotRun& run, const Step& step) {
    const Label label = {graph_.intern(layer_name(run, step)), OpClass::compute, kNone};
    const auto project = [&] {
        for (Lane lane = 0; lane < lanes_; ++lane) {
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
    const LaneGroups& groups = groups_.context();
    for (std::size_t g = 0; g < groups.size(); ++g) pass_blocks(run, step, groups[g], g);
    if (!step.forward) project();
}

void IterationBuilder::pass_blocks(SlotRun& run, const Step& step, const LaneGroup& group,
                                   std::size_t index) {
    const std::size_t n = group.size();
    const Label label = {graph_.intern(layer_name(run, step)), OpClass::compute, kNone};
    const std::string where =
        " layer" + std::to_string(costs_.stages[run.stage].range.first + step.layer) + run.suffix;
    CollectiveSpec spec;
    spec.name = (step.forward ? "keys-values" : "keys-values-again") + where;
    spec.group = "pp" + std::to_string(run.device) + ".cp" + std::to_string(index);
    spec.cls = OpClass::cp;
    spec.bytes = costs_.context_bytes;
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
            const RankId at = rank(run.device, group[i]);
            const RankId to = rank(run.device, group[next]);
            OpId& done = run.done[group[i]];
            done = block[i];
            if (passes) next_block[next] = hand_on(at, to, spec, block[i]);
            done = compute(run, group[i], time, label, 1);
            if (step.forward) continue;
            const OpId summed = join(at, done, gradient[i]);
            if (passes) {
                next_gradient[next] = hand_on(at, to, gradients, summed);
            } else {
                done = summed;
            }
        }
        block = std::move(next_block);
        gradient = std::move(next_gradient);
    }
}

OpId IterationBuilder::hand_on(RankId from, RankId to, const CollectiveSpec& spec, OpId after) {
    return library_.add_point_to_point(spec, from, to, after).to;
}

/// ZeRO-3: a layer's parameters are gathered while the layer before it computes, a slot's first ones
/// right after the last ones of the slot before; one gathering after the other.
void IterationBuilder::gather_parameters(SlotRun& run, const Step& step) {
    Frontier after(lanes_);
    for (Lane lane = 0; lane < lanes_; ++lane) {
        const RankId at = rank(run.device, lane);
        const OpId now = run.done[lane] != kNone ? run.done[lane] : computed_[at];
        after[lane] = join(at, step.first ? prefetch_[at] : now, gather_tail_[at]);
        prefetch_[at] = now;
    }
    std::swap(run.done, after);
    over_layer_parameters(run, step, CollectiveKind::all_gather, config_.parameter_bytes);
    std::swap(run.done, after);
    for (Lane lane = 0; lane < lanes_; ++lane) {
        gather_tail_[rank(run.device, lane)] = after[lane];
    }
    run.gathered[step.layer] = std::move(after);
}

/// ZeRO-3: a layer's gradients, after each of its backward passes, beside what follows.
void IterationBuilder::scatter_gradients(SlotRun& run, const Step& step) {
    Frontier after(lanes_);
    for (Lane lane = 0; lane < lanes_; ++lane) {
        const RankId at = rank(run.device, lane);
        after[lane] = join(at, run.done[lane], reduce_tail_[at]);
    }
    std::swap(run.done, after);
    over_layer_parameters(run, step, CollectiveKind::reduce_scatter, config_.gradient_bytes);
    std::swap(run.done, after);
    for (Lane lane = 0; lane < lanes_; ++lane) {
        reduce_tail_[rank(run.device, lane)] = after[lane];
    }
}

/// Dense parameters over all copies, then experts over theirs.
void IterationBuilder::over_layer_parameters(SlotRun& run, const Step& step, CollectiveKind kind,
                                             std::int64_t value_bytes) {
    const StageCosts& stage = costs_.stages[run.stage];
    CollectiveSpec spec;
    spec.cls = OpClass::dp;
    spec.name = layer_name(run, step);
    spec.bytes = value_bytes * layer_share(stage.dense_parameters, run.stage, step.layer);
    if (spec.bytes > 0) add_over(run, groups_.replicas(), "dp", kind, spec);
    spec.name = "expert " + spec.name;
    spec.bytes = value_bytes * layer_share(stage.expert_parameters, run.stage, step.layer);
    if (spec.bytes > 0) add_over(run, groups_.expert_replicas(), "edp", kind, spec);
}

void IterationBuilder::gradients_ready(SlotRun& run, const Step& step) {
    if (!config_.overlap_gradients || !run.last_gradients) return;
    std::vector<Frontier>& ready = ready_[std::size_t{run.device} * chunks_ + run.slot.chunk];
    ready.resize(costs_.stages[run.stage].layers.size());
    ready[step.layer] = run.done;
}

}  // namespace sluice
