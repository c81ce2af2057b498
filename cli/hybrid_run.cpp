// SPDX-License-Identifier: Apache-2.0
#include "cli/hybrid_run.h"

#include <algorithm>

#include "cli/packet_engine.h"
#include "core/error.h"
#include "core/hybrid/phase_controller.h"
#include "core/hybrid/world_engine.h"
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

struct HybridRun::Impl {
    explicit Impl(const Experiment& given)
        : experiment(checked(given)),
          engine(given),
          partitions(engine.network().store()),
          view(engine.network().store(), partitions),
          controller(view, partitions, rates, given.phases, given.stop),
          tracker(engine.network().store(), partitions, controller) {}

    const Experiment& experiment;
    PacketEngine engine;
    step::FlowPartitions partitions;
    hybrid::WorldEngine view;
    flowlevel::MaxMinRates rates;
    hybrid::PhaseController controller;
    step::PartitionTracker tracker;
};

HybridRun::HybridRun(const Experiment& experiment) : impl_(std::make_unique<Impl>(experiment)) {}

HybridRun::~HybridRun() = default;

void HybridRun::run(const RunHooks& hooks) {
    PacketEngine& engine = impl_->engine;
    if (hooks.on_phase) {
        impl_->controller.on_phase([&engine, &hooks](const PhaseRecord& phase) {
            engine.guarded([&] { hooks.on_phase(phase); });
        });
    }
    if (impl_->experiment.phases.scope == PhaseScope::network) {
        engine.network().clock().supervise(impl_->tracker);  // it looks at everything at once
    } else {
        engine.network().clock().divide(impl_->partitions, &impl_->controller);
    }
    engine.start(engine.driver_hooks(hooks));
    impl_->controller.finish(std::min(now(), engine.network().clock().now()));
    engine.rethrow();
}

bool HybridRun::cut_off() const { return impl_->engine.network().clock().cut_off(); }

Tick HybridRun::now() const { return impl_->engine.reached(); }

const std::vector<FlowResult>& HybridRun::results() const {
    return impl_->engine.network().store().results();
}

RunCounters HybridRun::counters() const {
    RunCounters counters = impl_->engine.network().counters();
    const hybrid::PhaseStatistics& phases = impl_->controller.statistics();
    counters.phases.hops_saved = static_cast<std::uint64_t>(phases.hops_saved);
    counters.phases.bytes_skipped = phases.bytes_skipped;
    counters.phases.skips = phases.skips;
    counters.phases.skip_backs = phases.skip_backs;
    if (const step::ClockDriver* clocks = impl_->engine.network().clock().clocks()) {
        counters.phases.lease_stops = clocks->statistics().lease_stops;
    }
    counters.phases.most_partitions = phases.most_partitions;
    counters.phases.largest_partition = phases.largest_partition;
    counters.phases.steady_flow_s = phases.steady_flow_seconds;
    for (const FlowResult& result : results()) {
        if (result.start != kNever) {
            const Tick end = result.finish == kNever ? now() : result.finish;
            counters.phases.flow_s += static_cast<double>(end - result.start) * 1e-12;
        }
    }
    return counters;
}

std::vector<PortStatistics> HybridRun::port_statistics() const {
    return impl_->engine.network().store().port_statistics(now());
}

double HybridRun::elaboration_seconds() const { return impl_->engine.elaboration_seconds(); }

std::size_t HybridRun::memory_bytes() const {
    return impl_->engine.network().store().memory_bytes();
}

}  // namespace sluice
