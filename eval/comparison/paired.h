// SPDX-License-Identifier: Apache-2.0
/// Two settings on common random numbers: trial n of both has the same draws, so that what both owe to
/// these cancels in the difference. With independent draws the same code compares, at more trials.
#pragma once

#include <cstddef>
#include <optional>

#include "eval/intervals/interval.h"
#include "eval/intervals/moments.h"

namespace sluice::eval {

enum class Verdict {
    Better,  ///< than the reference
    Worse,
    Same,       ///< within the margin
    Undecided,  ///< not distinguishable yet
};

struct PairedSettings {
    double confidence = 0.95;
    /// "The same" is a difference of at most this share of the reference's mean; 0: never the same.
    double margin = 0;
    bool smaller_is_better = true;
    /// No verdict before; at least 2.
    std::size_t minimum_trials = 20;
};

struct PairedResult {
    Verdict verdict = Verdict::Undecided;
    /// Of the mean of (candidate - reference), in the metric's unit, at all looks together
    /// (eval/comparison/anytime.h): one may look after every trial.
    Interval difference;
    double reference_mean = 0;
    /// More trials until a verdict if mean and spread stay what they are; empty where decided, or where
    /// none would do (equal means and no margin).
    std::optional<double> more_trials;
};

class PairedComparison {
  public:
    /// InternalError unless 0 < confidence < 1, margin >= 0 and minimum_trials >= 2.
    explicit PairedComparison(const PairedSettings& settings = {});

    /// Trial by trial, in the order of trial numbers.
    void add(double candidate, double reference);
    std::size_t trials() const { return differences_.count(); }
    /// Better and Worse: zero lies outside the interval. Same: the interval lies within the margin, which
    /// goes first. At most 1 - confidence of comparisons of equal settings ever get Better or Worse.
    /// Two trials or more.
    PairedResult result() const;

  private:
    std::optional<double> more_trials(double margin) const;

    PairedSettings settings_;
    Moments differences_;
    Moments reference_;
};

}  // namespace sluice::eval
