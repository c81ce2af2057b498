// SPDX-License-Identifier: Apache-2.0
/// Names everything of a part by what it would be the copy of in a fold's representative: flows in the order of their
/// ids, ports and hosts by the flows that use them.
#pragma once

#include "core/fold/flow_prints.h"
#include "core/fold/fold_table.h"

namespace sluice::step {

class Pairing {
  public:
    /// All must outlive this.
    Pairing(const World& world, const FoldTable& folds, const FlowPrints& prints)
        : world_(world), folds_(folds), prints_(prints) {}

    /// `leader`: the flows of which the fold was made. False: the names are contradictory.
    bool pair_up(const Fold& fold, const FlowGroup& leader, const FlowGroup& part,
                 Image& image) const;

  private:
    bool pair_flows(FlowSlot leader, FlowSlot other, Image& image) const;
    bool pair_hosts(NodeId leader, NodeId other, Image& image) const;
    bool pair_units(const FlowPrint& leader, const FlowPrint& other, Image& image) const;

    const World& world_;
    const FoldTable& folds_;
    const FlowPrints& prints_;
};

}  // namespace sluice::step
