// SPDX-License-Identifier: Apache-2.0
/// A streamed job of any length that needs no file: every rank repeats a step of three operations,
///     compute   after the step before (its compute and its recv)
///     send      to the step's partner, after the compute
///     recv      from the rank whose partner this one is, after the compute
/// so a third of the operations are sends and a third receives. The last step may be cut off after
/// its compute. Partners of step k of rank r, of R ranks:
///     ring    r + 1
///     pairs   r with its lowest bit turned over; R is even
///     shift   r + s, s drawn for each step from 1 to R - 1
/// A computation lasts compute x (1 + jitter x u), u drawn uniformly from [-1, 1) per rank and step.
/// Draws are functions of the seed, the rank and the step.
#pragma once

#include <cstdint>
#include <memory>

#include "core/job/operation_source.h"

namespace sluice {

enum class StreamPattern : std::uint8_t { ring, pairs, shift };

struct GeneratorOptions {
    RankId ranks = 2;              ///< at least 2
    std::uint64_t operations = 0;  ///< of each rank, 1 to 2^31
    StreamPattern pattern = StreamPattern::ring;
    std::int64_t bytes = 1;  ///< of a message
    Tick compute = 0;
    double jitter = 0;  ///< 0 to 1
    std::uint64_t seed = 1;
};

/// ConfigError for options out of range.
std::unique_ptr<OperationSource> make_operation_generator(const GeneratorOptions& options);

}  // namespace sluice
