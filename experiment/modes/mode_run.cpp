// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/mode_run.h"

#include "core/error.h"
#include "experiment/modes/flow_mode_run.h"
#include "experiment/modes/hybrid_run.h"
#include "experiment/modes/packet_run.h"

namespace sluice {

namespace {

using Maker = std::unique_ptr<ModeRun> (*)(const Experiment&, Caller);

template <typename Run>
std::unique_ptr<ModeRun> make(const Experiment& experiment, Caller caller) {
    return std::make_unique<Run>(experiment, caller);
}

/// It moves no packets.
std::unique_ptr<ModeRun> make_flow_run(const Experiment& experiment, Caller /*caller*/) {
    return std::make_unique<FlowModeRun>(experiment);
}

const std::vector<std::pair<Mode, Maker>>& makers() {
    static const std::vector<std::pair<Mode, Maker>> kMakers{{Mode::packet, make<PacketRun>},
                                                             {Mode::hybrid, make<HybridRun>},
                                                             {Mode::wormhole, make<HybridRun>},
                                                             {Mode::flow, make_flow_run}};
    return kMakers;
}

}  // namespace

std::unique_ptr<ModeRun> make_run(const Experiment& experiment, Mode mode, Caller caller) {
    require_offered(mode, std::string("mode ") + mode_name(mode));
    for (const auto& [one, maker] : makers()) {
        if (one == mode) return maker(experiment, caller);
    }
    throw InternalError("an offered mode that nothing makes");
}

}  // namespace sluice
