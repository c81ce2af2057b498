// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/training.h"

#include <algorithm>
#include <cmath>

#include "workloads/collective/collectives.h"
#include "workloads/training/schedule.h"

namespace sluice {

namespace {

bool is_forward(const PipelineSlot& slot) { return slot.kind == SlotKind::forward; }

/// Builds one iteration, a stage at a time, each stage in its schedule's order.
class TrainingBuilder {
  public:
    TrainingBuilder(const TrainingConfig& config, std::uint32_t gpus_per_server)
        : config_(config),
          costs_(training_costs(config)),
          gpus_per_server_(gpus_per_server),
          stage_ranks_(config.tp * config.dp),
          graph_(stage_ranks_ * config.pp),
          expert_groups_(expert_groups(config)) {
        const std::size_t slots = std::size_t{graph_.rank_count()} * 2 * config.micro_batches;
        first_.assign(slots, kNone);
        last_.assign(slots, kNone);
        previous_.assign(graph_.rank_count(), kNone);
    }

    JobGraph build() {
        for (std::uint32_t stage = 0; stage < config_.pp; ++stage) {
            const PipelineShape shape = {PipelineSchedule::one_f_one_b, config_.pp,
                                         config_.micro_batches};
            for (const PipelineSlot& slot : pipeline_slots(shape, stage)) add_slot(stage, slot);
        }
        for (std::uint32_t stage = 0; stage + 1 < config_.pp; ++stage) add_boundary(stage);
        for (std::uint32_t stage = 0; stage < config_.pp; ++stage) add_update(stage);
        graph_.finish();
        return std::move(graph_);
    }

  private:
    RankId rank_of(std::uint32_t stage, std::uint32_t dp, std::uint32_t tp) const {
        return stage * stage_ranks_ + dp * config_.tp + tp;
    }

    std::size_t slot_index(RankId rank, const PipelineSlot& slot) const {
        return (std::size_t{rank} * 2 + (is_forward(slot) ? 0 : 1)) * config_.micro_batches +
               slot.micro_batch;
    }

    Label compute_label(const char* what, const PipelineSlot& slot) {
        return {graph_.intern(std::string(what) + " mb" + std::to_string(slot.micro_batch)),
                OpClass::compute, kNone};
    }

    void add_slot(std::uint32_t stage, const PipelineSlot& slot) {
        if (costs_.all_to_all_bytes > 0) {
            add_mixture_slot(stage, slot);
            return;
        }
        const Label label = compute_label(is_forward(slot) ? "forward" : "backward", slot);
        for (std::uint32_t i = 0; i < stage_ranks_; ++i) {
            const RankId rank = stage * stage_ranks_ + i;
            const std::size_t at = slot_index(rank, slot);
            first_[at] = last_[at] = graph_.add_compute(
                rank, is_forward(slot) ? costs_.forward : costs_.backward, label);
        }
    }

    /// Per layer: compute, all-to-all, compute, all-to-all. Forward: attention, dispatch, experts,
    /// combine; backward the reverse, so it ends with attention.
    void add_mixture_slot(std::uint32_t stage, const PipelineSlot& slot) {
        const std::int64_t layers = config_.model.layers / config_.pp;
        const Tick total = is_forward(slot) ? costs_.forward : costs_.backward;
        std::vector<OpId> done(stage_ranks_, kNone);
        for (std::int64_t i = 0; i < layers; ++i) {
            const std::int64_t layer = is_forward(slot) ? i : layers - 1 - i;
            const std::string where = " layer" + std::to_string(stage * layers + layer);
            const Tick time = total / layers + (i < total % layers ? 1 : 0);
            const Tick attention = std::llround(static_cast<double>(time) * costs_.attention_share);
            if (is_forward(slot)) {
                add_part(stage, slot, "attention" + where, attention, done);
                exchange(stage, slot, "dispatch" + where, done);
                add_part(stage, slot, "experts" + where, time - attention, done);
                exchange(stage, slot, "combine" + where, done);
            } else {
                exchange(stage, slot, "combine-grad" + where, done);
                add_part(stage, slot, "experts-grad" + where, time - attention, done);
                exchange(stage, slot, "dispatch-grad" + where, done);
                add_part(stage, slot, "attention-grad" + where, attention, done);
            }
        }
        for (std::uint32_t i = 0; i < stage_ranks_; ++i) {
            const RankId rank = stage * stage_ranks_ + i;
            last_[slot_index(rank, slot)] = previous_[rank] = done[i];
        }
    }

