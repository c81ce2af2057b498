// SPDX-License-Identifier: Apache-2.0
/// Parts of a network that are copies of each other, of which one is executed: the seam between a driver
/// and core/fold/. Called between windows.
#pragma once

#include "core/clocks/representatives.h"
#include "core/units.h"

namespace sluice::step {

class Folding : public Representatives {
  public:
    /// A window has been executed, up to `end`: what it did to those who lead, those who
    /// follow are told (World::changed). Before flows' changes are taken up.
    virtual void after_window(Tick end) = 0;
    /// A supervisor has looked, and may have changed queues.
    virtual void after_cut(Tick now) = 0;
    /// `flow` has come into service, or into the network from outside.
    virtual void entered(FlowSlot flow) = 0;
    /// Nothing of `flow` is left in the network; its slot is about to be given back.
    virtual void leaving(FlowSlot flow) = 0;
    /// All changes are taken up. `may_fold`: routes are what flows' footprints say.
    virtual void settle(Tick now, bool may_fold) = 0;
    /// Something is.
    virtual bool folded() const = 0;
    /// From here to the next settle() everything is in the columns as if nothing had been folded.
    virtual void unfold() = 0;
};

}  // namespace sluice::step
