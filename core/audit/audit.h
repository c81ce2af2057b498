// SPDX-License-Identifier: Apache-2.0
/// An audit: a random share of what a run leaves out is also simulated with packets, so that the run can state its error
/// (docs/audit.md): skips beside the run, episodes that are known in their place (told.h).
///
/// *What is drawn* (draws.h). The first skip of a kind of group of which others told the rates is audited with certainty,
/// within kToldAdvance packet-hops and over kToldPrefix round trips at most; with a share of 1 every skip is. What these take
/// makes no other draw rarer. Else a skip weighs the share of its flows' times that it is, and kPerSkip round trips more,
/// summed over them; an episode its flows. Where a skip would cost more than a tenth of what is due, a prefix of it is
/// audited. Strata are flows of like lengths.
///
/// *What is measured of skips.* From the packets as the skip began a shadow goes on for its length (or the prefix) and
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
/// A skip that is cut short is audited as it was. A leader's skip counts for all that follow it. Of a group that is
/// folded upon itself a shadow has what is executed, and what is measured of a flow is so of those that do the same.
///
/// The tolerance, of the mean relative error of flow completion times, is a budget: once flows that have left have surely,
/// with the whole interval, lost as much as all flows may, the run is trusted no more (PhaseWatcher::trusts()), and
/// what is left of it is executed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/audit/draws.h"
#include "core/audit/flow_losses.h"
#include "core/audit/shadow.h"
#include "core/audit/told.h"
#include "core/episodes/episode_watcher.h"
#include "core/hybrid/phase_watcher.h"
#include "core/results/statistics.h"

namespace sluice::audit {

struct AuditSettings {
    double share = 0.1;  ///< of the run's packet-hops, above 0
    /// Packet-hops that short runs' audits may take, too: some 30 ms. Half as many where ACKs are no packets: one of data then
    /// includes what its ACK takes.
    double advance = 524'288;
    double tolerance = 0.01;  ///< of the mean relative error of flows' completion times
    double flows = 0;         ///< of the run, as far as it is known before
    std::uint64_t seed = 1;
};

class Audit : public hybrid::PhaseWatcher, public hybrid::EpisodeWatcher {
  public:
    /// The store must outlive it, and `memo`, if any, which keeps what is found of episodes.
    Audit(step::WorldStore& store, const AuditSettings& settings, memo::Memo* memo = nullptr);
    ~Audit() override;

    void before_skip(const hybrid::WatchedSkip& skip) override;
    void after_skip(const hybrid::WatchedSkip& skip,
                    const std::vector<std::int64_t>& packets) override;
    void left(FlowSlot flow) override;
    bool takes(const hybrid::Episode& episode) override;
    void told(const hybrid::Episode& episode) override { told_.told(episode); }
    void resumed(FlowSlot flow) override { known(flow).resumed = true; }
    void compared(const hybrid::Episode& episode, Tick now) override;
    bool trusts() const override { return distrusted_ == kNever; }

    /// As far as flows have left: what was seen and drawn, and the estimates.
    AuditCounters counters() const;

  private:
    struct Drawn;
    struct Compared;
    bool is_certain(const hybrid::WatchedSkip& skip);
    bool is_census() const { return audited_ > 0 && certain_ == skips_ && audited_ == skips_; }
    Tick length_to_audit(const hybrid::WatchedSkip& skip, double hops_per_tick, bool certain) const;
    double hops_per_tick(const hybrid::WatchedSkip& skip) const;
    double foreseen_time(const hybrid::WatchedSkip& skip, std::size_t flow) const;
    double importance(const hybrid::WatchedSkip& skip) const;
    double cost_of(const hybrid::WatchedSkip& skip, bool certain) const;
    /// That audits have taken.
    double hops() const { return draws_.spent() + certain_hops_; }
    std::vector<ToldFlow> told_of(const hybrid::WatchedSkip& skip,
                                  const step::NetworkPart& part) const;
    void measure(Drawn& drawn, const hybrid::WatchedSkip& skip,
                 const std::vector<std::int64_t>& packets);
    FlowAudit& known(FlowSlot flow);
    void look(Tick now);
    void estimate(AuditCounters& made) const;

    step::WorldStore& store_;
    AuditSettings settings_;
    Shadow shadow_;
    Draws draws_;
    ToldAudit told_;
    std::map<FlowId, double> taken_;  ///< episodes, by their first flow: the probability
    Tick distrusted_ = kNever;
    std::size_t next_look_;                                  ///< clusters
    std::map<std::uint32_t, std::unique_ptr<Drawn>> drawn_;  ///< by group, while it skips
    std::vector<FlowAudit> known_;                           ///< by slot

    std::uint64_t skips_ = 0;
    std::uint64_t audited_ = 0;
    std::uint64_t certain_ = 0;  ///< of them, drawn with certainty
    double certain_hops_ = 0;    ///< which have taken so many
    std::uint64_t prefixes_ = 0;
    std::set<std::uint32_t> told_kinds_;  ///< of which a skip is audited
    double largest_ = 0;                  ///< of |e| / dt
    FlowLosses losses_;
};

}  // namespace sluice::audit
