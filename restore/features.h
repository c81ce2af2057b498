// SPDX-License-Identifier: Apache-2.0
/// A port's question as the encoder reads it. Both engines get these numbers, so that they can differ in
/// the encoder only.
///
/// With x_t the depths in units (depth_unit), m their mean, s their standard deviation, last the newest:
///     offset = m,   scale = s + |last - m| + 1/64
///     a token per sample: ((x_t - m) / scale within +-8,  x_t / (1 + x_t))
/// and the encoder says by how many scales each quantile is away from the offset: what it must learn
/// does not depend on how deep the queue is.
#pragma once

#include <vector>

#include "restore/queue_model.h"

namespace sluice::restore {

/// Numbers of a token.
inline constexpr int kTokenSize = 2;
/// Numbers of the context beside one for each law.
inline constexpr int kContextFacts = 15;

int context_size(const QueueModel& model);

struct Features {
    std::vector<float> tokens;   ///< steps x kTokenSize
    std::vector<float> context;  ///< context_size
    std::vector<float> depths;   ///< steps: x_t, for the linear model
    double offset = 0;           ///< units
    double scale = 1;            ///< units, > 0
};

/// InternalError if the query has no depths, or no rate, base RTT or step.
Features features_of(const QueueModel& model, const PortQuery& query);

/// Depths in bytes from the encoder's answers, `raw` in scales from the offset: sorted, not negative, to
/// 1/4096 of a unit, so that differences of engines in the last bits rarely show. ConfigError if one is
/// not a number.
DepthQuantiles depths_of(const Features& features, const float* raw, const PortContext& context);

}  // namespace sluice::restore
