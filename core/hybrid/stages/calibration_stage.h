// SPDX-License-Identifier: Apache-2.0
/// Rates and lengths of skips from groups that were simulated long (core/calibration/calibration.h): a group is recorded,
/// what others of its kind did later is its rates in a skip, and the laws of its flows wake with theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/calibration/calibration.h"
#include "core/hybrid/phase_config.h"
#include "core/hybrid/phase_engine.h"
#include "core/hybrid/skip_stage.h"
#include "core/hybrid/stages/port_loads.h"

namespace sluice::hybrid {

class CalibrationStage final : public SkipStage {
  public:
    /// All must outlive this. `measured`: rates are measured, else nothing is done.
    CalibrationStage(PhaseEngine& engine, PortLoads& loads, const PhaseConfig& config,
                     bool measured)
        : engine_(engine),
          view_(engine.view()),
          acks_(engine.view().ack_streams()),
          loads_(loads),
          config_(config),
          measured_(measured) {}

    /// What is known of steady curves is used, and more of it learned (core/calibration/curve_memory.h). Before the first
    /// window; `memory` must outlive this.
    void remember(CurveMemory& memory) { calibration_.remember(memory); }
    /// The run has ended.
    void finish(Tick now) { calibration_.leave(now); }
    /// What a flow's mean rate over the `first` ticks of the present skip is of that over all of it, for rates are not the
    /// same throughout.
    double part_of_mean(const GroupState& state, std::size_t flow, Tick first) const;

    void list(GroupState& state, const steady::GroupFacts& facts) override;
    void observe(GroupState& state, Tick now) override;
    bool recognize(GroupState& state, steady::Verdict& verdict, Tick at) override;
    void limit(SkipPlan& plan) override;
    void shorten(GroupState& state, Tick dt) override;
    std::int64_t restore(GroupState& state) override;

  private:
    // What a group does, and its kind.
    static std::int64_t echoes_of(const GroupState& state);
    static std::vector<BinReading> ended_bin(const GroupState& state);
    double share_across(PortId port) const;
    void note_streams(GroupState& state, bool begins, Tick at);
    void name_kind(GroupState& state, Tick at) const;
    ClusterKey key_of(const GroupState& state, Tick at) const;
    // Whether others did the same.
    bool agree(const SteadyRecord& record, const BinReading& own, const BinReading& told,
               double unsure) const;
    bool agrees(const GroupState& state, const SteadyCurve& curve) const;
    bool agrees(GroupState& state, std::uint32_t entry, const SteadyCurve& curve) const;
    std::uint32_t entry_of(SteadyRecord& record);
    bool begins_alike(const GroupState& state, const SteadyCurve& curve) const;
    static double age_of(const SteadyRecord& record, Tick at);
    // Who is simulated long, for others.
    Tick trusted_length(SkipPlan& plan);
    void begin_telling(GroupState& state, Tick at);
    bool ends_long_run(GroupState& state, double trusted, double left, Tick at);
    // Rates that others had, in calibrated_rates.cpp.
    void take_calibrated_rates(GroupState& state, const SteadyCurve& curve, Tick at);
    static double calibrated_length(const SteadyRecord& record);
    static void level(const SteadyRecord& record, std::vector<double>& values);

    PhaseEngine& engine_;
    NetworkView& view_;
    AckStreams* acks_;  ///< null: ACKs are packets
    PortLoads& loads_;
    const PhaseConfig& config_;
    bool measured_;
    Calibration calibration_;
};

}  // namespace sluice::hybrid
