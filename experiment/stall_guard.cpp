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

bool StallGuard::stalled(Tick now, const ModeRun& run) {
    // Asked at whole milliseconds and, as wall time goes by, in between: the answer changes at whole
    // ones only, so that a run that stalls ends at the same instant each time.
    const auto after = [&](Tick at) {
        return (at + patience_) / kMillisecond * kMillisecond + kMillisecond;
    };
    if (now < after(last_progress_) || now < next_look_) return false;
    const std::vector<FlowSpec> flows = run.under_way();
    const bool cut_off =
        routing_ && std::any_of(flows.begin(), flows.end(), [&](const FlowSpec& flow) {
            return routing_->distance(flow.src, flow.dst) < 0;
        });
    const std::int64_t before = progress_;
    progress_ = flows.empty() ? -1 : run.progress();
    next_look_ = after(now);
    return cut_off || (!flows.empty() && progress_ == before);
}

}  // namespace sluice
