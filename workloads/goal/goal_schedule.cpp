// SPDX-License-Identifier: Apache-2.0
#include "workloads/goal/goal_schedule.h"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "core/error.h"

namespace sluice {

const char* to_string(GoalKind kind) {
    switch (kind) {
        case GoalKind::send: return "send";
        case GoalKind::recv: return "recv";
        case GoalKind::calc: return "calc";
    }
    return "?";
}

std::uint32_t GoalSchedule::rank_of(GoalOp op) const {
    const auto after = std::upper_bound(first_.begin(), first_.end(), op);
    return static_cast<std::uint32_t>(after - first_.begin() - 1);
}

std::vector<std::uint32_t> GoalSchedule::dependency_counts(std::uint32_t rank) const {
    std::vector<std::uint32_t> counts(first_[rank + 1] - first_[rank], 0);
    for (std::uint64_t edge = first_edge_[rank]; edge < first_edge_[rank + 1]; ++edge) {
        ++counts[edges_[edge] >> 1];
    }
    return counts;
}

std::string GoalSchedule::describe(std::uint32_t rank, GoalOp op) const {
    const GoalOp number = op - first_[rank];
    if (kind(op) == GoalKind::calc) {
        return fmt::format("rank {} calc of {} ns (operation {} of the rank)", rank, size_[op],
                           number);
    }
    const auto name = [](std::uint32_t value) {
        return value == kGoalAny ? std::string("any") : std::to_string(value);
    };
    return fmt::format("rank {} {} of {} bytes {} rank {} tag {} (operation {} of the rank)", rank,
                       to_string(kind(op)), size_[op], kind(op) == GoalKind::send ? "to" : "from",
                       name(peer_[op]), name(tag_[op]), number);
}

std::size_t GoalSchedule::memory_bytes() const {
    return size_.capacity() * sizeof(size_[0]) + peer_.capacity() * sizeof(peer_[0]) +
           tag_.capacity() * sizeof(tag_[0]) + edge_end_.capacity() * sizeof(edge_end_[0]) +
           cpu_.capacity() + nic_.capacity() + kind_.capacity() +
           edges_.capacity() * sizeof(edges_[0]) + first_.capacity() * sizeof(first_[0]) +
           first_edge_.capacity() * sizeof(first_edge_[0]);
}

void GoalBuilder::reserve(GoalOp operations) {
    schedule_.size_.reserve(operations);
    schedule_.peer_.reserve(operations);
    schedule_.tag_.reserve(operations);
    schedule_.edge_end_.reserve(operations);
    schedule_.cpu_.reserve(operations);
    schedule_.nic_.reserve(operations);
    schedule_.kind_.reserve(operations);
}

std::uint32_t GoalBuilder::op_count() const {
    return static_cast<std::uint32_t>(schedule_.kind_.size() - schedule_.first_.back());
}

std::uint32_t GoalBuilder::add(const GoalOperation& operation) {
    GoalSchedule& s = schedule_;
    s.size_.push_back(operation.size);
    s.peer_.push_back(operation.peer);
    s.tag_.push_back(operation.tag);
    s.edge_end_.push_back(0);
    s.cpu_.push_back(operation.cpu);
    s.nic_.push_back(operation.nic);
    s.kind_.push_back(static_cast<std::uint8_t>(operation.kind));
    s.max_cpu_ = std::max(s.max_cpu_, operation.cpu);
    s.max_nic_ = std::max(s.max_nic_, operation.nic);
    s.wildcards_ = s.wildcards_ || (operation.kind != GoalKind::calc &&
                                    (operation.peer == kGoalAny || operation.tag == kGoalAny));
    return op_count() - 1;
}

void GoalBuilder::add_edge(std::uint32_t op, std::uint32_t on, bool start) {
    if (op >= op_count() || on >= op_count()) throw InternalError("GOAL: edge to no operation");
    waits_.push_back({on, op << 1 | (start ? 1U : 0U)});
}

void GoalBuilder::end_rank() {
    GoalSchedule& s = schedule_;
    if (waits_.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw ConfigError("GOAL: a rank has 2^32 dependencies or more");
    }
    const GoalOp first = s.first_.back();
    // A counting sort by operation waited for: ends before starts, else in order of addition.
    for (const Wait& wait : waits_) ++s.edge_end_[first + wait.on];
    std::uint32_t total = 0;
    for (GoalOp op = first; op < s.kind_.size(); ++op) {
        const std::uint32_t count = s.edge_end_[op];
        s.edge_end_[op] = total;
        total += count;
    }
    const std::uint64_t base = s.first_edge_.back();
    s.edges_.resize(base + total);
    for (const std::uint32_t start : {0U, 1U}) {
        for (const Wait& wait : waits_) {
            if ((wait.edge & 1) != start) continue;
            s.edges_[base + s.edge_end_[first + wait.on]++] = wait.edge;
        }
    }
    waits_.clear();
    s.first_.push_back(s.kind_.size());
    s.first_edge_.push_back(s.edges_.size());
}

GoalSchedule GoalBuilder::finish() {
    GoalSchedule& s = schedule_;
    s.size_.shrink_to_fit();
    s.peer_.shrink_to_fit();
    s.tag_.shrink_to_fit();
    s.edge_end_.shrink_to_fit();
    s.cpu_.shrink_to_fit();
    s.nic_.shrink_to_fit();
    s.kind_.shrink_to_fit();
    s.edges_.shrink_to_fit();
    return std::move(s);
}

}  // namespace sluice
