// SPDX-License-Identifier: Apache-2.0
/// Episodes that begin like one that is known: their packets are held, their ends told, or what was held is released
/// (core/episodes/episode.h).
#pragma once

#include <cstdint>

#include "core/episodes/episode_engine.h"
#include "core/episodes/episode_index.h"
#include "core/episodes/episode_watcher.h"
#include "core/hybrid/phase_parts.h"

namespace sluice::hybrid {

class RecalledEpisodes {
  public:
    /// All must outlive this. `watcher` may be null.
    RecalledEpisodes(const PhaseParts& parts, EpisodeEngine& engine, EpisodeIndex& index,
                     EpisodeMemory& memory, EpisodeWatcher* watcher);

    bool trusts() const { return watcher_ == nullptr || watcher_->trusts(); }
    /// Holds what `flow` has brought to an episode that is held: its packets have not come farther than its NIC's link.
    void hold(std::uint32_t number, FlowSlot flow);
    /// Timers of a host that is held, due at `at`.
    void run_calls(NodeId host, Tick at);
    /// Of the index: episodes that are due at `at`.
    void at_cut(Tick at);
    /// An episode whose ends are told, but have not begun to come, is held again.
    void take_back(std::uint32_t number);
    /// What was held is executed up to `now` as if it had never been; what is told, from `now` on.
    void release(std::uint32_t number, Tick now);
    void release_all(Tick now);
    /// What is left of an episode that is over is executed from `now` on, for something has met it.
    void resume(std::uint32_t number, Tick now);
    /// So many of a flow's bytes were delivered without packets.
    void account(Episode& episode, const EpisodeFlow& flow, std::int64_t bytes);
    /// Its last flow is leaving.
    void report(Episode& episode, Tick now);

  private:
    void changed(FlowSlot flow, Tick now);
    void let_go(std::uint32_t number);
    void recall(std::uint32_t number, Tick at);
    bool is_watched(Episode& episode);
    void put_into_effect(std::uint32_t number);

    PhaseParts parts_;
    EpisodeEngine& engine_;
    EpisodeIndex& index_;
    EpisodeMemory& memory_;
    EpisodeWatcher* watcher_;
    EpisodeMemory::Describe describe_;
};

}  // namespace sluice::hybrid
