// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/hybrid_run.h"

#include <algorithm>

#include "core/error.h"
#include "core/hybrid/phase_controller.h"
#include "core/hybrid/world_engine.h"
#include "experiment/modes/packet_engine.h"
#include "flowlevel/max_min_rates.h"

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
          controller(view, partitions, rates, given.phases, given.stop),
          tracker(engine.network().store(), partitions, controller) {}

    const Experiment& experiment;
    step::FlowPartitions partitions;
    hybrid::WorldEngine view;
    flowlevel::MaxMinRates rates;
    hybrid::PhaseController controller;
    step::PartitionTracker tracker;
};

HybridRun::HybridRun(const Experiment& experiment)
    : PacketRun(checked(experiment)), watch_(std::make_unique<Watch>(experiment, engine())) {}

HybridRun::~HybridRun() = default;

void HybridRun::run(const RunHooks& hooks) {
    if (hooks.on_phase) {
        watch_->controller.on_phase([this, &hooks](const PhaseRecord& phase) {
            engine().guarded([&] { hooks.on_phase(phase); });
        });
    }
    if (watch_->experiment.phases.scope == PhaseScope::network) {
        engine().network().clock().supervise(watch_->tracker);  // it looks at everything at once
    } else {
        engine().network().clock().divide(watch_->partitions, &watch_->controller);
    }
    engine().start(engine().driver_hooks(hooks));
    watch_->controller.finish(std::min(now(), engine().network().clock().now()));
    engine().rethrow();
}

RunCounters HybridRun::counters() const {
    RunCounters counters = PacketRun::counters();
    counters.phases = watch_->controller.statistics();
    if (const step::ClockDriver* clocks = engine().network().clock().clocks()) {
        counters.phases.lease_stops = clocks->statistics().lease_stops;
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
