// SPDX-License-Identifier: Apache-2.0
/// All groups of flows by their ids, and when each is to be looked at next.
#pragma once

#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "core/hybrid/group_state.h"
#include "core/hybrid/phase_config.h"
#include "core/partition/partition_set.h"

namespace sluice::hybrid {

class GroupTable {
  public:
    /// `config` must outlive this.
    explicit GroupTable(const PhaseConfig& config) : config_(config) {}

    /// The group of a partition's flows.
    std::uint32_t id_of(PartitionId id) const {
        return config_.scope == PhaseScope::network ? 0 : id;
    }
    /// Null: there is none.
    GroupState* find(std::uint32_t id) const {
        return id < groups_.size() ? groups_[id].get() : nullptr;
    }
    GroupState& operator[](std::uint32_t id) const { return *groups_[id]; }
    bool is_skipping(std::uint32_t id) const {
        const GroupState* const state = find(id);
        return state != nullptr && state->skipping;
    }
    /// All there are, by their ids.
    template <class Visit>
    void each(Visit&& visit) const {
        for (const std::unique_ptr<GroupState>& state : groups_) {
            if (state != nullptr) {
                visit(*state);
            }
        }
    }
    /// By id, what is noted of each; null: there is none.
    const std::vector<const step::PartitionPhase*>& phases() const { return phases_; }
    /// The group of this id, which is made if it is not there.
    GroupState& open(std::uint32_t id, Tick now);
    void drop(std::uint32_t id);

    /// Its flows have changed: it is looked at when they have had a base RTT. Of one that `rests` nothing is executed.
    void changed(GroupState& state, Tick now, bool rests);
    /// As long as the slowest flow takes, a group whose flows have changed is left alone.
    void leave_alone_for(Tick base_rtt) { settling_time_ = std::max(settling_time_, base_rtt); }
    Tick settling_time() const { return settling_time_; }
    /// When a group whose flows have changed at `changed` may be looked at.
    Tick settled_after(Tick changed) const {
        return next_on_grid(changed + settling_time_, fine_period());
    }
    /// Groups that have changed are looked at after so long, too; 0 (the default): they are not.
    void look_early(Tick after) { early_ = after; }
    /// When to do what is due at `at` and may wait: where groups are looked at early, at a multiple of that time. Each instant at
    /// which something is done ends a window of all nodes.
    Tick on_grid(Tick at) const { return early_ == 0 ? at : next_on_grid(at - 1, early_); }
    /// The same, coarser where groups are not looked at early.
    Tick on_coarse_grid(Tick at) const {
        return early_ == 0 ? next_on_grid(at, fine_period()) : on_grid(at);
    }
    Tick fine_period() const { return std::max<Tick>(settling_time_ / 4, 1); }

    void set_cut(GroupState& state, Tick at);
    Tick next_cut() const { return cuts_.empty() ? kNever : cuts_.top().first; }
    /// Takes out the groups that may be due at next_cut(): those of them that is_due() says. By their ids.
    std::vector<std::uint32_t> take_next();
    bool is_due(std::uint32_t id, Tick at) const {
        const GroupState* const state = find(id);
        return state != nullptr && state->cut == at;
    }

  private:
    void drop_old_cuts();

    const PhaseConfig& config_;
    std::vector<std::unique_ptr<GroupState>> groups_;
    std::vector<const step::PartitionPhase*> phases_;  ///< of these
    using Cut = std::pair<Tick, std::uint32_t>;        ///< when, and which group
    /// Besides some groups that are to be looked at another time by now, or never. The first one is as it says.
    std::priority_queue<Cut, std::vector<Cut>, std::greater<>> cuts_;
    Tick settling_time_ = 0;
    Tick early_ = 0;
};

}  // namespace sluice::hybrid
