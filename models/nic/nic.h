// SPDX-License-Identifier: Apache-2.0
/// A host's RDMA NIC: queue pairs with window and pacing, round robin, per-packet or coalesced
/// ACKs, go-back-N, PFC reaction, congestion control (docs/models/nic.md). The behaviour is
/// core/packet/nic.h.
#pragma once

#include "core/packet/nic.h"
#include "models/node.h"

namespace sluice {

class Nic : public Node {
  public:
    using Node::Node;

    void step(const step::Cell& cell, Tick, Tick end) override {
        step::host_step(world(), cell, end);
    }
};

}  // namespace sluice
