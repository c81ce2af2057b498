// SPDX-License-Identifier: Apache-2.0
/// By how much compute is slower while its rank communicates, in millionths.
#pragma once

#include <cstdint>
#include <vector>

#include "core/job/job_state.h"

namespace sluice {

class OverlapSlowdowns {
  public:
    static constexpr std::int64_t kMost = 100'000'000;

    /// Of all compute, but for operations that have their own. ConfigError if it is not 0 to kMost.
    void set(std::int64_t millionths);
    /// Of one; a graph has few different ones.
    void set(OpId op, std::int64_t millionths);
    /// When all `operations` are there.
    void finish(std::size_t operations) {
        if (!which_.empty()) which_.resize(operations, 0);
    }

    std::int64_t of(OpId op) const { return values_[op < which_.size() ? which_[op] : 0]; }
    void show(job::Job& job) const;

  private:
    std::vector<std::int64_t> values_ = {0};  ///< the first is the graph's
    std::vector<std::uint16_t> which_;        ///< by operation, as far as any has its own
};

}  // namespace sluice
