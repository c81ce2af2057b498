// SPDX-License-Identifier: Apache-2.0
/// The phase controller: decides, group by group, when packets give way to a skip and when they
/// come back (HyGra's control layer, C1 and C2; Wormhole 3.2, 5.3 and 6.3).
///
/// A group is a partition, or (PhaseScope::network, as in HyGra) everything. While it is unsteady
/// it is sampled; when the detector calls it steady, its flows are advanced by rate x dt and its
/// instants are moved by dt. dt ends at the first of: the earliest finisher's last packets, which
/// are then sent as packets, so that what depends on them starts when it should; the length that
/// the detector trusts; a cap; the end of the run. A skip is a plan: a flow that enters the group,
/// or a link event, ends it earlier (skip-back), recomputed from where it began, for nothing of the
/// group was executed meanwhile. Packets then run again, and the detector must be convinced anew.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/calibration/calibration.h"
#include "core/clocks/flow_partitions.h"
#include "core/clocks/supervisor.h"
#include "core/hybrid/episode.h"
#include "core/hybrid/paused_hosts.h"
#include "core/hybrid/phase_config.h"
#include "core/hybrid/phase_engine.h"
#include "core/hybrid/phase_watcher.h"
#include "core/hybrid/port_loads.h"
#include "core/hybrid/queue_stage.h"
#include "core/hybrid/rate_source.h"
#include "core/results/phase_log.h"
#include "core/results/phase_record.h"
#include "core/results/statistics.h"

namespace sluice::hybrid {

/// What a run's phases came to, and how often the controller was at work.
struct PhaseStatistics : PhaseCounters {
    std::uint64_t samples = 0;
    std::uint64_t entries = 0;
    std::uint64_t exits = 0;
    std::uint64_t merges = 0;  ///< partitions absorbed
    std::uint64_t splits = 0;  ///< partitions split off
};

/// A sum of times of flows, exact, so that its terms' order makes no difference.
struct FlowTime {
    std::uint64_t seconds = 0;
    std::uint64_t ticks = 0;  ///< beyond them

    void add(std::uint64_t flows, Tick each);
    double in_seconds() const;
};

class PhaseController : public step::Supervisor {
  public:
    /// What is referred to must outlive the controller. Nothing is skipped to or beyond `stop`.
    /// `rates` gives those of steady phases; null: they are measured. `restorer` says what is queued at
    /// their ends; null: what was there before.
    PhaseController(PhaseEngine& engine, const step::FlowPartitions& partitions,
                    const RateSource* rates, Restorer* restorer, const PhaseConfig& config,
                    Tick stop);
    ~PhaseController() override;

    /// Called with every phase after it has ended, in an order that depends on the scenario alone.
    void on_phase(std::function<void(const PhaseRecord&)> hook) { log_.listen(std::move(hook)); }
    /// What is known of episodes is used, and more of it learned; of partitions on one clock. Before the first window;
    /// `memory` must outlive this.
    void remember_episodes(EpisodeMemory& memory);
    /// The same of steady curves (core/calibration/curve_memory.h).
    void remember_curves(CurveMemory& memory) { calibration_.remember(memory); }
    /// Tells `watcher`, which must outlive the run, of every skip and every episode that is known. Before the first
    /// window.
    void watch(PhaseWatcher& watcher) { watcher_ = &watcher; }
    /// The run ends at `now`: skips end there, and the last phases are reported.
    void finish(Tick now);
    const PhaseStatistics& statistics() const { return statistics_; }
    /// Something is left out up to a later instant.
    bool leaves_out() const;

    Tick next_cut(PartitionId id) const override;
    Tick next_cut() const override;
    void at_cut(PartitionId id, Tick at) override;
    void at_cut(Tick at) override;
    void before_entry(FlowSlot flow, const std::vector<PartitionId>& touched, Tick now) override;
    void after_entry(FlowSlot flow, const PartitionSet::Entry& entry, Tick now) override;
    void after_close(FlowSlot flow, PartitionId id, Tick now) override;
    void after_exit(FlowSlot flow, PartitionId from, const PartitionSet::Exit& exit,
                    Tick now) override;
    bool is_settled(FlowSlot flow) const override;
    void before_link_event(Tick now) override;
    void disturbed(PortId port, Tick now) override;
    void call_set(NodeId host, Tick at) override;

