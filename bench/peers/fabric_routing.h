// SPDX-License-Identifier: Apache-2.0
/// Forwarding in the leaf-spine network, as an ns-3 routing protocol: one path per flow, from a
/// file. ns-3's own equal-cost choice (Ipv4GlobalRouting::RandomEcmpRouting) draws per packet,
/// which reorders TCP, and looks routes up in a list; this costs one table look-up at a leaf and
/// arithmetic at a spine, so routing does not slow ns-3 down.
#pragma once

#include <ns3/internet-module.h>

#include <functional>
#include <utility>
#include <vector>

#include "workload.h"

namespace peers {

/// Host h has the address 10.0.0.1 + h on its only interface.
ns3::Ipv4Address host_address(std::uint32_t host);
std::uint32_t host_of(ns3::Ipv4Address address);

/// The forwarding of one switch. Interfaces 1, 2, ... are its ports in the order of installation.
class FabricRouting : public ns3::Ipv4RoutingProtocol {
  public:
    /// Port (from 0) by which a packet to host `dst` leaves.
    using Choice =
        std::function<std::uint32_t(std::uint32_t src, std::uint32_t dst, std::uint16_t sport)>;

    explicit FabricRouting(Choice choice) : choice_(std::move(choice)) {}

    ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet> packet,
                                         const ns3::Ipv4Header& header,
                                         ns3::Ptr<ns3::NetDevice> device,
                                         ns3::Socket::SocketErrno& error) override;
    bool RouteInput(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header& header,
                    ns3::Ptr<const ns3::NetDevice> device, UnicastForwardCallback forward,
                    MulticastForwardCallback multicast, LocalDeliverCallback deliver,
                    ErrorCallback failed) override;
    void NotifyInterfaceUp(std::uint32_t interface) override;
    void NotifyInterfaceDown(std::uint32_t) override {}
    void NotifyAddAddress(std::uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(std::uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override { ipv4_ = ipv4; }
    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper> stream,
                           ns3::Time::Unit unit) const override;

  private:
    Choice choice_;
    ns3::Ptr<ns3::Ipv4> ipv4_;
    std::vector<ns3::Ptr<ns3::Ipv4Route>> routes_;  ///< by port, made once: none per packet
};

}  // namespace peers
