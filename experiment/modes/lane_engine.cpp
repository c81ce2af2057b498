// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/lane_engine.h"

#include <utility>

#include "experiment/configuration_of.h"

namespace sluice {

namespace {

const Experiment& checked(const Experiment& experiment) {
    // The mode does not matter.
    refuse(configuration_of(experiment, Mode::packet), Effect::not_in_a_lane);
    return experiment;
}

}  // namespace

LaneEngine::LaneEngine(const Experiment& experiment)
    : experiment_(checked(experiment)),
      begin_(std::chrono::steady_clock::now()),
      routing_(experiment.topology, next_hop_order(experiment.network.arithmetic)),
      store_(experiment.topology, routing_, experiment.network, experiment.flows, experiment.paths,
             experiment.application.get()),
      engine_(store_),
      step_(store_.world()),
      elaboration_(std::chrono::steady_clock::now() - begin_) {}

void LaneEngine::start(RunHooks hooks) {
    engine_.configure(experiment_.link_events, std::move(hooks), experiment_.stop);
    engine_.begin({});
    for (Tick now = 0; !engine_.finished();) {
        now = engine_.run_ahead(now, step_);
    }
}

}  // namespace sluice
