// SPDX-License-Identifier: Apache-2.0
/// Closed forms of pipeline schedules, which the schedules are compared with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/units.h"
#include "workloads/training/schedule.h"

namespace sluice {

/// activation_peak() with one unit per chunk and micro-batch, `weight_share` of it between the gradients of
/// inputs and of weights; 0 counts only what awaits its gradient from the next stage.
inline double peak_activations(const PipelineShape& shape, std::uint32_t rank,
                               double weight_share = 1) {
    const std::vector<ChunkLoad> loads(chunks_per_rank(shape), ChunkLoad{1, weight_share});
    return activation_peak(shape, rank, loads).load;
}

/// How long slots take, of one chunk and one micro-batch, the same on all ranks.
struct SlotTimes {
    Tick forward = 0;
    Tick backward_input = 0;
    Tick backward_weight = 0;
    Tick pair = 0;  ///< a forward and a whole backward together; DualPipe only
};

/// By how much an iteration outlasts the slots of a rank when communication is free: the published
/// closed forms (f forward, b gradients of inputs, w of weights, of one chunk; c pair).
///   gpipe, 1f1b, interleaved  (p - 1) (f + b + w), always
///   zb-h1                     (p - 1) (f + b) - min(p - 1, m - 1) min(f, b, w), always; where
///                             w <= f, w <= b and m >= p this is the published (p - 1) (f + b - w)
///   dualpipe                  (p / 2 - 1) (c + (b + w) - 3 w): of the two ranks in the middle, if
///                             f = b, w <= f and c <= f + b + w. Ranks further out have fewer pairs,
///                             so their slots last longer where c < f + b + w
/// Expects the product to fit into a Tick.
inline Tick bubble_time(const PipelineShape& shape, const SlotTimes& times) {
    const Tick p = shape.ranks;
    const Tick m = shape.micro_batches;
    const Tick f = times.forward;
    const Tick b = times.backward_input;
    const Tick w = times.backward_weight;
    switch (shape.schedule) {
        case PipelineSchedule::gpipe:
        case PipelineSchedule::one_f_one_b:
        case PipelineSchedule::interleaved: return (p - 1) * (f + b + w);
        case PipelineSchedule::zb_h1:
            return (p - 1) * (f + b) - std::min(p - 1, m - 1) * std::min({f, b, w});
        case PipelineSchedule::dualpipe: return (p / 2 - 1) * (times.pair + b - 2 * w);
    }
    throw InternalError("unknown pipeline schedule");
}

/// Who computes the same micro-batch and direction of passing before and after a slot: forward the
/// previous and the next stage, backward the next and the previous one. Nobody at the ends of the
/// model, and nobody for gradients of weights. The rank may be the slot's own (one rank, several
/// chunks): then nothing is sent.
struct SlotPeers {
    std::optional<PipelinePlace> from;
    std::optional<PipelinePlace> to;
};
inline SlotPeers slot_peers(const PipelineShape& shape, std::uint32_t rank,
                            const PipelineSlot& slot) {
    if (slot.kind == SlotKind::backward_weight) return {};
    const std::uint32_t stage = stage_of(shape, rank, slot.chunk);
    std::optional<PipelinePlace> before;
    std::optional<PipelinePlace> after;
    if (stage > 0) before = place_of(shape, stage - 1, slot.micro_batch);
    if (stage + 1 < stage_count(shape)) after = place_of(shape, stage + 1, slot.micro_batch);
    if (slot.kind == SlotKind::forward) return {before, after};
    return {after, before};
}

}  // namespace sluice
