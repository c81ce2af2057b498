// SPDX-License-Identifier: Apache-2.0
/// What the flows that cross a switch can have in its shared buffer at most, whatever happens. When
/// even that much can make no decision of the switch (threshold, pause, drop) depend on the total,
/// its cells never notice each other and may be at different times: each has an occupancy bound,
/// the most that its flows can take.
///
/// A flow's packets that are on the network, an ACK in place of its data packet, are never more
/// than its largest window and one packet, as long as it sends nothing twice and its packets keep
/// their order: no loss, no spraying, no detour. So a flow is bounded until it goes back for the
/// first time, if its path has no lossy cable; and where a switch may drop packets, bounds are
/// granted only while no switch can. Under selective repeat none is.
///
/// Of flows without a window that says little. Whoever looks at queues between windows has another bound: share().
#pragma once

#include <vector>

#include "core/clocks/flow_partitions.h"

namespace sluice::step {

class OccupancyBounds {
  public:
    /// Takes the store as it is built: nothing is buffered.
    explicit OccupancyBounds(const WorldStore& store);

    /// `flow` enters with this footprint; `steady_route`: links have not changed under it.
    void add(FlowSlot flow, const Footprint& footprint, bool steady_route);
    void remove(FlowSlot flow, const Footprint& footprint);
    bool contains(FlowSlot flow) const {
        return flow < state_.size() && state_[flow] != State::absent;
    }
    /// The flow has sent something twice, or may: its bound is void.
    void unbind(FlowSlot flow, const Footprint& footprint);

    /// May the cells of this switch be at different times?
    bool divisible(NodeId node) const;
    /// The switch has paused who sends to this port of it, or the port's headroom is in use.
    bool pauses_at(PortId port) const;
    /// The bound of one cell.
    std::int64_t bound(const Cell& cell) const;
    /// Then no switch is divisible.
    bool drops_possible() const { return !lossless_ && loud_switches_ > 0; }
    /// While no ingress port of a switch holds more than this, of whichever flows, no decision of the switch
    /// depends on its buffer's total; of any switch. Negative: there is no such amount.
    std::int64_t share() const { return share_; }
    /// Until its time-out the flow sends nothing twice.
    bool bounded(FlowSlot flow) const { return state_[flow] == State::bounded; }

  private:
    enum class State : std::uint8_t { absent, bounded, unbounded };

    template <class Visit>
    void visit_ingresses(const Footprint& footprint, Visit&& visit) const;
    std::int64_t packets_at_most(FlowSlot flow) const;
    bool pauses(NodeId node) const;
    void charge(FlowSlot flow, const Footprint& footprint, bool enter);
    bool quiet(NodeId node) const;
    template <class BytesAt>
    bool quiet_with(NodeId node, BytesAt&& bytes_at) const;
    std::int64_t share_of(NodeId node) const;
    bool compute_lossless() const;
    bool stops_acks_of(const FlowSpec& spec) const;
    void set_loud(NodeId node);

    const WorldStore& store_;
    const World& world_;
    std::vector<Buffer> unused_;  ///< by node: as nobody uses it
    bool lossless_ = false;       ///< no switch can ever drop a packet
    std::int64_t share_ = 0;
    std::vector<State> state_;              ///< by slot
    std::vector<std::int64_t> bytes_;       ///< by ingress port, of bounded flows
    std::vector<std::uint32_t> unbounded_;  ///< by ingress port: flows
    std::vector<std::uint8_t> loud_;        ///< by node, kept only where switches may drop
    std::uint32_t loud_switches_ = 0;
};

}  // namespace sluice::step
