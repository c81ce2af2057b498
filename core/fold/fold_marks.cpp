// SPDX-License-Identifier: Apache-2.0
/// Until when no port of a fold draws a random mark: ports that do draw by themselves.
#include <algorithm>

#include "core/fold/folds.h"
#include "core/packet/policies/marking.h"

namespace sluice::step {

/// A switch port that marks at random.
bool Folds::draws(PortId port) const {
    const Egress& egress = world_.egress[port];
    return egress.ecn_kmin < egress.ecn_kmax && egress.ecn_kmin != kNeverMarks &&
           world_.config->marking != Marking::threshold_marking &&
           world_.is_host[store_.topology().node_of(port)] == 0;
}

/// The units from which a flow's packets come to each of its others that draw.
bool Folds::add_feeders(const FlowPrint& print, FeedersOf& feeders) const {
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
Backlogs Folds::unmarked_backlogs(const FeedersOf& feeders) const {
    Backlogs backlogs;
    for (auto fed = feeders.begin(); fed != feeders.end();) {
        const PortId port = fed->first;
        const Egress& egress = world_.egress[port];
        std::int64_t rate = -egress.line_rate;
        std::int64_t frames = 0;
        for (; fed != feeders.end() && fed->first == port; ++fed) {
            rate += world_.egress[fed->second].line_rate;
            frames += std::int64_t{world_.payload} + world_.data_overhead;
        }
        const auto more =
            static_cast<std::int64_t>(static_cast<double>(std::max<std::int64_t>(rate, 0)) *
                                      static_cast<double>(world_.lookahead) / 8e12);
        backlogs.emplace_back(port, std::int64_t{egress.ecn_kmin} - more - frames - 1);
    }
    return backlogs;
}

bool Folds::may_mark(const Fold& fold) const {
    return std::any_of(fold.backlogs.begin(), fold.backlogs.end(), [&](const auto& entry) {
        return std::int64_t{world_.egress[entry.first].queued_bytes} >= entry.second;
    });
}

/// Folds end whose ports may draw in the next window.
void Folds::end_marking() {
    if (!draws_) {
        return;
    }
    for (std::uint32_t fold = 0; fold < folds_.size(); ++fold) {
        if (folds_[fold] != nullptr && may_mark(*folds_[fold])) {
            take_apart(fold);
        }
    }
}

}  // namespace sluice::step
