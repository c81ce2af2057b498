// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/pipeline_boundaries.h"

namespace sluice {

PipelineBoundaries::PipelineBoundaries(const IterationPlan& plan, JobGraph& graph,
                                       CollectiveLibrary& library)
    : plan_(plan), graph_(graph), library_(library) {
    const std::size_t slots =
        std::size_t{plan.groups.ranks()} * 2 * plan.chunks * plan.config.micro_batches;
    first_.assign(slots, kNone);
    last_.assign(slots, kNone);
}

std::size_t PipelineBoundaries::index(RankId rank, bool forward, std::uint32_t chunk,
                                      std::uint32_t micro_batch) const {
    return ((std::size_t{rank} * plan_.chunks + chunk) * 2 + (forward ? 0 : 1)) *
               plan_.config.micro_batches +
           micro_batch;
}

void PipelineBoundaries::keep(std::vector<OpId>& ops, RankId rank, const PipelineSlot& slot,
                              OpId op) const {
    if (slot.kind == SlotKind::backward_weight) return;
    ops[index(rank, slot.kind == SlotKind::forward, slot.chunk, slot.micro_batch)] = op;
}

void PipelineBoundaries::add() {
    const std::uint32_t stages = stage_count(plan_.pipeline);
    for (std::uint32_t stage = 0; stage + 1 < stages; ++stage) {
        for (std::uint32_t k = 0; k < plan_.config.micro_batches; ++k) add_boundary(stage, k);
    }
    if (plan_.config.schedule == PipelineSchedule::dualpipe) turn_around();
}

/// On the last stage a backward pass follows its own forward pass. Elsewhere a message sees to that,
/// and without pairs slots follow one another.
void PipelineBoundaries::turn_around() {
    const std::uint32_t last = stage_count(plan_.pipeline) - 1;
    for (std::uint32_t k = 0; k < plan_.config.micro_batches; ++k) {
        const PipelinePlace place = place_of(plan_.pipeline, last, k);
        for (Lane lane = 0; lane < plan_.lanes; ++lane) {
            const RankId at = plan_.rank(place.rank, lane);
            graph_.add_dependency(first_[index(at, false, place.chunk, k)],
                                  last_[index(at, true, place.chunk, k)]);
        }
    }
}

void PipelineBoundaries::add_boundary(std::uint32_t stage, std::uint32_t micro_batch) {
    const PipelinePlace here = place_of(plan_.pipeline, stage, micro_batch);
    const PipelinePlace next = place_of(plan_.pipeline, stage + 1, micro_batch);
    const std::string suffix = " mb" + std::to_string(micro_batch);
    const std::string chunk = plan_.chunks > 1 ? " stage" + std::to_string(stage) : std::string();
    CollectiveSpec activation;
    activation.name = "activation" + chunk + suffix;
    activation.cls = OpClass::pp;
    activation.bytes = plan_.costs.boundary_bytes;
    CollectiveSpec gradient = activation;
    gradient.name = "gradient" + chunk + suffix;
    const std::string forth = "pp" + std::to_string(here.rank) + "-" + std::to_string(next.rank);
    const std::string back = "pp" + std::to_string(next.rank) + "-" + std::to_string(here.rank);
    for (Lane lane = 0; lane < plan_.lanes; ++lane) {
        activation.group = forth + plan_.lane_names[lane];
        gradient.group = back + plan_.lane_names[lane];
        connect(here, next, true, micro_batch, lane, activation);
        connect(next, here, false, micro_batch, lane, gradient);
    }
}

void PipelineBoundaries::connect(PipelinePlace from, PipelinePlace to, bool forward,
                                 std::uint32_t micro_batch, Lane lane, const CollectiveSpec& spec) {
    const RankId src = plan_.rank(from.rank, lane);
    const RankId dst = plan_.rank(to.rank, lane);
    const OpId after = last_[index(src, forward, from.chunk, micro_batch)];
    const OpId before = first_[index(dst, forward, to.chunk, micro_batch)];
    // Two chunks of one rank: nothing is sent.
    const OpId arrived = src == dst ? after : library_.add_point_to_point(spec, src, dst, after).to;
    graph_.add_dependency(before, arrived);
}

}  // namespace sluice
