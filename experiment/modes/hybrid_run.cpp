// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/hybrid_run.h"

#include <algorithm>

#include "experiment/modes/packet_engine.h"
#include "experiment/modes/phase_watch.h"

namespace sluice {

namespace {

const Experiment& checked(const Experiment& experiment) {
    check_hybrid(experiment);
    return experiment;
}

}  // namespace

HybridRun::HybridRun(const Experiment& experiment, Caller caller)
    : PacketRun(checked(experiment), caller, Mode::hybrid),
      watch_(std::make_unique<PhaseWatch>(experiment, engine().store())) {}

HybridRun::~HybridRun() = default;

void HybridRun::run(const RunHooks& hooks) {
    RunHooks guarded = engine().guarded_hooks(hooks);
    watch_->attach(engine().engine(), guarded);
    engine().start(std::move(guarded));
    watch_->finish(std::min(now(), engine().engine().now()));
    engine().rethrow();
}

std::int64_t HybridRun::progress() const {
    return PacketRun::progress() + (watch_->leaves_out() ? now() : 0);
}

RunCounters HybridRun::counters() const {
    RunCounters counters = PacketRun::counters();
    watch_->count(counters, results(), now());
    return counters;
}

}  // namespace sluice
