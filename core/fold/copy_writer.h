// SPDX-License-Identifier: Apache-2.0
/// Writes the state of a copy from its representative's (materialization), with the names replaced (Renaming). A
/// port's counters go on from the copy's own counts.
#pragma once

#include "core/fold/renaming.h"

namespace sluice::step {

class CopyWriter {
  public:
    /// All must outlive this.
    CopyWriter(WorldStore& store, const FoldPlaces& places, const Fold& fold, const Image& image)
        : store_(store),
          world_(store.world()),
          places_(places),
          fold_(fold),
          image_(image),
          names_(store, places, fold, image) {}

    const Renaming& names() const { return names_; }

    /// The sending end of a unit: the transmitter, its queues and its decision. Returns how many packets the
    /// copy has sent by that.
    std::uint64_t copy_egress(PortId leader) const;
    /// The packets of the link that `leader` feeds, the count of the switch at its other end, and when that
    /// wakes.
    void copy_link(PortId leader) const;
    /// The count of that switch alone.
    void copy_ingress(PortId leader) const;
    /// A host's queue pairs, its timers besides its own, and what its flows have in their slots.
    void copy_host(NodeId leader) const;
    /// What a host has received of its flows.
    void copy_receivers(NodeId leader) const;

    // Of a host that was written in the middle of a window, when that is over.
    /// Appends the last `count` packets of the link that `leader` feeds.
    void complete_link(PortId leader, std::uint32_t count) const;
    /// `waiting` was on the link that `leader` feeds, and the first `taken` have been taken from it since.
    void restore_link(PortId leader, const std::vector<Packet>& waiting, std::size_t taken) const;
    /// What switches have written into its packets' INT records since.
    void complete_records(NodeId leader) const;

    // Takes everything that could happen out of a unit or host of the copy.
    void still_unit(PortId leader) const;
    void still_host(NodeId leader) const;

  private:
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
    Renaming names_;
};

}  // namespace sluice::step
