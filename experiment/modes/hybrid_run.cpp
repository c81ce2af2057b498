// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/hybrid_run.h"

#include <algorithm>

#include "core/audit/audit.h"
#include "core/calibration/profile_memory.h"
#include "core/episodes/episodes.h"
#include "core/hybrid/phase_controller.h"
#include "experiment/configuration_of.h"
#include "experiment/modes/packet_engine.h"
#include "flowlevel/rate_sources.h"
#include "restore/restorers.h"

namespace sluice {

namespace {

const Experiment& checked(const Experiment& experiment) {
    check_hybrid(experiment);
    return experiment;
}

step::SharedBy shared_by(const PhaseConfig& phases) {
    return phases.local() ? step::SharedBy::data_ports : step::SharedBy::cables;
}

}  // namespace

struct HybridRun::Watch {
    Watch(const Experiment& given, PacketEngine& engine)
        : experiment(given),
          partitions(engine.store(), shared_by(given.phases)),
          view(engine.store(), partitions),
          phase_engine(engine.store(), partitions, view),
          rates(make_rate_source(given.phases.rates)),
          restorer(make_restorer(given.phases, given.network.congestion.law)),
          controller(phase_engine, partitions, rates.get(), restorer.get(), given.phases,
                     given.stop),
          memo(given.memo != nullptr ? given.memo : std::make_shared<memo::Memo>()),
          known_episodes(*memo, given.memo_fingerprint, given.phases.memo_tolerance,
                         given.network.seed),
          profiles(*memo, given.memo_fingerprint) {
        if (given.phases.memo) {
            controller.calibration().use_memory(profiles);
        }
        const bool tells = given.phases.memo && given.phases.episodes;
        const Configuration configuration = configuration_of(given, Mode::hybrid);
        if (given.phases.audit > 0 && why_not(Effect::not_audited, configuration).empty()) {
            audit::AuditSettings settings;
            settings.share = given.phases.audit;
            settings.tolerance = given.phases.audit_tolerance;
            settings.flows = static_cast<double>(given.flows.size());
            settings.seed = given.network.seed;
            audit = std::make_unique<audit::Audit>(engine.store(), settings,
                                                   tells ? memo.get() : nullptr);
            controller.watch(*audit);
        }
        if (tells && hybrid::Episodes::may_defer(controller.parts())) {
            episodes = std::make_unique<hybrid::Episodes>(controller.parts(), engine.store(),
                                                          known_episodes, audit.get());
            controller.defer(*episodes);
        }
    }

    const Experiment& experiment;
    step::FlowPartitions partitions;
    hybrid::NetworkView view;
    hybrid::PhaseEngine phase_engine;
    std::unique_ptr<hybrid::RateSource> rates;
    std::unique_ptr<hybrid::Restorer> restorer;
    hybrid::PhaseController controller;
    std::shared_ptr<memo::Memo> memo;
    hybrid::EpisodeMemory known_episodes;
    hybrid::ProfileMemory profiles;
    std::unique_ptr<audit::Audit> audit;         ///< null: there is none
    std::unique_ptr<hybrid::Episodes> episodes;  ///< the same
};

HybridRun::HybridRun(const Experiment& experiment, Caller caller)
    : PacketRun(checked(experiment), caller, Mode::hybrid),
      watch_(std::make_unique<Watch>(experiment, engine())) {}

HybridRun::~HybridRun() = default;

void HybridRun::run(const RunHooks& hooks) {
    RunHooks guarded = engine().guarded_hooks(hooks);
    watch_->controller.report().listen(guarded.on_phase);
    engine().engine().keep_partitions(step::Clocks::one, watch_->partitions, &watch_->controller);
    engine().start(std::move(guarded));
    watch_->controller.finish(std::min(now(), engine().engine().now()));
    engine().rethrow();
}

std::int64_t HybridRun::progress() const {
    return PacketRun::progress() + (watch_->controller.leaves_out() ? now() : 0);
}

RunCounters HybridRun::counters() const {
    RunCounters counters = PacketRun::counters();
    counters.phases = watch_->controller.report().counters();
    if (watch_->audit != nullptr) {
        counters.audit = watch_->audit->counters();
    }
    for (const FlowResult& result : results()) {
        if (result.start != kNever) {
            const Tick end = result.finish == kNever ? now() : result.finish;
            counters.phases.flow_s += static_cast<double>(end - result.start) * 1e-12;
        }
    }
    return counters;
}

}  // namespace sluice
