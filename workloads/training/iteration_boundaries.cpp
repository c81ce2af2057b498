// SPDX-License-Identifier: Apache-2.0
/// Between stages: activations to the next one and their gradients back, lane by lane. Sends do not
/// block compute; a slot waits for what it receives.
#include "workloads/training/iteration_builder.h"

namespace sluice {

void IterationBuilder::add_boundaries() {
    const std::uint32_t stages = stage_count(pipeline_);
    for (std::uint32_t stage = 0; stage + 1 < stages; ++stage) {
        for (std::uint32_t k = 0; k < config_.micro_batches; ++k) add_boundary(stage, k);
    }
}

void IterationBuilder::add_boundary(std::uint32_t stage, std::uint32_t micro_batch) {
    const PipelinePlace here = place_of(pipeline_, stage, micro_batch);
    const PipelinePlace next = place_of(pipeline_, stage + 1, micro_batch);
    const std::string suffix = " mb" + std::to_string(micro_batch);
    const std::string chunk = chunks_ > 1 ? " stage" + std::to_string(stage) : std::string();
    CollectiveSpec activation;
    activation.name = "activation" + chunk + suffix;
    activation.cls = OpClass::pp;
    activation.bytes = costs_.boundary_bytes;
    CollectiveSpec gradient = activation;
    gradient.name = "gradient" + chunk + suffix;
    const std::string forth = "pp" + std::to_string(here.rank) + "-" + std::to_string(next.rank);
    const std::string back = "pp" + std::to_string(next.rank) + "-" + std::to_string(here.rank);
    for (Lane lane = 0; lane < lanes_; ++lane) {
        activation.group = forth + lane_names_[lane];
        gradient.group = back + lane_names_[lane];
        connect(here, next, true, micro_batch, lane, activation);
        connect(next, here, false, micro_batch, lane, gradient);
    }
}

void IterationBuilder::connect(PipelinePlace from, PipelinePlace to, bool forward,
                               std::uint32_t micro_batch, Lane lane, const CollectiveSpec& spec) {
    const RankId src = rank(from.rank, lane);
    const RankId dst = rank(to.rank, lane);
    const OpId after = last_[slot_index(src, forward, from.chunk, micro_batch)];
    const OpId before = first_[slot_index(dst, forward, to.chunk, micro_batch)];
    // Two chunks of one rank: nothing is sent.
    const OpId arrived = src == dst ? after : library_.add_point_to_point(spec, src, dst, after).to;
    graph_.add_dependency(before, arrived);
}

}  // namespace sluice
