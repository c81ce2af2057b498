// SPDX-License-Identifier: Apache-2.0
/// An experiment's network for plain loops, without SystemC.
#pragma once

#include <utility>
#include <vector>

#include "core/clocks/cell_step.h"
#include "core/engine/driver.h"
#include "core/routing/routing.h"
#include "core/world/world_store.h"
#include "experiment/experiment.h"

namespace sluice {

struct ExperimentLoop {
    /// The experiment must outlive it. `pinned`: every flow of its list has the slot of its number.
    explicit ExperimentLoop(const Experiment& experiment, bool pinned = false)
        : routing(experiment.topology),
          store(experiment.topology, routing, experiment.network, experiment.flows,
                experiment.paths, experiment.application.get()),
          step(store.world()) {
        if (pinned) {
            store.pin_list();
        }
        store.begin();
    }

    /// Until nothing is left or `stop`; in stretches, because sampling alone would go on for ever.
    void run_sampled(const std::vector<LinkEvent>& events, RunHooks hooks, Tick stop) {
        engine::Driver driver(store, events, std::move(hooks));
        for (Tick limit = kMillisecond; step::next_instant(store.world()) != kNever && limit < stop;
             limit += kMillisecond) {
            driver.advance(limit, step);
        }
    }

    Routing routing;
    step::WorldStore store;
    step::CellStep step;
};

}  // namespace sluice
