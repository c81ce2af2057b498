// SPDX-License-Identifier: Apache-2.0
/// Symmetry reduction: parts of the network that are copies of each other are executed once. Exact: every flow, port
/// and callback is what it would be without.
///
/// When flows come into service, the parts that they join (PartFinder) are compared. A part that is another one renamed,
/// in all that decides what happens, becomes its copy (CopyFinder). From then on the two live through the same as long
/// as the same happens to both:
///
/// - hosts of copies do what the representative's do, or diverge (Lockstep, Divergence);
/// - flows that reach ports or hosts that are not in the fold end it, and those that can be folded again are, at once;
/// - a fold ends before a buffer could matter (BufferWatch), or one of its ports mark at random (RandomMarks);
/// - a part that comes while others are at its ports waits for them to leave (WaitingParts).
///
/// The phase controller's partitions are parts, or lie in one, for then cables join flows, too. Its notes say whether they
/// are alike to it (Supervision). It learns of flows from elsewhere when the fold that they meet has ended.
#pragma once

#include <set>
#include <vector>

#include "core/clocks/copy_notes.h"
#include "core/fold/buffer_watch.h"
#include "core/fold/copy_finder.h"
#include "core/fold/divergence.h"
#include "core/fold/lockstep.h"
#include "core/fold/materializer.h"
#include "core/fold/orbit_paths.h"
#include "core/fold/quotient_finder.h"
#include "core/fold/waiting_parts.h"

namespace sluice::step {

class Folds {
  public:
    /// After WorldStore::begin() and before the first window, of a network on one clock whose nodes are all
    /// stepped by core/packet/. `notes`: those of the phase controller, null if there is none. Both must outlive this.
    explicit Folds(WorldStore& store, CopyNotes* notes = nullptr);

    // Called between windows (core/engine/).
    /// A window has been executed, up to `end`: what it did to representatives' flows, copies' flows are told
    /// (World::changed). Before flows' changes are taken up.
    void after_window(Tick end);
    /// The phase controller has looked, and may have changed queues.
    void after_cut(Tick now);
    /// `flow` has come into service, or into the network from outside.
    void entered(FlowSlot flow);
    /// Nothing of `flow` is left in the network; its slot is about to be given back.
    void leaving(FlowSlot flow);
    /// All changes are taken up. `may_fold`: routes are what flows' footprints say.
    void settle(Tick now, bool may_fold);
    /// Something is.
    bool folded() const;
    /// From here to the next settle() everything is in the columns as if nothing had been folded.
    void unfold();

    // What is executed in place of what (FoldTable).
    FlowSlot leader_of(FlowSlot flow) const { return table_.leader_of(flow); }
    PortId leader_of_port(PortId port) const { return table_.leader_of_port(port); }
    void list_followers(FlowSlot flow, std::vector<FlowSlot>& followers) const {
        table_.list_followers(flow, followers);
    }
    /// Another number than before if what is a copy of what may have changed since.
    std::uint64_t generation() const { return table_.generation() + prints_.generation(); }

    FoldCounters counters() const;

  private:
    void pass_on_results();
    void take_up(FlowSlot flow, std::set<std::uint32_t>& disturbed, FlowGroups& joined);
    bool stays_inside(std::uint32_t id, FlowSlot flow) const;
    void disturb(const FlowPrint& print, std::set<std::uint32_t>& disturbed) const;
    void disturb_with(FlowSlot flow, std::set<std::uint32_t>& disturbed) const;
    void take_apart(std::uint32_t id, FlowGroups& joined);
    void end_disturbed();
    void end_thinned(FlowGroups& joined);
    void end_unlike(FlowGroups& joined);
    void end_marking();
    void end_crowded(Tick now);
    void fold_joined(FlowGroups& joined, Tick now);

    World& world_;
    FlowGroups left_;  ///< what may be folded again at the next settle()
    FoldTable table_;
    FlowPrints prints_;
    Supervision supervision_;
    RandomMarks marks_;
    BufferWatch buffers_;
    FoldMembers members_;
    OrbitPaths paths_;
    Materializer materializer_;
    Divergence divergence_;
    Lockstep lockstep_;
    PartFinder parts_;
    WaitingParts waiting_;
    QuotientFinder quotients_;
    CopyFinder copies_;
    FlowGroup entered_;                   ///< since the last settle()
    std::vector<std::uint32_t> thinned_;  ///< folds that flows have left since
    std::set<std::uint32_t> grown_;       ///< folds that flows have come to since
};

}  // namespace sluice::step
