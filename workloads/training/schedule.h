// SPDX-License-Identifier: Apache-2.0
/// Pipeline schedules: the order in which the ranks of a pipeline compute their micro-batches.
/// p ranks, m micro-batches, v model chunks on a rank; the model is cut into stages, and a stage
/// lies on one rank as one of its chunks (DualPipe: on two).
///   gpipe        all forwards, then all backwards in reverse order (Huang et al., NeurIPS 2019,
///                figure 2)
///   1f1b         PipeDream-flush (Narayanan et al., SC 2021, section 2.2.1): rank r computes
///                min(p - 1 - r, m) forwards, then alternates, then drains
///   interleaved  the same with v > 1 chunks (ibid., 2.2.2; order of Megatron-LM): stage s is chunk
///                s / p of rank s % p; 2 (p - r - 1) + (v - 1) p chunk-forwards of warm-up;
///                micro-batches go through the chunks in groups of p. Needs m % p = 0
///   zb-h1        1f1b with the backward cut in two: the gradients of weights lag behind those of
///                inputs by r micro-batches on rank r (Qi et al., ICLR 2024, section 2.1)
///   dualpipe     DeepSeek-V3 (section 3.2.1; order of the published implementation): half the
///                micro-batches enter at rank 0, half at rank p - 1. Rank r holds stage r as chunk
///                0 and stage p - 1 - r as chunk 1. Needs even p and m, m >= 2 p
/// Invariants of every order: each stage computes each of its micro-batches forward once, then
/// backward once (whole, or gradients of inputs, then of weights); executed in these orders with
/// messages that do not block, no pipeline stops.
/// Errors: ConfigError from check_pipeline and find_schedule; the others expect a checked shape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.h"

namespace sluice {

enum class PipelineSchedule : std::uint8_t { gpipe, one_f_one_b, interleaved, zb_h1, dualpipe };

/// As scenarios write it: "gpipe", "1f1b", "interleaved", "zb-h1", "dualpipe".
const char* to_string(PipelineSchedule schedule);
/// Throws ConfigError naming the known schedules if `name` is none of them.
PipelineSchedule find_schedule(const std::string& name);

struct PipelineShape {
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
    std::uint32_t ranks = 1;
    std::uint32_t micro_batches = 1;  ///< of an iteration; DualPipe: of both directions together
    std::uint32_t chunks = 1;         ///< per rank, chosen by the user; interleaved only
};

/// Throws ConfigError, saying what is allowed, unless the schedule exists for this shape.
void check_pipeline(const PipelineShape& shape);

/// Backward is the whole of it; the other two are its halves, the gradients of a stage's input,
/// which the previous stage waits for, and those of its weights, which nobody waits for.
enum class SlotKind : std::uint8_t { forward, backward, backward_input, backward_weight };

const char* to_string(SlotKind kind);

struct PipelineSlot {
    SlotKind kind = SlotKind::forward;
    /// Computed together with the slot before it, each hiding the other's communication: DualPipe's
    /// pairs of a forward and a whole backward, in this order, of different chunks.
    bool with_previous = false;
    std::uint32_t chunk = 0;  ///< on this rank; DualPipe: also the direction
    /// 0 to m - 1; DualPipe: the first half enters at rank 0, the second half at rank p - 1.
    std::uint32_t micro_batch = 0;
};

/// The order of `rank`.
std::vector<PipelineSlot> pipeline_slots(const PipelineShape& shape, std::uint32_t rank);

/// Chunks that a rank holds: v, DualPipe 2.
std::uint32_t chunks_per_rank(const PipelineShape& shape);
/// Parts that the model is cut into: p v, DualPipe p.
std::uint32_t stage_count(const PipelineShape& shape);
std::uint32_t stage_of(const PipelineShape& shape, std::uint32_t rank, std::uint32_t chunk);

struct PipelinePlace {
    std::uint32_t rank = 0;
    std::uint32_t chunk = 0;

    friend bool operator==(PipelinePlace a, PipelinePlace b) {
        return a.rank == b.rank && a.chunk == b.chunk;
    }
};

/// Where `micro_batch` meets `stage`.
PipelinePlace place_of(const PipelineShape& shape, std::uint32_t stage, std::uint32_t micro_batch);

/// What one micro-batch's activations of a chunk count, in any unit: from the beginning of the
/// forward to the end of the backward or of the gradients of inputs; and from there to the end of
/// the gradients of weights, which need less.
struct ChunkLoad {
    double whole = 1;
    double weights_only = 1;
};

/// The moment at which a rank's activations, by its order, weigh most.
struct ActivationPeak {
    double load = 0;
    std::vector<std::uint32_t> whole;         ///< micro-batches alive, by chunk
    std::vector<std::uint32_t> weights_only;  ///< of which only gradients of weights are missing
};

/// `loads` by chunk of the rank.
ActivationPeak activation_peak(const PipelineShape& shape, std::uint32_t rank,
                               const std::vector<ChunkLoad>& loads);

}  // namespace sluice
