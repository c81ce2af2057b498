// SPDX-License-Identifier: Apache-2.0
/// What the phase controller's notes say of copies, and what is noted for it; without one, nothing is in the way.
#pragma once

#include <map>
#include <vector>

#include "core/clocks/copy_notes.h"
#include "core/fold/flow_prints.h"
#include "core/fold/fold_table.h"

namespace sluice::step {

class Supervision {
  public:
    /// `notes` may be null: there is none. All must outlive this.
    Supervision(CopyNotes* notes, const World& world, const FlowPrints& prints)
        : notes_(notes), world_(world), prints_(prints) {}

    bool exists() const { return notes_ != nullptr; }
    /// Whether the partitions of the copy's flows in service are to the controller what those of the representative's are.
    /// `fresh`: it is about to become its copy, else it is one.
    bool alike(const Fold& fold, const Image& image, bool fresh) const;
    /// `flows` are of a part that is to be folded upon itself: some of them, and their hosts and ports, are executed, and
    /// others of the same partition follow these.
    bool may_fold_inside(const FlowGroup& flows) const;
    /// Whether the sheets of the representative's part may stay folded: its flows may have become several partitions, but
    /// a flow and what it follows may not. Of a fold of several sheets.
    bool holds_together(const Fold& fold) const;
    /// The copy's part is executed by itself from here on.
    void unfolded(const Fold& fold, const Image& image) const;
    /// Adds flows that the controller has released and that are in no fold to `left`.
    void take_released(const FoldTable& folds, FlowGroups& left) const;

  private:
    FlowPairs pairs_of(const Fold& fold, const Image& image) const;
    /// Each partition of `flows`, and its copy; empty if they do not correspond.
    std::map<PartitionId, PartitionId> paired_partitions(const FlowPairs& flows) const;
    bool is_ordered(const FlowPairs& flows) const;
    bool is_whole(PartitionId id) const { return notes_->phase[id]->whole; }

    CopyNotes* notes_;
    const World& world_;
    const FlowPrints& prints_;
    mutable PortNames port_names_;  ///< scratch
};

}  // namespace sluice::step
