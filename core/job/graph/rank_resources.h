// SPDX-License-Identifier: Apache-2.0
/// The numbered resources that every rank of a job has.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/job/operation.h"

namespace sluice {

class RankResources {
  public:
    static constexpr RankResourceId kMost = 1U << 20;

    /// An operation uses it. ConfigError if it is not below kMost.
    void use(RankResourceId resource) {
        if (resource >= kMost) {
            throw ConfigError("resource " + std::to_string(resource) +
                              " of a rank: allowed are 0 to " + std::to_string(kMost - 1));
        }
        count_ = std::max(count_, resource + 1);
    }
    void make_counted(RankResourceId resource, ResourceCount count) {
        use(resource);
        if (counts_.size() <= resource) counts_.resize(resource + std::size_t{1}, {0, 0, false});
        counts_[resource] = count;
    }

    /// They are 0 to count() - 1.
    RankResourceId count() const { return count_; }
    /// Null: it is not counted.
    const ResourceCount* counted(RankResourceId resource) const {
        return resource < counts_.size() && counts_[resource].counted ? &counts_[resource]
                                                                      : nullptr;
    }
    /// By resource, as far as any is counted.
    const std::vector<ResourceCount>& counts() const { return counts_; }

  private:
    RankResourceId count_ = 0;
    std::vector<ResourceCount> counts_;
};

}  // namespace sluice
