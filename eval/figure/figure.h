// SPDX-License-Identifier: Apache-2.0
/// The figure of an evaluation: how the trials' values are distributed and how the intervals converged, as
/// one SVG file that needs no scripts, fonts or network.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "eval/trials/metric.h"

namespace sluice::eval {

/// One candidate.
struct FigureSeries {
    /// What was known after a number of trials.
    struct Look {
        std::size_t trials = 0;
        double estimate = 0;  ///< as low and high in the figure's unit
        double low = 0;       ///< may be infinite
        double high = 0;
    };

    std::string label;
    /// One per trial, in the figure's unit; infinite: cut off; NaN: the trial has none.
    std::vector<double> values;
    std::vector<Look> looks;  ///< by rising number of trials; the last is the result
};

/// All texts are plain: markup is escaped, and bytes that are not UTF-8 are shown as \x...
struct Figure {
    std::string title;
    std::string metric;  ///< names the axis of the values, without a unit
    Unit unit = Unit::none;
    /// The relative half-width that was wanted, as 0.05; 0: none. Drawn for a single candidate.
    double target = 0;
    std::vector<FigureSeries> series;
};

/// A complete SVG document on a white ground: the cumulative distribution of the values on the left, the
/// convergence of the estimates on the right. The same figure gives the same bytes. Never throws for odd
/// values: values that no axis can show are counted in a line under the distribution.
std::string figure_svg(const Figure& figure);

}  // namespace sluice::eval
