// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/packet_engine.h"

#include "experiment/modes/lane_engine.h"
#include "experiment/modes/systemc_engine.h"

namespace sluice {

std::unique_ptr<PacketEngine> make_packet_engine(const Experiment& experiment, Caller caller) {
    if (caller == Caller::loop) return std::make_unique<LaneEngine>(experiment);
    return std::make_unique<SystemCEngine>(experiment);
}

}  // namespace sluice
