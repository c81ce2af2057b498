// SPDX-License-Identifier: Apache-2.0
/// What a skip passes through: each stage observes groups, has a say in the rates and the length of their skips, and takes
/// part as they begin and end. The stages of a run stand in one list (phase_controller.cpp), and are called in its order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/clocks/flow_pairs.h"
#include "core/hybrid/group_state.h"
#include "core/steady/detector.h"
#include "core/steady/reading.h"

namespace sluice::hybrid {

/// A skip that is being planned. Its rates are the group's (GroupState::rate).
struct SkipPlan {
    GroupState& state;
    const steady::Verdict& verdict;
    Tick at = 0;
    /// No skip may be longer: the cap, and the end of the run.
    Tick most = kNever;
    /// For which the rates are trusted, whatever `most` is. 0: nothing is skipped now.
    Tick longest = 0;
    /// The rates are another source's than packets of this group, which would change nothing of them.
    bool rates_are_known = false;
    /// The group could skip, and is simulated for others.
    bool spared = false;
};

using step::Names;

/// What the copy of `original` is called. InternalError if it has no name.
std::uint32_t copy_of(const Names& names, std::uint32_t original);

class SkipStage {
  public:
    virtual ~SkipStage() = default;

    /// A group's flows have been listed anew.
    virtual void list(GroupState& /*state*/, const steady::GroupFacts& /*facts*/) {}
    /// A group has been sampled.
    virtual void observe(GroupState& /*state*/, Tick /*at*/) {}
    /// True of a group that is steady although its detector does not know yet: the verdict then has its rates.
    virtual bool recognize(GroupState& /*state*/, steady::Verdict& /*verdict*/, Tick /*at*/) {
        return false;
    }
    /// A group that has been found to be steady may skip. Asked before its rates are taken.
    virtual bool allows(const GroupState& /*state*/) { return true; }
    /// Sets rates, or how long they are trusted.
    virtual void limit(SkipPlan& /*plan*/) {}
    /// The plan lasts `dt`. False: packets are better.
    virtual bool accepts(const SkipPlan& /*plan*/, Tick /*dt*/) { return true; }
    /// The skip lasts `dt`, and the rates are its means.
    virtual void settle(GroupState& /*state*/, Tick /*dt*/) {}
    /// Nothing of the group has been moved yet.
    virtual void fall_asleep(GroupState& /*state*/, Tick /*at*/) {}
    /// A flow comes at `now`, and the skip ends. For how long before that, in ticks, are the group's packets to be executed? Then what
    /// is under way is what flows send at `now`, and not what they sent as the skip began. The stage may prepare for it.
    virtual Tick executed_before(GroupState& /*state*/, Tick /*now*/) { return 0; }
    /// The skip has turned out to last `dt`, and no longer.
    virtual void shorten(GroupState& /*state*/, Tick /*dt*/) {}
    /// The skip ends: nothing has been accounted yet.
    virtual void wake(GroupState& /*state*/) {}
    /// Flows and their laws have been advanced by a skip of some length. Returns payload that was delivered besides.
    virtual std::int64_t restore(GroupState& /*state*/) { return 0; }
    /// Packets go on.
    virtual void finish(GroupState& /*state*/) {}
    /// `state` is another one's copy, which has its own names for flows and ports.
    virtual void rename(GroupState& /*state*/, const Names& /*flows*/, const Names& /*ports*/) {}
};

/// All stages of a run.
using SkipStages = std::vector<SkipStage*>;

/// A law that is given another rate after a skip resumes with one within this factor of its rate before.
inline constexpr double kMostRateChange = 16;

/// What a flow may be advanced by at most, packets: what is in flight as a skip ends is as much as now, and that
/// many are sent as packets.
std::int64_t skippable(const NetworkView& view, const GroupState& state, std::size_t flow);
/// When the group's first finisher has its last packets to send, ticks from now; 0: it has.
double time_left(const NetworkView& view, const GroupState& state);

}  // namespace sluice::hybrid
