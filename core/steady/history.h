// SPDX-License-Identifier: Apache-2.0
/// What a detector remembers of a group: for every flow the counters at the ends of blocks of time,
/// at doubling lengths. Level l holds the last kBlocks blocks of 2^l base blocks each, so a judge
/// sees the recent past at every scale in memory that grows with the logarithm of the age, and one
/// sample costs O(flows) with a small constant.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/units.h"

namespace sluice::steady {

/// Blocks that a span is divided into. Eight leave six degrees of freedom beside a straight line.
inline constexpr std::size_t kBlocks = 8;
/// Samples of a base block: two, half a base round trip at the default sampling period.
inline constexpr std::uint32_t kSamplesPerBlock = 2;
inline constexpr std::size_t kMaxLevels = 20;

/// Least and largest of the values seen.
struct Extent {
    double least = 0;
    double largest = 0;
};

/// A flow at the end of a block, and its samples within.
struct FlowMark {
    Tick progress = 0;
    std::int64_t acked = 0;
    double in_flight = 0;  ///< mean of the block's samples
    double metric = 0;     ///< the same of what the range test looks at
};

class History {
  public:
    /// `ports` may be zero. `echoes`: marked ACKs are kept, too.
    void reset(std::size_t flows, std::size_t ports, bool echoes = false);

    /// One sample of a flow or port within add_begin() .. add_end().
    void add_flow(std::size_t flow, Tick progress, std::int64_t acked, std::int64_t in_flight,
                  double metric);
    void add_port(std::size_t port, double bytes);
    void add_echoes(std::size_t flow, std::int64_t echoes) {
        (started_ ? open_echoes_ : start_echoes_)[flow] = echoes;
    }
    /// True if the sample ended a base block. `saturated`: every law was at its upper end.
    bool end_sample(Tick now, bool saturated);

    std::size_t flows() const { return flows_; }
    std::size_t ports() const { return ports_; }
    /// Base blocks since reset.
    std::uint64_t base_blocks() const { return levels_.empty() ? 0 : levels_[0].count; }
    std::size_t levels() const { return levels_.size(); }
    /// The level has a whole span, and its last block ended with the last base block.
    bool current(std::size_t level) const;
    Tick span(std::size_t level) const { return end_time(level, kBlocks) - end_time(level, 0); }
    /// Of the span's blocks every one was saturated.
    bool saturated(std::size_t level) const;
    /// `block` 1 .. kBlocks: the end of that block; 0: the start of the span.
    const FlowMark& mark(std::size_t level, std::size_t flow, std::size_t block) const {
        return levels_[level].marks[slot(level, block) * flows_ + flow];
    }
    /// Marked ACKs of a flow over the whole span; 0 if they are not kept.
    std::int64_t echoes(std::size_t level, std::size_t flow) const;
    Tick end_time(std::size_t level, std::size_t block) const {
        return levels_[level].times[slot(level, block)];
    }
    /// Of a queue's samples over the whole span.
    Extent port_extent(std::size_t level, std::size_t port) const;

  private:
    static constexpr std::size_t kSlots = kBlocks + 1;
    struct Level {
        std::uint64_t count = 0;  ///< blocks ended
        std::array<Tick, kSlots> times{};
        std::array<bool, kSlots> saturated{};
        std::vector<FlowMark> marks;       ///< kSlots x flows
        std::vector<Extent> queues;        ///< kSlots x ports
        std::vector<std::int64_t> echoes;  ///< kSlots x flows, or none
    };

    std::size_t slot(std::size_t level, std::size_t block) const {
        return (levels_[level].count - kBlocks + block) % kSlots;
    }
    void open_level();
    void push(std::size_t level);

    std::size_t flows_ = 0;
    std::size_t ports_ = 0;
    std::uint32_t samples_ = 0;  ///< in the open block
    bool started_ = false;
    bool open_saturated_ = true;
    Tick start_time_ = 0;
    std::vector<FlowMark> start_;  ///< the first sample
    std::vector<FlowMark> open_;   ///< the open base block
    std::vector<Extent> open_queues_;
    std::vector<std::int64_t> start_echoes_;  ///< by flow, or none
    std::vector<std::int64_t> open_echoes_;
    std::vector<Level> levels_;
};

}  // namespace sluice::steady
