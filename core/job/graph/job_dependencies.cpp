// SPDX-License-Identifier: Apache-2.0
#include "core/job/graph/job_dependencies.h"

#include <numeric>

namespace sluice {

void JobDependencies::index(std::size_t operations) {
    count_.assign(operations, 0);
    begin_.assign(operations + 1, 0);
    for (const Dependency& dependency : listed_) {
        ++count_[dependency.op];
        ++begin_[dependency.on + 1];
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    successors_.resize(listed_.size());
    // Filling moves every begin to its end, which is the next one's begin.
    for (const Dependency& dependency : listed_) {
        successors_[begin_[dependency.on]++] = dependency.op;
    }
    for (std::size_t i = operations; i > 0; --i) begin_[i] = begin_[i - 1];
    begin_[0] = 0;
    listed_.clear();
    listed_.shrink_to_fit();
}

void JobDependencies::show(job::Job& job) const {
    job.successors_begin = begin_.data();
    job.successors = successors_.data();
}

}  // namespace sluice
