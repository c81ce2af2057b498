// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/aicb_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "core/error.h"
#include "workloads/aicb/aicb_plan.h"

namespace sluice {

namespace {

constexpr const char* kPhaseNames[] = {"fwd", "ig", "wg"};

OpClass class_of(AicbGroup group, AicbPhase phase) {
    switch (group) {
        case AicbGroup::tp: return OpClass::tp;
        case AicbGroup::ep: return OpClass::ep;
        case AicbGroup::dp:
        case AicbGroup::dp_ep: return OpClass::dp;
        case AicbGroup::all: return phase == kWeightGradient ? OpClass::dp : OpClass::tp;
        case AicbGroup::none: break;
    }
    throw InternalError("a communication without group has no class");
}

class Builder {
  public:
    Builder(const AicbWorkload& workload, const AicbLayout& layout, const AicbGraphConfig& config,
            AicbPlan plan)
        : workload_(workload),
          layout_(layout),
          config_(config),
          plan_(std::move(plan)),
          result_{JobGraph(layout.world() + config.more_ranks), {}, {}},
          library_(result_.graph, config.collectives),
          cursor_(layout.world(), kNone),
          names_(workload.names.size()) {
        for (auto& last : last_unawaited_) last.assign(layout.world(), kNone);
        for (const std::int64_t layer : workload.header.checkpoint_initiates) {
            initiates_.push_back(static_cast<std::uint32_t>(layer));
        }
    }

    AicbGraph run() {
        if (takes_turns()) reserve_turns(plan_.everything());
        if (layout_.pp() == 1) {
            whole_pass(plan_.everything());
        } else {
            pipeline();
        }
        result_.blocks = plan_.blocks;
        return std::move(result_);
    }

  private:
    /// The resource of a rank for which communications that nothing waits for take turns.
    static constexpr ResourceId kTurn = 1;

    /// Ranks that wait for something else than their cursor; empty: for nothing.
    using Done = std::vector<OpId>;

    // One pass without pipeline.

    void whole_pass(const std::vector<std::uint32_t>& layers) {
        switch (workload_.header.policy) {
            case AicbPolicy::transformer_fwd_in_bckwd:
            case AicbPolicy::transformer:
                forward(0, layers);
                backward(0, layers);
                return;
            case AicbPolicy::data_model:
            case AicbPolicy::model_data:
            case AicbPolicy::customized:
            case AicbPolicy::model:
                forward(0, layers);
                overlapped_backward(layers);
                return;
            case AicbPolicy::data:
            case AicbPolicy::dlrm:
            case AicbPolicy::dlrm_enhanced: data_parallel_pass(layers); return;
            case AicbPolicy::inference: forward(0, layers); return;
            case AicbPolicy::micro:
                for (const std::uint32_t layer : layers) communicate(0, layer, kWeightGradient);
                return;
        }
    }

    void forward(RankId stage, const std::vector<std::uint32_t>& layers) {
        for (const std::uint32_t layer : layers) {
            compute(stage, layer, kForward);
            communicate(stage, layer, kForward);
        }
    }

    void backward(RankId stage, const std::vector<std::uint32_t>& layers) {
        for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
            input_gradient(stage, layers, *layer);
            weight_gradient(stage, *layer);
        }
    }

    void input_gradient(RankId stage, const std::vector<std::uint32_t>& layers,
                        std::uint32_t layer) {
        repeat_forward(stage, layers, layer);
        compute(stage, layer, kInputGradient);
        communicate(stage, layer, kInputGradient);
    }

    void weight_gradient(RankId stage, std::uint32_t layer) {
        compute(stage, layer, kWeightGradient);
        communicate_unawaited(stage, layer, kWeightGradient);
    }

    /// Forward again from the nearest checkpoint above, as far as `layers` reaches, to `layer`.
    void repeat_forward(RankId stage, const std::vector<std::uint32_t>& layers,
                        std::uint32_t layer) {
        if (workload_.header.policy != AicbPolicy::transformer_fwd_in_bckwd ||
            !std::binary_search(initiates_.begin(), initiates_.end(), layer)) {
            return;
        }
        const std::vector<std::int64_t>& checkpoints = workload_.header.checkpoints;
        const auto above = std::upper_bound(checkpoints.begin(), checkpoints.end(), layer);
        const auto from = std::max(static_cast<std::uint32_t>(*std::prev(above)), layers.front());
        for (std::uint32_t again = from; again < layer; ++again) forward(stage, {again});
    }

