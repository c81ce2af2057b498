// SPDX-License-Identifier: Apache-2.0
#include "core/job/graph/operation_columns.h"

#include <numeric>
#include <string>

#include "core/error.h"

namespace sluice {

void OperationColumns::reserve(std::size_t operations) {
    duration_.reserve(operations);
    rank_.reserve(operations);
    target_.reserve(operations);
    name_.reserve(operations);
    collective_.reserve(operations);
    kind_.reserve(operations);
    cls_.reserve(operations);
}

void OperationColumns::check_rank(RankId rank) const {
    if (rank >= ranks_) {
        throw ConfigError("rank " + std::to_string(rank) + " does not exist: ranks are 0 to " +
                          std::to_string(ranks_ - 1));
    }
}

OpId OperationColumns::add(OpKind kind, RankId rank, Tick duration, std::uint32_t target,
                           Label label) {
    if (kind_.size() >= kNone) throw ConfigError("a job holds at most 4294967295 operations");
    kind_.push_back(kind);
    cls_.push_back(label.cls);
    rank_.push_back(rank);
    duration_.push_back(duration);
    target_.push_back(target);
    name_.push_back(label.name);
    collective_.push_back(label.collective);
    return static_cast<OpId>(kind_.size() - 1);
}

void OperationColumns::group_by_rank() {
    rank_begin_.assign(static_cast<std::size_t>(ranks_) + 1, 0);
    for (const RankId rank : rank_) ++rank_begin_[rank + 1];
    std::partial_sum(rank_begin_.begin(), rank_begin_.end(), rank_begin_.begin());
    rank_ops_.resize(size());
    std::vector<std::uint32_t> next(rank_begin_.begin(), rank_begin_.end() - 1);
    for (OpId op = 0; op < size(); ++op) rank_ops_[next[rank_[op]]++] = op;
}

void OperationColumns::show(job::Job& job) const {
    job.ops = static_cast<std::uint32_t>(size());
    job.kind = kind_.data();
    job.cls = cls_.data();
    job.rank = rank_.data();
    job.duration = duration_.data();
    job.target = target_.data();
}

}  // namespace sluice
