// SPDX-License-Identifier: Apache-2.0
#include "experiment/testbench/experiment_network.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "experiment/configuration_of.h"
#include "experiment/modes/mode_run.h"
#include "restore/restorers.h"

namespace sluice {

namespace {

NetworkOptions checked(const Experiment& experiment, Mode mode, NetworkOptions options) {
    if (!moves_packets(mode)) {
        throw ConfigError(std::string("mode ") + mode_name(mode) +
                          " moves no packets, of which a testbench could see anything; allowed: "
                          "packet, hybrid, wormhole");
    }
    if (has_phases(mode) && options.partition_clocks) {
        throw ConfigError(std::string("NetworkOptions::partition_clocks: mode ") + mode_name(mode) +
                          " runs on one clock; allowed: false");
    }
    check_run(experiment, mode);
    if (experiment.network.train > 1 && !options.foreign.empty()) {
        throw ConfigError(
            "phases.train is above 1: no foreign model knows trains of packets; allowed: 1");
    }
    for (const NodeId node : options.foreign) {
        if (has_phases(mode) && experiment.phases.local() && experiment.topology.is_host(node)) {
            throw ConfigError("NetworkOptions::foreign names host " + std::to_string(node) +
                              ": with phases.wake = \"data\" ACKs are no packets, and such a "
                              "host lives by them; allowed: a switch, or wake = \"partition\"");
        }
    }
    options.link_events = experiment.link_events;
    options.stop = experiment.stop;
    return options;
}

/// Restored queues, shadow runs and ACKs that are no packets know devices of the network's own only.
bool can_ask_models(const PhaseConfig& phases) {
    return phases.restore == Restoration::hold && phases.audit == 0 && !phases.local();
}

}  // namespace

ExperimentNetwork::ExperimentNetwork(const sc_core::sc_module_name& name,
                                     const Experiment& experiment, Mode mode,
                                     NetworkOptions options)
    : sc_module(name),
      routing_(experiment.topology, next_hop_order(experiment.network.arithmetic)) {
    options = checked(experiment, mode, std::move(options));
    network_ = std::make_unique<Network>("network", experiment.topology, routing_,
                                         experiment.network, experiment.flows, experiment.paths,
                                         experiment.application.get(), options);
    engine::Engine& engine = network_->clock().engine();
    if (has_phases(mode)) {
        models_ = std::make_unique<TestbenchModels>(*network_, can_ask_models(experiment.phases));
        phases_ = std::make_unique<PhaseWatch>(experiment, network_->store());
        phases_->attach(engine, options.hooks);
        phases_->surround(*models_);
    }
    const bool as_is = options.foreign.empty() && !options.make_node && !options.partition_clocks;
    if (as_is && experiment.fold &&
        why_not(Effect::not_folded, configuration_of(experiment, mode)).empty()) {
        engine.fold();
    }
}

ExperimentNetwork::~ExperimentNetwork() = default;

RunCounters ExperimentNetwork::counters() const {
    RunCounters counters = network_->counters();
    if (phases_ != nullptr) {
        phases_->count(counters, network_->store().results(), network_->clock().engine().reached());
    }
    return counters;
}

void ExperimentNetwork::finish() {
    if (phases_ != nullptr && !over_) {
        const engine::Engine& engine = network_->clock().engine();
        phases_->finish(engine.finished() ? std::min(engine.reached(), engine.now())
                                          : network_->clock().earliest());
    }
    over_ = true;
}

}  // namespace sluice
