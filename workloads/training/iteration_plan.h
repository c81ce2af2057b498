// SPDX-License-Identifier: Apache-2.0
/// What is known of an iteration before any operation of it is added. Nothing changes it.
#pragma once

#include <string>
#include <vector>

#include "workloads/training/parallel_groups.h"
#include "workloads/training/rank_places.h"
#include "workloads/training/schedule.h"
#include "workloads/training/training.h"
#include "workloads/training/training_costs.h"

namespace sluice {

/// Part `index` of `total` in `parts` that differ by at most one.
constexpr std::int64_t even_part(std::int64_t total, std::int64_t parts, std::int64_t index) {
    return total / parts + (index < total % parts ? 1 : 0);
}

/// A device is all lanes at one pipeline rank.
struct IterationPlan {
    IterationPlan(const TrainingConfig& config, const RankPlaces& places);

    const TrainingConfig& config;
    const RankPlaces& places;
    bool tensor_on_network;
    TrainingDetail detail;
    PipelineShape pipeline;
    ParallelGroups groups;
    TrainingCosts costs;
    std::uint32_t lanes;
    std::uint32_t chunks;                 ///< per rank
    std::vector<std::string> lane_names;  ///< in names of groups: ".dp0.tp1"

    RankId rank(std::uint32_t device, Lane lane) const { return groups.rank(device, lane); }
    /// A layer's part of a stage's `parameters`.
    std::int64_t layer_share(std::int64_t parameters, std::uint32_t stage,
                             std::uint32_t layer) const {
        return even_part(parameters, static_cast<std::int64_t>(costs.stages[stage].layers.size()),
                         layer);
    }
    /// The model's number of a stage's layer.
    std::int64_t layer_number(std::uint32_t stage, std::uint32_t layer) const {
        return costs.stages[stage].range.first + layer;
    }
};

}  // namespace sluice
