// SPDX-License-Identifier: Apache-2.0
/// Episodes (core/episodes/episode.h) of a run: flows that join them and leave them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/episodes/episode.h"
#include "core/episodes/episode_engine.h"
#include "core/episodes/episode_index.h"
#include "core/episodes/episode_watcher.h"
#include "core/episodes/recalled_episodes.h"
#include "core/hybrid/deferral.h"
#include "core/hybrid/phase_parts.h"

namespace sluice::hybrid {

class Episodes final : public Deferral {
  public:
    /// What is known of episodes is used, and more of it learned. Of partitions on one clock where ACKs are packets;
    /// may_defer() says so. All must outlive this; `watcher` may be null.
    Episodes(const PhaseParts& parts, step::WorldStore& store, EpisodeMemory& memory,
             EpisodeWatcher* watcher);
    static bool may_defer(const PhaseParts& parts) {
        return parts.config.scope == PhaseScope::partition &&
               parts.engine.view().ack_streams() == nullptr;
    }

    bool defers() const override { return true; }
    bool is_executed(FlowSlot flow) const override;
    bool is_deferred(FlowSlot flow) const override;
    bool is_settled(FlowSlot flow) const override {
        return index_.of(flow) != kNone && index_.is_told(flow);
    }
    Tick next_cut() const override { return index_.next_cut(); }
    void at_cut(Tick at) override { recalled_.at_cut(at); }
    void before_entry(FlowSlot flow, Tick now) override;
    void after_entry(FlowSlot flow, Tick now) override;
    void after_exit(FlowSlot flow, Tick now) override;
    void run_calls(NodeId host, Tick at) override { recalled_.run_calls(host, at); }
    void release_all(Tick now) override { recalled_.release_all(now); }
    void take_up(const step::FlowPairs& flows) override;

    bool allows(const GroupState& state) override {
        return !holds_some(parts_.partitions.set().flows(state.id));
    }
    void limit(SkipPlan& plan) override;
    void finish(GroupState& state) override;

  private:
    const step::Folds* folds() const { return parts_.engine.view().folds(); }
    void hold_or_release(const std::vector<std::uint32_t>& numbers, Tick now);
    void leave_out_ended();
    EpisodeFlow episode_flow(FlowSlot flow, Tick now) const;
    std::uint32_t join_episodes(Tick now);
    bool has_ended(const Episode& episode) const;
    double part_of(FlowSlot flow) const;
    void meet_at_ports(FlowSlot flow, Tick now);
    void list_crowd(FlowSlot flow, std::vector<std::uint32_t>& crowd) const;
    bool is_followed(FlowSlot flow) const;
    bool is_worth_telling(const Episode& episode) const;
    void note_skipped(FlowSlot flow, std::int64_t bytes) {
        index_.all[index_.of(flow)]->skipped += bytes;
    }
    void note_folds(FlowSlot flow, std::uint32_t own);

    PhaseParts parts_;
    EpisodeEngine engine_;
    EpisodeIndex index_;
    EpisodeMemory& memory_;
    EpisodeWatcher* watcher_;
    EpisodeMemory::Describe describe_;
    RecalledEpisodes recalled_;
};

}  // namespace sluice::hybrid
