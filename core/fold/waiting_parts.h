// SPDX-License-Identifier: Apache-2.0
/// Parts that have copies but could not be folded, as other flows were at their ports or hosts when they came. They wait
/// for these to leave, as the next step of a ring does while the last ACKs of the one before are on their way.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "core/fold/flow_prints.h"
#include "core/fold/fold_table.h"

namespace sluice::step {

class WaitingParts {
  public:
    /// All must outlive this.
    WaitingParts(const WorldStore& store, const FoldTable& folds, const FlowPrints& prints);

    void wait(const FlowGroup& part);
    void clear();
    /// A flow with this print is leaving.
    void note_leaving(const FlowPrint& print);
    /// Adds parts among whom somebody has left since the last call, if none of their own flows has; they wait no more.
    void take_ready(FlowGroups& ready);
    /// So many copies have come of parts that waited.
    void note_won(std::uint64_t copies) { won_ += copies; }

  private:
    struct Waiting {
        FlowGroup flows;
        std::vector<FlowId> ids;
    };

    template <class Visit>
    void visit_places(const FlowPrint& print, Visit&& visit) const;
    void stop(std::uint32_t number);

    const World& world_;
    const FoldTable& folds_;
    const FlowPrints& prints_;
    std::uint32_t ports_;
    std::map<std::uint32_t, Waiting> waiting_;  ///< by number
    std::vector<std::uint32_t> waits_at_;  ///< by port, then by node: the number of who waits there
    std::set<std::uint32_t> thinner_;      ///< numbers of those among whom somebody has left
    std::uint32_t count_ = 0;              ///< so far; the number of the next one
    std::uint64_t won_ = 0;                ///< copies
};

}  // namespace sluice::step
