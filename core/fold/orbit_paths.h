// SPDX-License-Identifier: Apache-2.0
/// The ways (Turn) that flows take in a fold of several sheets: where a packet would go on to another sheet's port, it
/// takes the like of that port in the representative's own sheet.
#pragma once

#include "core/fold/flow_prints.h"
#include "core/fold/fold_table.h"

namespace sluice::step {

class OrbitPaths {
  public:
    /// All must outlive this.
    OrbitPaths(WorldStore& store, FoldTable& folds, const FlowPrints& prints)
        : topology_(store.topology()), world_(store.world()), folds_(folds), prints_(prints) {}

    /// The way of flow `index` of the representative's: in all sheets the flow goes by the like of one port at each
    /// place, no two by the same, and in all parts alike. False: it has none.
    bool find(std::uint32_t id, std::uint32_t index, Turn& turn) const;
    /// Finds the ways of all flows in service; false if one has none.
    bool find_all(std::uint32_t id);
    /// Whether the flows of a part that has been added go the ways that have been found.
    bool fits(std::uint32_t id, const Sheets& part) const;
    /// A representative's flow has come into service: it goes its way in the fold from here on. False: it has none.
    bool enter(std::uint32_t id, FlowSlot flow);
    /// Packets that arrive at a switch at one instant for one port are taken in the order of the ports by which
    /// they come. Whether that is the same in all sheets.
    bool keeps_order(const Fold& fold, const Sheets& sheets) const;

  private:
    bool keeps_order(const Fold& fold) const;
    bool find_place(std::uint32_t id, std::uint32_t index, std::uint32_t place, Turn& turn) const;
    const Image* sheet_of(const FoldPlace& place, std::uint32_t id) const;
    const Image* sheet_at(std::uint32_t id, const Sheets& part, const FlowPrint& print,
                          std::uint32_t place, std::uint32_t& index) const;
    bool leads_on(const Turn& turn) const;

    const Topology& topology_;
    World& world_;
    FoldTable& folds_;
    const FlowPrints& prints_;
};

}  // namespace sluice::step
