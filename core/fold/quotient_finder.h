// SPDX-License-Identifier: Apache-2.0
/// Folds parts that are symmetric in themselves: of a ring whose hosts do the same, one host is executed (the quotient).
#pragma once

#include <memory>
#include <vector>

#include "core/fold/materializer.h"
#include "core/fold/orbit_paths.h"
#include "core/fold/part_finder.h"
#include "core/fold/symmetry.h"

namespace sluice::step {

class QuotientFinder {
  public:
    /// All must outlive this.
    QuotientFinder(WorldStore& store, FoldTable& folds, FoldMembers& members,
                   Materializer& materializer, const Supervision& supervision,
                   const FlowPrints& prints, PartFinder& parts, OrbitPaths& paths)
        : store_(store),
          world_(store.world()),
          folds_(folds),
          members_(members),
          materializer_(materializer),
          supervision_(supervision),
          prints_(prints),
          parts_(parts),
          paths_(paths) {}

    /// Folds the first of `candidates` upon itself, and those that are copies of it as well, and takes them out.
    /// False: it has no symmetry that could be used. `now`: the end of a window; `from`: as for Likeness.
    bool fold_inside(std::vector<const FlowGroup*>& candidates, Tick now, Tick from);

  private:
    bool may_be_symmetric(const FlowGroup& part) const;
    std::vector<std::uint8_t> old_flows(const FlowGroup& part, Tick now) const;
    bool fold_own(std::uint32_t id, const PartShape& shape, const FirstSheet& first,
                  const std::vector<Isomorphism>& group, Tick now, Tick from);
    bool add_part(std::uint32_t id, const PartShape& leader, const FirstSheet& first,
                  const std::vector<Isomorphism>& group, const FlowGroup& part, Tick from);
    std::uint32_t lead_sheet(const PartShape& shape, const FirstSheet& first);
    std::shared_ptr<const Sheets> add_sheets(std::uint32_t id, const PartShape& leader,
                                             const PartShape& part, const FirstSheet& first,
                                             const std::vector<Isomorphism>& names);
    bool free_to_follow(const Image& image) const;
    void drop_sheets(std::uint32_t id, const std::shared_ptr<const Sheets>& sheets);
    bool sheets_alike(const Fold& fold, const Sheets& sheets, Tick from) const;
    bool enters_alike(const Fold& fold, const Sheets& sheets) const;

    WorldStore& store_;
    World& world_;
    FoldTable& folds_;
    FoldMembers& members_;
    Materializer& materializer_;
    const Supervision& supervision_;
    const FlowPrints& prints_;
    PartFinder& parts_;
    OrbitPaths& paths_;
};

}  // namespace sluice::step
