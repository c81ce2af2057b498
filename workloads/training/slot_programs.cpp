// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/slot_programs.h"

#include <algorithm>
#include <cmath>

namespace sluice {

namespace {

/// Deals a whole time to parts in proportion to their weights, so that they add up to it exactly.
class Dealer {
  public:
    Dealer(Tick total, double weights) : total_(total), weights_(weights) {}

    Tick next(double weight) {
        if (weights_ <= 0) return 0;
        sum_ += weight;
        const double share = sum_ / weights_;
        const Tick upto = share >= 1 ? total_ : std::llround(static_cast<double>(total_) * share);
        const Tick part = std::max<Tick>(0, upto - dealt_);
        dealt_ += part;
        return part;
    }

  private:
    Tick total_;
    double weights_;
    double sum_ = 0;
    Tick dealt_ = 0;
};

/// In forward seconds: what a slot computes of a layer.
struct Weights {
    double attention_again = 0;  ///< recomputed
    double mlp_again = 0;
    double attention = 0;
    double scores = 0;  ///< the part of `attention` that passes keys and values round
    double mlp = 0;
};

Weights weights_of(const LayerCosts& layer, SlotKind kind, Recomputation recompute) {
    Weights weights;
    const double matrices = layer.attention - layer.scores;
    switch (kind) {
        case SlotKind::forward: return {0, 0, layer.attention, layer.scores, layer.mlp};
        case SlotKind::backward_weight: return {0, 0, matrices, 0, layer.mlp};
        case SlotKind::backward:
            weights = {0, 0, 2 * layer.attention, 2 * layer.scores, 2 * layer.mlp};
            break;
        case SlotKind::backward_input:
            weights = {0, 0, matrices + 2 * layer.scores, 2 * layer.scores, layer.mlp};
            break;
    }
    if (recompute == Recomputation::selective) {
        weights.attention += layer.scores;
        weights.scores += layer.scores;
    }
    if (recompute == Recomputation::full) {
        weights.attention_again = layer.attention;
        weights.mlp_again = layer.mlp;
    }
    return weights;
}

/// The share of a slot's compute that is attention without weights. `head`: seconds of the stage's own, or 0.
double attention_share(const StageCosts& stage, SlotKind kind, Recomputation recompute,
                       double head) {
    double attention = 0;
    double sum = head;
    for (const LayerCosts& layer : stage.layers) {
        const Weights weights = weights_of(layer, kind, recompute);
        attention += weights.scores + (weights.attention_again > 0 ? layer.scores : 0);
        sum += weights.attention_again + weights.mlp_again + weights.attention + weights.mlp;
    }
    return sum > 0 ? attention / sum : 0;
}

double head_weight(double head, SlotKind kind) {
    return kind == SlotKind::backward ? 2 * head : head;
}

Tick total_time(const StageCosts& stage, SlotKind kind) {
    switch (kind) {
        case SlotKind::forward: return stage.forward;
        case SlotKind::backward: return stage.backward;
        case SlotKind::backward_input: return stage.backward - stage.weight;
        case SlotKind::backward_weight: return stage.weight;
    }
    return 0;
}

const char* slot_name(SlotKind kind) {
    switch (kind) {
        case SlotKind::forward: return "forward";
        case SlotKind::backward: return "backward";
        case SlotKind::backward_input: return "backward-input";
        case SlotKind::backward_weight: return "backward-weight";
    }
    return "";
}

/// Writes the steps of one layer after the other.
class LayerWriter {
  public:
    LayerWriter(const TrainingConfig& config, const StageCosts& stage, SlotKind kind, bool tensor)
        : config_(config),
          stage_(stage),
          kind_(kind),
          tensor_(tensor),
          dealer_(total_time(stage, kind), total_weight()) {}

    Program write() {
        const bool gathers = config_.zero == 3 && kind_ != SlotKind::backward_weight;
        const auto layers = static_cast<std::uint32_t>(stage_.layers.size());
        if (kind_ != SlotKind::forward) head();
        for (std::uint32_t i = 0; i < layers; ++i) {
            // The next layer's parameters are gathered while this one computes.
            if (gathers && i == 0) {
                add(StepKind::gather_parameters, layer_at(i), "gather").first = true;
            }
            if (gathers && i + 1 < layers) {
                add(StepKind::gather_parameters, layer_at(i + 1), "gather");
            }
            write_layer(layer_at(i));
        }
        if (kind_ == SlotKind::forward) head();
        return std::move(program_);
    }

  private:
    std::uint32_t layer_at(std::uint32_t i) const {
        const auto layers = static_cast<std::uint32_t>(stage_.layers.size());
        return kind_ == SlotKind::forward ? i : layers - 1 - i;
    }