    bool may_fold() const override;
    void fold(step::Folding& folding) override;
    bool alike(const std::vector<step::FlowPair>& flows, bool fresh) override;
    bool may_fold_inside(const std::vector<FlowSlot>& flows) override;
    bool may_stay_folded(const std::vector<step::FlowPair>& flows) override;
    void unfolded(const std::vector<step::FlowPair>& flows) override;

  private:
    struct State;
    struct Episodes;

    std::uint32_t group_of(PartitionId id) const;
    State& open(std::uint32_t id, Tick now);
    void close(std::uint32_t id, Tick now, PhaseEnd why);
    void changed(std::uint32_t id, Tick now);
    void leave_group(PartitionId from, const PartitionSet::Exit& exit, Tick now);
    void set_cut(State& state, Tick at);
    void drop_old_cuts();
    bool is_due(std::uint32_t id, Tick at) const;
    void look_at(std::vector<std::uint32_t> groups, Tick when, Tick at);
    void look(State& state, Tick at);
    void rebuild(State& state, Tick at);
    void sample(State& state, Tick at);
    bool stands_still(State& state, Tick at);
    // A skip, in phase_skip.cpp.
    void plan(State& state, const steady::Verdict& verdict, Tick at);
    void take_rates(State& state, const steady::Verdict& verdict);
    void find_courses(State& state, const steady::Verdict& verdict, Tick at) const;
    Tick foresee_laws(State& state, Tick longest) const;
    Tick length_of_skip(State& state, Tick longest, Tick at);
    void fall_asleep(const State& state, Tick at);
    void pause_hosts(const State& state);
    void pause_host(NodeId host, std::uint32_t by);
    void take_given_rates(State& state);
    void list_extent(State& state);
    std::int64_t skippable(const State& state, std::size_t flow) const;
    bool rates_are_settled(State& state) const;
    void skip_back(State& state, Tick now, PhaseEnd why);
    void commit(State& state, PhaseEnd why);
    WatchedSkip watched(const State& state, Tick begin, Tick end) const;
    // Rates that are known already, in phase_calibrate.cpp.
    void begin_record(State& state, const steady::GroupFacts& facts);
    static std::int64_t echoes_of(const State& state);
    static std::vector<BinReading> ended_bin(const State& state);
    void record(State& state, Tick now);
    ClusterKey key_of(const State& state, Tick at) const;
    bool ends_long_run(State& state, double trusted, double left, Tick at);
    double share_across(PortId port) const;
    void note_streams(State& state, bool begins, Tick at);
    void name_kind(State& state, Tick at) const;
    void begin_telling(State& state, Tick at);
    bool agree(const SteadyRecord& record, const BinReading& own, const BinReading& told,
               double unsure) const;
    bool agrees(const State& state, const SteadyCurve& curve) const;
    bool agrees(State& state, std::uint32_t entry, const SteadyCurve& curve) const;
    std::uint32_t entry_of(SteadyRecord& record);
    bool begins_alike(const State& state, const SteadyCurve& curve) const;
    double time_left(const State& state) const;
    static double age_of(const SteadyRecord& record, Tick at);
    bool is_recognized(State& state, steady::Verdict& verdict, Tick at);
    Tick calibrate(State& state, Tick longest, Tick at);
    void note_could_skip(const State& state);
    // Taken from others, in phase_take_rates.cpp.
    void take_calibrated_rates(State& state, const SteadyCurve& curve, Tick at);
    static double told_length(const SteadyRecord& record);
    double told_part(const State& state, std::size_t flow, Tick first) const;
    void shorten_told(State& state, Tick dt);
    void wake_as_told(State& state);
    static void level(const SteadyRecord& record, std::vector<double>& values);
    // Local phases, in phase_local.cpp.
    void disturb(PartitionId id, Tick now);
    void disturb_neighbours(const std::vector<PortId>& acks, Tick now);
    void enter_streams(FlowSlot flow, Tick now);
    void leave_streams(FlowSlot flow, Tick now);
    void measure_streams(const State& state, Tick at);
    void drop_left_streams(Tick at);
    void wake_overrun(Tick at);
    void run_calls(Tick at);
    // Copies of groups, in phase_fold.cpp.
    State& leader_of(State& state);
    template <class Act>
    void together(State& state, Act&& act);
    void look_together(State& state, Tick at);
    void skip_back_together(State& state, Tick now, PhaseEnd why);
    void follow(State& state, const State& lead);
    void list_followers(State& lead);
    std::map<std::uint32_t, std::uint32_t> paired_groups(
        const std::vector<step::FlowPair>& flows) const;
    void inherit_skips(const std::vector<step::FlowPair>& flows);
    /// Who follows whom, ascending by those who are followed.
    using Names = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
    Names paired_ports(const std::vector<step::FlowPair>& flows);
    void take_over(State& state, const State& lead, const Names& flows, const Names& ports);
    /// Groups that what is being done is done to.
    std::size_t copies() const { return 1 + followers_.size(); }
    // Episodes, in phase_episode.cpp.
    bool is_executed(FlowSlot flow) const;
    bool rests(PartitionId id) const;
    bool is_whole(PartitionId id) const;
    bool holds_some(PartitionId id) const;
    void meet_episodes(FlowSlot flow, Tick now);
    void hold_or_release(const std::vector<std::uint32_t>& numbers, Tick now);
    void leave_out_ended();
    EpisodeFlow episode_flow(FlowSlot flow, Tick now) const;
    std::uint32_t join_episodes(Tick now);
    bool has_ended(const Episode& episode) const;
    void enter_episode(FlowSlot flow, Tick now);
    double part_of(FlowSlot flow) const;
    void meet_at_ports(FlowSlot flow, Tick now);
    void list_crowd(FlowSlot flow, std::vector<std::uint32_t>& crowd) const;
    bool is_followed(FlowSlot flow) const;
    void note_skipped(FlowSlot flow, std::int64_t bytes);
    bool is_worth_telling(const Episode& episode) const;
    void note_folds(FlowSlot flow, std::uint32_t own);
    void leave_episode(FlowSlot flow, Tick now);
    // Those that are known, in phase_told.cpp.
    Tick next_episode_cut() const;
    void look_at_episodes(Tick at);
    void hold(std::uint32_t number, FlowSlot flow);
    void run_held_calls(NodeId host, Tick at);
    void recall_episode(std::uint32_t number, Tick at);
    bool is_watched(Episode& episode);
    void put_into_effect(std::uint32_t number);
    void account_told(Episode& episode, const EpisodeFlow& flow, std::int64_t bytes);
    void resume_episode(std::uint32_t number, Tick now);
    void report_told(Episode& episode, Tick now);
    void take_back(std::uint32_t number);
    void release_episode(std::uint32_t number, Tick now);
    void let_go(std::uint32_t number);
    void release_all_episodes(Tick now);
    void emit(PhaseRecord record);
    void report(const State& state, Phase phase, Tick end, PhaseEnd why);

