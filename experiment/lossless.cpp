// SPDX-License-Identifier: Apache-2.0
#include "experiment/lossless.h"

#include <algorithm>

#include <fmt/core.h>

namespace sluice {

std::string lossless_warning(const Experiment& experiment, const RunCounters& counters) {
    const auto& links = experiment.topology.links();
    const bool lossy =
        std::any_of(links.begin(), links.end(), [](const Link& link) { return link.loss > 0; });
    if (counters.drops == 0 || !experiment.network.pfc || lossy ||
        !experiment.link_events.empty() || experiment.network.arithmetic != Arithmetic::ns3) {
        return {};
    }
    return fmt::format(
        "{} packets were dropped although PFC is on: ns-3's headroom, {} x rate x delay of a port, "
        "is too small for what still arrives after a pause; with arithmetic \"exact\" it is large "
        "enough",
        counters.drops, experiment.network.buffer.headroom_factor);
}

}  // namespace sluice
