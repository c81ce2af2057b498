// SPDX-License-Identifier: Apache-2.0
/// Reduction of gradients, update, gathering of parameters. A rank's reductions follow one another
/// in one order, as on one communication stream; so do its gatherings.
#include <algorithm>
#include <cmath>

#include "workloads/training/iteration_builder.h"

namespace sluice {

namespace {

/// Part `index` of `total` in `parts` that differ by at most one.
std::int64_t part_of(std::int64_t total, std::int64_t parts, std::int64_t index) {
    return total / parts + (index < total % parts ? 1 : 0);
}

}  // namespace

/// Devices that hold the same stages one after the other, unless all ranks meet in between.
void IterationBuilder::update() {
    const std::vector<DeviceSet> sets = device_sets();
    if (!config_.tied_embeddings && !config_.small_reductions) {
        for (const DeviceSet& devices : sets) {
            reduce_gradients(devices);
            finish_update(devices);
        }
        return;
    }
    for (const DeviceSet& devices : sets) reduce_gradients(devices);
    if (config_.tied_embeddings) sum_tied_embeddings();
    if (config_.small_reductions) sum_small();
    for (const DeviceSet& devices : sets) finish_update(devices);
}

void IterationBuilder::finish_update(const DeviceSet& devices) {
    if (config_.optimizer_time > 0) {
        const Label label = {graph_.intern("optimizer"), OpClass::compute, kNone};
        for (const std::uint32_t device : devices) {
            for (Lane lane = 0; lane < lanes_; ++lane) {
                const RankId at = rank(device, lane);
                const Tick time = on_rank(at, config_.optimizer_time);
                const OpId op = graph_.add_compute(at, time, label);
                set_slowdown(op, config_.overlap_slowdown.memory);
                graph_.add_dependency(op, reduce_tail_[at]);
                reduce_tail_[at] = op;
            }
        }
    }
    if (config_.zero == 0 || config_.zero == 3) return;
    if (config_.overlap_parameters) {
        gather_before_forward(devices);
    } else {
        gather_after_update(devices);
    }
}

/// What completes the rank's last slot.
OpId IterationBuilder::final_of(RankId at) const {
    return previous_[at] == kNone ? computed_[at] : previous_[at];
}

std::vector<IterationBuilder::DeviceSet> IterationBuilder::device_sets() const {
    std::vector<DeviceSet> sets;
    const bool mirrored = config_.schedule == PipelineSchedule::dualpipe;
    for (std::uint32_t device = 0; device < (mirrored ? config_.pp / 2 : config_.pp); ++device) {
        sets.push_back({device});
        if (mirrored) sets.back().push_back(config_.pp - 1 - device);
    }
    return sets;
}

std::uint32_t IterationBuilder::chunk_on(std::uint32_t device, std::uint32_t stage) const {
    for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk) {
        if (stage_of(pipeline_, device, chunk) == stage) return chunk;
    }
    return 0;
}

std::int64_t IterationBuilder::layer_share(std::int64_t parameters, std::uint32_t stage,
                                           std::uint32_t layer) const {
    const auto layers = static_cast<std::int64_t>(costs_.stages[stage].layers.size());
    return part_of(parameters, layers, layer);
}

/// All parameters of a device, in pieces of at most bucket_bytes, ready together.
std::vector<IterationBuilder::Bucket> IterationBuilder::whole_buckets(
    std::uint32_t device, std::int64_t value_bytes) const {
    Bucket all;
    for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk) {
        const StageCosts& stage = costs_.stages[stage_of(pipeline_, device, chunk)];
        all.dense += stage.dense_parameters;
        all.expert += stage.expert_parameters;
    }
    std::int64_t count = 1;
    if (config_.bucket_bytes > 0) {
        const std::int64_t bytes = (all.dense + all.expert) * value_bytes;
        count =
            std::max<std::int64_t>(1, (bytes + config_.bucket_bytes - 1) / config_.bucket_bytes);
    }
    std::vector<Bucket> buckets;
    for (std::int64_t i = 0; i < count; ++i) {
        Bucket bucket;
        bucket.dense = part_of(all.dense, count, i);
        bucket.expert = part_of(all.expert, count, i);
        buckets.push_back(bucket);
    }
    return buckets;
}

