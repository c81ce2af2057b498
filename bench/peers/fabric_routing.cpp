// SPDX-License-Identifier: Apache-2.0
#include "fabric_routing.h"

#include <ns3/network-module.h>

namespace peers {

namespace {
constexpr std::uint32_t kFirstAddress = 0x0a000001;  // 10.0.0.1
}

ns3::Ipv4Address host_address(std::uint32_t host) { return ns3::Ipv4Address(kFirstAddress + host); }

std::uint32_t host_of(ns3::Ipv4Address address) { return address.Get() - kFirstAddress; }

ns3::Ptr<ns3::Ipv4Route> FabricRouting::RouteOutput(ns3::Ptr<ns3::Packet>, const ns3::Ipv4Header&,
                                                    ns3::Ptr<ns3::NetDevice>,
                                                    ns3::Socket::SocketErrno& error) {
    // A switch here originates nothing.
    error = ns3::Socket::ERROR_NOROUTETOHOST;
    return nullptr;
}

bool FabricRouting::RouteInput(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header& header,
                               ns3::Ptr<const ns3::NetDevice>, UnicastForwardCallback forward,
                               MulticastForwardCallback, LocalDeliverCallback, ErrorCallback) {
    ns3::TcpHeader tcp;
    packet->PeekHeader(tcp);
    const std::uint32_t port =
        choice_(host_of(header.GetSource()), host_of(header.GetDestination()), tcp.GetSourcePort());
    forward(routes_[port], packet, header);
    return true;
}

void FabricRouting::NotifyInterfaceUp(std::uint32_t interface) {
    if (interface == 0) return;  // loopback
    if (routes_.size() < interface) routes_.resize(interface);
    auto route = ns3::Create<ns3::Ipv4Route>();
    route->SetOutputDevice(ipv4_->GetNetDevice(interface));
    // A point-to-point device needs no next hop's address: a gateway of zero means "on this link".
    route->SetGateway(ns3::Ipv4Address::GetZero());
    routes_[interface - 1] = route;
}

void FabricRouting::PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper> stream,
                                      ns3::Time::Unit) const {
    *stream->GetStream() << routes_.size() << " ports, paths from the flow_paths file\n";
}

}  // namespace peers
