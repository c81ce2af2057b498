// SPDX-License-Identifier: Apache-2.0
/// Finds parts that are copies of each other, renamed, in all that decides what happens (Likeness), and folds them. A
/// part that is symmetric in itself is folded upon itself first (QuotientFinder).
///
/// Never folded: flows that are sprayed where they have a choice, and parts with ports that are down, paused, or on cables
/// that lose packets.
#pragma once

#include <vector>

#include "core/fold/materializer.h"
#include "core/fold/pairing.h"
#include "core/fold/part_finder.h"
#include "core/fold/quotient_finder.h"
#include "core/fold/waiting_parts.h"

namespace sluice::step {

class CopyFinder {
  public:
    /// All must outlive this.
    CopyFinder(WorldStore& store, FoldTable& folds, FoldMembers& members,
               Materializer& materializer, const Supervision& supervision, const FlowPrints& prints,
               PartFinder& parts, QuotientFinder& quotients, WaitingParts& waiting);

    /// Of flows that are in no fold, in groups that belong together; `now`: the end of a window. Parts that have copies
    /// but are among others wait.
    void fold_alike(const FlowGroups& joined, Tick now);

  private:
    void drop_unfit(std::vector<const FlowGroup*>& candidates, bool alone, Tick now);
    void fold_candidates(std::vector<const FlowGroup*> candidates, Tick now, Tick from);
    std::vector<const FlowGroup*> fold_first(const std::vector<const FlowGroup*>& candidates,
                                             Tick from);

    WorldStore& store_;
    FoldTable& folds_;
    FoldMembers& members_;
    Materializer& materializer_;
    const Supervision& supervision_;
    PartFinder& parts_;
    QuotientFinder& quotients_;
    WaitingParts& waiting_;
    Pairing pairing_;
};

}  // namespace sluice::step
