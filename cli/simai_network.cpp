// SPDX-License-Identifier: Apache-2.0
#include "cli/simai_network.h"

#include <algorithm>

namespace sluice {

void force_global_window(HpccConfig& config, ImportReport& report) {
    if (!config.global_t) {
        report.skipped(config.path, "GLOBAL_T 0: treated as 1, as in SimAI");
    }
    config.global_t = true;
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
    made.server_sizes = topology.server_sizes;
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
