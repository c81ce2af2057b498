// SPDX-License-Identifier: Apache-2.0
/// What the table of combinations (scenario/combinations/) asks of an experiment, whatever it came from.
#pragma once

#include "experiment/experiment.h"
#include "scenario/combinations/combinations.h"

namespace sluice {

/// It refers to the experiment.
inline Configuration configuration_of(const Experiment& experiment, Mode mode) {
    Configuration configuration(mode, experiment.topology, experiment.network, experiment.phases);
    configuration.round_trips = experiment.on_ack != nullptr;
    configuration.watches_ports = experiment.taps != nullptr;
    configuration.link_events = !experiment.link_events.empty();
    return configuration;
}

/// Of a network that another simulator's files describe: the arithmetic that a run in this mode takes.
inline void choose_arithmetic(NetworkConfig& network, const Topology& topology, Mode mode) {
    const PhaseConfig phases;
    Configuration configuration(mode, topology, network, phases);
    configuration.imported = true;
    if (automatic_choice("network.arithmetic", configuration) != nullptr) {
        network.arithmetic = Arithmetic::exact;
    }
}

}  // namespace sluice
