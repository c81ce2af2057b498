// SPDX-License-Identifier: Apache-2.0
/// The leader's state as an image of it has it: the same, with the image's own ports, hosts and flows in the
/// place of the leader's. What a port counts goes on from its own count.
#pragma once

#include <array>

#include "core/fold/fold.h"

namespace sluice::step {

/// Of everything in a unit's queues (`queued`), and on its link: whether `holds(packet, queued)`.
template <class Predicate>
bool all_packets_of(World& world, PortId unit, Predicate&& holds) {
    const auto all = [&](Ring& ring, bool queued) {
        for (std::uint32_t at = ring.head; at != ring.tail; ++at) {
            if (!holds(ring.at(at), queued)) {
                return false;
            }
        }
        return true;
    };
    for (Ring& queue : world.egress[unit].queue) {
        if (!all(queue, true)) {
            return false;
        }
    }
    return all(world.link[world.egress[unit].peer], false);
}

class Renaming {
  public:
    /// All must outlive this.
    Renaming(WorldStore& store, const FoldPlaces& places, const Fold& fold, const Image& image)
        : store_(store), world_(store.world()), places_(places), fold_(fold), image_(image) {}

    PortId unit(PortId leader) const { return image_.unit[places_.unit[leader].index]; }
    /// The flow of the image's part whose packets are at the image's unit, as those of `leader` are at the
    /// leader's by which it goes at `place` of its way (its destination: after the last).
    FlowSlot flow_at(FlowSlot leader, std::uint32_t place) const;
    NodeId host(NodeId leader) const { return image_.host[places_.host[leader].index]; }
    /// Whether a port is a unit of the leader's: a flow of this window may reach beyond.
    bool has(PortId port) const {
        const FoldPlace& place = places_.unit[port];
        return place.leads() && place.index < fold_.unit.size() && fold_.unit[place.index] == port;
    }
    FlowSlot flow(FlowSlot leader) const {
        return leader == kNone ? kNone : image_.flow[places_.flow[leader].index];
    }
    /// A packet on a link, or in a queue of unit `queued_at` of the leader's.
    Packet packet(const Packet& leader, PortId queued_at = kNone) const;
    /// A sender of the leader's, but for its heir, which keeps its number.
    Sender sender(const Sender& leader) const;
    /// By place in INT slots of a flow's: units that the image's ports have sent more than the leader's, modulo
    /// the field. 0 beyond the leader's units, and for the tag.
    using IntUnits = std::array<std::uint64_t, kPathHops>;
    IntUnits int_units(FlowSlot leader) const;
    /// A record of such a slot, by its place there.
    static congestion::IntRecord int_record(const IntUnits& units, std::uint32_t word,
                                            congestion::IntRecord record) {
        return record == 0 || word >= units.size()
                   ? record
                   : congestion::with_more_units(record, units[word]);
    }
    /// Whether the counters of the leader's port and the image's differ by whole units.
    bool whole_units_apart(PortId leader) const;

    // Writes the image's columns.
    /// What stands at the sending end of a unit: the transmitter, its queues and its decision. Returns the
    /// packets that the image has sent by that.
    std::uint64_t copy_egress(PortId leader) const;
    /// The packets of the link that `leader` feeds, the count of the switch at its other end, and when that
    /// wakes.
    void copy_link(PortId leader) const;
    /// A host's queue pairs, its timers besides its own, and what its flows have in their slots.
    void copy_host(NodeId leader) const;
    /// Flows of the image's part that the image's host receives.
    std::vector<FlowSlot> received_by(NodeId leader) const;
    /// Appends the last `count` packets of the link that `leader` feeds.
    void complete_link(PortId leader, std::uint32_t count) const;
    /// `waiting` was on the link that `leader` feeds, and the first `taken` have been taken from it since.
    void restore_link(PortId leader, const std::vector<Packet>& waiting, std::size_t taken) const;
    void copy_ingress(PortId leader) const;
    /// A host was copied before the window was over: what switches have told its packets since.
    void complete_records(NodeId leader) const;

    // Of the leader itself, in a fold of several sheets, which is its own first one: what it has by names of
    // its own sheet gets those of whose it is. Hosts first, and while the image's counters are what they were.
    void restore_host(NodeId leader) const;
    void restore_unit(PortId leader) const;
    // The other way round, as a fold begins among packets on their way: what is at the leader's gets the names of its
    // sheet. False, and nothing is changed: something has none.
    bool is_nameable(PortId leader) const;
    void adopt_unit(PortId leader) const;
    /// Whose counters of ports a host's laws remember, and its packets on their way were told.
    enum class Counters : std::uint8_t { own, leaders };
    void renumber_host(NodeId leader, Counters to) const;

    /// Takes everything that could happen out of a unit or host of the image.
    void still_unit(PortId leader) const;
    void still_host(NodeId leader) const;

  private:
    /// What is known of the way of a flow of the leader's, by hop or place.
    const Turn* turn(FlowSlot leader) const;
    FlowSlot way_known_of(FlowSlot leader) const;
    PortId port_on_way(FlowSlot leader, std::uint32_t place) const;
    /// The unit by which the flow that has the image's number of `leader` goes there.
    PortId unit_on_way(FlowSlot leader, std::uint32_t place) const;
    std::uint32_t place_of(const Packet& leader, bool queued) const;
    const Image& sheet(std::uint32_t number) const {
        return image_.part == nullptr ? image_ : *(*image_.part)[number];
    }
    std::uint16_t entered_by(const Packet& leader, PortId queued_at) const;
    /// INT's units that `port` has sent more than the leader's, modulo the field.
    std::uint64_t more_units(PortId port, PortId leader) const;
    /// Makes a leader's sender the image's, as sender() says.
    void rename(Sender& sender) const;
    void renumber(Sender& sender, FlowSlot leader, Counters to = Counters::own) const;
    FlowSlot named_in_sheet(const Packet& packet, PortId leader, bool queued) const;
    Packet adopted(const Packet& packet, PortId leader, bool queued) const;
    bool receives(NodeId leader, FlowSlot flow) const;
    FlowSlot received_as(FlowSlot leader) const;
    void copy_receiver(NodeId leader, FlowSlot flow) const;
    void copy_flow_at_source(FlowSlot leader) const;
    void copy_int_slots(FlowSlot leader, bool old) const;
    void share_time(PortId leader) const;
    void append(PortId leader, const Packet& packet) const;
    void wake_for_link(PortId leader) const;
    void add_to_buffer(PortId image_sender, PortId image_receiver, std::int64_t sign) const;
    void note_change(FlowSlot image, const FlowResult& before) const;

    WorldStore& store_;
    World& world_;
    const FoldPlaces& places_;
    const Fold& fold_;
    const Image& image_;
};

}  // namespace sluice::step
