// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/packet_run.h"

#include <algorithm>
#include <thread>

#include "core/packet/state.h"
#include "core/world/paused_cycle.h"
#include "experiment/configuration_of.h"
#include "experiment/modes/packet_engine.h"

namespace sluice {

namespace {

/// What a window must have to do, in packets sent and received, for threads to help (docs/performance.md).
constexpr std::uint64_t kWorthDividing = 600;
/// The same with phases, for a first try: the pool goes on with several threads only if they are faster.
constexpr std::uint64_t kWorthDividingWithPhases = 400;
/// What a window must have to do for two barriers to be worth it.
constexpr double kWorthMeeting = 150;
/// Nodes per thread, at least, unless one asks for more.
constexpr std::size_t kNodesPerThread = 8;
/// More threads bring little where a controller has one.
constexpr std::size_t kMostWithPhases = 2;

step::Threads threads_for(const Experiment& experiment, const Configuration& configuration) {
    if (!why_not(Effect::one_thread, configuration).empty()) {
        return {1, 0, 0};
    }
    if (experiment.threads > 0) {
        return {static_cast<std::uint32_t>(experiment.threads), 0, kWorthMeeting};
    }
    const bool phases = automatic_choice("--threads", configuration) != nullptr;
    const std::size_t cores = std::thread::hardware_concurrency();
    const std::size_t most = phases ? std::min(cores, kMostWithPhases) : cores;
    const std::size_t useful = experiment.topology.node_count() / kNodesPerThread;
    const auto count = static_cast<std::uint32_t>(std::max<std::size_t>(std::min(most, useful), 1));
    return {count, phases ? kWorthDividingWithPhases : kWorthDividing, kWorthMeeting};
}

}  // namespace

PacketRun::PacketRun(const Experiment& experiment, Caller caller, Mode mode)
    : engine_(make_packet_engine(experiment, caller)) {
    const Configuration configuration = configuration_of(experiment, mode);
    if (experiment.fold && why_not(Effect::not_folded, configuration).empty()) {
        engine_->engine().fold();
    }
    engine_->engine().divide_windows(threads_for(experiment, configuration));
}

PacketRun::~PacketRun() = default;

void PacketRun::run(const RunHooks& hooks) { engine_->start(engine_->guarded_hooks(hooks)); }

bool PacketRun::cut_off() const { return engine_->engine().cut_off(); }

Tick PacketRun::now() const { return engine_->engine().reached(); }

const std::vector<FlowResult>& PacketRun::results() const { return engine_->store().results(); }

std::vector<FlowSpec> PacketRun::under_way() const {
    return engine_->store().network_flows().under_way();
}

std::int64_t PacketRun::progress() const {
    const step::WorldStore& store = engine_->store();
    return step::acknowledged_bytes(store.world(), store.slot_count());
}

std::vector<PortId> PacketRun::paused_cycle() const { return step::paused_cycle(engine_->store()); }

RunCounters PacketRun::counters() const { return engine_->engine().counters(); }

std::vector<PortStatistics> PacketRun::port_statistics() const {
    return engine_->store().port_statistics(now());
}

double PacketRun::elaboration_seconds() const { return engine_->elaboration_seconds(); }

std::size_t PacketRun::memory_bytes() const { return engine_->store().memory_bytes(); }

}  // namespace sluice