    /// The input gradient's communication beside the weight gradient's compute.
    void overlapped_backward(const std::vector<std::uint32_t>& layers) {
        for (auto at = layers.rbegin(); at != layers.rend(); ++at) {
            const std::uint32_t layer = *at;
            compute(0, layer, kInputGradient);
            const Done gradient =
                layer > 0 ? start_communication(0, layer, kInputGradient, cursor_) : Done();
            compute(0, layer, kWeightGradient);
            if (workload_.header.policy != AicbPolicy::model) {
                communicate_unawaited(0, layer, kWeightGradient);
            }
            await(gradient);
        }
    }

    void data_parallel_pass(const std::vector<std::uint32_t>& layers) {
        const AicbPolicy policy = workload_.header.policy;
        const std::int64_t last_bottom = workload_.header.dlrm_last_bottom_layer;
        Done exchange;
        for (const std::uint32_t layer : layers) {
            compute(0, layer, kForward);
            if (policy == AicbPolicy::data) continue;
            if (workload_.layers[layer].work[kForward].comm == AicbComm::all_to_all) {
                exchange = start_communication(0, layer, kForward, cursor_);
            } else if (layer == last_bottom) {
                await(exchange);
                exchange.clear();
            }
        }
        Done gradient;
        for (auto at = layers.rbegin(); at != layers.rend(); ++at) {
            const std::uint32_t layer = *at;
            compute(0, layer, kWeightGradient);
            communicate_unawaited(0, layer, kWeightGradient);
            if (layer == 0) {
                if (policy == AicbPolicy::dlrm) await(gradient);
                break;
            }
            compute(0, layer, kInputGradient);
            if (policy != AicbPolicy::data && layer == last_bottom + 1) {
                gradient = start_communication(0, 0, kInputGradient, cursor_);
            }
        }
    }

    // The pipeline.

    struct Mail {
        std::vector<OpId> sends;
        std::vector<OpId> receives;
    };
    using Address = std::pair<RankId, std::pair<bool, std::uint32_t>>;

    void pipeline() {
        const RankId stages = layout_.pp();
        const PipelineShape shape{config_.schedule, stages,
                                  static_cast<std::uint32_t>(plan_.micro_batches), 1};
        check_pipeline(shape);
        std::vector<std::vector<PipelineSlot>> slots(stages);
        std::vector<std::size_t> next(stages, 0);
        for (RankId stage = 0; stage < stages; ++stage) {
            slots[stage] = pipeline_slots(shape, stage);
            forward(stage, plan_.head);
        }
        // A receive joins a message that its sender has added, so stages advance in turns.
        for (bool progress = true; progress;) {
            progress = false;
            for (RankId stage = 0; stage < stages; ++stage) {
                while (next[stage] < slots[stage].size() &&
                       run_slot(stage, slots[stage][next[stage]])) {
                    ++next[stage];
                    progress = true;
                }
            }
        }
        for (RankId stage = 0; stage < stages; ++stage) {
            if (next[stage] < slots[stage].size())
                throw InternalError("a pipeline order deadlocks");
            forward(stage, plan_.tail);
            backward(stage, plan_.tail);
            backward(stage, plan_.head);
        }
    }

