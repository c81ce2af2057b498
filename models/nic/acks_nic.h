// SPDX-License-Identifier: Apache-2.0
/// A NIC that tells of every ACK that its queue pairs take: which packet it answers, and how long it took from
/// that packet's departure. It looks at the links to it before and after each step, so that a NIC that tells
/// nothing costs nothing more.
#pragma once

#include <functional>
#include <vector>

#include "models/nic/nic.h"

namespace sluice {

/// Packet `sequence` of `flow` was answered `rtt` after its last departure.
using AckSink = std::function<void(FlowId flow, std::uint32_t sequence, Tick rtt)>;

class AcksNic : public Nic {
  public:
    /// `sink` must outlive it. ACKs must be packets (step::World::answers is null).
    AcksNic(const sc_core::sc_module_name& name, NodeId id, const Context& context,
            const AckSink& sink)
        : Nic(name, id, context), sink_(sink) {}

    void step(const step::Cell& cell, Tick begin, Tick end) override;

  private:
    /// An ACK that may be taken in the step.
    struct Due {
        PortId port = 0;
        std::uint32_t place = 0;  ///< on its link: behind so many packets
        FlowId flow = 0;
        std::uint32_t sequence = 0;
        Tick rtt = 0;
    };

    void look(PortId port, Tick end);

    const AckSink& sink_;
    // Of a step:
    std::vector<Due> due_;
    std::vector<std::uint32_t> waiting_;  ///< by local port: packets on its link before it
    std::vector<std::int64_t> drops_;     ///< by local port
};

}  // namespace sluice
