// SPDX-License-Identifier: Apache-2.0
/// How well a series of block means predicts what comes after it: a straight line through them,
/// and how uncertain its slope and its mean are (ordinary least squares, batch means).
#pragma once

#include <array>

#include "core/steady/history.h"

namespace sluice::steady {

struct Line {
    double mean = 0;
    double change = 0;        ///< of the fitted line over the whole span
    double change_error = 0;  ///< standard error of `change`
    double mean_error = 0;    ///< standard error of the mean
};

/// Through the means of kBlocks blocks of equal length.
Line fit_line(const std::array<double, kBlocks>& blocks);

}  // namespace sluice::steady
