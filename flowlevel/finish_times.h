// SPDX-License-Identifier: Apache-2.0
/// When each flow will have sent its last byte, and which is next. A change of rates moves many of
/// these instants and asks for the least only once, so they lie in a plain array with the least of
/// every 64, of every 64 of those, and so on; a change marks its group, and only marked groups are
/// looked through again. Setting an instant costs a store, asking one pass over what was touched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/units.h"

namespace sluice::flowlevel {

class FinishTimes {
  public:
    FinishTimes() : levels_(1) {}

    void set(std::uint32_t slot, Tick at) {
        if (slot >= levels_[0].at.size()) {
            grow(slot + std::size_t{1});
        }
        levels_[0].at[slot] = at;
        mark(0, slot / kGroup);
    }

    /// The least instant, kNever if there is none.
    Tick next() {
        refresh();
        const std::vector<Tick>& top = levels_.back().at;
        return top.empty() ? kNever : *std::min_element(top.begin(), top.end());
    }

    /// Appends the slots due at `at`, the least instant, in ascending order.
    void due(Tick at, std::vector<std::uint32_t>& slots) {
        refresh();
        const std::size_t top = levels_.size() - 1;
        for (std::size_t i = 0; i < levels_[top].at.size(); ++i) {
            collect(top, i, at, slots);
        }
    }

    std::size_t memory_bytes() const {
        std::size_t bytes = 0;
        for (const Level& level : levels_) {
            bytes += level.at.capacity() * sizeof(Tick) + level.marked.capacity() +
                     level.list.capacity() * sizeof(std::size_t);
        }
        return bytes;
    }

  private:
    static constexpr std::size_t kGroup = 64;

    struct Level {
        std::vector<Tick> at;
        std::vector<std::uint8_t> marked;  ///< by group of `at`
        std::vector<std::size_t> list;     ///< the marked groups
    };

    void mark(std::size_t level, std::size_t group) {
        Level& one = levels_[level];
        if (one.marked[group] == 0) {
            one.marked[group] = 1;
            one.list.push_back(group);
        }
    }

    void grow(std::size_t slots) {
        std::size_t count = std::max(slots, 2 * levels_[0].at.size());
        for (std::size_t level = 0;; ++level) {
            if (level == levels_.size()) {
                levels_.emplace_back();
            }
            Level& one = levels_[level];
            one.at.resize(count, kNever);
            const std::size_t groups = (count + kGroup - 1) / kGroup;
            one.marked.resize(groups, 0);
            if (count <= kGroup) {
                break;
            }
            for (std::size_t group = 0; group < groups; ++group) {
                mark(level, group);
            }
            count = groups;
        }
    }

    void refresh() {
        for (std::size_t level = 0; level + 1 < levels_.size(); ++level) {
            Level& one = levels_[level];
            for (const std::size_t group : one.list) {
                one.marked[group] = 0;
                const auto first = one.at.begin() + static_cast<std::ptrdiff_t>(group * kGroup);
                const std::size_t count = std::min(kGroup, one.at.size() - group * kGroup);
                const Tick least =
                    *std::min_element(first, first + static_cast<std::ptrdiff_t>(count));
                if (levels_[level + 1].at[group] != least) {
                    levels_[level + 1].at[group] = least;
                    mark(level + 1, group / kGroup);
                }
            }
            one.list.clear();
        }
        Level& top = levels_.back();
        for (const std::size_t group : top.list) {
            top.marked[group] = 0;
        }
        top.list.clear();
    }

    void collect(std::size_t level, std::size_t index, Tick at,
                 std::vector<std::uint32_t>& slots) const {
        if (levels_[level].at[index] != at) {
            return;
        }
        if (level == 0) {
            slots.push_back(static_cast<std::uint32_t>(index));
            return;
        }
        const std::size_t last = std::min((index + 1) * kGroup, levels_[level - 1].at.size());
        for (std::size_t below = index * kGroup; below < last; ++below) {
            collect(level - 1, below, at, slots);
        }
    }

    std::vector<Level> levels_;  ///< the slots, the least of each 64 of them, ...
};

}  // namespace sluice::flowlevel
