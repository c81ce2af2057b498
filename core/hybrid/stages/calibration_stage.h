// SPDX-License-Identifier: Apache-2.0
/// Rates and lengths of skips from calibration profiles (core/calibration/calibration.h). The stage records groups, lets
/// some of them contribute to profiles, and predicts the skips of the others. After a skip, the flows' congestion control
/// algorithms resume with the rates of the profile.
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
    /// All references must outlive this. `measured`: rates of skips are measured. If not, the stage does nothing.
    CalibrationStage(PhaseEngine& engine, PortLoads& loads, const PhaseConfig& config,
                     bool measured)
        : engine_(engine),
          view_(engine.view()),
          acks_(engine.view().ack_streams()),
          loads_(loads),
          config_(config),
          measured_(measured) {}

    /// Uses and extends profiles of earlier runs (core/calibration/profile_memory.h). Call before the first window;
    /// `memory` must outlive this.
    void use_memory(ProfileMemory& memory) { calibration_.use_memory(memory); }
    /// Call when the run has ended.
    void finish(Tick now) { calibration_.save(now); }
    /// A flow's mean rate over the first `first` ticks of the present skip, divided by its mean over the whole skip. It is
    /// not 1 as a profile's rates change over time.
    double mean_ratio(const GroupState& state, std::size_t flow, Tick first) const;

    void list(GroupState& state, const steady::GroupFacts& facts) override;
    void observe(GroupState& state, Tick now) override;
    bool recognize(GroupState& state, steady::Verdict& verdict, Tick at) override;
    void limit(SkipPlan& plan) override;
    void shorten(GroupState& state, Tick dt) override;
    std::int64_t restore(GroupState& state) override;

  private:
    /// A group with more bins left makes a calibration run of full length, which allows an extrapolation. A shorter one is
    /// simulated to its end, for groups that are as short.
    static constexpr double kLongBins = static_cast<double>(kMaxBins) / 2;

    // Recording a group, and computing its kind (calibrated_kinds.cpp).
    static std::int64_t echoes_of(const GroupState& state);
    static std::vector<BinReading> finished_bin(const GroupState& state);
    double ack_share(PortId port) const;
    void update_ack_load(GroupState& state, bool begins, Tick at);
    void compute_key(GroupState& state, Tick at) const;
    GroupKey key_of(const GroupState& state, Tick at) const;
    // Comparing a group with a profile.
    bool matches(const CalibrationRecord& record, const BinReading& own,
                 const BinReading& predicted, double uncertainty) const;
    bool matches_profile(const GroupState& state, const CalibrationProfile& profile) const;
    bool matches_profile(GroupState& state, std::uint32_t entry,
                         const CalibrationProfile& profile) const;
    std::uint32_t entry_of(CalibrationRecord& record);
    bool matches_initial(const GroupState& state, const CalibrationProfile& profile) const;
    static double age_of(const CalibrationRecord& record, Tick at);
    // Calibration runs, and lengths of skips.
    Tick trusted_length(SkipPlan& plan);
    void begin_contributing(GroupState& state, Tick at);
    static double trusted_skip(const CalibrationProfile& profile, double age, double left);
    bool complete_run(GroupState& state, double trusted, double left, Tick at);
    // Rates of skips, in calibrated_rates.cpp.
    void take_calibrated_rates(GroupState& state, const CalibrationProfile& profile, Tick at);
    static double calibrated_length(const CalibrationRecord& record);
    static void equalize(const CalibrationRecord& record, std::vector<double>& values);

    PhaseEngine& engine_;
    NetworkView& view_;
    AckStreams* acks_;  ///< null: ACKs are packets
    PortLoads& loads_;
    const PhaseConfig& config_;
    bool measured_;
    Calibration calibration_;
};

}  // namespace sluice::hybrid
