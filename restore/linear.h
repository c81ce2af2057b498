// SPDX-License-Identifier: Apache-2.0
/// The linear model: least squares over the sequence and the context, law by law.
#pragma once

#include <vector>

#include "restore/features.h"
#include "restore/queue_model.h"

namespace sluice::restore {

/// Depth at resumption in units. The last depth where the law has no row.
double linear_depth(const QueueModel& model, const Features& features, int law_place);

/// Gathers cases of one law and solves for a row.
class LinearFit {
  public:
    explicit LinearFit(const QueueModel& model);
    void add(const Features& features, double depth);
    /// Empty if there are fewer than twice as many cases as inputs.
    std::vector<double> solve() const;

  private:
    std::size_t inputs_;
    std::size_t cases_ = 0;
    std::vector<double> squares_;   ///< inputs x inputs
    std::vector<double> products_;  ///< inputs
};

}  // namespace sluice::restore
