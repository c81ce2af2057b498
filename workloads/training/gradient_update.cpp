// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/gradient_update.h"

#include <algorithm>

namespace sluice {

GradientUpdate::GradientUpdate(const IterationPlan& plan, JobGraph& graph,
                               CollectiveLibrary& library, ComputeStreams& streams)
    : plan_(plan),
      graph_(graph),
      library_(library),
      streams_(streams),
      ready_(std::size_t{plan.config.pp} * plan.chunks),
      uses_(std::size_t{plan.config.pp} * plan.chunks),
      forward_order_(plan.config.pp),
      gradient_order_(plan.config.pp) {}

bool GradientUpdate::begin_forward(std::uint32_t device, std::uint32_t stage) {
    std::vector<std::uint32_t>& begun = forward_order_[device];
    if (std::find(begun.begin(), begun.end(), stage) != begun.end()) return false;
    begun.push_back(stage);
    return true;
}

void GradientUpdate::begin_last_gradients(std::uint32_t device, std::uint32_t stage) {
    gradient_order_[device].push_back(stage);
}

void GradientUpdate::use_parameters(const SlotRun& run, std::uint32_t layer) {
    if (!run.first_forward || !plan_.config.overlap_parameters) return;
    keep(uses_, run, layer);
}

void GradientUpdate::gradients_ready(const SlotRun& run, std::uint32_t layer) {
    if (!run.last_gradients || !plan_.config.overlap_gradients) return;
    keep(ready_, run, layer);
}

void GradientUpdate::keep(LayerFrontiers& frontiers, const SlotRun& run,
                          std::uint32_t layer) const {
    std::vector<Frontier>& layers =
        frontiers[std::size_t{run.device} * plan_.chunks + run.slot.chunk];
    layers.resize(plan_.costs.stages[run.stage].layers.size());
    layers[layer] = run.done;
}

/// Devices that hold the same stages one after the other, unless all ranks meet in between.
void GradientUpdate::add(std::vector<OpId> reduced, const std::vector<OpId>& ends) {
    reduce_tail_ = std::move(reduced);
    const std::vector<DeviceSet> sets = device_sets();
    if (!plan_.config.tied_embeddings && !plan_.config.small_reductions) {
        for (const DeviceSet& devices : sets) {
            reduce_gradients(devices, ends);
            finish_update(devices);
        }
        return;
    }
    for (const DeviceSet& devices : sets) reduce_gradients(devices, ends);
    if (plan_.config.tied_embeddings) sum_tied_embeddings();
    if (plan_.config.small_reductions) sum_small();
    for (const DeviceSet& devices : sets) finish_update(devices);
}

void GradientUpdate::finish_update(const DeviceSet& devices) {
    if (plan_.config.optimizer_time > 0) {
        const Label label = {graph_.intern("optimizer"), OpClass::compute, kNone};
        for (const std::uint32_t device : devices) {
            for (Lane lane = 0; lane < plan_.lanes; ++lane) {
                const RankId at = plan_.rank(device, lane);
                const OpId op = streams_.add(at, plan_.config.optimizer_time, label,
                                             plan_.config.overlap_slowdown.memory);
                graph_.add_dependency(op, reduce_tail_[at]);
                reduce_tail_[at] = op;
            }
        }
    }
    if (plan_.config.zero == 0 || plan_.config.zero == 3) return;
    if (plan_.config.overlap_parameters) {
        gather_before_forward(devices);
    } else {
        gather_after_update(devices);
    }
}

std::vector<GradientUpdate::DeviceSet> GradientUpdate::device_sets() const {
    std::vector<DeviceSet> sets;
    const bool mirrored = plan_.config.schedule == PipelineSchedule::dualpipe;
    for (std::uint32_t device = 0; device < (mirrored ? plan_.config.pp / 2 : plan_.config.pp);
         ++device) {
        sets.push_back({device});
        if (mirrored) sets.back().push_back(plan_.config.pp - 1 - device);
    }
    return sets;
}

std::uint32_t GradientUpdate::chunk_on(std::uint32_t device, std::uint32_t stage) const {
    for (std::uint32_t chunk = 0; chunk < plan_.chunks; ++chunk) {
        if (stage_of(plan_.pipeline, device, chunk) == stage) return chunk;
    }
    return 0;
}

/// All parameters of a device, in pieces of at most bucket_bytes, ready together.
std::vector<GradientUpdate::Bucket> GradientUpdate::whole_buckets(std::uint32_t device,
                                                                  std::int64_t value_bytes) const {
    Bucket all;
    for (std::uint32_t chunk = 0; chunk < plan_.chunks; ++chunk) {
        const StageCosts& stage = plan_.costs.stages[stage_of(plan_.pipeline, device, chunk)];
        all.dense += stage.dense_parameters;
        all.expert += stage.expert_parameters;
    }
    std::int64_t count = 1;
    if (plan_.config.bucket_bytes > 0) {
        const std::int64_t bytes = (all.dense + all.expert) * value_bytes;
        count = std::max<std::int64_t>(
            1, (bytes + plan_.config.bucket_bytes - 1) / plan_.config.bucket_bytes);
    }
    std::vector<Bucket> buckets;
    for (std::int64_t i = 0; i < count; ++i) {
        Bucket bucket;
        bucket.dense = even_part(all.dense, count, i);
        bucket.expert = even_part(all.expert, count, i);
        buckets.push_back(bucket);
    }
    return buckets;
}

/// Of one stage, in the order in which its layers are computed: a bucket is closed by the layer that
/// fills it. 0 bytes: one bucket for the stage.
std::vector<GradientUpdate::Bucket> GradientUpdate::layer_buckets(std::uint32_t stage, bool forward,
                                                                  std::int64_t value_bytes) const {
    const StageCosts& costs = plan_.costs.stages[stage];
    const auto layers = static_cast<std::uint32_t>(costs.layers.size());
    std::vector<Bucket> buckets;
    Bucket bucket;
    bucket.stage = stage;
    for (std::uint32_t i = 0; i < layers; ++i) {
        const std::uint32_t layer = forward ? i : layers - 1 - i;
        bucket.dense += plan_.layer_share(costs.dense_parameters, stage, layer);
        bucket.expert += plan_.layer_share(costs.expert_parameters, stage, layer);
        bucket.layers.push_back(layer);
        const std::int64_t bytes = (bucket.dense + bucket.expert) * value_bytes;
        const bool full = plan_.config.bucket_bytes > 0 && bytes >= plan_.config.bucket_bytes;
        if (!full && i + 1 < layers) continue;
        buckets.push_back(bucket);
        bucket = Bucket{};
        bucket.stage = stage;
    }
    return buckets;
}

/// After it reduce_tail_ is complete when a rank has nothing left to compute or to reduce.
void GradientUpdate::reduce_gradients(const DeviceSet& devices, const std::vector<OpId>& ends) {
    const CollectiveKind kind =
        plan_.config.zero == 0 ? CollectiveKind::all_reduce : CollectiveKind::reduce_scatter;
    if (plan_.config.zero < 3 && plan_.config.overlap_gradients) reduce_as_made(devices, kind);
    for (const std::uint32_t device : devices) {
        for (Lane lane = 0; lane < plan_.lanes; ++lane) {
            OpId& tail = reduce_tail_[plan_.rank(device, lane)];
            tail = join(graph_, plan_.rank(device, lane), tail, ends[plan_.rank(device, lane)]);
        }
    }
    if (plan_.config.zero < 3 && !plan_.config.overlap_gradients) {
        over_copies(devices, whole_buckets(devices[0], plan_.config.gradient_bytes), kind);
    }
}

void GradientUpdate::reduce_as_made(const DeviceSet& devices, CollectiveKind kind) {
    for (const std::uint32_t stage : gradient_order_[devices[0]]) {
        for (const Bucket& bucket : layer_buckets(stage, false, plan_.config.gradient_bytes)) {
            for (const std::uint32_t device : devices) {
                const std::size_t place =
                    std::size_t{device} * plan_.chunks + chunk_on(device, stage);
                const Frontier& made = ready_[place][bucket.layers.back()];
                for (Lane lane = 0; lane < plan_.lanes; ++lane) {
                    OpId& tail = reduce_tail_[plan_.rank(device, lane)];
                    tail = join(graph_, plan_.rank(device, lane), tail, made[lane]);
                }
            }
            over_copies(devices, {bucket}, kind);
        }
    }
}

void GradientUpdate::gather_after_update(const DeviceSet& devices) {
    over_copies(devices, whole_buckets(devices[0], plan_.config.gradient_bytes),
                CollectiveKind::all_gather);
}

/// The update's parameters are gathered at the beginning of the next iteration, i.e. of this one:
/// buckets in the order of the first forward passes, each before the first layer that uses it.
void GradientUpdate::gather_before_forward(const DeviceSet& devices) {
    std::vector<OpId> updated = reduce_tail_;
    for (const std::uint32_t device : devices) {
        for (Lane lane = 0; lane < plan_.lanes; ++lane)
            reduce_tail_[plan_.rank(device, lane)] = kNone;
    }
    for (const std::uint32_t stage : forward_order_[devices[0]]) {
        for (const Bucket& bucket : layer_buckets(stage, true, plan_.config.gradient_bytes)) {
            over_copies(devices, {bucket}, CollectiveKind::all_gather);
            for (const std::uint32_t device : devices) {
                const std::size_t place =
                    std::size_t{device} * plan_.chunks + chunk_on(device, stage);
                const Frontier& users = uses_[place][bucket.layers.front()];
                for (Lane lane = 0; lane < plan_.lanes; ++lane) {
                    graph_.add_dependency(users[lane], reduce_tail_[plan_.rank(device, lane)]);
                }
            }
        }
    }
    for (const std::uint32_t device : devices) {
        for (Lane lane = 0; lane < plan_.lanes; ++lane) {
            reduce_tail_[plan_.rank(device, lane)] = updated[plan_.rank(device, lane)];
        }
    }
}

/// All dense parts first, then those of experts, each after the one before.
void GradientUpdate::over_copies(const DeviceSet& devices, const std::vector<Bucket>& buckets,
                                 CollectiveKind kind) {
    const std::int64_t value = kind == CollectiveKind::all_gather ? plan_.config.parameter_bytes
                                                                  : plan_.config.gradient_bytes;
    for (const Bucket& bucket : buckets) {
        over_groups(devices, plan_.groups.replicas(), "", kind, bucket.dense * value);
    }
    for (const Bucket& bucket : buckets) {
        over_groups(devices, plan_.groups.expert_replicas(), "expert ", kind,
                    bucket.expert * value);
    }
}

void GradientUpdate::over_groups(const DeviceSet& devices, const LaneGroups& groups,
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
                members.ranks.push_back(plan_.rank(device, lane));
                members.after.push_back(reduce_tail_[plan_.rank(device, lane)]);
            }
        }
        spec.group = group_name(devices, group);
        const std::vector<OpId> done = library_.add(kind, spec, members);
        for (std::size_t i = 0; i < done.size(); ++i) reduce_tail_[members.ranks[i]] = done[i];
    }
}

