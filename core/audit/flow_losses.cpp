// SPDX-License-Identifier: Apache-2.0
#include "core/audit/flow_losses.h"

#include "core/audit/told.h"

namespace sluice::audit {

namespace {

/// What an audit of all skips was beside the truth at most, as a share of flow-time (docs/audit.md): in which shares of
/// ports are held that packets would have gone on to even out. And of flows of episodes that are met when they are told:
/// what is left of them begins where equal sharing has it
/// (unit.hybrid.episodes.what_meets_the_rest_of_one_shares_with_it), and a job waits for their last bytes.
constexpr double kUnseenOfShares = 0.05;
constexpr double kUnseenOfResumed = 0.2;

}  // namespace

void FlowLosses::add(double time, const FlowAudit& flow) {
    ++flows_;
    time_ += time;
    rounded_share_ += flow.rounded / time;
    rounded_time_ += flow.rounded;
    const double held = flow.resumed ? time : flow.held;
    held_share_ += held / time;
    unseen_time_ += flow.resumed ? kUnseenOfResumed * time : kUnseenOfShares * held;
    const int stratum = stratum_of(time);
    shares_.count(stratum, flow.skipped / time);
    times_.count(stratum, flow.skipped);
    for (const FoundLoss& found : flow.found) {
        shares_.add(stratum, found.cluster, found.weight * found.lost / time,
                    found.weight * found.length / time);
        times_.add(stratum, found.cluster, found.weight * found.lost, found.weight * found.length);
        beyond_share_ += found.weight * found.beyond / time;
        beyond_time_ += found.weight * found.beyond;
    }
}

SkipLosses FlowLosses::by_skips(bool census, double largest) const {
    return census ? SkipLosses{Interval{shares_.measured(), largest * beyond_share_},
                               Interval{times_.measured(), largest * beyond_time_}}
                  : SkipLosses{shares_.total(), times_.total()};
}

double FlowLosses::unseen_share() const { return kUnseenOfShares * held_share_; }

}  // namespace sluice::audit