    PhaseEngine& engine_;
    AckStreams* acks_;  ///< null: ACKs are packets
    const step::FlowPartitions& partitions_;
    step::Folding* folding_ = nullptr;
    const RateSource* rates_;
    QueueStage queues_;
    PortLoads loads_;
    Calibration calibration_;
    std::unique_ptr<Episodes> episodes_;  ///< null: none are remembered
    EpisodeMemory::Describe describe_;
    PhaseConfig config_;
    Tick stop_;
    PhaseLog log_;
    PhaseWatcher* watcher_ = nullptr;
    PhaseStatistics statistics_;
    std::vector<std::unique_ptr<State>> groups_;  ///< by group id
    /// Groups by when they are to be looked at, most many at once, besides some that are to be at another time by now.
    /// Of the first ones the last is as it says.
    std::map<Tick, std::vector<std::uint32_t>> cuts_;
    PausedHosts paused_;                      ///< by groups' ids, or kHeldHost
    std::vector<std::uint32_t> followers_;    ///< groups, while something is done to one
    std::uint64_t partition_generation_ = 0;  ///< of which flows are in which
    std::vector<FlowSlot> following_;         ///< scratch of list_followers()
    std::vector<PortId> image_of_;            ///< by port, scratch of paired_ports(), kNone
    FlowTime steady_;                         ///< of flows in skips
    std::vector<std::uint32_t> link_index_;   ///< by port, scratch of take_given_rates, kNone
    Tick left_cut_ = kNever;                  ///< streams of flows that have left end
    Tick quiet_time_ = 0;  ///< a group whose flows changed is left alone so long: a base RTT
};

}  // namespace sluice::hybrid
