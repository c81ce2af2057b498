// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/aicb_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "core/error.h"
#include "workloads/aicb/aicb_layers.h"
#include "workloads/aicb/aicb_plan.h"

namespace sluice {

namespace {

class Builder : AicbLayers {
  public:
    Builder(const AicbWorkload& workload, const AicbLayout& layout, const AicbGraphConfig& config,
            AicbPlan plan)
        : AicbLayers(workload, layout, config), plan_(std::move(plan)) {
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

    AicbPlan plan_;
    std::vector<std::uint32_t> initiates_;
    std::map<Address, Mail> mail_;
};

}  // namespace

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
            fmt::format(
                "{} layers on {} GPUs are about {:.3g} operations, some {:.1f} GB of memory; at "
                "most {:.3g} are built. Ask for fewer GPUs, layers (rows; simai: --rows) or "
                "micro-batches, for more operations (operations; simai: --operations), or "
                "use the formulas (sluice simai --analytical)",
                workload.layers.size(), layout.world(), operations,
                operations * kBytesOfAicbOperation / 1e9, config.most_operations));
    }
    if (plan.blocks.contradicted) {
        report.doubtful(workload.where(),
                        plan.blocks.how +
                            ", and run once, as in SimAI: AICB writes the layers of all ga "
                            "micro-batches, and its ga repeats nothing");
    } else if (layout.pp() > 1 || plan.blocks.count > 1) {
        report.read(workload.where(), plan.blocks.how);
    }
    if (layout.pp() > 1) {
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