    void add_part(std::uint32_t stage, const PipelineSlot& slot, const std::string& what, Tick time,
                  std::vector<OpId>& done) {
        const Label label = compute_label(what.c_str(), slot);
        for (std::uint32_t i = 0; i < stage_ranks_; ++i) {
            const RankId rank = stage * stage_ranks_ + i;
            const OpId op = graph_.add_compute(rank, time, label);
            graph_.add_dependency(op, done[i]);
            begin_slot(rank, slot, op);
            done[i] = op;
        }
    }

    /// The first operation of a slot is what a boundary message releases. It also waits for the
    /// exchange that ends the rank's previous slot: micro-batches do not overlap.
    void begin_slot(RankId rank, const PipelineSlot& slot, OpId op) {
        OpId& first = first_[slot_index(rank, slot)];
        if (first != kNone) return;
        first = op;
        graph_.add_dependency(op, previous_[rank]);
    }

    void exchange(std::uint32_t stage, const PipelineSlot& slot, const std::string& what,
                  std::vector<OpId>& done) {
        for (std::size_t g = 0; g < expert_groups_.size(); ++g) {
            Members members;
            for (const RankId member : expert_groups_[g]) {
                const RankId rank = stage * stage_ranks_ + member;
                OpId after = done[member];
                if (after == kNone) {
                    // The backward pass opens with an exchange, which keeps its place on the
                    // compute stream by an operation that takes no time.
                    after = graph_.add_compute(rank, 0, compute_label("gradient", slot));
                    begin_slot(rank, slot, after);
                }
                members.ranks.push_back(rank);
                members.after.push_back(after);
            }
            CollectiveSpec spec;
            spec.name = what + " mb" + std::to_string(slot.micro_batch);
            spec.group = "pp" + std::to_string(stage) + ".ep" + std::to_string(g);
            spec.cls = OpClass::ep;
            spec.bytes = costs_.all_to_all_bytes;
            AllToAllOptions options;
            options.window = config_.all_to_all_window;
            options.analytic = [this, &members](RankId from, RankId to, std::int64_t bytes) {
                return server_time(members.ranks, from, to, bytes);
            };
            const std::vector<OpId> arrived = all_to_all(graph_, spec, members, options);
            for (std::size_t i = 0; i < members.ranks.size(); ++i) {
                done[members.ranks[i] - stage * stage_ranks_] = arrived[i];
            }
        }
    }

    /// Parts for members of the sender's server share its NVLink bandwidth and arrive together.
    Tick server_time(const std::vector<RankId>& members, RankId from, RankId to,
                     std::int64_t bytes) const {
        const std::uint32_t server = from / gpus_per_server_;
        if (to / gpus_per_server_ != server) return -1;
        if (config_.nvlink_bytes_per_second == 0) return config_.nvlink_latency;
        const auto peers = std::count_if(members.begin(), members.end(), [&](RankId member) {
            return member != from && member / gpus_per_server_ == server;
        });
        const double seconds = static_cast<double>(bytes) * static_cast<double>(peers) /
                               static_cast<double>(config_.nvlink_bytes_per_second);
        return config_.nvlink_latency + std::llround(seconds * static_cast<double>(kSecond));
    }

    /// Activations from `stage` to the next one and their gradients back.
    void add_boundary(std::uint32_t stage) {
        for (std::uint32_t k = 0; k < config_.micro_batches; ++k) {
            for (std::uint32_t dp = 0; dp < config_.dp; ++dp) {
                for (std::uint32_t tp = 0; tp < config_.tp; ++tp) {
                    const RankId here = rank_of(stage, dp, tp);
                    const RankId next = rank_of(stage + 1, dp, tp);
                    const std::string group =
                        "dp" + std::to_string(dp) + ".tp" + std::to_string(tp);
                    add_transfer(here, next, {SlotKind::forward, false, 0, k}, "activation", group);
                    add_transfer(next, here, {SlotKind::backward, false, 0, k}, "gradient", group);
                }
            }
        }
    }

