// SPDX-License-Identifier: Apache-2.0
#include "cli/simai_network.h"

#include <algorithm>
#include <set>

namespace sluice {

void force_global_window(HpccConfig& config, ImportReport& report) {
    if (!config.global_t) {
        report.skipped(config.path, "GLOBAL_T 0: SimAI takes it as 1 whatever it says, so do we");
    }
    config.global_t = true;
}

void silence_nvswitches(const Topology& topology, EcnConfig& ecn) {
    constexpr Bytes kOutOfReach{std::int64_t{1} << 50};
    std::set<std::int64_t> inside;
    std::set<std::int64_t> outside;
    for (PortId port = 0; port < topology.port_count(); ++port) {
        const NodeKind kind = topology.kind(topology.node_of(port));
        if (kind == NodeKind::host) continue;
        (kind == NodeKind::nvswitch ? inside : outside).insert(topology.rate(port).bits_per_second);
    }
    for (const std::int64_t rate : inside) {
        if (outside.count(rate) > 0) continue;
        ecn.points.erase(std::remove_if(ecn.points.begin(), ecn.points.end(),
                                        [&](const EcnPoint& point) {
                                            return point.rate.bits_per_second == rate;
                                        }),
                         ecn.points.end());
        EcnPoint point;
        point.rate = {rate};
        point.kmin = kOutOfReach;
        point.kmax = kOutOfReach;
        point.pmax = 0;
        ecn.points.push_back(point);
    }
    std::sort(ecn.points.begin(), ecn.points.end(),
              [](const EcnPoint& a, const EcnPoint& b) { return a.rate < b.rate; });
}

void widen_sequence_numbers(PacketFormat& format) {
    constexpr std::int32_t kMore = 4;
    constexpr std::int32_t kAckHeader = 50;  // 14 L2 + 20 IP + 16
    constexpr std::int32_t kShortest = 60;
    format.header += kMore;
    format.ack = std::max(kShortest, kAckHeader + format.extra_header);
}

Topology with_nvswitch_hosts(const Topology& topology) {
    Topology made;
    made.name = topology.name;
    made.gpus_per_server = topology.gpus_per_server;
    made.gpu_type = topology.gpu_type;
    for (NodeId node = 0; node < topology.node_count(); ++node) made.add_node(topology.kind(node));
    for (const Link& link : topology.links()) made.add_link(link);
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (topology.kind(node) != NodeKind::nvswitch) continue;
        const NodeId host = made.add_node(NodeKind::host);
        for (PortId port = topology.first_port(node); port < topology.first_port(node + 1);
             ++port) {
            Link link = topology.links()[topology.link_of(port)];
            link.a = topology.neighbor(port);
            link.b = host;
            made.add_link(link);
        }
    }
    made.finish();
    return made;
}

Tick departure_time(const Topology& topology, const PacketFormat& packet, NodeId host, bool inside,
                    std::int64_t bytes) {
    const std::int64_t packets = (bytes + packet.payload - 1) / packet.payload;
    const std::int64_t wire = bytes + packets * (packet.header + packet.extra_header);
    for (PortId port = topology.first_port(host); port < topology.first_port(host + 1); ++port) {
        const bool switched = topology.kind(topology.neighbor(port)) == NodeKind::nvswitch;
        if (switched == inside) {
            return serialization_time(wire, topology.rate(port), Arithmetic::ns3);
        }
    }
    return 0;
}

}  // namespace sluice
