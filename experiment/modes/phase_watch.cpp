// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/phase_watch.h"

#include "core/audit/audit.h"
#include "core/calibration/profile_memory.h"
#include "core/calibration/trajectory_memory.h"
#include "core/episodes/episodes.h"
#include "core/hybrid/phase_controller.h"
#include "experiment/configuration_of.h"
#include "flowlevel/rate_sources.h"
#include "restore/restorers.h"

namespace sluice {

namespace {

step::SharedBy shared_by(const PhaseConfig& phases) {
    return phases.local() ? step::SharedBy::data_ports : step::SharedBy::cables;
}

}  // namespace

struct PhaseWatch::Parts {
    Parts(const Experiment& given, step::WorldStore& store)
        : partitions(store, shared_by(given.phases)),
          view(store, partitions),
          phase_engine(store, partitions, view),
          rates(make_rate_source(given.phases.rates)),
          restorer(make_restorer(given.phases, given.network.congestion.law)),
          controller(phase_engine, partitions, rates.get(), restorer.get(), given.phases,
                     given.stop),
          memo(given.memo != nullptr ? given.memo : std::make_shared<memo::Memo>()),
          known_episodes(*memo, given.memo_fingerprint, given.phases.memo_tolerance,
                         given.network.seed),
          profiles(*memo, given.memo_fingerprint),
          trajectories(*memo, given.memo_fingerprint) {
        if (given.phases.memo) {
            controller.stages().calibration().use_memory(profiles);
            controller.stages().trajectories().known().use_memory(trajectories);
        }
        const bool tells = given.phases.memo && given.phases.episodes;
        const Configuration configuration = configuration_of(given, Mode::hybrid);
        if (given.phases.audit > 0 && why_not(Effect::not_audited, configuration).empty()) {
            audit::AuditSettings settings;
            settings.share = given.phases.audit;
            settings.tolerance = given.phases.audit_tolerance;
            settings.flows = static_cast<double>(given.flows.size());
            settings.seed = given.network.seed;
            audit = std::make_unique<audit::Audit>(store, settings, tells ? memo.get() : nullptr);
            controller.stages().watchers().watch(*audit);
        }
        if (tells && hybrid::Episodes::may_defer(controller.parts())) {
            episodes = std::make_unique<hybrid::Episodes>(controller.parts(), store, known_episodes,
                                                          audit.get());
            controller.defer(*episodes);
        }
    }

    step::FlowPartitions partitions;
    hybrid::NetworkView view;
    hybrid::PhaseEngine phase_engine;
    std::unique_ptr<hybrid::RateSource> rates;
    std::unique_ptr<hybrid::Restorer> restorer;
    hybrid::PhaseController controller;
    std::shared_ptr<memo::Memo> memo;
    hybrid::EpisodeMemory known_episodes;
    hybrid::ProfileMemory profiles;
    hybrid::TrajectoryMemory trajectories;
    std::unique_ptr<audit::Audit> audit;         ///< null: there is none
    std::unique_ptr<hybrid::Episodes> episodes;  ///< the same
};

PhaseWatch::PhaseWatch(const Experiment& experiment, step::WorldStore& store)
    : parts_(std::make_unique<Parts>(experiment, store)) {}

PhaseWatch::~PhaseWatch() = default;

void PhaseWatch::attach(engine::Engine& engine, const RunHooks& hooks) {
    parts_->controller.report().listen(hooks.on_phase);
    engine.keep_partitions(engine::Clocks::one, parts_->partitions, &parts_->controller);
}

void PhaseWatch::surround(hybrid::Outside& outside) { parts_->view.surround(outside); }

void PhaseWatch::finish(Tick now) { parts_->controller.finish(now); }

bool PhaseWatch::leaves_out() const { return parts_->controller.leaves_out(); }

void PhaseWatch::count(RunCounters& counters, const std::vector<FlowResult>& results,
                       Tick now) const {
    counters.phases = parts_->controller.report().counters();
    if (parts_->audit != nullptr) {
        counters.audit = parts_->audit->counters();
    }
    for (const FlowResult& result : results) {
        if (result.start != kNever) {
            const Tick end = result.finish == kNever ? now : result.finish;
            counters.phases.flow_s += static_cast<double>(end - result.start) * 1e-12;
        }
    }
}

}  // namespace sluice
