// SPDX-License-Identifier: Apache-2.0
#include "experiment/stall_guard.h"

#include <algorithm>

namespace sluice {

StallGuard::StallGuard(const Experiment& experiment)
    : patience_(std::max(kSecond, 250 * experiment.network.nic.retransmit_timeout)) {
    if (experiment.link_events.empty()) return;
    routing_.emplace(experiment.topology);
    for (const LinkEvent& event : experiment.link_events) {
        routing_->set_link(event.link, event.up);
        last_progress_ = std::max(last_progress_, event.at);
    }
    const bool repaired =
        std::all_of(experiment.link_events.begin(), experiment.link_events.end(),
                    [&](const LinkEvent& e) { return routing_->link_up(e.link); });
    if (repaired) routing_.reset();
}

bool StallGuard::stalled(Tick now, const ModeRun& run) const {
    // Asked at whole milliseconds and, as wall time goes by, in between: the answer changes at whole
    // ones only, so that a run that stalls ends at the same instant each time.
    const Tick given_up = (last_progress_ + patience_) / kMillisecond * kMillisecond + kMillisecond;
    if (!routing_ || now < given_up) return false;
    const std::vector<FlowSpec> flows = run.under_way();
    return std::any_of(flows.begin(), flows.end(), [&](const FlowSpec& flow) {
        return routing_->distance(flow.src, flow.dst) < 0;
    });
}

}  // namespace sluice