/// "pp0.tp1"; where the group is not all copies, its first one too: "pp0.tp1.dp1".
std::string GradientUpdate::group_name(const DeviceSet& devices, const LaneGroup& group) const {
    std::string name = "pp" + std::to_string(devices[0]);
    if (devices.size() > 1) name += "+" + std::to_string(devices[1]);
    name += ".tp" + std::to_string(plan_.groups.tp_index(group[0]));
    if (group.size() < plan_.groups.copies())
        name += ".dp" + std::to_string(plan_.groups.copy(group[0]));
    return name;
}

/// The first stage's embedding and the last one's copy of it, in pairs of lanes. With DualPipe the
/// first and the last device hold both, and their copies are summed with all other parameters.
void GradientUpdate::sum_tied_embeddings() {
    if (plan_.config.schedule == PipelineSchedule::dualpipe) return;
    const PipelinePlace first = place_of(plan_.pipeline, 0, 0);
    const PipelinePlace last = place_of(plan_.pipeline, stage_count(plan_.pipeline) - 1, 0);
    if (first.rank == last.rank) return;
    CollectiveSpec spec;
    spec.name = "embedding all-reduce";
    spec.cls = OpClass::embedding;
    spec.bytes = plan_.costs.tied_embedding_bytes;
    for (Lane lane = 0; lane < plan_.lanes; ++lane) {
        const std::vector<RankId> ranks = {plan_.rank(first.rank, lane),
                                           plan_.rank(last.rank, lane)};
        spec.group = "embedding" + plan_.lane_names[lane];
        reduce_over(ranks, spec, CollectiveAlgorithm::automatic);
    }
}

