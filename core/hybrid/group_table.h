// SPDX-License-Identifier: Apache-2.0
/// All groups of flows by their ids, and when each is to be looked at next.
#pragma once

#include <map>
#include <memory>
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
    /// The first instant from `at` on at which something may happen that need not happen at `at`: where groups are looked at
    /// early, multiples of `after`. What happens at one instant cuts one window, not several.
    Tick on_grid(Tick at) const {
        return early_ == 0 || at == kNever ? at : (at + early_ - 1) / early_ * early_;
    }
    Tick fine_period() const { return std::max<Tick>(settling_time_ / 4, 1); }

    /// It is looked at when on_grid(at) says.
    void set_cut(GroupState& state, Tick at) { set_exact_cut(state, on_grid(at)); }
    void set_exact_cut(GroupState& state, Tick at);
    Tick next_cut() const { return cuts_.empty() ? kNever : cuts_.begin()->first; }
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
    /// Groups by when they are to be looked at, most many at once, besides some that are to be at another time by now.
    /// Of the first ones the last is as it says.
    std::map<Tick, std::vector<std::uint32_t>> cuts_;
    Tick settling_time_ = 0;
    Tick early_ = 0;
};

}  // namespace sluice::hybrid
