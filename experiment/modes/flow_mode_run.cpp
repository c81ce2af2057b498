// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/flow_mode_run.h"

namespace sluice {

FlowModeRun::FlowModeRun(const Experiment& experiment)
    : run_({experiment.topology, experiment.network, experiment.flows, experiment.paths,
            experiment.link_events, experiment.application.get(), experiment.stop}) {}

}  // namespace sluice
