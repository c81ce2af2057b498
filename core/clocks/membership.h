// SPDX-License-Identifier: Apache-2.0
/// Which flows are in the network, kept between windows: the one place that learns that a flow has
/// opened, closed, or left no packet behind, and that gives a flow's slot to the next one. It lists what has
/// happened; whoever drives acts on it (core/engine/flow_changes.h, core/ns3/driver.h).
///
/// Nothing is left of a flow that closes if it sent nothing twice and its packets kept their order;
/// else a search of the links and queues finds out. Until then it *lingers*.
///
/// Changes are listed in order of time and of the flows' ids, so that it makes no difference how time was
/// cut into windows, nor which slots flows have.
#pragma once

#include <vector>

#include "core/world/world_store.h"

namespace sluice::step {

/// What a run counts of flows that come and go.
struct MembershipStatistics {
    std::uint64_t entries = 0;   ///< flows
    std::uint64_t exits = 0;     ///< flows
    std::uint64_t searches = 0;  ///< for packets of flows that sent something twice
    std::uint64_t merges = 0;    ///< partitions absorbed by another
    std::uint64_t splits = 0;    ///< partitions split off
};

class Membership {
  public:
    /// In the order in which changes of one instant are taken up.
    enum class ChangeKind : std::uint8_t { disturbed, opened, closed };
    struct Change {
        Tick at = 0;
        ChangeKind kind = ChangeKind::opened;
        FlowId id = kNoFlow;
        std::uint32_t place = kNone;  ///< the flow's slot, or the port
    };
    enum class Presence : std::uint8_t { absent, open, lingering };

    /// `store` must outlive this. `waited_for`: something waits for lingering flows to be gone, and not just for
    /// their slots.
    explicit Membership(WorldStore& store, bool waited_for = false)
        : store_(store), waited_for_(waited_for) {}

    /// A foreign model may hold packets where no search sees them.
    void expect_packets_from_outside() { outside_ = true; }

    /// What has happened since the last call, in order. Valid until the next call. A flow may be listed as opened
    /// that is not absent any more.
    const std::vector<Change>& list_changes();
    Presence presence(FlowSlot flow) const {
        return flow < presence_.size() ? presence_[flow] : Presence::absent;
    }
    /// The flow is in the network from here on.
    void open(FlowSlot flow);
    /// The flow has closed, by `now`. True if nothing of it is left: it is to leave. Else it lingers.
    bool close(FlowSlot flow, Tick now);
    /// Lingering flows whose last packet is gone, by their ids: they are to leave. Costs the packets in the network,
    /// if it is time to look.
    std::vector<FlowSlot> search(Tick now);
    /// The flow has left: its slot is the next one's.
    void leave(FlowSlot flow);

    /// Links have changed under all flows that are in the network now: they are strays until they leave. Returns them.
    std::vector<FlowSlot> stray_all();
    bool is_stray(FlowSlot flow) const { return flow < stray_.size() && stray_[flow] != 0; }
    std::uint32_t strays() const { return strays_; }

    /// Flows that have closed since the caller last emptied it.
    std::vector<FlowRecord>& finished() { return finished_; }
    MembershipStatistics& statistics() { return statistics_; }
    const MembershipStatistics& statistics() const { return statistics_; }

  private:
    void reserve_slots();
    bool kept_order(FlowSlot flow) const;
    bool time_to_search(Tick now) const;

    WorldStore& store_;
    bool waited_for_;
    bool outside_ = false;
    std::vector<Presence> presence_;   ///< by slot
    std::vector<std::uint8_t> stray_;  ///< by slot: links have changed under it
    std::uint32_t strays_ = 0;
    std::vector<FlowSlot> lingering_;
    Tick next_search_ = kNever;
    std::vector<Change> changes_;
    std::vector<FlowRecord> finished_;
    MembershipStatistics statistics_;
};

}  // namespace sluice::step
