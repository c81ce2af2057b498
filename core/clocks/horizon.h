// SPDX-License-Identifier: Apache-2.0
/// How far clocks may run without knowing of each other: until something may happen that no packet
/// under way brings about. That is a flow's start or an application's timer that is known, and what
/// an application may do when a flow completes, which reaches another host a lookahead later. When
/// a flow can complete is bounded from below by what it has not sent yet and the line rate of its
/// path; that of a connection makes room for the next one as soon as it has left its NIC. A bound once
/// computed stays true, so each is looked at again only when it is reached.
#pragma once

#include <vector>

#include "core/clocks/flow_partitions.h"
#include "core/world/world_store.h"

namespace sluice::step {

class Horizon {
  public:
    /// Takes up the timers that hosts have already.
    explicit Horizon(WorldStore& store);

    void opened(FlowSlot flow, const Footprint& footprint, Tick now);
    void closed(FlowSlot flow);
    /// Forgets every flow: their paths have changed. They must leave before until() is asked again.
    void forget_flows();

    /// Everything before `now` has been executed.
    void take_up_announced(Tick now);
    /// Before this instant nothing happens that may reach another clock than that of its host, all
    /// clocks standing at `now`; `now` if a flow is about to complete.
    Tick until(Tick now);
    /// No flow goes back before this instant because of its time-out.
    Tick first_timeout(Tick now);

  private:
    struct Bound {
        Tick at = 0;  ///< it does not complete, or make room for another one, before
        FlowSlot flow = kNone;
        FlowId id = kNoFlow;
        Tick gap = 0;      ///< a full packet on the slowest link of its path, or on the first
        Tick latency = 0;  ///< propagation
        bool operator<(const Bound& other) const { return at > other.at; }  // earliest on top
    };

    void look_at(Bound bound, Tick now);

    World& world_;
    std::vector<Tick> announced_;     ///< heap
    std::vector<Bound> bounds_;       ///< heap
    std::vector<std::uint8_t> near_;  ///< by slot: it may complete any time
    std::uint32_t near_flows_ = 0;
    Tick first_timeout_ = 0;
};

}  // namespace sluice::step
