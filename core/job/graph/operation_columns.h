// SPDX-License-Identifier: Apache-2.0
/// The operations of a job's graph as columns: 30 bytes each, and 4 for the lists by rank.
#pragma once

#include <vector>

#include "core/job/job_state.h"
#include "core/job/operation.h"
#include "core/units.h"

namespace sluice {

/// How an operation appears in timelines and which collective it is part of (kNone: of none).
struct Label {
    NameId name = 0;
    OpClass cls = OpClass::other;
    CollectiveId collective = kNone;
};

/// A contiguous list of operations.
struct OpSpan {
    const OpId* first = nullptr;
    const OpId* last = nullptr;
    const OpId* begin() const { return first; }
    const OpId* end() const { return last; }
    std::size_t size() const { return static_cast<std::size_t>(last - first); }
    bool empty() const { return first == last; }
};

class OperationColumns {
  public:
    explicit OperationColumns(RankId ranks) : ranks_(ranks) {}

    void reserve(std::size_t operations);
    /// ConfigError if there is no such rank.
    void check_rank(RankId rank) const;
    /// ConfigError where there are too many.
    OpId add(OpKind kind, RankId rank, Tick duration, std::uint32_t target, Label label);
    void set_target(OpId op, std::uint32_t target) { target_[op] = target; }
    /// What was one end of a message only joins others.
    void make_join(OpId op) {
        kind_[op] = OpKind::delay;
        target_[op] = kNone;
    }
    /// Makes the lists of ops_of(), when all are there.
    void group_by_rank();

    std::size_t size() const { return kind_.size(); }
    RankId ranks() const { return ranks_; }
    OpKind kind(OpId op) const { return kind_[op]; }
    RankId rank(OpId op) const { return rank_[op]; }
    Tick duration(OpId op) const { return duration_[op]; }
    std::uint32_t target(OpId op) const { return target_[op]; }
    Label label(OpId op) const { return {name_[op], cls_[op], collective_[op]}; }
    OpSpan ops_of(RankId rank) const {
        return {rank_ops_.data() + rank_begin_[rank], rank_ops_.data() + rank_begin_[rank + 1]};
    }
    void show(job::Job& job) const;

  private:
    RankId ranks_;
    std::vector<Tick> duration_;
    std::vector<RankId> rank_;
    std::vector<std::uint32_t> target_;
    std::vector<NameId> name_;
    std::vector<CollectiveId> collective_;
    std::vector<OpKind> kind_;
    std::vector<OpClass> cls_;
    std::vector<std::uint32_t> rank_begin_;
    std::vector<OpId> rank_ops_;
};

}  // namespace sluice
