// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/training_costs.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "workloads/model/roofline.h"

namespace sluice {

namespace {

Tick to_ticks(double seconds, const char* what) {
    const double ticks = seconds * static_cast<double>(kSecond);
    if (!(ticks <= static_cast<double>(kLongest))) {
        throw ConfigError(std::string(what) +
                          " of one micro-batch lasts longer than a day: check peak_flops, "
                          "efficiency, sequence and micro_batch");
    }
    return std::llround(ticks);
}

/// value x part / whole without overflow, rounded down.
Tick share_of(Tick value, std::int64_t part, std::int64_t whole) {
    return value / whole * part + value % whole * part / whole;
}

/// Seconds of parts of a layer by the configuration's source.
class ComputeTimes {
  public:
    explicit ComputeTimes(const TrainingConfig& config) : config_(config) {
        roofline_.flops_per_second = config.peak_flops * config.efficiency;
        if (config.source == ComputeSource::roofline) {
            roofline_.bytes_per_second = config.memory_bytes_per_second;
        }
        pass_.sequences = config.micro_batch;
        pass_.tokens = config.sequence / config.cp;
        pass_.context = config.sequence;
        pass_.tp = config.tp;
        pass_.ep = config.ep;
        pass_.value_bytes = config.activation_bytes;
    }

    LayerCosts layer(std::int64_t number) const {
        const LayerWork work = forward_work(config_.model, number, pass_);
        LayerCosts costs;
        costs.mixture = is_mixture_layer(config_.model, number);
        costs.scores = seconds(work.scores);
        if (config_.source == ComputeSource::profile) {
            costs.attention = to_seconds(config_.profile_attention);
            costs.mlp = to_seconds(config_.profile_mlp);
            costs.scores = std::min(costs.scores, costs.attention);
            const double experts = seconds(work.experts);
            const double all = seconds(work.mlp) + seconds(work.shared) + experts;
            costs.routed = all > 0 ? costs.mlp * experts / all : 0;
            return costs;
        }
        costs.attention = seconds(work.projections) + costs.scores + seconds(work.router);
        if (config_.source == ComputeSource::flops) {
            set_mlp_by_weights(number, costs);
            return costs;
        }
        costs.routed = seconds(work.experts);
        costs.mlp = seconds(work.mlp) + seconds(work.shared) + costs.routed;
        const double norms = seconds(work.norms);
        costs.attention += norms / 2;
        costs.mlp += norms / 2;
        return costs;
    }

    double head() const {
        if (config_.source == ComputeSource::profile) return to_seconds(config_.profile_head);
        if (config_.source == ComputeSource::roofline) {
            return seconds(head_work(config_.model, pass_));
        }
        const double flops =
            forward_flops(config_.model, config_.micro_batch, config_.sequence).head;
        return flops / (config_.tp * config_.cp) / roofline_.flops_per_second;
    }

  private:
    /// 2 FLOPs per weight and token, nothing for activation functions.
    void set_mlp_by_weights(std::int64_t number, LayerCosts& costs) const {
        ModelShape model = config_.model;
        model.biases = false;
        const LayerParameters layer = layer_parameters(model, number);
        const double tokens =
            static_cast<double>(pass_.sequences) * static_cast<double>(pass_.tokens);
        const auto time = [&](std::int64_t weights) {
            return 2 * tokens * static_cast<double>(weights) / config_.tp /
                   roofline_.flops_per_second;
        };
        costs.routed = costs.mixture ? time(model.top_k * layer.expert) : 0;
        costs.mlp = costs.routed + time(layer.mlp + layer.shared);
    }

    double seconds(const Work& work) const {
        double time = work.flops / roofline_.flops_per_second;
        if (roofline_.bytes_per_second > 0) {
            time = std::max(time, work.bytes / roofline_.bytes_per_second);
        }
        return time;
    }

