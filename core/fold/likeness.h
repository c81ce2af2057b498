// SPDX-License-Identifier: Apache-2.0
/// Whether a part of the network is a copy of a leader: everything in its columns that decides what happens
/// is the leader's, renamed. A false answer loses time only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/fields.h"
#include "core/fold/renaming.h"

namespace sluice::step {

/// Where two parts are not alike: a column of a struct, of the leader's thing and the image's (ports or flows).
struct Difference {
    const char* structure = nullptr;
    std::uint32_t leader = kNone;
    std::uint32_t image = kNone;
    const char* column = nullptr;  ///< null: none was found in a column
};

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
    /// After holds() was false: the first column in which they differ, if it was one.
    const Difference& difference() const { return difference_; }
    /// Of a leader whose packets have got the names of its sheet: those whose names they had were told the same.
    bool others_told_alike() const;

  private:
    /// Of two states: all that must be equal in copies is, names and parts aside.
    template <class State>
    bool same(const State& leader, const State& image, Difference of) const {
        if (same_fields(leader, image, of.column)) {
            return true;
        }
        difference_ = of;
        return false;
    }
    /// The same, where instants before `from` are all one: nothing of them is left.
    template <class State>
    bool same_since(Tick from, const State& leader, const State& image, Difference of) const;

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
    mutable Difference difference_;
    mutable std::vector<std::optional<Renaming::IntUnits>> units_;  ///< by flow of the fold
};

/// Whether the flows' own terms are the same: what is sent, how, and since when.
bool specs_alike(const World& world, FlowSlot a, FlowSlot b);

}  // namespace sluice::step
