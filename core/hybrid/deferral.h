// SPDX-License-Identifier: Apache-2.0
/// The seam for whoever defers packets of flows because their ends may be known without them, as episodes do
/// (core/episodes/). The default defers none. As a stage of skips it sees what is skipped besides.
#pragma once

#include <algorithm>
#include <vector>

#include "core/clocks/flow_pairs.h"
#include "core/hybrid/skip_stage.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice::hybrid {

class Deferral : public SkipStage {
  public:
    /// Some flows may be deferred: else nothing of this need be asked or told.
    virtual bool defers() const { return false; }
    /// Of a flow in the network: its packets are executed.
    virtual bool is_executed(FlowSlot /*flow*/) const { return true; }
    /// Of a flow in the network: its packets wait.
    virtual bool is_deferred(FlowSlot /*flow*/) const { return false; }
    /// Of a flow in the network: its ends are known, and have begun to come.
    virtual bool is_settled(FlowSlot /*flow*/) const { return false; }

    /// When at_cut() is to be called next, all clocks standing there.
    virtual Tick next_cut() const { return kNever; }
    virtual void at_cut(Tick /*at*/) {}
    /// As PhaseController's.
    virtual void before_entry(FlowSlot /*flow*/, Tick /*now*/) {}
    virtual void after_entry(FlowSlot /*flow*/, Tick /*now*/) {}
    virtual void after_exit(FlowSlot /*flow*/, Tick /*now*/) {}
    /// Timers of a host that is paused by HostTimers::kDeferred are due.
    virtual void run_calls(NodeId /*host*/, Tick /*at*/) {}
    /// Whatever is deferred is executed up to `now`, and all of it from here on.
    virtual void release_all(Tick /*now*/) {}
    /// What is known of those that these flows are copies of is so of them, too.
    virtual void take_up(const step::FlowPairs& /*flows*/) {}

    /// Of a partition's flows: nothing is executed.
    bool rests(const std::vector<FlowSlot>& flows) const {
        return defers() && !flows.empty() &&
               std::none_of(flows.begin(), flows.end(),
                            [&](FlowSlot flow) { return is_executed(flow); });
    }
    /// The same: all is executed.
    bool is_whole(const std::vector<FlowSlot>& flows) const {
        return !defers() || std::all_of(flows.begin(), flows.end(),
                                        [&](FlowSlot flow) { return is_executed(flow); });
    }
    /// The same: something is deferred, so that it cannot be moved in time as a whole.
    bool holds_some(const std::vector<FlowSlot>& flows) const {
        return defers() && std::any_of(flows.begin(), flows.end(),
                                       [&](FlowSlot flow) { return is_deferred(flow); });
    }
};

}  // namespace sluice::hybrid
