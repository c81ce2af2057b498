// SPDX-License-Identifier: Apache-2.0
/// What follows from flows that open, close and leave, and from links that change, between windows: partitions change, and
/// symmetry reduction, the clocks or the phase controller are told.
///
/// A flow that closes may linger (core/clocks/membership.h). Where only one clock runs, it has left its partition then;
/// where several do, its packets still decide which clocks belong together, so it stays.
///
/// Each change is taken up at its own instant. A partition that skips then skips back to an instant that the
/// present window has passed, which is sound: what it sends from then on reaches nobody within the window.
#pragma once

#include <utility>
#include <vector>

#include "core/clocks/domains.h"
#include "core/clocks/flow_partitions.h"
#include "core/clocks/membership.h"

namespace sluice::hybrid {
class PhaseController;
}
namespace sluice::step {
class Folds;
}

namespace sluice::engine {

class FlowChanges {
  public:
    /// Without partitions.
    explicit FlowChanges(step::WorldStore& store);
    /// Keeps partitions, of which `controller` or `domains` is told; either may be null. All must outlive this.
    FlowChanges(step::WorldStore& store, step::FlowPartitions& partitions,
                hybrid::PhaseController* controller, step::Domains* domains = nullptr);

    /// On one clock. `folds` must outlive this.
    void fold(step::Folds& folds) { folds_ = &folds; }
    /// A foreign model may hold packets where no search sees them.
    void expect_packets_from_outside() { membership_.expect_packets_from_outside(); }
    /// A packet is about to be put on the link to `port` from outside at `now`.
    void before_packet_from_outside(const step::Packet& packet, PortId port, Tick now);

    /// Takes up what has opened and closed; everything before `now` has been executed.
    void take_up(Tick now);
    /// Lets lingering flows go whose last packet is gone, if it is time to look.
    void search(Tick now);
    /// `change()` takes links out of service or puts them back at `now`.
    template <class Change>
    void links_change(Tick now, Change&& change) {
        before_links_change(now);
        change();
        reroute(now);
    }

    /// Flows that have closed since the caller last emptied it.
    std::vector<FlowRecord>& finished() { return membership_.finished(); }
    /// Flows under which links have changed; as long as there are any, all is one domain.
    std::uint32_t strays() const { return membership_.strays(); }
    const step::MembershipStatistics& statistics() const { return membership_.statistics(); }

  private:
    using Presence = step::Membership::Presence;

    void enter(FlowSlot flow, Tick at);
    PartitionSet::Entry enter_partition(FlowSlot flow, const step::Footprint& print, Tick at,
                                        bool steady_route);
    void close(FlowSlot flow, Tick at, Tick now);
    void leave(FlowSlot flow, Tick at);
    void leave_partition(FlowSlot flow, Tick at);
    PartitionSet::Exit exit_partition(FlowSlot flow);
    void part(FlowSlot flow, Tick at);
    void before_links_change(Tick now);
    void reroute(Tick now);
    void reroute_apart(Tick now, const std::vector<FlowSlot>& living);
    void reroute_together(Tick now, const std::vector<FlowSlot>& living);
    void hold_everything(FlowSlot flow, Tick now);
    void pass_hold_on(FlowSlot flow, Tick now);
    void change_route(FlowSlot flow, Tick now);
    void change_footprint(FlowSlot flow, const step::Footprint& print, Tick now);
    void follow_astray(FlowSlot flow, Tick now);

    step::WorldStore& store_;
    step::FlowPartitions* partitions_ = nullptr;     ///< null: none are kept
    hybrid::PhaseController* controller_ = nullptr;  ///< null: nothing is skipped
    step::Domains* domains_ = nullptr;               ///< null: one clock
    step::Folds* folds_ = nullptr;                   ///< null: nothing is folded
    step::Membership membership_;
    FlowSlot holder_ = kNone;      ///< the stray that holds every resource
    step::Footprint print_;        ///< scratch of enter()
    std::vector<ResourceId> way_;  ///< scratch: of a packet from outside
};

}  // namespace sluice::engine
