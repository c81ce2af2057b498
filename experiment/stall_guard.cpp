// SPDX-License-Identifier: Apache-2.0
#include "experiment/stall_guard.h"

#include <algorithm>

namespace sluice {

StallGuard::StallGuard(const Experiment& experiment)
    : patience_(std::max(kSecond, 250 * experiment.network.nic.retransmit_timeout)) {
    if (experiment.link_events.empty()) return;
    Routing routing(experiment.topology);
    for (const LinkEvent& event : experiment.link_events) {
        routing.set_link(event.link, event.up);
        last_progress_ = std::max(last_progress_, event.at);
    }
    for (std::size_t i = 0; i < experiment.flows.size(); ++i) {
        const FlowSpec& flow = experiment.flows[i];
        if (routing.distance(flow.src, flow.dst) < 0) cut_off_.push_back(static_cast<FlowId>(i));
    }
}

bool StallGuard::stalled(Tick now, const std::vector<FlowResult>& results) const {
    // Asked at whole milliseconds and, as wall time goes by, in between: the answer changes at whole
    // ones only, so that a run that stalls ends at the same instant each time.
    const Tick given_up = (last_progress_ + patience_) / kMillisecond * kMillisecond + kMillisecond;
    if (cut_off_.empty() || now < given_up) return false;
    return std::any_of(cut_off_.begin(), cut_off_.end(), [&](FlowId flow) {
        return results[flow].start != kNever && results[flow].finish == kNever;
    });
}

}  // namespace sluice
