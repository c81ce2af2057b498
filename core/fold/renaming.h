// SPDX-License-Identifier: Apache-2.0
/// By which names a copy has what its representative has: the copy's own ports, hosts and flows in the place of the
/// representative's. Reads only.
///
/// Of a part that is several sheets (core/fold/fold.h) a packet at a copy's unit need not be of the copy's own
/// flow: the way of the flow says whose it is.
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
    Renaming(const WorldStore& store, const FoldPlaces& places, const Fold& fold,
             const Image& image)
        : topology_(store.topology()),
          world_(store.world()),
          places_(places),
          fold_(fold),
          image_(image) {}

    PortId unit(PortId leader) const { return image_.unit[places_.unit[leader].index]; }
    NodeId host(NodeId leader) const { return image_.host[places_.host[leader].index]; }
    FlowSlot flow(FlowSlot leader) const {
        return leader == kNone ? kNone : image_.flow[places_.flow[leader].index];
    }
    /// Whether a port is a unit of the representative's: a flow of this window may reach beyond.
    bool has(PortId port) const {
        const FoldPlace& place = places_.unit[port];
        return place.leads() && place.index < fold_.unit.size() && fold_.unit[place.index] == port;
    }
    /// The way of a representative's flow in a fold of several sheets; null: its own, or not known yet.
    const Turn* turn(FlowSlot leader) const;
    /// The flow of the copy's part whose packets are at the copy's unit, as those of `leader` are at the
    /// representative's by which it goes at `place` of its way (its destination: after the last).
    FlowSlot flow_at(FlowSlot leader, std::uint32_t place) const;
    /// By which unit of its flow's way a packet of the representative's waits, or has left last.
    std::uint32_t place_of(const Packet& leader, bool queued) const;
    /// Whether a representative's host receives one of its flows, and as which flow the copy's host does.
    bool receives(NodeId leader, FlowSlot flow) const;
    FlowSlot received_as(FlowSlot leader) const;
    /// Flows of the copy's part that the copy's host receives.
    std::vector<FlowSlot> received_by(NodeId leader) const;

    /// A packet on a link, or in a queue of unit `queued_at` of the representative's.
    Packet packet(const Packet& leader, PortId queued_at = kNone) const;
    /// A sender of the representative's, but for its heir, which keeps its number.
    Sender sender(const Sender& leader) const;
    /// Makes a representative's sender the copy's, as sender() says.
    void rename(Sender& sender) const;
    /// Whose counters of ports a host's laws remember, and its packets on their way were told.
    enum class Counters : std::uint8_t { own, leaders };
    /// Of what the law of `leader` remembers of ports' counters.
    void renumber(Sender& sender, FlowSlot leader, Counters to = Counters::own) const;

    /// By place in INT slots of a flow's: units that the copy's ports have sent more than the representative's,
    /// modulo the field. 0 beyond the representative's units, and for the tag.
    using IntUnits = std::array<std::uint64_t, kPathHops>;
    IntUnits int_units(FlowSlot leader) const;
    /// A record of such a slot, by its place there.
    static congestion::IntRecord int_record(const IntUnits& units, std::uint32_t word,
                                            congestion::IntRecord record) {
        return record == 0 || word >= units.size()
                   ? record
                   : congestion::with_more_units(record, units[word]);
    }
    /// Whether the counters of the representative's port and the copy's differ by whole units.
    bool whole_units_apart(PortId leader) const;

  private:
    FlowSlot way_known_of(FlowSlot leader) const;
    PortId port_on_way(FlowSlot leader, std::uint32_t place) const;
    /// The unit by which the flow that has the copy's number of `leader` goes there.
    PortId unit_on_way(FlowSlot leader, std::uint32_t place) const;
    const Image& sheet(std::uint32_t number) const {
        return image_.part == nullptr ? image_ : *(*image_.part)[number];
    }
    std::uint16_t entered_by(const Packet& leader, PortId queued_at) const;
    /// INT's units that `port` has sent more than the representative's, modulo the field.
    std::uint64_t more_units(PortId port, PortId leader) const;

    const Topology& topology_;
    const World& world_;
    const FoldPlaces& places_;
    const Fold& fold_;
    const Image& image_;
};

}  // namespace sluice::step