    void add_transfer(RankId from, RankId to, const PipelineSlot& slot, const char* what,
                      const std::string& group) {
        CollectiveSpec spec;
        spec.name = std::string(what) + " mb" + std::to_string(slot.micro_batch);
        spec.group = "pp" + std::to_string(from / stage_ranks_) + "-" +
                     std::to_string(to / stage_ranks_) + "." + group;
        spec.cls = OpClass::pp;
        spec.bytes = costs_.boundary_bytes;
        const JobGraph::Pair message =
            point_to_point(graph_, spec, from, to, last_[slot_index(from, slot)]);
        graph_.add_dependency(first_[slot_index(to, slot)], message.to);
    }

    /// Reduce-scatter dense, then expert gradients; update; all-gather in the same order.
    void add_update(std::uint32_t stage) {
        const std::uint32_t replicas = std::min(config_.ep, config_.dp);
        const bool experts = costs_.expert_parameters > 0 && config_.dp > replicas;
        std::vector<OpId> done(stage_ranks_);
        for (std::uint32_t i = 0; i < stage_ranks_; ++i) {
            done[i] = last_[slot_index(stage * stage_ranks_ + i,
                                       {SlotKind::backward, false, 0, config_.micro_batches - 1})];
        }
        reduce(stage, "", 1, costs_.dense_parameters, true, done);
        if (experts) reduce(stage, "expert ", replicas, costs_.expert_parameters, true, done);
        if (config_.optimizer_time > 0) {
            const Label label = {graph_.intern("optimizer"), OpClass::compute, kNone};
            for (std::uint32_t i = 0; i < stage_ranks_; ++i) {
                const OpId op =
                    graph_.add_compute(stage * stage_ranks_ + i, config_.optimizer_time, label);
                graph_.add_dependency(op, done[i]);
                done[i] = op;
            }
        }
        reduce(stage, "", 1, costs_.dense_parameters, false, done);
        if (experts) reduce(stage, "expert ", replicas, costs_.expert_parameters, false, done);
    }

    /// Rings over replicas `stride` apart: 1 for dense parameters, the width of an expert group for
    /// experts. Each tp index has its own.
    void reduce(std::uint32_t stage, const char* kind, std::uint32_t stride,
                std::int64_t parameters, bool scatter, std::vector<OpId>& done) {
        if (config_.dp == stride) return;
        CollectiveSpec spec;
        spec.name = std::string(kind) + (scatter ? "reduce-scatter" : "all-gather");
        spec.cls = OpClass::dp;
        spec.bytes = parameters * (scatter ? config_.gradient_bytes : config_.parameter_bytes);
        for (std::uint32_t first = 0; first < stride; ++first) {
            for (std::uint32_t tp = 0; tp < config_.tp; ++tp) {
                spec.group = "pp" + std::to_string(stage) + ".tp" + std::to_string(tp);
                if (stride > 1) spec.group += ".dp" + std::to_string(first);
                Members members;
                for (std::uint32_t dp = first; dp < config_.dp; dp += stride) {
                    members.ranks.push_back(rank_of(stage, dp, tp));
                    members.after.push_back(done[dp * config_.tp + tp]);
                }
                const std::vector<OpId> reduced = scatter
                                                      ? ring_reduce_scatter(graph_, spec, members)
                                                      : ring_all_gather(graph_, spec, members);
                for (std::size_t i = 0; i < reduced.size(); ++i) {
                    done[members.ranks[i] - stage * stage_ranks_] = reduced[i];
                }
            }
        }
    }

    const TrainingConfig& config_;
    TrainingCosts costs_;
    std::uint32_t gpus_per_server_;
    std::uint32_t stage_ranks_;
    JobGraph graph_;
    std::vector<std::vector<RankId>> expert_groups_;  ///< of stage 0
    std::vector<OpId> first_;     ///< by slot_index: what a boundary message releases
    std::vector<OpId> last_;      ///< by slot_index: what completes the slot
    std::vector<OpId> previous_;  ///< by rank, mixtures: what completed the slot before
};

}  // namespace

JobGraph training_graph(const TrainingConfig& config, std::size_t hosts,
                        std::uint32_t gpus_per_server) {
    check_training(config, hosts, gpus_per_server);
    return TrainingBuilder(config, gpus_per_server).build();
}

Workload training_workload(const TrainingConfig& config, const Topology& topology) {
    return make_workload(training_graph(config, topology.host_count(), topology.gpus_per_server),
                         topology.hosts());
}

}  // namespace sluice
