// SPDX-License-Identifier: Apache-2.0
/// What watches a running network between windows and may skip time for a partition: the seam
/// between a driver (one clock or many) and the phase controller (core/hybrid/).
#pragma once

#include <vector>

#include "core/clocks/copy_notes.h"
#include "core/clocks/representatives.h"
#include "core/partition/partition_set.h"
#include "core/units.h"

namespace sluice::step {

class Supervisor {
  public:
    virtual ~Supervisor() = default;

    /// Something is left out up to a later instant.
    virtual bool leaves_out() const { return false; }
    /// The next instant at which partition `id` is to be looked at, kNever if none.
    virtual Tick next_cut(PartitionId id) const = 0;
    /// The earliest of all partitions, and of the timers of hosts whose partition is skipping.
    virtual Tick next_cut() const = 0;
    /// The partition's clock stands at `at`: everything of it before `at` has been executed and
    /// nothing at or after it. The supervisor may move its ports and flows (core/world/skip.h).
    virtual void at_cut(PartitionId id, Tick at) = 0;
    /// The same for everything that is due at `at`, all clocks standing there.
    virtual void at_cut(Tick at) = 0;

    /// `flow` was opened at `now`, which lies in the window just executed. Called before the
    /// partitions that it touches are merged: those that skip skip back to `now`. A flow under which
    /// links have changed exits and enters again, possibly after it has closed.
    virtual void before_entry(FlowSlot flow, const std::vector<PartitionId>& touched, Tick now) = 0;
    virtual void after_entry(FlowSlot flow, const PartitionSet::Entry& entry, Tick now) = 0;
    /// `flow` has closed, and stays in its partition `id` until none of its packets is left.
    virtual void after_close(FlowSlot flow, PartitionId id, Tick now) = 0;
    /// `flow` has left the network and its partition, `from`.
    virtual void after_exit(FlowSlot flow, PartitionId from, const PartitionSet::Exit& exit,
                            Tick now) = 0;
    /// Nothing of `flow` is executed any more, for its ends are known already: it keeps its way.
    virtual bool is_settled(FlowSlot /*flow*/) const { return false; }
    /// A packet that nobody foresaw comes to these partitions at `now`: those that skip skip back to `now`.
    virtual void interrupted(const std::vector<PartitionId>& /*touched*/, Tick /*now*/) {}
    /// Links fail or are repaired at `now`: every partition that skips skips back to `now`.
    virtual void before_link_event(Tick now) = 0;
    /// A frame is to leave by `port`, or a flow to start at its host, at `now`: the partition that has it
    /// asleep skips back to `now`. Only where ACKs are no packets.
    virtual void disturbed(PortId /*port*/, Tick /*now*/) {}
    /// A timer at `at` was set for `host` by another host.
    virtual void call_set(NodeId host, Tick at) = 0;

    // Partitions that are copies of each other, of which one is executed. It is told of the others' flows as
    // ever, and does to them what it does to the leader's. Of flows that differ it hears only when they are
    // executed by themselves.
    /// What it notes for who folds, the same all along. Null: nothing can be folded.
    virtual CopyNotes* copy_notes() { return nullptr; }
    /// Before the first window, if something can be: who is a copy of whom.
    virtual void fold(const Representatives& /*representatives*/) {}
    /// There may be copies in CopyNotes::separated.
    virtual void take_up_separated() {}
};

}  // namespace sluice::step
