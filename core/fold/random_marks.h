// SPDX-License-Identifier: Apache-2.0
/// Ports that mark at random draw by themselves, so that copies' ports would not mark alike: a fold ends before one of
/// its ports comes to that.
#pragma once

#include "core/fold/flow_prints.h"

namespace sluice::step {

class RandomMarks {
  public:
    RandomMarks(const WorldStore& store, const FlowPrints& prints)
        : topology_(store.topology()), world_(store.world()), prints_(prints) {}

    /// A flow with this print is in service in the fold.
    void watch(Fold& fold, const FlowPrint& print);
    /// Some fold has had a port that marks at random.
    bool any_watched() const { return any_watched_; }
    /// Whether one of the fold's ports may draw in the next window.
    bool may_mark(const Fold& fold) const { return any_reached(fold.backlogs); }
    /// The same of ports that these flows go by.
    bool may_mark(const FlowGroup& flows) const;

  private:
    bool draws(PortId port) const;
    bool add_feeders(const FlowPrint& print, FeedersOf& feeders) const;
    Backlogs unmarked_backlogs(const FeedersOf& feeders) const;
    bool any_reached(const Backlogs& backlogs) const;

    const Topology& topology_;
    const World& world_;
    const FlowPrints& prints_;
    bool any_watched_ = false;
};

}  // namespace sluice::step
