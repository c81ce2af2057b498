// SPDX-License-Identifier: Apache-2.0
#include "scenario/phases_section.h"

#include "core/steady/detectors.h"
#include "flowlevel/rate_sources.h"
#include "restore/restorers.h"
#include "scenario/combinations/combinations.h"
#include "scenario/scenario.h"

namespace sluice {

namespace {

constexpr double kMaxGrowth = 1e9;
constexpr Bytes kMaxQueueRange{std::int64_t{1} << 40};
constexpr std::int64_t kMaxTrain = 64;
constexpr std::int64_t kMaxRounds = 1'000'000;

}  // namespace

PhaseConfig read_phases(ConfigSection section, const Scenario& scenario) {
    PhaseConfig phases;
    const Configuration configuration(scenario.mode, scenario.topology, scenario.network, phases);
    phases.skip = section.flag("skip", phases.skip);
    phases.memo = automatic_choice("phases.memo", configuration) != nullptr;
    if (const CombinationRule* const audit = automatic_choice("phases.audit", configuration)) {
        phases.audit = std::stod(audit->value);
    }
    phases.scope = section.choice<PhaseScope>(
        "scope", phases.scope,
        {{"partition", PhaseScope::partition}, {"network", PhaseScope::network}});
    phases.wake = section.choice<Wake>(
        "wake", Wake::automatic,
        {{"automatic", Wake::automatic}, {"partition", Wake::partition}, {"data", Wake::data}});
    phases.rates = section.choice("rates", phases.rates, rate_source_words());
    phases.restore = section.choice("restore", phases.restore, restorer_words());
    phases.restore_model = section.text("restore_model", phases.restore_model);
    phases.restore_engine = section.choice<RestoreEngine>(
        "restore_engine", phases.restore_engine,
        {{"plain", RestoreEngine::plain}, {"libtorch", RestoreEngine::libtorch}});
    phases.calibrate = section.flag("calibrate", phases.calibrate);
    phases.memo = section.flag("memo", phases.memo);
    phases.episodes = section.flag("episodes", phases.episodes);
    phases.memo_crowded = section.flag("memo_crowded", phases.memo_crowded);
    phases.memo_tolerance = section.number("memo_tolerance", phases.memo_tolerance, 1e-6, 1);
    // Of another detector than the chosen one the settings are checked and otherwise ignored, so
    // that `--set phases.detector=...` is enough to compare.
    steady::DetectorSettings& detector = phases.detector;
    detector.kind = section.choice("detector", detector.kind, steady::detector_words());
    detector.theta = section.number("theta", detector.theta, 0, 1);
    detector.span = section.time("span", detector.span);
    detector.eps_bw = section.number("eps_bw", detector.eps_bw, 0, 1);
    detector.eps_q =
        static_cast<double>(section.bytes("eps_q", Bytes{0}, Bytes{0}, kMaxQueueRange).count);
    detector.stable_rounds =
        static_cast<int>(section.integer("stable_rounds", detector.stable_rounds, 0, kMaxRounds));
    detector.tolerance = section.number("tolerance", detector.tolerance, 0, 1);
    detector.growth = section.number("growth", detector.growth, 0, kMaxGrowth);
    phases.longest_skip = section.time("longest_skip", phases.longest_skip);
    phases.train = static_cast<std::uint32_t>(section.integer("train", phases.train, 1, kMaxTrain));
    phases.audit = section.number("audit", phases.audit, 0, 1);
    phases.audit_tolerance = section.number("audit_tolerance", phases.audit_tolerance, 1e-6, 1);
    section.finish();
    return phases;
}

}  // namespace sluice
