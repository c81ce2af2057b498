// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/aicb_layers.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "core/error.h"

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

}  // namespace

AicbLayers::AicbLayers(const AicbWorkload& workload, const AicbLayout& layout,
                       const AicbGraphConfig& config)
    : workload_(workload),
      layout_(layout),
      config_(config),
      result_{JobGraph(layout.world() + config.more_ranks), {}, {}},
      library_(result_.graph, config.collectives),
      cursor_(layout.world(), kNone),
      names_(workload.names.size()) {
    for (auto& last : last_unawaited_) last.assign(layout.world(), kNone);
}

NameId AicbLayers::name(std::uint32_t layer, AicbPhase phase) {
    auto& ids = names_[workload_.layers[layer].name];
    if (ids.empty()) {
        for (const char* suffix : kPhaseNames) {
            ids.push_back(result_.graph.intern(
                fmt::format("{} {}", workload_.name(workload_.layers[layer]), suffix)));
        }
    }
    return ids[phase];
}

void AicbLayers::compute(RankId stage, std::uint32_t layer, AicbPhase phase) {
    const double nanoseconds =
        static_cast<double>(workload_.layers[layer].work[phase].compute) * config_.compute_scale;
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

AicbLayers::Done AicbLayers::start_communication(RankId stage, std::uint32_t layer, AicbPhase phase,
                                                 const Done& after, bool blocking) {
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
        const std::vector<OpId> ends =
            library_.add(kind, spec, members, aicb_algorithm(config_, group, kind, members.ranks));
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

void AicbLayers::communicate(RankId stage, std::uint32_t layer, AicbPhase phase) {
    const Done done = start_communication(stage, layer, phase, cursor_, true);
    for (RankId rank = 0; rank < done.size(); ++rank) {
        if (done[rank] != kNone) cursor_[rank] = done[rank];
    }
}

void AicbLayers::communicate_unawaited(RankId stage, std::uint32_t layer, AicbPhase phase) {
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

bool AicbLayers::takes_turns() const {
    const AicbPolicy policy = workload_.header.policy;
    return config_.queue == AicbQueue::last_issued &&
           (policy == AicbPolicy::transformer || policy == AicbPolicy::transformer_fwd_in_bckwd);
}

void AicbLayers::queue_communication(RankId stage, std::uint32_t layer, AicbPhase phase) {
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

void AicbLayers::reserve_turns(const std::vector<std::uint32_t>& layers) {
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

void AicbLayers::await(const Done& done) {
    for (RankId rank = 0; rank < done.size(); ++rank) {
        if (done[rank] != kNone) cursor_[rank] = join(rank, cursor_[rank], done[rank]);
    }
}

OpId AicbLayers::join(RankId rank, OpId a, OpId b) {
    const Label label{result_.graph.intern("join"), OpClass::other, kNone};
    const OpId op = result_.graph.add_delay(rank, 0, label);
    result_.graph.add_dependency(op, a);
    result_.graph.add_dependency(op, b);
    return op;
}

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

}  // namespace sluice
