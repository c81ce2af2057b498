// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/hybrid_run.h"

#include <algorithm>
#include <string>

#include "core/audit/audit.h"
#include "core/calibration/profile_memory.h"
#include "core/episodes/episodes.h"
#include "core/error.h"
#include "core/hybrid/phase_controller.h"
#include "experiment/modes/packet_engine.h"
#include "flowlevel/rate_sources.h"
#include "restore/restorers.h"

namespace sluice {

namespace {

/// How long ACKs that are no packets wait at a port is known to a frame's time; no base round trip may be
/// shorter than so many of these.
constexpr std::int64_t kFramesOfRoundTrip = 10;

bool round_trips_are_long(const Experiment& experiment) {
    const PacketFormat& format = experiment.network.format;
    const std::int64_t frame = std::int64_t{format.payload} + format.header + format.extra_header;
    const std::vector<Link>& links = experiment.topology.links();
    return std::all_of(links.begin(), links.end(), [&](const Link& link) {
        const bool to_host =
            experiment.topology.is_host(link.a) || experiment.topology.is_host(link.b);
        // Behind one switch: two such links, both ways.
        const Tick time = serialization_time(frame, link.rate, experiment.network.arithmetic);
        return !to_host || 4 * link.delay + 2 * time >= kFramesOfRoundTrip * time;
    });
}

/// ConfigError where ACKs must be packets.
void check_local(const Experiment& experiment) {
    if (!experiment.phases.local()) {
        return;
    }
    const std::string fault = local_phases_fault(experiment);
    if (!fault.empty()) {
        throw ConfigError("mode hybrid: phases.wake must be \"partition\" " + fault);
    }
}

const Experiment& checked(const Experiment& experiment) {
    check_hybrid(experiment);
    return experiment;
}

step::SharedBy shared_by(const PhaseConfig& phases) {
    return phases.local() ? step::SharedBy::data_ports : step::SharedBy::cables;
}

}  // namespace

std::string local_phases_fault(const Experiment& experiment) {
    const std::vector<Link>& links = experiment.topology.links();
    if (experiment.network.sprayed_classes() != 0) {
        return "where packets are sprayed";
    }
    if (std::any_of(links.begin(), links.end(), [](const Link& link) { return link.loss > 0; })) {
        return "where links lose packets";
    }
    if (experiment.network.congestion.law == congestion::Law::none) {
        return "under law \"none\", which lets queues grow that ACKs would share";
    }
    if (!round_trips_are_long(experiment)) {
        return "where a base round trip is shorter than 10 frames";
    }
    if (experiment.phases.scope == PhaseScope::network) {
        return "with phases.scope = \"network\"";
    }
    if (make_restorer(experiment.phases, experiment.network.congestion.law) != nullptr) {
        return "unless phases.restore = \"hold\"";
    }
    return "";
}

void check_hybrid(const Experiment& experiment) {
    if (experiment.network.arithmetic == Arithmetic::ns3) {
        throw ConfigError(
            "mode hybrid: network.arithmetic = \"ns3\" reproduces ns-3's order of ties packet by "
            "packet; allowed: mode packet, or arithmetic = \"exact\"");
    }
    check_local(experiment);
}

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
        if (given.phases.audit > 0 && (given.phases.skip || tells)) {
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
    : PacketRun(checked(experiment), caller, false),  // most of its windows have little to do
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