    /// False: what it must receive has not been sent yet.
    bool run_slot(RankId stage, const PipelineSlot& slot) {
        const std::vector<std::uint32_t> layers = plan_.block(slot.micro_batch);
        const bool last = stage + 1 == layout_.pp();
        switch (slot.kind) {
            case SlotKind::forward:
                if (stage > 0 && !receive(stage, true, slot.micro_batch, layers)) return false;
                forward(stage, layers);
                if (!last) send(stage, stage + 1, true, slot.micro_batch);
                return true;
            case SlotKind::backward:
            case SlotKind::backward_input:
                if (!last && !receive(stage, false, slot.micro_batch, layers)) return false;
                if (slot.kind == SlotKind::backward) {
                    backward(stage, layers);
                } else {
                    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
                        input_gradient(stage, layers, *layer);
                    }
                }
                if (stage > 0) send(stage, stage - 1, false, slot.micro_batch);
                return true;
            case SlotKind::backward_weight:
                for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
                    weight_gradient(stage, *layer);
                }
                return true;
        }
        return true;
    }

    void send(RankId from, RankId to, bool forward, std::uint32_t micro_batch) {
        Mail mail;
        const RankId n = layout_.stage_ranks();
        const std::int64_t bytes = std::max<std::int64_t>(workload_.header.pp_comm, 1);
        for (RankId i = 0; i < n; ++i) {
            const RankId sender = from * n + i;
            const CollectiveSpec spec{forward ? "pp_activation" : "pp_gradient",
                                      fmt::format("pp{}", i), OpClass::pp, bytes};
            const JobGraph::Pair pair =
                library_.add_point_to_point(spec, sender, to * n + i, cursor_[sender]);
            mail.sends.push_back(pair.from);
            mail.receives.push_back(pair.to);
        }
        mail_.emplace(Address{to, {forward, micro_batch}}, std::move(mail));
    }

    bool receive(RankId stage, bool forward, std::uint32_t micro_batch,
                 const std::vector<std::uint32_t>& layers) {
        const auto found = mail_.find({stage, {forward, micro_batch}});
        if (found == mail_.end()) return false;
        const Mail& mail = found->second;
        for (RankId i = 0; i < layout_.stage_ranks(); ++i) {
            const RankId rank = stage * layout_.stage_ranks() + i;
            result_.graph.add_dependency(mail.receives[i], cursor_[rank]);
            if (rank == 0) {
                AicbRecord record;
                record.kind = AicbRecord::Kind::boundary;
                record.phase = forward ? kForward : kInputGradient;
                record.layer = layers.front();
                record.from = cursor_[rank];
                record.to = mail.receives[i];
                record.send = mail.sends[i];
                result_.records.push_back(record);
            }
            cursor_[rank] = mail.receives[i];
        }
        mail_.erase(found);
        return true;
    }

    // A layer's parts.

    NameId name(std::uint32_t layer, AicbPhase phase) {
        auto& ids = names_[workload_.layers[layer].name];
        if (ids.empty()) {
            for (const char* suffix : kPhaseNames) {
                ids.push_back(result_.graph.intern(
                    fmt::format("{} {}", workload_.name(workload_.layers[layer]), suffix)));
            }
        }
        return ids[phase];
    }

    void compute(RankId stage, std::uint32_t layer, AicbPhase phase) {
        const double nanoseconds =
            static_cast<double>(workload_.layers[layer].work[phase].compute) *
            config_.compute_scale;
        const Tick duration = std::llround(nanoseconds * static_cast<double>(kNanosecond));
        if (duration == 0) return;
        const Label label{name(layer, phase), OpClass::compute, kNone};
        for (RankId i = 0; i < layout_.stage_ranks(); ++i) {
            const RankId rank = stage * layout_.stage_ranks() + i;
            const OpId op = result_.graph.add_compute(rank, duration, label);
            result_.graph.add_dependency(op, cursor_[rank]);
            if (rank == 0) {
                AicbRecord record;
                record.phase = phase;
                record.layer = layer;
                record.from = cursor_[rank];
                record.to = op;
                result_.records.push_back(record);
            }
            cursor_[rank] = op;
        }
    }

    /// Starts on every rank of the stage when `after` is complete there. Empty: there is none.
    Done start_communication(RankId stage, std::uint32_t layer, AicbPhase phase, const Done& after,
                             bool blocking = false) {
        const AicbGroup group = group_of(workload_, layer, phase);
        if (layout_.size(group) < 2) return {};
        const AicbLayer& at = workload_.layers[layer];
        const AicbWork& work = at.work[phase];
        const Label update{name(layer, phase), class_of(group, phase), kNone};
        const CollectiveKind kind = collective_kind(work.comm);
        Done done(layout_.world(), kNone);
        for (RankId index = 0; index < layout_.count(group); ++index) {
            Members members{layout_.members(group, stage, index), {}};
            for (const RankId rank : members.ranks) members.after.push_back(after[rank]);
            const CollectiveSpec spec{
                fmt::format("{} {}", workload_.name(at), kPhaseNames[phase]),
                fmt::format("{}{}", to_string(group), stage * layout_.count(group) + index),
                class_of(group, phase), work.bytes};
            const std::vector<OpId> ends = library_.add(
                kind, spec, members, aicb_algorithm(config_, group, kind, members.ranks));
            for (std::size_t m = 0; m < members.ranks.size(); ++m) {
                const RankId rank = members.ranks[m];
                done[rank] = ends[m];
                if (at.update == 0) continue;
                done[rank] = result_.graph.add_delay(rank, at.update * kNanosecond, update);
                result_.graph.add_dependency(done[rank], ends[m]);
            }
        }
        if (stage == 0) {
            AicbRecord record;
            record.kind = AicbRecord::Kind::communication;
            record.phase = phase;
            record.blocking = blocking;
            record.group = group;
            record.layer = layer;
            record.from = takes_turns() ? cursor_[0] : after[0];
            record.to = done[0];
            result_.records.push_back(record);
        }
        return done;
    }

    void communicate(RankId stage, std::uint32_t layer, AicbPhase phase) {
        const Done done = start_communication(stage, layer, phase, cursor_, true);
        for (RankId rank = 0; rank < done.size(); ++rank) {
            if (done[rank] != kNone) cursor_[rank] = done[rank];
        }
    }

    void communicate_unawaited(RankId stage, std::uint32_t layer, AicbPhase phase) {
        const AicbGroup group = group_of(workload_, layer, phase);
        if (layout_.size(group) < 2) return;
        if (takes_turns()) return queue_communication(stage, layer, phase);
        Done& last = last_unawaited_[static_cast<std::size_t>(group)];
        Done after = cursor_;
        for (RankId i = 0; i < layout_.stage_ranks(); ++i) {
            const RankId rank = stage * layout_.stage_ranks() + i;
            if (last[rank] != kNone) after[rank] = join(rank, cursor_[rank], last[rank]);
        }
        const Done done = start_communication(stage, layer, phase, after);
        for (RankId rank = 0; rank < done.size(); ++rank) {
            if (done[rank] != kNone) last[rank] = done[rank];
        }
    }

    /// Other policies do not run on SimAI's network.
    bool takes_turns() const {
        const AicbPolicy policy = workload_.header.policy;
        return config_.queue == AicbQueue::last_issued &&
               (policy == AicbPolicy::transformer ||
                policy == AicbPolicy::transformer_fwd_in_bckwd);
    }

    /// Takes its turn on each rank; turns_ has who goes first.
    void queue_communication(RankId stage, std::uint32_t layer, AicbPhase phase) {
        const std::vector<OpId>& turns = turns_.at({layer, phase});
        Done after(layout_.world(), kNone);
        for (RankId i = 0; i < layout_.stage_ranks(); ++i) {
            const RankId rank = stage * layout_.stage_ranks() + i;
            result_.graph.add_dependency(turns[rank], cursor_[rank]);
            after[rank] = turns[rank];
        }
        const Done done = start_communication(stage, layer, phase, after);
        const Label label{name(layer, phase), OpClass::other, kNone};
        for (RankId i = 0; i < layout_.stage_ranks(); ++i) {
            const RankId rank = stage * layout_.stage_ranks() + i;
            const OpId release = result_.graph.add_release(rank, kTurn, label);
            result_.graph.add_dependency(release, done[rank]);
        }
    }

    /// Who waits for a rank's turn gets it in order of addition: the layer that is issued last is
    /// added first.
    void reserve_turns(const std::vector<std::uint32_t>& layers) {
        for (const std::uint32_t layer : layers) {
            const AicbGroup group = group_of(workload_, layer, kWeightGradient);
            if (layout_.size(group) < 2) continue;
            const Label label{name(layer, kWeightGradient), OpClass::other, kNone};
            std::vector<OpId>& turns = turns_[{layer, kWeightGradient}];
            for (RankId rank = 0; rank < layout_.world(); ++rank) {
                turns.push_back(result_.graph.add_acquire(rank, kTurn, label));
            }
        }
    }

    void await(const Done& done) {
        for (RankId rank = 0; rank < done.size(); ++rank) {
            if (done[rank] != kNone) cursor_[rank] = join(rank, cursor_[rank], done[rank]);
        }
    }

    OpId join(RankId rank, OpId a, OpId b) {
        const Label label{result_.graph.intern("join"), OpClass::other, kNone};
        const OpId op = result_.graph.add_delay(rank, 0, label);
        result_.graph.add_dependency(op, a);
        result_.graph.add_dependency(op, b);
        return op;
    }

    const AicbWorkload& workload_;
    const AicbLayout& layout_;
    const AicbGraphConfig& config_;
    AicbPlan plan_;
    AicbGraph result_;
    CollectiveLibrary library_;
    Done cursor_;                         ///< by rank: what its next blocking step waits for
    std::array<Done, 6> last_unawaited_;  ///< by group kind, then rank
    /// By layer and phase, then rank: what takes the turn (AicbQueue::last_issued).
    std::map<std::pair<std::uint32_t, AicbPhase>, std::vector<OpId>> turns_;
    std::vector<std::vector<NameId>> names_;  ///< by name and phase
    std::vector<std::uint32_t> initiates_;
    std::map<Address, Mail> mail_;
};

}  // namespace

