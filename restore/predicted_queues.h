// SPDX-License-Identifier: Apache-2.0
/// Queues are as deep as a predictor says (restore/predictors.h), by the median of its answer: HyGra,
/// Algorithm 2, phase 2. Those that have not held a 64th of their unit (depth_unit) stay as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/hybrid/phase_config.h"
#include "core/hybrid/restorer.h"
#include "restore/predictors.h"

namespace sluice::restore {

class PredictedQueues : public hybrid::Restorer {
  public:
    /// Reads the model of config.restore_model, or the shipped one. ConfigError if it cannot be read, was
    /// not made for `law`, or needs libtorch, which is not there.
    PredictedQueues(PredictorKind kind, const PhaseConfig& config, congestion::Law law);
    ~PredictedQueues() override;

    std::size_t looks() const override;
    std::vector<double> depths(const std::vector<hybrid::PortPast>& ports) override;

  private:
    struct KeyHash {
        std::size_t operator()(const std::vector<std::int64_t>& key) const;
    };

    PortQuery query_of(const hybrid::PortPast& past) const;

    congestion::Law law_;
    bool reacts_to_marks_;
    QueueModel model_;
    std::unique_ptr<QueuePredictor> predictor_;
    /// Given so far, by all that a query says: copies of a group ask the same.
    std::unordered_map<std::vector<std::int64_t>, double, KeyHash> answers_;
};

/// A predictor as the list of restorers wants it.
template <PredictorKind kind>
class Predicted final : public PredictedQueues {
  public:
    Predicted(const PhaseConfig& config, congestion::Law law)
        : PredictedQueues(kind, config, law) {}
};

}  // namespace sluice::restore
