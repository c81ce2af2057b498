// SPDX-License-Identifier: Apache-2.0
/// Whether a part of the network is a copy of a leader: everything in its columns that decides what happens
/// is the leader's, renamed. A false answer loses time only.
#pragma once

#include <optional>
#include <vector>

#include "core/fold/renaming.h"

namespace sluice::step {

class Likeness {
  public:
    /// At the end of a window; nothing that is left to happen lies before `from`. All must outlive this.
    Likeness(WorldStore& store, const FoldPlaces& places, const Fold& fold, const Image& image,
             Tick from)
        : world_(store.world()),
          topology_(store.topology()),
          places_(places),
          fold_(fold),
          image_(image),
          renaming_(store, places, fold, image),
          from_(from) {}

    /// Of everything in the image.
    bool holds() const;
    /// Of a leader whose packets have got the names of its sheet: those whose names they had were told the same.
    bool others_told_alike() const;

  private:
    void prefetch_flows() const;
    void prefetch_told() const;
    bool same_order_of_ports() const;
    bool units_alike(PortId leader) const;
    bool links_alike(PortId leader) const;
    bool queues_alike(PortId leader) const;
    bool hosts_alike(NodeId leader) const;
    bool rounds_alike(PortId leader) const;
    bool flows_alike(FlowSlot leader) const;
    bool senders_alike(FlowSlot leader) const;
    bool queue_pairs_alike(FlowSlot leader) const;
    bool int_slots_alike(FlowSlot leader) const;
    bool told_alike(const Packet& leader, const Packet& image) const;
    const Renaming::IntUnits& units_of(FlowSlot leader) const;

    World& world_;
    const Topology& topology_;
    const FoldPlaces& places_;
    const Fold& fold_;
    const Image& image_;
    Renaming renaming_;
    Tick from_;
    mutable std::vector<std::optional<Renaming::IntUnits>> units_;  ///< by flow of the fold
};

/// Whether the flows' own terms are the same: what is sent, how, and since when.
bool specs_alike(const World& world, FlowSlot a, FlowSlot b);

}  // namespace sluice::step
