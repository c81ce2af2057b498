// SPDX-License-Identifier: Apache-2.0
#include "core/job/graph/overlap_slowdowns.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace sluice {

namespace {

void check_slowdown(std::int64_t millionths) {
    if (millionths < 0 || millionths > OverlapSlowdowns::kMost) {
        throw ConfigError(
            "the slow-down of compute by communication is out of range: allowed are "
            "0 to " +
            std::to_string(OverlapSlowdowns::kMost / 1'000'000));
    }
}

}  // namespace

void OverlapSlowdowns::set(std::int64_t millionths) {
    check_slowdown(millionths);
    values_.front() = millionths;
}

void OverlapSlowdowns::set(OpId op, std::int64_t millionths) {
    check_slowdown(millionths);
    const auto own = std::find(values_.begin() + 1, values_.end(), millionths);
    if (own - values_.begin() > UINT16_MAX) {
        throw InternalError("a job graph has too many different slow-downs");
    }
    if (which_.size() <= op) {
        which_.resize(std::size_t{op} + 1, 0);
    }
    which_[op] = static_cast<std::uint16_t>(own - values_.begin());
    if (own == values_.end()) {
        values_.push_back(millionths);
    }
}

void OverlapSlowdowns::show(job::Job& job) const {
    job.slowdowns = values_.data();
    job.slowdown_count = static_cast<std::uint32_t>(values_.size());
    job.slowdown_of = which_.empty() ? nullptr : which_.data();
}

}  // namespace sluice