/// The loss over the copies of the last stage; the gradient's norm over all ranks.
void GradientUpdate::sum_small() {
    CollectiveSpec spec;
    spec.cls = OpClass::other;
    spec.bytes = 4;
    spec.name = "loss all-reduce";
    const std::uint32_t last = place_of(plan_.pipeline, stage_count(plan_.pipeline) - 1, 0).rank;
    for (const LaneGroup& group : plan_.groups.replicas()) {
        std::vector<RankId> ranks;
        for (const Lane lane : group) ranks.push_back(plan_.rank(last, lane));
        spec.group = "loss.tp" + std::to_string(plan_.groups.tp_index(group[0]));
        reduce_over(ranks, spec, CollectiveAlgorithm::tree);
    }
    spec.name = "gradient-norm all-reduce";
    spec.group = "all";
    std::vector<RankId> ranks(plan_.groups.ranks());
    for (RankId at = 0; at < plan_.groups.ranks(); ++at) ranks[at] = at;
    reduce_over(ranks, spec, CollectiveAlgorithm::tree);
}

void GradientUpdate::reduce_over(const std::vector<RankId>& ranks, const CollectiveSpec& spec,
                                 CollectiveAlgorithm algorithm) {
    if (ranks.size() < 2) return;
    Members members{ranks, {}};
    for (const RankId at : ranks) members.after.push_back(reduce_tail_[at]);
    const std::vector<OpId> done =
        library_.add(CollectiveKind::all_reduce, spec, members, algorithm);
    for (std::size_t i = 0; i < ranks.size(); ++i) reduce_tail_[ranks[i]] = done[i];
}

}  // namespace sluice
