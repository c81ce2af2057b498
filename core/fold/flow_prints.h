// SPDX-License-Identifier: Apache-2.0
/// What the packets of flows in service touch, and how many flows use each port and host.
#pragma once

#include <vector>

#include "core/fold/fold.h"

namespace sluice::step {

class FlowPrints {
  public:
    /// `cables_join`: flows that use a cable in opposite directions belong together, as they do in the phase controller's
    /// partitions. `store` must outlive this.
    FlowPrints(const WorldStore& store, bool cables_join);

    /// A flow comes into service, or leaves the network.
    void enter(FlowSlot flow);
    void leave(FlowSlot flow);

    bool in_service(FlowSlot flow) const { return of(flow).src != kNone; }
    /// As it came into service; nothing of a flow that is not.
    const FlowPrint& of(FlowSlot flow) const {
        return flow < prints_.size() ? prints_[flow] : kNoPrint;
    }
    /// By its present route.
    FlowPrint trace(FlowSlot flow) const;
    /// The former, of a flow that may not have been taken up yet the latter.
    FlowPrint known(FlowSlot flow) const { return in_service(flow) ? of(flow) : trace(flow); }

    /// Flows in service at a port, and at a host.
    std::uint32_t at_port(PortId port) const { return port_uses_[port]; }
    std::uint32_t at_host(NodeId host) const { return host_uses_[host]; }
    /// The port that sends the other way on the cable of `port`; kNone: nobody uses it, or that does not matter.
    PortId used_other_way(PortId port) const;
    /// The ports of a print; where cables join flows, each with that of the other way.
    template <class Visit>
    void visit_ports(const FlowPrint& print, Visit&& visit) const {
        for (std::uint32_t i = 0; i < print.units; ++i) {
            visit(print.port[i]);
            if (cables_join_) {
                visit(world_.egress[print.port[i]].peer);
            }
        }
    }
    /// Of some flow in service it is not known what it touches.
    bool any_unknown() const { return unknown_ > 0; }
    /// Another number than before if a flow has come or gone since.
    std::uint64_t generation() const { return generation_; }

  private:
    bool only_way(NodeId node, PortId port, NodeId to) const;
    void use(const FlowPrint& print, std::uint32_t more);

    inline static const FlowPrint kNoPrint{};

    const WorldStore& store_;
    const World& world_;
    bool cables_join_;
    std::vector<FlowPrint> prints_;         ///< by slot
    std::vector<std::uint32_t> port_uses_;  ///< by port: flows
    std::vector<std::uint32_t> host_uses_;  ///< by node
    std::uint32_t unknown_ = 0;             ///< flows
    std::uint64_t generation_ = 0;
};

}  // namespace sluice::step
