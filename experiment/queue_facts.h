// SPDX-License-Identifier: Apache-2.0
/// What a recorder of queues must know of an experiment: how often to look, and what depths are measured
/// against.
#pragma once

#include <memory>

#include "core/results/queue_facts.h"
#include "experiment/experiment.h"

namespace sluice {

/// Samples are taken as often as the phase controller's (steady::sampling_period), for the largest base
/// RTT of the experiment's flows, or of the network where flows are opened while it runs.
/// `experiment` must outlive what is returned. ConfigError where packets of a flow go several ways: no
/// port then has flows of its own, and such a network is never skipped.
std::shared_ptr<const QueueFacts> queue_facts(const Experiment& experiment);

}  // namespace sluice
