// SPDX-License-Identifier: Apache-2.0
/// No loss with PFC on is a contract. ns-3's arithmetic, whose headroom is that simulator's, can
/// break it: then the run says so.
#pragma once

#include <string>

#include "core/results/statistics.h"
#include "experiment/experiment.h"

namespace sluice {

/// What to tell a user of packets that a full buffer dropped although PFC was on; empty if there are
/// none, or if lossy or failing links may have taken them.
std::string lossless_warning(const Experiment& experiment, const RunCounters& counters);

}  // namespace sluice
