// SPDX-License-Identifier: Apache-2.0
#include "core/fold/random_marks.h"

#include <algorithm>

#include "core/packet/policies/marking.h"
#include "core/packet/trains.h"

namespace sluice::step {

void RandomMarks::watch(Fold& fold, const FlowPrint& print) {
    if (add_feeders(print, fold.feeders)) {
        fold.backlogs = unmarked_backlogs(fold.feeders);
        any_watched_ = true;
    }
}

bool RandomMarks::may_mark(const FlowGroup& flows) const {
    FeedersOf feeders;
    for (const FlowSlot flow : flows) {
        add_feeders(prints_.of(flow), feeders);
    }
    return any_reached(unmarked_backlogs(feeders));
}

/// A switch port that marks at random.
bool RandomMarks::draws(PortId port) const {
    const Egress& egress = world_.egress[port];
    return egress.ecn_kmin < egress.ecn_kmax && egress.ecn_kmin != kNeverMarks &&
           world_.config->marking != Marking::threshold_marking &&
           world_.is_host[topology_.node_of(port)] == 0;
}

/// Adds the units from which a flow's packets come to each of its others that draw. True if there are more now.
bool RandomMarks::add_feeders(const FlowPrint& print, FeedersOf& feeders) const {
    bool more = false;
    for (std::uint32_t i = 1; i < print.units; ++i) {
        if (i != print.data && draws(print.port[i])) {
            const FeedersOf::value_type fed{print.port[i], print.port[i - 1]};
            const auto at = std::lower_bound(feeders.begin(), feeders.end(), fed);
            if (at == feeders.end() || *at != fed) {
                feeders.insert(at, fed);
                more = true;
            }
        }
    }
    return more;
}

/// A port that draws may do so when more than its kmin waits. So much may wait at each at a window's end that it
/// does not in the next one: what comes meanwhile is at most what its feeders send, and it sends itself whenever
/// something waits.
Backlogs RandomMarks::unmarked_backlogs(const FeedersOf& feeders) const {
    Backlogs backlogs;
    for (auto fed = feeders.begin(); fed != feeders.end();) {
        const PortId port = fed->first;
        const Egress& egress = world_.egress[port];
        std::int64_t rate = -egress.line_rate;
        std::int64_t frames = 0;
        for (; fed != feeders.end() && fed->first == port; ++fed) {
            rate += world_.egress[fed->second].line_rate;
            frames += std::int64_t{full_frame(world_)} * world_.train;
        }
        const auto more =
            static_cast<std::int64_t>(static_cast<double>(std::max<std::int64_t>(rate, 0)) *
                                      static_cast<double>(world_.lookahead) / 8e12);
        backlogs.emplace_back(port, std::int64_t{egress.ecn_kmin} - more - frames - 1);
    }
    return backlogs;
}

bool RandomMarks::any_reached(const Backlogs& backlogs) const {
    return std::any_of(backlogs.begin(), backlogs.end(), [&](const auto& entry) {
        return std::int64_t{world_.egress[entry.first].queued_bytes} >= entry.second;
    });
}

}  // namespace sluice::step
