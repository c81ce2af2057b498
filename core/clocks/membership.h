// SPDX-License-Identifier: Apache-2.0
/// Which flows are in the network, kept between windows: the one place that learns that a flow has
/// opened, closed, or left no packet behind. It keeps the partitions, tells a supervisor, and gives a
/// flow's slot to the next one.
///
/// Nothing is left of a flow that closes if it sent nothing twice and its packets kept their order;
/// else a search of the links and queues finds out. Until then it *lingers*. Where only one clock runs,
/// a lingering flow has left its partition; where several do, its packets still decide which clocks
/// belong together, so it stays.
///
/// Changes are taken up each at its own instant, in order of time and of the flows' ids, so that it makes
/// no difference how time was cut into windows, nor which slots flows have. A partition that skips then
/// skips back to an instant that the present window has passed, which is sound: what it sends from then
/// on reaches nobody within the window.
#pragma once

#include <vector>

#include "core/clocks/flow_partitions.h"
#include "core/clocks/folding.h"
#include "core/clocks/supervisor.h"

namespace sluice::step {

/// What a run counts of flows that come and go.
struct MembershipStatistics {
    std::uint64_t entries = 0;   ///< flows
    std::uint64_t exits = 0;     ///< flows
    std::uint64_t searches = 0;  ///< for packets of flows that sent something twice
    std::uint64_t merges = 0;    ///< partitions absorbed by another
    std::uint64_t splits = 0;    ///< partitions split off
};

/// Whoever divides a network among clocks by its partitions.
class MembershipWatcher {
  public:
    virtual ~MembershipWatcher() = default;
    /// Partitions that the next flow touches may skip back now.
    virtual void before_entry() = 0;
    /// `steady_route`: links have not changed under the flow.
    virtual void after_entry(FlowSlot flow, const PartitionSet::Entry& entry,
                             bool steady_route) = 0;
    virtual void after_close(FlowSlot flow) = 0;
    virtual void before_exit(FlowSlot flow) = 0;
    virtual void after_exit(PartitionId from, const PartitionSet::Exit& exit) = 0;
    /// The flow may send something twice, or its packets leave its footprint.
    virtual void unbind(FlowSlot flow) = 0;
    /// Links are about to change; they have changed.
    virtual void before_links_change() = 0;
    virtual void after_links_change() = 0;
};

class Membership {
  public:
    /// Without partitions.
    explicit Membership(WorldStore& store);
    /// `supervisor` and `watcher` may be null. All must outlive this.
    Membership(WorldStore& store, FlowPartitions& partitions, Supervisor* supervisor,
               MembershipWatcher* watcher);

    /// A foreign model may hold packets where no search sees them.
    void expect_packets_from_outside() { outside_ = true; }
    /// Tells of flows that come and go.
    void fold(Folding& folding) { folding_ = &folding; }
    /// A packet is about to be put on the link to `port` from outside at `now`.
    void before_packet_from_outside(const Packet& packet, PortId port, Tick now);

    /// Takes up what has opened and closed; everything before `now` has been executed.
    void take_up_changes(Tick now);
    /// Lets lingering flows go whose last packet is gone. Costs the packets in the network, if it is
    /// time to look.
    void search(Tick now);
    /// `change()` takes links out of service or puts them back at `now`.
    template <class Change>
    void links_change(Tick now, Change&& change) {
        if (supervisor_ != nullptr) {
            supervisor_->before_link_event(now);
        }
        if (watcher_ != nullptr) {
            watcher_->before_links_change();
        }
        change();
        reroute(now);
    }
    /// Flows under which links have changed; as long as there are any, all is one domain.
    std::uint32_t strays() const { return strays_; }

    /// Flows that have closed since the caller last emptied it.
    std::vector<FlowRecord>& finished() { return finished_; }
    const MembershipStatistics& statistics() const { return statistics_; }
    Supervisor* supervisor() const { return supervisor_; }

  private:
    enum class Presence : std::uint8_t { absent, open, lingering };
    /// In the order in which changes of one instant are taken up.
    enum class ChangeKind : std::uint8_t { disturbed, opened, closed };
    struct Change {
        Tick at = 0;
        ChangeKind kind = ChangeKind::opened;
        FlowId id = kNoFlow;
        std::uint32_t place = kNone;  ///< the flow's slot, or the port
    };

    void reserve_slots();
    void list_changes();
    void enter(FlowSlot flow, Tick at);
    void close(FlowSlot flow, Tick at, Tick now);
    void leave(FlowSlot flow, Tick at);
    void leave_partition(FlowSlot flow, Tick at);
    bool kept_order(FlowSlot flow) const;
    bool time_to_search(Tick now) const;
    void reroute(Tick now);
    void reroute_apart(Tick now, const std::vector<FlowSlot>& living);
    void reroute_together(Tick now, const std::vector<FlowSlot>& living);
    void hold_everything(FlowSlot flow, Tick now);
    void pass_hold_on(FlowSlot flow, Tick now);
    void change_footprint(FlowSlot flow, const Footprint& print, Tick now);
    void follow_astray(FlowSlot flow, Tick now);
    bool stays_until_gone() const { return watcher_ != nullptr; }

    WorldStore& store_;
    FlowPartitions* partitions_ = nullptr;
    Supervisor* supervisor_ = nullptr;
    MembershipWatcher* watcher_ = nullptr;
    Folding* folding_ = nullptr;
    bool outside_ = false;
    std::vector<Presence> presence_;   ///< by slot
    std::vector<std::uint8_t> stray_;  ///< by slot: links have changed under it
    std::uint32_t strays_ = 0;
    FlowSlot holder_ = kNone;  ///< the stray that holds every resource
    std::vector<FlowSlot> lingering_;
    Footprint print_;              ///< scratch of enter()
    std::vector<ResourceId> way_;  ///< scratch: of a packet from outside
    Tick next_search_ = kNever;
    std::vector<Change> changes_;  ///< scratch
    std::vector<FlowRecord> finished_;
    MembershipStatistics statistics_;
};

}  // namespace sluice::step
