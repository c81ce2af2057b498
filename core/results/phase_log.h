// SPDX-License-Identifier: Apache-2.0
/// Phases that have ended, told to whoever listens in the order of their ends and of groups, whenever they were noted.
#pragma once

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/results/phase_record.h"
#include "core/units.h"

namespace sluice {

class PhaseLog {
  public:
    using Listener = std::function<void(const PhaseRecord&)>;

    void listen(Listener listener) { listener_ = std::move(listener); }
    void add(const PhaseRecord& record) {
        if (listener_) {
            first_end_ = std::min(first_end_, record.end);
            records_.push_back(record);
        }
    }
    /// Tells what has ended before `now`.
    void report_until(Tick now) {
        if (first_end_ >= now) {
            return;
        }
        const auto first_later =
            std::stable_partition(records_.begin(), records_.end(),
                                  [&](const PhaseRecord& record) { return record.end < now; });
        std::stable_sort(records_.begin(), first_later,
                         [](const PhaseRecord& a, const PhaseRecord& b) {
                             return std::tie(a.end, a.partition) < std::tie(b.end, b.partition);
                         });
        std::for_each(records_.begin(), first_later, listener_);
        records_.erase(records_.begin(), first_later);
        first_end_ = kNever;
        for (const PhaseRecord& record : records_) {
            first_end_ = std::min(first_end_, record.end);
        }
    }

  private:
    Listener listener_;
    std::vector<PhaseRecord> records_;
    Tick first_end_ = kNever;  ///< of them
};

}  // namespace sluice
