// SPDX-License-Identifier: Apache-2.0
/// When to stop running trials: the seam between whoever runs them and what is promised of the result.
/// A rule looks at trials 0 to N - 1 in their order, at trial counts that it names itself, so that the
/// decision depends neither on who finishes first nor on how many run at a time. Whoever has more trials
/// than a look needs keeps them for the next.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>

#include "eval/intervals/interval.h"
#include "eval/intervals/moments.h"

namespace sluice::eval {

/// What is asked for. The estimate is a mean over trials, or what eval/intervals writes as one (ratios).
struct Target {
    double confidence = 0.95;           ///< 1 - rho
    double relative_half_width = 0.01;  ///< epsilon: of the estimate's absolute value, > 0
    /// Give up after so many.
    std::size_t maximum_trials = std::numeric_limits<std::size_t>::max();
};

enum class Outcome {
    Continue,
    Reached,    ///< the interval is as narrow as was asked for
    Exhausted,  ///< maximum_trials came first
};

struct Decision {
    Outcome outcome = Outcome::Continue;
    /// The trial count at which to ask again, if it continues; more than now, at most maximum_trials.
    std::size_t next_look = 0;
};

/// How many trials there will be when the target is reached, all of them together.
struct TrialForecast {
    double trials = 0;
    double low = 0;  ///< interval of the forecast
    double high = 0;
};

class StoppingRule {
  public:
    /// InternalError unless 0 < confidence < 1 and relative_half_width > 0.
    explicit StoppingRule(const Target& target);
    virtual ~StoppingRule() = default;

    const Target& target() const { return target_; }
    virtual std::size_t first_look() const = 0;
    /// The interval that the rule stops by, and that is reported. Two values or more.
    virtual Interval interval(const Moments& moments) const = 0;
    /// At a look. Depends on its argument only.
    Decision decide(const Moments& moments) const;
    /// From two values on; empty where the mean or the spread is zero. Its interval is that of the squared
    /// coefficient of variation (delta method, on a logarithmic scale).
    std::optional<TrialForecast> forecast(const Moments& moments) const;

  protected:
    /// The look after one at n > 0 trials.
    virtual std::size_t look_after(std::size_t n) const = 0;
    /// The trials needed by a distribution of this coefficient of variation and skewness.
    virtual double trials_needed(double variation, double skewness) const = 0;

  private:
    Target target_;
};

}  // namespace sluice::eval
