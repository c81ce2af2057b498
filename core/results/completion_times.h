// SPDX-License-Identifier: Apache-2.0
/// Completion times of a run's flows: their mean, percentiles and the longest.
/// Up to kExact of them (64 MiB) are kept and everything is exact. Beyond that they are counted in
/// classes of equal ratio, 2048 for each factor of two: the mean and the longest stay exact, a
/// percentile is the least time of its class, at most 1/2048 too small. Memory: at most 64 MiB, and
/// 1 MiB for the classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/units.h"

namespace sluice {

class CompletionTimes {
  public:
    static constexpr std::size_t kExact = std::size_t{1} << 23;

    /// `kept`: how many are kept exactly.
    explicit CompletionTimes(std::size_t kept = kExact) : kept_(kept) {}

    void add(Tick time) {
        if (counts_.empty() && times_.size() < kept_) {
            times_.push_back(time);
        } else {
            add_to_classes(time);
        }
    }
    std::size_t count() const { return times_.size() + counted_; }
    /// Before what follows is asked; of at least one time.
    void close();
    double mean_seconds() const;
    /// By nearest rank, 0 <= percent <= 100.
    Tick percentile(unsigned percent) const;
    Tick most() const { return most_; }

  private:
    static std::size_t class_of(Tick time);
    static Tick least_of(std::size_t index);
    void add_to_classes(Tick time);

    std::size_t kept_;
    std::vector<Tick> times_;
    std::vector<std::uint64_t> counts_;  ///< by class; empty while times are kept
    std::size_t counted_ = 0;
    double sum_s_ = 0;
    std::uint64_t sum_high_ = 0;  ///< of ticks, above and below 2^32
    std::uint64_t sum_low_ = 0;
    Tick most_ = 0;
};

}  // namespace sluice