    double total_weight() const {
        double sum = has_head() ? head_weight(stage_.head, kind_) : 0;
        for (const LayerCosts& layer : stage_.layers) {
            const Weights weights = weights_of(layer, kind_, config_.recompute);
            sum += weights.attention_again + weights.mlp_again + weights.attention + weights.mlp;
        }
        return sum;
    }

    /// Where stages are even the head is a part of every layer's time.
    bool has_head() const { return config_.split == StageSplit::layers && stage_.head > 0; }

    void head() {
        if (!has_head()) return;
        const Tick time = dealer_.next(head_weight(stage_.head, kind_));
        compute(0, kind_ == SlotKind::forward ? "head" : "head-grad", time);
    }

    void write_layer(std::uint32_t layer) {
        const Weights weights = weights_of(stage_.layers[layer], kind_, config_.recompute);
        needs_parameters_ = kind_ != SlotKind::backward_weight;
        if (kind_ == SlotKind::forward) {
            forward(layer, weights.attention, weights.scores, weights.mlp, true);
            return;
        }
        if (weights.attention_again > 0) {
            forward(layer, weights.attention_again, stage_.layers[layer].scores, weights.mlp_again,
                    false);
        }
        if (kind_ == SlotKind::backward_weight) {
            compute(layer, "mlp-weight", dealer_.next(weights.mlp), routed(layer));
            compute(layer, "attention-weight", dealer_.next(weights.attention));
        } else {
            backward(layer, weights);
        }
        if (kind_ != SlotKind::backward_input) add(StepKind::gradients_ready, layer, "gradients");
    }

    /// A block between its exchanges inside the tensor-parallel group.
    void enter(std::uint32_t layer, const char* name) {
        if (tensor_ && config_.sequence_parallel) add(StepKind::tensor_gather, layer, name);
    }
    void leave(std::uint32_t layer, const char* name) {
        if (tensor_) add(StepKind::tensor_reduce, layer, name);
    }

    void forward(std::uint32_t layer, double attention_weight, double scores, double mlp,
                 bool first) {
        const char* attention_name = first ? "attention" : "attention-again";
        const char* mlp_name = first ? "mlp" : "mlp-again";
        forward_ = true;
        enter(layer, first ? "attention-in" : "attention-in-again");
        attention(layer, attention_name, attention_weight, scores);
        leave(layer, first ? "attention-out" : "attention-out-again");
        if (exchanges(layer)) {
            if (config_.small_reductions) {
                add(StepKind::expert_counts, layer, first ? "counts" : "counts-again");
            }
            add(StepKind::to_experts, layer, first ? "dispatch" : "dispatch-again");
            expert(StepKind::expert_gather, layer, first ? "experts-in" : "experts-in-again");
            compute(layer, first ? "experts" : "experts-again", dealer_.next(mlp), routed(layer));
            expert(StepKind::expert_reduce, layer, first ? "experts-out" : "experts-out-again");
            add(StepKind::from_experts, layer, first ? "combine" : "combine-again");
        } else {
            enter(layer, first ? "mlp-in" : "mlp-in-again");
            compute(layer, mlp_name, dealer_.next(mlp), routed(layer));
            leave(layer, first ? "mlp-out" : "mlp-out-again");
        }
    }

    void backward(std::uint32_t layer, const Weights& weights) {
        forward_ = false;
        if (exchanges(layer)) {
            add(StepKind::to_experts, layer, "combine-grad");
            expert(StepKind::expert_gather, layer, "experts-grad-in");
            expert(StepKind::expert_gather, layer, "experts-again-in");
            compute(layer, "experts-grad", dealer_.next(weights.mlp), routed(layer));
            expert(StepKind::expert_reduce, layer, "experts-grad-out");
            add(StepKind::from_experts, layer, "dispatch-grad");
        } else {
            enter(layer, "mlp-grad-in");
            enter(layer, "mlp-again-in");
            compute(layer, "mlp-grad", dealer_.next(weights.mlp), routed(layer));
            leave(layer, "mlp-grad-out");
        }
        enter(layer, "attention-grad-in");
        enter(layer, "attention-again-in");
        attention(layer, "attention-grad", weights.attention, weights.scores);
        leave(layer, "attention-grad-out");
    }

    void attention(std::uint32_t layer, const char* name, double weight, double scores) {
        const Tick time = dealer_.next(weight);
        if (config_.cp == 1) {
            compute(layer, name, time).attention = weight > 0 ? scores / weight : 0;
            return;
        }
        Step& step = add(StepKind::attention_ring, layer, name);
        step.time = time;
        step.scores = weight > 0 ? std::llround(static_cast<double>(time) * scores / weight) : 0;
        mark_first(step);
    }

    bool exchanges(std::uint32_t layer) const {
        return config_.ep > 1 && stage_.layers[layer].mixture;
    }

