// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/hybrid_run.h"

#include <algorithm>

#include "core/error.h"
#include "core/hybrid/phase_controller.h"
#include "core/hybrid/world_engine.h"
#include "experiment/modes/packet_engine.h"
#include "flowlevel/rate_sources.h"
#include "restore/drawn_shares.h"
#include "restore/restorers.h"

namespace sluice {

namespace {

const Experiment& checked(const Experiment& experiment) {
    if (experiment.network.arithmetic == Arithmetic::ns3) {
        throw ConfigError(
            "mode hybrid: network.arithmetic = \"ns3\" reproduces ns-3's order of ties packet by "
            "packet; allowed: mode packet, or arithmetic = \"exact\"");
    }
    return experiment;
}

}  // namespace

struct HybridRun::Watch {
    Watch(const Experiment& given, PacketEngine& engine)
        : experiment(given),
          partitions(engine.network().store()),
          view(engine.network().store(), partitions),
          rates(make_rate_source(given.phases.rates)),
          restorer(make_restorer(given.phases, given.network.congestion.law)),
          shares(restore::make_share_restorer(given.phases, given.network.congestion,
                                              given.network.seed)),
          controller(view, partitions, rates.get(), restorer.get(), shares.get(), given.phases,
                     given.stop) {}

    const Experiment& experiment;
    step::FlowPartitions partitions;
    hybrid::WorldEngine view;
    std::unique_ptr<hybrid::RateSource> rates;
    std::unique_ptr<hybrid::Restorer> restorer;
    std::unique_ptr<hybrid::ShareRestorer> shares;
    hybrid::PhaseController controller;
};

HybridRun::HybridRun(const Experiment& experiment)
    : PacketRun(checked(experiment)), watch_(std::make_unique<Watch>(experiment, engine())) {}

HybridRun::~HybridRun() = default;

void HybridRun::run(const RunHooks& hooks) {
    RunHooks guarded = engine().guarded_hooks(hooks);
    watch_->controller.on_phase(guarded.on_phase);
    // What looks at the whole network at once needs one clock.
    const bool whole = watch_->experiment.phases.scope == PhaseScope::network;
    engine().network().clock().keep_partitions(whole ? step::Clocks::one : step::Clocks::many,
                                               watch_->partitions, &watch_->controller);
    engine().start(std::move(guarded));
    watch_->controller.finish(std::min(now(), engine().network().clock().now()));
    engine().rethrow();
}

RunCounters HybridRun::counters() const {
    RunCounters counters = PacketRun::counters();
    counters.phases = watch_->controller.statistics();
    if (const step::Driver* driver = engine().network().clock().driver()) {
        counters.phases.lease_stops = driver->statistics().lease_stops;
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
