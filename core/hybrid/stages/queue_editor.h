// SPDX-License-Identifier: Apache-2.0
/// Changes how much is queued at switch ports between two windows by changing which packets are there, so
/// that everything stays what packets could have made of it: sequences without gaps, windows, the shared
/// buffer's accounting, and every port's count of what it has sent.
///
/// Too deep: the oldest data packets leave the queue, and their ACKs are back at the sender; packets behind
/// them are renumbered. If the links behind the queue had room for them during the skip, they were
/// delivered in it besides, and the flow is that much shorter; else they were among those that it
/// delivered, and as many fewer have left the sender. Too shallow: the next packets of the flows through the
/// port have come this far, in proportion to their rates, as far as windows, what is not sent yet, the
/// links before the queue and the buffer let them, the last without a decision; packets behind them are
/// renumbered. They carry no INT records (the law waits for the next ACK that does) and left their NIC as
/// long ago as their way and their place in the queue take. No link has carried more than its capacity x
/// the time of the skip.
/// Source: HyGra V-C says what is to be in a queue, not how; this is ours.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/hybrid/phase_engine.h"
#include "core/world/world_store.h"

namespace sluice::hybrid {

class QueueEditor {
  public:
    /// All must outlive the editor.
    QueueEditor(step::WorldStore& store, const step::FlowPartitions& partitions, const Group& group,
                const Skipped& skip);

    /// `wanted` bytes are to be queued at each of the group's switch ports that are named, as nearly as
    /// packets allow. Once.
    RestoredQueues set(const std::vector<PortId>& ports, const std::vector<double>& wanted,
                       Tick now);
    /// Leaves `part` (0 to 1, by flow of the group) of the flows' packets that are on a link to a switch, or queued at one. The
    /// others were delivered, as those that leave a queue that is too deep. Once.
    RestoredQueues thin(const std::vector<double>& part, Tick now);

  private:
    /// A data packet that has left the queue of a port.
    struct Removed {
        FlowSlot flow = kNone;
        std::uint32_t sequence = 0;
        PortId port = kNone;
        bool given_back = false;
    };
    /// Packets of a flow that come to the queue of a port.
    struct Placed {
        FlowSlot flow = kNone;
        PortId port = kNone;
        PortId ingress = kNone;      ///< by which they have come
        std::uint32_t hop = 0;       ///< of `port`, among the ports of the flow's data
        double rate = 0;             ///< packets per tick
        std::uint32_t before = 0;    ///< the first sequence that has not come this far
        std::uint32_t sequence = 0;  ///< of the next one to be put in
        std::uint32_t packets = 0;
    };

    /// Packets that come to the queue of one port.
    struct Arrivals {
        std::vector<std::uint32_t> placed;  ///< of placed_, a packet each, oldest first
        double rate = 0;                    ///< of all flows that come by there, packets per tick
    };

    bool sent_once(FlowSlot flow) const;
    bool fits(const PortId* first, const PortId* last, std::int64_t bytes) const;
    void use(const PortId* first, const PortId* last, std::int64_t bytes);
    bool take_out(const step::Packet& packet, PortId port);
    void remove_from(PortId port, double wanted);
    template <class Goes>
    void remove_queued(PortId port, Goes&& goes);
    template <class Goes>
    void remove_on_link(PortId port, Goes&& goes);
    RestoredQueues removed() const;
    void wake_nodes(Tick now);
    void close_gaps();
    void account(FlowSlot flow, std::vector<Removed>::const_iterator first,
                 std::vector<Removed>::const_iterator last);
    void find_astray();
    std::vector<Placed> candidates(PortId port) const;
    bool may_send(const Placed& candidate);
    bool holds(const Placed& candidate, std::int64_t planned) const;
    void plan_for(PortId port, double wanted);
    void open_gaps();
    void put_in(Tick now);
    step::Packet next_of(Placed& placed, Tick arrived);
    void charge_senders(Tick now);
    /// Of a full packet, as it is on a link.
    std::int64_t frame_bytes() const { return std::int64_t{world_.payload} + world_.data_overhead; }
    template <class Visit>
    void each_data_packet(Visit&& visit);

    step::WorldStore& store_;
    step::World& world_;
    const step::FlowPartitions& partitions_;
    const Group& group_;
    const Skipped& skip_;
    std::unordered_map<PortId, double> room_;  ///< bytes that a link could have carried besides
    /// Packets of the skip that may be given back.
    std::unordered_map<FlowSlot, std::int64_t> left_;
    std::vector<Removed> removed_;
    std::vector<FlowSlot> astray_;
    std::vector<Placed> placed_;
    std::unordered_map<FlowSlot, std::int64_t> planned_;  ///< packets to be placed, at all ports
    std::vector<Arrivals> arrivals_;
    std::vector<std::pair<FlowSlot, std::uint32_t>> by_flow_;  ///< of placed_
};

/// visit(packet, port, queued): data packets in the queue of a switch's `port`, or on the link to `port`. Of each port of the
/// group those on the link that it feeds: where ACKs are no packets, the other ends are not the group's.
template <class Visit>
void QueueEditor::each_data_packet(Visit&& visit) {
    const auto all_of = [&](step::Ring& ring, PortId port, bool queued) {
        for (std::uint32_t at = ring.head; at != ring.tail; ++at) {
            if (ring.at(at).packet_kind() == step::PacketKind::data) {
                visit(ring.at(at), port, queued);
            }
        }
    };
    for (const PortId port : group_.ports) {
        const PortId fed = world_.egress[port].peer;
        all_of(world_.link[fed], fed, false);
        for (std::uint32_t queue = 1; queue < step::kClasses; ++queue) {
            all_of(world_.egress[port].queue[queue], port, true);
        }
    }
}

}  // namespace sluice::hybrid
