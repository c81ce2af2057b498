// SPDX-License-Identifier: Apache-2.0
/// Whoever looks on at episodes whose ends are known, some of which are simulated for it instead.
#pragma once

#include "core/episodes/episode.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice::hybrid {

class EpisodeWatcher {
  public:
    virtual ~EpisodeWatcher() = default;

    /// The episode's ends are known (Episode::foreseen). True: it is to be executed, and compared when it is over.
    virtual bool takes(const Episode& episode) = 0;
    /// What was foreseen of the episode is put into effect.
    virtual void told(const Episode& episode) = 0;
    /// A flow of an episode that was told goes on with packets, as something has met it: where it would be is a guess.
    virtual void resumed(FlowSlot flow) = 0;
    /// An episode that was taken is over: its flows' ends are those of its packets. Not called where something else
    /// has met it before its first end.
    virtual void compared(const Episode& episode, Tick now) = 0;

    /// False from some instant on: all is to be executed.
    virtual bool trusts() const = 0;
};

}  // namespace sluice::hybrid