/// Of one stage, in the order in which its layers are computed: a bucket is closed by the layer that
/// fills it. 0 bytes: one bucket for the stage.
std::vector<IterationBuilder::Bucket> IterationBuilder::layer_buckets(
    std::uint32_t stage, bool forward, std::int64_t value_bytes) const {
    const StageCosts& costs = costs_.stages[stage];
    const auto layers = static_cast<std::uint32_t>(costs.layers.size());
    std::vector<Bucket> buckets;
    Bucket bucket;
    bucket.stage = stage;
    for (std::uint32_t i = 0; i < layers; ++i) {
        const std::uint32_t layer = forward ? i : layers - 1 - i;
        bucket.dense += layer_share(costs.dense_parameters, stage, layer);
        bucket.expert += layer_share(costs.expert_parameters, stage, layer);
        bucket.layers.push_back(layer);
        const std::int64_t bytes = (bucket.dense + bucket.expert) * value_bytes;
        const bool full = config_.bucket_bytes > 0 && bytes >= config_.bucket_bytes;
        if (!full && i + 1 < layers) continue;
        buckets.push_back(bucket);
        bucket = Bucket{};
        bucket.stage = stage;
    }
    return buckets;
}

/// After it reduce_tail_ is complete when a rank has nothing left to compute or to reduce.
void IterationBuilder::reduce_gradients(const DeviceSet& devices) {
    const CollectiveKind kind =
        config_.zero == 0 ? CollectiveKind::all_reduce : CollectiveKind::reduce_scatter;
    if (config_.zero < 3 && config_.overlap_gradients) reduce_as_made(devices, kind);
    for (const std::uint32_t device : devices) {
        for (Lane lane = 0; lane < lanes_; ++lane) {
            OpId& tail = reduce_tail_[rank(device, lane)];
            tail = join(rank(device, lane), tail, final_of(rank(device, lane)));
        }
    }
    if (config_.zero < 3 && !config_.overlap_gradients) {
        over_copies(devices, whole_buckets(devices[0], config_.gradient_bytes), kind);
    }
}

void IterationBuilder::reduce_as_made(const DeviceSet& devices, CollectiveKind kind) {
    for (const std::uint32_t stage : gradient_order_[devices[0]]) {
        for (const Bucket& bucket : layer_buckets(stage, false, config_.gradient_bytes)) {
            for (const std::uint32_t device : devices) {
                const std::size_t place = std::size_t{device} * chunks_ + chunk_on(device, stage);
                const Frontier& made = ready_[place][bucket.layers.back()];
                for (Lane lane = 0; lane < lanes_; ++lane) {
                    OpId& tail = reduce_tail_[rank(device, lane)];
                    tail = join(rank(device, lane), tail, made[lane]);
                }
            }
            over_copies(devices, {bucket}, kind);
        }
    }
}

void IterationBuilder::gather_after_update(const DeviceSet& devices) {
    over_copies(devices, whole_buckets(devices[0], config_.gradient_bytes),
                CollectiveKind::all_gather);
}

/// The update's parameters are gathered at the beginning of the next iteration, i.e. of this one:
/// buckets in the order of the first forward passes, each before the first layer that uses it.
void IterationBuilder::gather_before_forward(const DeviceSet& devices) {
    std::vector<OpId> updated = reduce_tail_;
    for (const std::uint32_t device : devices) {
        for (Lane lane = 0; lane < lanes_; ++lane) reduce_tail_[rank(device, lane)] = kNone;
    }
    for (const std::uint32_t stage : forward_order_[devices[0]]) {
        for (const Bucket& bucket : layer_buckets(stage, true, config_.gradient_bytes)) {
            over_copies(devices, {bucket}, CollectiveKind::all_gather);
            for (const std::uint32_t device : devices) {
                const std::size_t place = std::size_t{device} * chunks_ + chunk_on(device, stage);
                const Frontier& users = uses_[place][bucket.layers.front()];
                for (Lane lane = 0; lane < lanes_; ++lane) {
                    graph_.add_dependency(users[lane], reduce_tail_[rank(device, lane)]);
                }
            }
        }
    }
    for (const std::uint32_t device : devices) {
        for (Lane lane = 0; lane < lanes_; ++lane) {
            reduce_tail_[rank(device, lane)] = updated[rank(device, lane)];
        }
    }
}

