// SPDX-License-Identifier: Apache-2.0
/// An audit: a random share of a run's skips is also simulated with packets, beside the run, so that the run can
/// state its error (docs/audit.md).
///
/// *What is drawn.* A skip that costs c packet-hops to audit and weighs x (the share of its flows' times that it
/// is, and kPerSkip round trips more, summed over them) is drawn with a probability in proportion to x / sqrt(c), at
/// most 1, which makes the error of a ratio least for what is spent (Cochran, 5.5). So of like weight what is long
/// and large is drawn less often. The factor is such that had all skips so far been drawn with it, what is due by
/// now would have been spent: kAim of `share` of the packet-hops that the run has simulated, kAdvance at least. It
/// follows what was spent, in expectation and in fact, and no group's skip takes more than a small part of
/// what is due. Where a skip would cost more than a tenth of that, a prefix of it is audited.
///
/// Among skips of flows of like lengths (a stratum) the draw is systematic: probabilities are added up from a random
/// start, and whatever takes the sum across a whole number is drawn; the first few of each are drawn with a
/// probability of up to a half. Skips come in an order that depends on the scenario alone, and so does the audit, on
/// it and the seed.
///
/// *What is measured.* From the packets as the skip began a shadow goes on for its length (or the prefix) and
/// kHorizon round trips; from those as the run went on after it another one for kHorizon. In both each flow's bytes
/// acknowledged are followed. Where the run says that after the skip, of dt, n packets are behind it, its later
/// bytes come at dt + B(k), packets at A(n + k); the flow has lost
///
///     e = A(n + k) - dt - B(k)         mean over k between kHorizon / 2 and kHorizon
///
/// ticks. That is the rate's error in the skip and what waking up costs (laws, queues), both in time. Of a prefix
/// tau the first part, A(r tau + k) - tau - A(k), is taken dt / tau times. What is lost by rounding to whole packets is
/// known of every skip, and is no part of the estimate but added to it.
///
/// A skip that is cut short is audited as it was. A leader's skip counts for all that follow it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/audit/estimate.h"
#include "core/audit/shadow.h"
#include "core/hybrid/skip_watcher.h"
#include "core/results/statistics.h"

namespace sluice::audit {

class Audit : public hybrid::SkipWatcher {
  public:
    /// `share` of the run's packet-hops, above 0. The store must outlive it.
    Audit(step::WorldStore& store, double share, std::uint64_t seed);
    ~Audit() override;

    void before_skip(const hybrid::WatchedSkip& skip) override;
    void after_skip(const hybrid::WatchedSkip& skip,
                    const std::vector<std::int64_t>& packets) override;
    void left(FlowSlot flow) override;

    /// As far as flows have left: what was seen and drawn, and the estimates.
    AuditCounters counters() const;

  private:
    struct Drawn;
    struct Compared;
    struct Found {
        std::uint64_t cluster = 0;
        double weight = 0;  ///< copies / probability
        double lost = 0;    ///< ticks
        double length = 0;  ///< ticks
    };
    /// What is known of a flow that has not left.
    struct Known {
        double skipped = 0;  ///< ticks, times copies
        double rounded = 0;  ///< ticks that packets lose to whole packets, times copies
        std::vector<Found> found;
    };

    double due() const;
    Tick length_to_audit(const hybrid::WatchedSkip& skip, double hops_per_tick) const;
    double hops_per_tick(const hybrid::WatchedSkip& skip) const;
    double foreseen_time(const hybrid::WatchedSkip& skip, std::size_t flow) const;
    double importance(const hybrid::WatchedSkip& skip) const;
    double probability_of(const hybrid::WatchedSkip& skip, int stratum);
    bool draw(int stratum, double probability);
    void measure(Drawn& drawn, const hybrid::WatchedSkip& skip,
                 const std::vector<std::int64_t>& packets);
    Known& known(FlowSlot flow);

    step::WorldStore& store_;
    Shadow shadow_;
    double share_;
    std::uint64_t seed_;
    double spent_ = 0;       ///< hops
    double planned_ = 0;     ///< hops, in expectation
    double importance_ = 0;  ///< sums over skips
    double worth_of_cost_ = 0;
    std::map<int, int> seen_;  ///< skips, by stratum
    std::map<int, double>
        passed_;  ///< by stratum: probabilities that have gone by, from a random start
    std::map<std::uint32_t, std::unique_ptr<Drawn>> drawn_;  ///< by group, while it skips
    std::vector<Known> known_;                               ///< by slot

    std::uint64_t skips_ = 0;
    std::uint64_t audited_ = 0;
    std::uint64_t prefixes_ = 0;
    double largest_ = 0;  ///< of |e| / dt
    double flows_ = 0;
    double time_ = 0;           ///< of flows, ticks
    double rounded_share_ = 0;  ///< sums over flows
    double rounded_time_ = 0;
    StratifiedRatio shares_;
    StratifiedRatio times_;
};

}  // namespace sluice::audit
