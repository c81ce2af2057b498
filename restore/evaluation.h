// SPDX-License-Identifier: Apache-2.0
/// How far predictions are from what came: each predictor, law by law.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "restore/dataset.h"
#include "restore/predictors.h"
#include "restore/queue_model.h"

namespace sluice::restore {

/// Means over the cases of a law. Depths in units (depth_unit).
struct ErrorRow {
    std::string law;
    std::string predictor;
    std::size_t cases = 0;
    double absolute = 0;  ///< of the median
    double pinball = 0;   ///< mean over the quantiles
    double within = 0;    ///< share of cases between the lowest and the highest quantile
    /// Share of the law's cases whose depth moved by more than a quarter of a unit: what restoring is for.
    double moved = 0;
};

/// Of a predictor over cases.
double pinball_loss(const DepthQuantiles& said, std::int64_t came, std::int64_t unit);

/// A row for each law that has cases and each predictor, in the order of the lists. `engine`: of the
/// transformer; null: the plain one.
std::vector<ErrorRow> evaluate(const QueueModel& model, const std::vector<Case>& cases,
                               std::unique_ptr<EncoderEngine> engine = nullptr);

/// Columns law,predictor,cases,mae,pinball,within,moved.
std::string error_csv(const std::vector<ErrorRow>& rows);

}  // namespace sluice::restore
