// SPDX-License-Identifier: Apache-2.0
/// Links that fail and come back in flow mode.
#include <algorithm>
#include <utility>

#include "flowlevel/flow_run_impl.h"

namespace sluice::flowlevel {

void FlowRun::Impl::change_links() {
    for (; next_link_event < link_events.size() && link_events[next_link_event].at <= now;
         ++next_link_event) {
        ++event_count;
        routing.set_link(link_events[next_link_event].link, link_events[next_link_event].up);
    }
    any_link_down =
        std::any_of(link_events.begin(), link_events.end(),
                    [&](const LinkEvent& event) { return !routing.link_up(event.link); });
    // First all that moves, then the moves: a slot that is given up may be handed out again.
    std::vector<std::pair<std::uint32_t, FlowPorts>> moves;
    for (std::uint32_t slot = 0; slot < active.size(); ++slot) {
        if (active[slot].flow != kNone) {
            FlowPorts found = ports_of(active[slot].flow);
            if (found.shares != active[slot].ports.shares) {
                moves.emplace_back(slot, std::move(found));
            }
        }
    }
    std::vector<Stalled> waiting;
    std::swap(waiting, stalled);
    for (auto& [slot, found] : moves) {
        settle(active[slot]);
        count(active[slot], active[slot].remaining, ports);
        const FlowSlot flow = active[slot].flow;
        const double remaining = active[slot].remaining;
        finish.set(slot, kNever);
        net.remove(slot);
        touch(active[slot].ports);
        active[slot].flow = kNone;
        if (found.shares.empty()) {
            stalled.push_back({flow, remaining});
        } else {
            attach(flow, remaining, std::move(found));
        }
    }
    for (const Stalled& one : waiting) {
        start(one.flow, one.remaining);
    }
}

}  // namespace sluice::flowlevel
