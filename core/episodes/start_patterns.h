// SPDX-License-Identifier: Apache-2.0
/// When the flows of an episode's samples started, relative to each other: which samples a new one is like. Who starts
/// first holds a port, so that samples tell of their like alone; rounds whose ends are the starts of the next ones
/// wander away from all that was seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::hybrid {

class StartPatterns {
  public:
    /// A sample whose flows started at `starts`, by canonical place, and took `time` in the mean; ticks. Counted from 0.
    void add(std::vector<double> starts, double time);

    /// Samples that started as the new one has, or no less so than samples are like each other; none if they are too few.
    /// `seen`: how often each of them was.
    std::vector<std::size_t> like(std::vector<double> starts,
                                  const std::vector<std::uint32_t>& seen) const;

  private:
    static constexpr std::size_t kNearest = 3;

    double distance(const std::vector<double>& a, const std::vector<double>& b) const;
    double radius() const;

    struct Pattern {
        std::vector<double> starts;  ///< relative to their mean
        std::array<double, kNearest> nearest;
    };
    std::vector<Pattern> patterns_;
    double time_ = 0;
};

}  // namespace sluice::hybrid