/// All dense parts first, then those of experts, each after the one before.
void IterationBuilder::over_copies(const DeviceSet& devices, const std::vector<Bucket>& buckets,
                                   CollectiveKind kind) {
    const std::int64_t value =
        kind == CollectiveKind::all_gather ? config_.parameter_bytes : config_.gradient_bytes;
    for (const Bucket& bucket : buckets) {
        over_groups(devices, groups_.replicas(), "", kind, bucket.dense * value);
    }
    for (const Bucket& bucket : buckets) {
        over_groups(devices, groups_.expert_replicas(), "expert ", kind, bucket.expert * value);
    }
}

void IterationBuilder::over_groups(const DeviceSet& devices, const LaneGroups& groups,
                                   const char* prefix, CollectiveKind kind, std::int64_t bytes) {
    if (bytes == 0) return;
    CollectiveSpec spec;
    spec.name = std::string(prefix) + to_string(kind);
    spec.cls = OpClass::dp;
    spec.bytes = bytes;
    for (const LaneGroup& group : groups) {
        if (group.size() * devices.size() == 1) continue;
        Members members;
        for (const std::uint32_t device : devices) {
            for (const Lane lane : group) {
                members.ranks.push_back(rank(device, lane));
                members.after.push_back(reduce_tail_[rank(device, lane)]);
            }
        }
        spec.group = group_name(devices, group);
        const std::vector<OpId> done = library_.add(kind, spec, members);
        for (std::size_t i = 0; i < done.size(); ++i) reduce_tail_[members.ranks[i]] = done[i];
    }
}

/// "pp0.tp1"; where the group is not all copies, its first one too: "pp0.tp1.dp1".
std::string IterationBuilder::group_name(const DeviceSet& devices, const LaneGroup& group) const {
    std::string name = "pp" + std::to_string(devices[0]);
    if (devices.size() > 1) name += "+" + std::to_string(devices[1]);
    name += ".tp" + std::to_string(groups_.tp_index(group[0]));
    if (group.size() < groups_.copies()) name += ".dp" + std::to_string(groups_.copy(group[0]));
    return name;
}

/// The first stage's embedding and the last one's copy of it, in pairs of lanes. With DualPipe the
/// first and the last device hold both, and their copies are summed with all other parameters.
void IterationBuilder::sum_tied_embeddings() {
    if (config_.schedule == PipelineSchedule::dualpipe) return;
    const PipelinePlace first = place_of(pipeline_, 0, 0);
    const PipelinePlace last = place_of(pipeline_, stage_count(pipeline_) - 1, 0);
    if (first.rank == last.rank) return;
    CollectiveSpec spec;
    spec.name = "embedding all-reduce";
    spec.cls = OpClass::embedding;
    spec.bytes = costs_.tied_embedding_bytes;
    for (Lane lane = 0; lane < lanes_; ++lane) {
        const std::vector<RankId> ranks = {rank(first.rank, lane), rank(last.rank, lane)};
        spec.group = "embedding" + lane_names_[lane];
        reduce_over(ranks, spec, CollectiveAlgorithm::automatic);
    }
}

/// The loss over the copies of the last stage; the gradient's norm over all ranks.
void IterationBuilder::sum_small() {
    CollectiveSpec spec;
    spec.cls = OpClass::other;
    spec.bytes = 4;
    spec.name = "loss all-reduce";
    const std::uint32_t last = place_of(pipeline_, stage_count(pipeline_) - 1, 0).rank;
    for (const LaneGroup& group : groups_.replicas()) {
        std::vector<RankId> ranks;
        for (const Lane lane : group) ranks.push_back(rank(last, lane));
        spec.group = "loss.tp" + std::to_string(groups_.tp_index(group[0]));
        reduce_over(ranks, spec, CollectiveAlgorithm::tree);
    }
    spec.name = "gradient-norm all-reduce";
    spec.group = "all";
    std::vector<RankId> ranks(groups_.ranks());
    for (RankId at = 0; at < groups_.ranks(); ++at) ranks[at] = at;
    reduce_over(ranks, spec, CollectiveAlgorithm::tree);
}

void IterationBuilder::reduce_over(const std::vector<RankId>& ranks, const CollectiveSpec& spec,
                                   CollectiveAlgorithm algorithm) {
    if (ranks.size() < 2) return;
    Members members{ranks, {}};
    for (const RankId at : ranks) members.after.push_back(reduce_tail_[at]);
    const std::vector<OpId> done =
        library_.add(CollectiveKind::all_reduce, spec, members, algorithm);
    for (std::size_t i = 0; i < ranks.size(); ++i) reduce_tail_[ranks[i]] = done[i];
}

}  // namespace sluice
