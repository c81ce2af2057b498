// SPDX-License-Identifier: Apache-2.0
/// Distributions with known means and quantiles, for judging intervals.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sluice::bench {

/// xoshiro256++ (Blackman and Vigna, ACM Trans. Math. Softw. 47, 2021), seeded by mix_bits: thousands of
/// millions of draws are needed, one after the other.
class Stream {
  public:
    explicit Stream(std::uint64_t seed);
    double uniform();  ///< in (0, 1)
    double exponential() { return -std::log(uniform()); }
    double normal();  ///< by Box and Muller, both values used

  private:
    std::uint64_t bits();

    std::uint64_t state_[4];
    double spare_ = 0;
    bool has_spare_ = false;
};

struct Distribution {
    std::string name;
    double mean = 0;
    std::function<double(Stream&)> draw;
};

/// Those of the table in docs/evaluation.md: normal, log-normal, Pareto with finite variance, mixtures, and
/// means over correlated flows of a trial.
std::vector<Distribution> judged_distributions();

/// Others, which had no part in choosing the default rule's constants.
std::vector<Distribution> unseen_distributions();

/// Pareto with infinite variance: no rule can keep a promise on them.
std::vector<Distribution> hopeless_distributions();

}  // namespace sluice::bench
