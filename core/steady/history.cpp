// SPDX-License-Identifier: Apache-2.0
#include "core/steady/history.h"

#include <algorithm>

namespace sluice::steady {

namespace {

void include(Extent& extent, double value, bool first) {
    if (first) {
        extent = Extent{value, value};
        return;
    }
    extent.least = std::min(extent.least, value);
    extent.largest = std::max(extent.largest, value);
}

Extent joined(const Extent& a, const Extent& b) {
    return Extent{std::min(a.least, b.least), std::max(a.largest, b.largest)};
}

}  // namespace

void History::reset(std::size_t flows, std::size_t ports, bool echoes) {
    flows_ = flows;
    ports_ = ports;
    samples_ = 0;
    started_ = false;
    open_saturated_ = true;
    start_.assign(flows, FlowMark{});
    open_.assign(flows, FlowMark{});
    open_queues_.assign(ports, Extent{});
    start_echoes_.assign(echoes ? flows : 0, 0);
    open_echoes_ = start_echoes_;
    levels_.clear();
}

void History::add_flow(std::size_t flow, Tick progress, std::int64_t acked, std::int64_t in_flight,
                       double metric) {
    if (!started_) {
        start_[flow].progress = progress;
        start_[flow].acked = acked;
        return;
    }
    FlowMark& open = open_[flow];
    open.progress = progress;
    open.acked = acked;
    if (samples_ == 0) {
        open.in_flight = 0;
        open.metric = 0;
    }
    open.in_flight += static_cast<double>(in_flight) / kSamplesPerBlock;
    open.metric += metric / kSamplesPerBlock;
}

void History::add_port(std::size_t port, double bytes) {
    if (started_) {
        include(open_queues_[port], bytes, samples_ == 0);
    }
}

bool History::end_sample(Tick now, bool saturated) {
    if (!started_) {
        started_ = true;
        start_time_ = now;
        return false;
    }
    open_saturated_ = open_saturated_ && saturated;
    if (++samples_ < kSamplesPerBlock) {
        return false;
    }
    if (levels_.empty()) {
        open_level();
    }
    Level& base = levels_[0];
    const std::size_t at = (base.count + 1) % kSlots;
    base.times[at] = now;
    base.saturated[at] = open_saturated_;
    std::copy(open_.begin(), open_.end(), base.marks.begin() + at * flows_);
    std::copy(open_queues_.begin(), open_queues_.end(), base.queues.begin() + at * ports_);
    std::copy(open_echoes_.begin(), open_echoes_.end(),
              base.echoes.begin() + at * open_echoes_.size());
    ++base.count;
    samples_ = 0;
    open_saturated_ = true;
    for (std::size_t level = 0; levels_[level].count % 2 == 0 && level + 1 < kMaxLevels; ++level) {
        push(level + 1);
    }
    return true;
}

void History::open_level() {
    Level level;
    level.times[0] = start_time_;
    level.marks.resize(kSlots * flows_);
    level.queues.resize(kSlots * ports_);
    level.echoes.resize(kSlots * start_echoes_.size());
    std::copy(start_.begin(), start_.end(), level.marks.begin());
    std::copy(start_echoes_.begin(), start_echoes_.end(), level.echoes.begin());
    levels_.push_back(std::move(level));
}

/// Ends a block of `level`: the last two of the level below in one.
void History::push(std::size_t level) {
    if (levels_.size() == level) {
        open_level();
    }
    const Level& below = levels_[level - 1];
    Level& above = levels_[level];
    const std::size_t second = below.count % kSlots;
    const std::size_t first = (below.count - 1) % kSlots;
    const std::size_t at = (above.count + 1) % kSlots;
    above.times[at] = below.times[second];
    above.saturated[at] = below.saturated[first] && below.saturated[second];
    for (std::size_t f = 0; f < flows_; ++f) {
        const FlowMark& a = below.marks[first * flows_ + f];
        const FlowMark& b = below.marks[second * flows_ + f];
        FlowMark& sum = above.marks[at * flows_ + f];
        sum.progress = b.progress;
        sum.acked = b.acked;
        sum.in_flight = (a.in_flight + b.in_flight) / 2;
        sum.metric = (a.metric + b.metric) / 2;
    }
    for (std::size_t p = 0; p < ports_; ++p) {
        above.queues[at * ports_ + p] =
            joined(below.queues[first * ports_ + p], below.queues[second * ports_ + p]);
    }
    const std::size_t counted = open_echoes_.size();
    std::copy_n(below.echoes.begin() + second * counted, counted,
                above.echoes.begin() + at * counted);
    ++above.count;
}

bool History::current(std::size_t level) const {
    return level < levels_.size() && levels_[level].count >= kBlocks &&
           levels_[level].count << level == levels_[0].count;
}

std::int64_t History::echoes(std::size_t level, std::size_t flow) const {
    const std::vector<std::int64_t>& echoes = levels_[level].echoes;
    return echoes.empty() ? 0
                          : echoes[slot(level, kBlocks) * flows_ + flow] -
                                echoes[slot(level, 0) * flows_ + flow];
}

bool History::saturated(std::size_t level) const {
    for (std::size_t block = 1; block <= kBlocks; ++block) {
        if (!levels_[level].saturated[slot(level, block)]) {
            return false;
        }
    }
    return true;
}

Extent History::port_extent(std::size_t level, std::size_t port) const {
    const Level& entries = levels_[level];
    Extent all = entries.queues[slot(level, 1) * ports_ + port];
    for (std::size_t block = 2; block <= kBlocks; ++block) {
        all = joined(all, entries.queues[slot(level, block) * ports_ + port]);
    }
    return all;
}

}  // namespace sluice::steady