CollectiveAlgorithm aicb_algorithm(const AicbGraphConfig& config, AicbGroup group,
                                   CollectiveKind kind, const std::vector<RankId>& ranks) {
    constexpr std::size_t kLeast = 8;
    const auto& server = config.collectives.server;
    const bool may = config.nvls && group == AicbGroup::tp && kind == CollectiveKind::all_reduce;
    if (!may || ranks.size() < kLeast || server == nullptr) return CollectiveAlgorithm::automatic;
    const bool inside = std::all_of(ranks.begin(), ranks.end(), [&](RankId rank) {
        return server(rank) == server(ranks.front());
    });
    return inside ? CollectiveAlgorithm::nvls : CollectiveAlgorithm::automatic;
}

AicbGraph build_aicb_graph(const AicbWorkload& workload, const AicbLayout& layout,
                           const AicbGraphConfig& config, ImportReport& report) {
    const PipelineSchedule schedule = config.schedule;
    if (schedule != PipelineSchedule::gpipe && schedule != PipelineSchedule::one_f_one_b &&
        schedule != PipelineSchedule::zb_h1) {
        throw ConfigError(workload.file, workload.header_line,
                          std::string("schedule ") + to_string(schedule) +
                              " needs the layers of model chunks, which the file does not tell "
                              "apart; allowed are gpipe, 1f1b and zb-h1");
    }
    AicbPlan plan = make_plan(workload, config);
    const double operations = count_operations(workload, layout, config);
    if (operations > config.most_operations) {
        throw ConfigError(
            workload.file, workload.header_line,
            fmt::format("{} layers on {} GPUs are about {:.3g} operations; at most {:.3g} are "
                        "simulated. Ask for fewer GPUs or micro-batches, or use the formulas "
                        "(sluice simai --analytical)",
                        workload.layers.size(), layout.world(), operations,
                        config.most_operations));
    }
    if (layout.pp() > 1) {
        report.read(workload.where(), plan.blocks.how);
        report.read(
            workload.where(),
            fmt::format("{} stages run the file's layers each; micro-batches in the order "
                        "of {}; {} bytes per rank and boundary (assumed: the file describes "
                        "one stage)",
                        layout.pp(), to_string(schedule),
                        std::max<std::int64_t>(workload.header.pp_comm, 1)));
    } else if (config.micro_batches > 0) {
        report.read(workload.where(),
                    fmt::format("{} of {}", config.micro_batches, plan.blocks.how));
    }
    return Builder(workload, layout, config, std::move(plan)).run();
}

}  // namespace sluice
