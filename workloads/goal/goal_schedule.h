// SPDX-License-Identifier: Apache-2.0
/// A GOAL schedule (Hoefler, Siebert, Lumsdaine, "Group Operation Assembly Language", ICPP 2009):
/// per rank, sends, receives and calculations, and which of them wait for which. It is what
/// LogGOPSim and ATLAHS simulate.
/// What is kept. Operations are numbered in file order, rank by rank: those of rank r are
/// [first(r), first(r + 1)). Of an operation: kind, peer, tag, cpu, nic, and its size (bytes, for
/// calc nanoseconds). An edge says that another operation of the rank waits for this one's end
/// (`requires`) or for its start (`irequires`).
/// Invariants: peers are ranks of the schedule, or kGoalAny for a recv; tags of sends are not
/// kGoalAny; sizes are at most kMostGoalSize; edges stay within their rank. Cycles are possible.
/// Storage is columns of plain integers, no allocation per operation: 23 bytes per operation and 4
/// per edge.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// An operation of a schedule, over all ranks.
using GoalOp = std::uint64_t;

/// The numbers of GOAL's binary format.
enum class GoalKind : std::uint8_t { send = 1, recv = 2, calc = 3 };

const char* to_string(GoalKind kind);

inline constexpr std::uint32_t kGoalAny = 0xffffffff;  ///< any source, any tag
inline constexpr std::uint64_t kMostGoalSize = std::uint64_t{1} << 50;
inline constexpr std::uint32_t kMostGoalRanks = 4'000'000;
inline constexpr std::uint32_t kMostGoalOps = 0x7fffffff;  ///< of one rank
inline constexpr GoalOp kNoGoalOp = ~GoalOp{0};

struct GoalOperation {
    GoalKind kind = GoalKind::calc;
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    std::uint8_t cpu = 0;
    std::uint8_t nic = 0;
    std::uint64_t size = 0;
};

class GoalSchedule {
  public:
    /// Operation `op` waits for the one that holds the edge; both are of one rank.
    struct Edge {
        GoalOp op;
        bool start;  ///< waits for its start only
    };
    /// The edges of an operation: first those that wait for its end, then those for its start.
    class Edges {
      public:
        Edges(const std::uint32_t* first, const std::uint32_t* last, GoalOp base)
            : first_(first), last_(last), base_(base) {}
        std::size_t size() const { return static_cast<std::size_t>(last_ - first_); }
        Edge operator[](std::size_t i) const {
            return {base_ + (first_[i] >> 1), (first_[i] & 1) != 0};
        }

      private:
        const std::uint32_t* first_;
        const std::uint32_t* last_;
        GoalOp base_;
    };

    std::uint32_t rank_count() const { return static_cast<std::uint32_t>(first_.size() - 1); }
    GoalOp op_count() const { return kind_.size(); }
    std::uint64_t edge_count() const { return edges_.size(); }
    GoalOp first(std::uint32_t rank) const { return first_[rank]; }
    /// By bisection.
    std::uint32_t rank_of(GoalOp op) const;

    GoalKind kind(GoalOp op) const { return static_cast<GoalKind>(kind_[op]); }
    std::uint32_t peer(GoalOp op) const { return peer_[op]; }
    std::uint32_t tag(GoalOp op) const { return tag_[op]; }
    std::uint8_t cpu(GoalOp op) const { return cpu_[op]; }
    std::uint8_t nic(GoalOp op) const { return nic_[op]; }
    std::uint64_t size(GoalOp op) const { return size_[op]; }
    /// `rank` is the operation's.
    Edges edges(std::uint32_t rank, GoalOp op) const {
        const std::uint32_t* base = edges_.data() + first_edge_[rank];
        const std::uint32_t begin = op == first_[rank] ? 0 : edge_end_[op - 1];
        return {base + begin, base + edge_end_[op], first_[rank]};
    }
    /// How many edges lead to each operation of the rank, in their order.
    std::vector<std::uint32_t> dependency_counts(std::uint32_t rank) const;

    /// The largest index, 0 where there are no operations.
    std::uint8_t max_cpu() const { return max_cpu_; }
    std::uint8_t max_nic() const { return max_nic_; }
    bool has_wildcards() const { return wildcards_; }
    /// For people: `rank 3 recv of 64 bytes from rank 2 tag 7 (operation 5 of the rank)`.
    std::string describe(std::uint32_t rank, GoalOp op) const;
    /// What the columns occupy.
    std::size_t memory_bytes() const;

  private:
    friend class GoalBuilder;

    std::vector<GoalOp> first_{0};
    std::vector<std::uint64_t> first_edge_{0};
    std::vector<std::uint64_t> size_;
    std::vector<std::uint32_t> peer_;
    std::vector<std::uint32_t> tag_;
    std::vector<std::uint32_t> edge_end_;  ///< counted from the rank's first edge
    std::vector<std::uint8_t> cpu_;
    std::vector<std::uint8_t> nic_;
    std::vector<std::uint8_t> kind_;
    std::vector<std::uint32_t>
        edges_;  ///< 2 x operation of the rank, + 1 if it waits for the start
    std::uint8_t max_cpu_ = 0;
    std::uint8_t max_nic_ = 0;
    bool wildcards_ = false;
};

/// Fills a schedule, rank after rank. Callers keep the invariants of GoalSchedule.
class GoalBuilder {
  public:
    void reserve(GoalOp operations);
    /// An operation of the rank being filled; returns its number within the rank.
    std::uint32_t add(const GoalOperation& operation);
    /// Operation `op` of the rank waits for the end, or the start, of operation `on`.
    void add_edge(std::uint32_t op, std::uint32_t on, bool start);
    std::uint32_t op_count() const;
    /// The rank is complete; the next operation is of the next.
    void end_rank();
    GoalSchedule finish();

  private:
    struct Wait {
        std::uint32_t on;
        std::uint32_t edge;
    };
    GoalSchedule schedule_;
    std::vector<Wait> waits_;
};

}  // namespace sluice
