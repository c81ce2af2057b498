// SPDX-License-Identifier: Apache-2.0
/// The names that a representative which is the first sheet of its part (core/fold/fold.h) has in its own columns. While
/// it is executed, everything at its units goes by the names of its own flows. Before and after, what is there may be
/// of other sheets' flows.
#pragma once

#include "core/fold/copy_writer.h"

namespace sluice::step {

class QuotientNames {
  public:
    /// Of a fold of several sheets. All must outlive this.
    QuotientNames(WorldStore& store, const FoldPlaces& places, const Fold& fold)
        : world_(store.world()),
          topology_(store.topology()),
          store_(store),
          places_(places),
          fold_(fold),
          self_(store, places, fold, *fold.self) {}

    /// Whether the columns say the same either way: everything on its way is where the names are the same.
    /// `now`: the end of a window.
    bool canonical(Tick now) const;
    /// As a fold begins among packets on their way: all that is at the representative gets the names of its sheet. False,
    /// and nothing is changed: something has no such name, or INT has told those whose names packets had something else.
    /// `from`: as for Likeness.
    bool adopt(Tick from) const;
    /// Undoes adopt().
    void give_back() const;

    // As the fold ends: everything gets the names of those whose it is. Hosts first, while the copies' counters are
    // what they were.
    void restore_hosts() const;
    void restore_units() const;

  private:
    const Renaming& names() const { return self_.names(); }
    bool remembers_ports(FlowSlot flow) const;
    void renumber_host(NodeId leader, Renaming::Counters to) const;
    FlowSlot named_in_sheet(const Packet& packet, PortId leader, bool queued) const;
    Packet adopted(const Packet& packet, PortId leader, bool queued) const;
    bool is_nameable(PortId leader) const;
    void adopt_unit(PortId leader) const;

    World& world_;
    const Topology& topology_;
    WorldStore& store_;
    const FoldPlaces& places_;
    const Fold& fold_;
    CopyWriter self_;
};

}  // namespace sluice::step
