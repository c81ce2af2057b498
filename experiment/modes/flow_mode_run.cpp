// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/flow_mode_run.h"

namespace sluice {

FlowModeRun::FlowModeRun(const Experiment& experiment)
    : run_({experiment.topology, experiment.network, experiment.flows, experiment.paths,
            experiment.link_events, experiment.application.get(), experiment.stop}) {}

void FlowModeRun::run(const RunHooks& hooks) {
    flowlevel::FlowRunHooks flow_hooks;
    flow_hooks.on_progress = hooks.on_progress;
    flow_hooks.interval = hooks.interval;
    flow_hooks.on_finish = hooks.on_finish;
    run_.run(flow_hooks);
}

}  // namespace sluice