    /// Experts see their whole tokens' width whatever sequence parallelism does elsewhere.
    void expert(StepKind kind, std::uint32_t layer, const char* name) {
        if (tensor_) add(kind, layer, name);
    }

    double routed(std::uint32_t layer) const {
        const LayerCosts& costs = stage_.layers[layer];
        return costs.mixture && costs.mlp > 0 ? costs.routed / costs.mlp : 0;
    }

    Step& compute(std::uint32_t layer, const char* name, Tick time, double routed = 0) {
        Step& step = add(StepKind::compute, layer, name);
        step.time = time;
        step.routed = routed;
        mark_first(step);
        return step;
    }

    void mark_first(Step& step) {
        step.first = needs_parameters_;
        needs_parameters_ = false;
    }

    Step& add(StepKind kind, std::uint32_t layer, const char* name) {
        Step step;
        step.kind = kind;
        step.layer = layer;
        step.name = name;
        step.forward = forward_;
        program_.push_back(step);
        return program_.back();
    }

    const TrainingConfig& config_;
    const StageCosts& stage_;
    SlotKind kind_;
    bool tensor_;
    Dealer dealer_;
    Program program_;
    bool needs_parameters_ = false;
    bool forward_ = true;
};

}  // namespace

SlotPrograms::SlotPrograms(const IterationPlan& plan)
    : plan_(plan), programs_(plan.costs.stages.size(), std::vector<Program>(4)) {}

const Program& SlotPrograms::of(std::uint32_t stage, SlotKind kind) {
    Program& made = programs_[stage][static_cast<std::size_t>(kind)];
    if (made.empty()) made = make(plan_.costs.stages[stage], kind);
    return made;
}

Program SlotPrograms::make(const StageCosts& stage, SlotKind kind) const {
    Program program = plan_.detail == TrainingDetail::stage ? stage_program(stage, kind)
                                                            : layer_program(stage, kind);
    const bool last = &stage == &plan_.costs.stages.back();
    if (plan_.config.small_reductions && last && kind == SlotKind::forward && plan_.config.tp > 1) {
        Step step;
        step.kind = StepKind::cross_entropy;
        // The largest logit, the sum of exponentials, the target's logit.
        for (const char* name : {"logits-max", "logits-sum", "logits-target"}) {
            step.name = name;
            program.push_back(step);
        }
    }
    return program;
}

Program SlotPrograms::stage_program(const StageCosts& stage, SlotKind kind) const {
    Program program(1);
    program.front().name = slot_name(kind);
    program.front().time = total_time(stage, kind);
    const bool own_head = plan_.config.split == StageSplit::layers;
    program.front().attention = attention_share(stage, kind, plan_.config.recompute,
                                                own_head ? head_weight(stage.head, kind) : 0);
    const Tick tensor = kind == SlotKind::forward           ? stage.forward_tensor
                        : kind == SlotKind::backward_weight ? 0
                                                            : stage.backward_tensor;
    if (tensor > 0) {
        Step step;
        step.kind = StepKind::tensor_time;
        step.name = "tensor-parallel";
        step.time = tensor;
        program.push_back(step);
    }
    if (const std::int64_t bytes = exchanged_bytes(stage, kind); bytes > 0) {
        Step step;
        step.kind = StepKind::all_experts;
        step.name = kind == SlotKind::forward ? "experts" : "experts-grad";
        step.bytes = bytes;
        program.push_back(step);
    }
    if (kind == SlotKind::backward || kind == SlotKind::backward_weight) {
        Step step;
        step.kind = StepKind::gradients_ready;
        program.push_back(step);
    }
    return program;
}

/// A rank's buffers in all exchanges with experts that layers show in this slot. None is in the
/// gradients of weights.
std::int64_t SlotPrograms::exchanged_bytes(const StageCosts& stage, SlotKind kind) const {
    if (plan_.config.ep == 1 || kind == SlotKind::backward_weight) return 0;
    const std::int64_t forward = plan_.costs.dispatch_bytes + plan_.costs.combine_bytes;
    std::int64_t layer = forward;
    if (kind != SlotKind::forward) {
        layer = 2 * plan_.costs.combine_bytes;
        if (plan_.config.recompute == Recomputation::full) layer += forward;
    }
    const auto mixtures = std::count_if(stage.layers.begin(), stage.layers.end(),
                                        [](const LayerCosts& costs) { return costs.mixture; });
    return layer * mixtures;
}

Program SlotPrograms::layer_program(const StageCosts& stage, SlotKind kind) const {
    const bool tensor =
        plan_.config.tp > 1 && (plan_.tensor_on_network || !plan_.costs.given_times);
    return LayerWriter(plan_.config, stage, kind, tensor).write();
}

}  // namespace sluice
