// SPDX-License-Identifier: Apache-2.0
/// Whoever looks on as a phase controller skips packets: nothing changes for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/hybrid/network_view.h"

namespace sluice::hybrid {

/// What is left of a flow is told (PhaseEngine::tell()): its last ACK comes at `finish`.
struct ToldEnd {
    FlowSlot flow = kNone;
    Tick finish = 0;
};

/// A skip of a group, as it begins or as it has ended.
struct WatchedSkip {
    std::uint32_t id = 0;  ///< of the group, as long as it skips
    const Group& group;
    Executed executed;                ///< of the group
    const std::vector<double>& rate;  ///< by flow, packets per tick
    /// Of a flow, over so many ticks from the skip's begin on.
    std::function<double(std::size_t flow, Tick first)> mean_rate;
    Tick begin = 0;
    Tick end = 0;  ///< as planned, or where it has ended
    Tick rtt = 0;  ///< base round trip of the slowest flow
    /// Groups that did the same: this one, and those that follow it (step::Folds::list_followers).
    std::size_t copies = 1;
    /// Flows share ports, and only those that an event concerns wake: the others keep their shares.
    bool holds_shares = false;
    /// The kind of group (Calibration's entry) of which others told the rates; kNone: nobody did.
    std::uint32_t told = kNone;
    /// As it has ended: flows of which nothing is executed any more.
    std::vector<ToldEnd> ends;

    /// That is executed for the group's `flow`-th.
    FlowSlot executed_for(std::size_t flow) const { return executed.flows[executed.like[flow]]; }
    /// Of each flow that is executed there are so many in the group.
    std::size_t sheets() const { return group.flows.size() / executed.flows.size(); }
};

class PhaseWatcher {
  public:
    virtual ~PhaseWatcher() = default;

    /// Nothing of the group has been moved yet.
    virtual void before_skip(const WatchedSkip& skip) = 0;
    /// Packets go on from skip.end: flows are as much shorter as they have been advanced, laws and queues
    /// are what they will be. `packets`: by flow, that its rate has advanced it by.
    virtual void after_skip(const WatchedSkip& skip, const std::vector<std::int64_t>& packets) = 0;
    /// The flow is about to leave the network, or its partition.
    virtual void left(FlowSlot flow) = 0;

    /// False from some instant on: all is to be executed.
    virtual bool trusts() const = 0;
};

}  // namespace sluice::hybrid
