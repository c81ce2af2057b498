// SPDX-License-Identifier: Apache-2.0
/// Cases to learn from: a port's sequence before an instant, and its depth some time later.
/// A case lies where a skip could: from the first sample of its sequence to the resumption no flow comes to
/// the port and none leaves it, and the queue was not empty throughout. Its instant is drawn uniformly from
/// all such, the length of the skip log-uniformly from 1 to kLongestSkip base RTTs, or to as long as the
/// port's flows stay; by counter from the seed, the scenario's name and the case's number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "restore/queue_model.h"
#include "restore/queue_trace.h"

namespace sluice::restore {

/// Base RTTs.
inline constexpr int kLongestSkip = 512;
/// Fewer samples than this are no sequence: 4 base RTTs, as a detector's least span.
inline constexpr int kShortestSequence = 16;

struct Case {
    PortQuery query;
    std::int64_t depth = 0;      ///< bytes, at resumption
    std::uint64_t scenario = 0;  ///< which it is from: a number for its name
};

/// Up to `count` cases of a trace, in the order of their numbers. Fewer where few instants qualify.
std::vector<Case> draw_cases(const QueueTrace& trace, const ModelShape& shape, std::size_t count,
                             std::uint64_t seed);

/// Scenarios for validation: those of `names` whose draw is among the lowest `share` of all. A scenario's
/// folders stay together. At least one each side; ConfigError where there are not two scenarios.
std::vector<bool> choose_validation(const std::vector<std::string>& names, double share,
                                    std::uint64_t seed);

}  // namespace sluice::restore