    const TrainingConfig& config_;
    Roofline roofline_;
    Pass pass_;
};

/// Of a whole micro-batch through one stage: the sums of its layers.
struct StageSeconds {
    double forward = 0;
    double scores = 0;
};

StageSeconds sum(const StageCosts& stage) {
    StageSeconds seconds;
    for (const LayerCosts& layer : stage.layers) {
        seconds.forward += layer.attention + layer.mlp;
        seconds.scores += layer.scores;
    }
    seconds.forward += stage.head;
    return seconds;
}

void set_times(const TrainingConfig& config, StageCosts& stage) {
    const StageSeconds seconds = sum(stage);
    const double weight = seconds.forward - seconds.scores;
    double again = 0;
    if (config.recompute == Recomputation::selective) again = seconds.scores;
    if (config.recompute == Recomputation::full) again = seconds.forward - stage.head;
    const double backward = 2 * seconds.forward + again;
    const std::int64_t layers = stage.range.count * config.pp;
    stage.forward = config.forward_time >= 0
                        ? share_of(config.forward_time, layers, config.model.layers)
                        : to_ticks(seconds.forward, "the forward pass");
    stage.backward = config.backward_time >= 0
                         ? share_of(config.backward_time, layers, config.model.layers)
                         : to_ticks(backward, "the backward pass");
    stage.weight = config.weight_time >= 0
                       ? share_of(config.weight_time, layers, config.model.layers)
                       : std::llround(static_cast<double>(stage.backward) * weight / backward);
}

/// Tensor parallelism around one block of a layer.
struct BlockTimes {
    Tick gather = 0;
    Tick reduce = 0;
};

/// Inside an expert of another rank its own group shares whole tokens, whatever sequence parallelism
/// does elsewhere.
BlockTimes expert_block_times(const TrainingConfig& config, const IntraNode& model,
                              std::int64_t part_bytes) {
    const std::uint32_t degree = expert_tensor_degree(config);
    if (degree == 1) return {};
    const auto time = [&](CollectiveKind kind) {
        return model.time(kind, degree, part_bytes * degree);
    };
    return {time(CollectiveKind::all_gather), time(CollectiveKind::reduce_scatter)};
}

/// Around attention and around the MLP, forward: an all-gather and a reduce-scatter, without
/// sequence parallelism an all-reduce. Backward the same, and with sequence parallelism each
/// block's input is gathered again.
void set_tensor_times(const TrainingConfig& config, const TrainingCosts& costs, StageCosts& stage) {
    if (config.tp == 1) return;
    const IntraNode model = intra_node_of(config);
    const auto time = [&](CollectiveKind kind) {
        return model.time(kind, config.tp, costs.tensor_bytes);
    };
    const BlockTimes dense = {config.sequence_parallel ? time(CollectiveKind::all_gather) : 0,
                              time(config.sequence_parallel ? CollectiveKind::reduce_scatter
                                                            : CollectiveKind::all_reduce)};
    const BlockTimes expert = expert_block_times(config, model, costs.expert_tensor_bytes);
    Tick forward = 0;
    Tick backward = 0;
    for (const LayerCosts& layer : stage.layers) {
        for (const BlockTimes& block : {dense, layer.mixture && config.ep > 1 ? expert : dense}) {
            forward += block.gather + block.reduce;
            backward += 2 * block.gather + block.reduce;
        }
    }
    if (config.recompute == Recomputation::full) backward += forward;
    if (config.forward_time < 0) stage.forward_tensor = forward;
    if (config.backward_time < 0) stage.backward_tensor = backward;
}

std::vector<LayerRange> ranges_of(const TrainingConfig& config) {
    std::vector<LayerRange> ranges = split_layers(config.model, stage_count(config.pipeline()));
    std::int64_t first = 0;
    for (std::size_t stage = 0; stage < config.layers_per_stage.size(); ++stage) {
        ranges[stage].first = first;
        ranges[stage].count = config.layers_per_stage[stage];
        first += ranges[stage].count;
    }
    return ranges;
}

void set_parameters(const TrainingConfig& config, std::uint32_t stages, StageCosts& stage) {
    // Where the expert group is larger than the copies, its tp indices share a layer's experts.
    const std::uint32_t copies = std::min(config.ep, config.cp * config.dp);
    const RankParameters parameters =
        config.split == StageSplit::layers
            ? rank_parameters(config.model, stage.range, config.tp, copies)
            : even_parameters(config.model, config.tp, stages, copies);
    stage.dense_parameters = parameters.dense;
    stage.expert_parameters = parameters.experts;
}

}  // namespace

MessageShape message_shape(const TrainingConfig& config) {
    MessageShape shape;
    shape.sequences = config.micro_batch;
    shape.tokens = config.sequence;
    shape.tp = config.tp;
    shape.cp = config.cp;
    shape.ep = config.ep;
    shape.sequence_parallel = config.sequence_parallel;
    shape.activation_bytes = config.activation_bytes;
    shape.gradient_bytes = config.gradient_bytes;
    shape.parameter_bytes = config.parameter_bytes;
    shape.dispatch_factor = config.dispatch_factor;
    return shape;
}

IntraNode intra_node_of(const TrainingConfig& config) {
    if (config.calibrated) return config.intra_node;
    std::vector<IntraNode::Calibration> calibrations;
    for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind) {
        calibrations.push_back(
            {static_cast<CollectiveKind>(kind),
             2,
             {config.nvlink_latency, static_cast<double>(config.nvlink_bytes_per_second)}});
    }
    return IntraNode(std::move(calibrations));
}

TrainingCosts training_costs(const TrainingConfig& config) {
    TrainingCosts costs;
    const ModelShape& model = config.model;
    const MessageShape shape = message_shape(config);
    costs.given_times = config.forward_time >= 0 && config.backward_time >= 0;
    costs.boundary_bytes = pipeline_bytes(model, shape);
    costs.tensor_bytes = tensor_parallel_bytes(model, shape);
    if (config.ep > 1) {
        costs.dispatch_bytes = dispatch_bytes(model, shape);
        costs.combine_bytes = combine_bytes(model, shape);
    }
    costs.expert_tensor_bytes = combine_bytes(model, shape);
    costs.context_bytes = context_block_bytes(model, shape);
    costs.expert_count_bytes = router_count_bytes(model, shape);
    costs.cross_entropy_bytes = cross_entropy_bytes(shape);
    costs.tied_embedding_bytes = tied_embedding_bytes(model, shape);

    const ComputeTimes times(config);
    const std::vector<LayerRange> ranges = ranges_of(config);
    const auto stages = static_cast<std::uint32_t>(ranges.size());
    for (const LayerRange& range : ranges) {
        StageCosts stage;
        stage.range = range;
        for (std::int64_t i = 0; i < range.count; ++i) {
            stage.layers.push_back(times.layer(range.first + i));
        }
        if (config.split == StageSplit::even) stage.head = times.head() / stages;
        if (config.split == StageSplit::layers && range.head) stage.head = times.head();
        set_times(config, stage);
        set_tensor_times(config, costs, stage);
        set_parameters(config, stages, stage);
        costs.stages.push_back(std::move(stage));
    }
    return costs;
}

}  // namespace sluice
