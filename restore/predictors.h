// SPDX-License-Identifier: Apache-2.0
/// What says how deep a queue is when packets resume. The list: a predictor is a class in predictors.cpp
/// and a line here.
///
///     hold         as deep as it was at the skip's beginning
///     empty        empty
///     last_mean    as deep as it was on average over the sequence
///     linear       a linear function of sequence and context (restore/linear.h)
///     transformer  the encoder (restore/encoder.h)
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "restore/queue_model.h"

// clang-format off
#define SLUICE_QUEUE_PREDICTORS(PREDICTOR) \
    PREDICTOR(hold, Hold)                  \
    PREDICTOR(empty, Empty)                \
    PREDICTOR(last_mean, LastMean)         \
    PREDICTOR(linear, Linear)              \
    PREDICTOR(transformer, Transformer)
// clang-format on

namespace sluice::restore {

#define SLUICE_PREDICTOR(name, Class) name,
enum class PredictorKind : std::uint8_t { SLUICE_QUEUE_PREDICTORS(SLUICE_PREDICTOR) };
#undef SLUICE_PREDICTOR

class QueuePredictor {
  public:
    virtual ~QueuePredictor() = default;
    /// The depths of each port at its resumption, in the order of the ports. Those that know one depth
    /// only say it for every quantile. An answer depends on its own query alone.
    virtual std::vector<DepthQuantiles> predict(const std::vector<PortQuery>& ports) const = 0;
};

struct Features;  // restore/features.h

/// What evaluates an encoder: the plain one, or libtorch's (restore/torch_engine.h).
class EncoderEngine {
  public:
    virtual ~EncoderEngine() = default;
    /// One row of kQuantiles.size() numbers per sequence, as Encoder's.
    virtual std::vector<float> raw(const std::vector<const Features*>& batch) const = 0;
};

/// Every predictor by its word.
std::vector<std::pair<const char*, PredictorKind>> predictor_words();

/// `model` must outlive it; it may be null for those that need none, else InternalError. `engine`: of the
/// transformer; null: the plain one.
std::unique_ptr<QueuePredictor> make_predictor(PredictorKind kind, const QueueModel* model,
                                               std::unique_ptr<EncoderEngine> engine = nullptr);

}  // namespace sluice::restore
