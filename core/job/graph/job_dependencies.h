// SPDX-License-Identifier: Apache-2.0
/// What waits for what in a job's graph: a list while it is built, then by operation, 4 bytes each.
#pragma once

#include <vector>

#include "core/job/graph/operation_columns.h"

namespace sluice {

/// `op` starts after `on` has completed.
struct Dependency {
    OpId op;
    OpId on;
};

class JobDependencies {
  public:
    void reserve(std::size_t dependencies) { listed_.reserve(dependencies); }
    void add(OpId op, OpId on) { listed_.push_back({op, on}); }
    /// Emptied by index().
    std::vector<Dependency>& listed() { return listed_; }
    const std::vector<Dependency>& listed() const { return listed_; }
    /// Of so many operations, when all are there. Successors stay in order of addition.
    void index(std::size_t operations);

    std::uint32_t count(OpId op) const { return count_[op]; }
    OpSpan successors(OpId op) const {
        return {successors_.data() + begin_[op], successors_.data() + begin_[op + 1]};
    }
    void show(job::Job& job) const;

  private:
    std::vector<Dependency> listed_;
    std::vector<std::uint32_t> count_;
    std::vector<std::uint32_t> begin_;
    std::vector<OpId> successors_;
};

}  // namespace sluice
