// SPDX-License-Identifier: Apache-2.0
#include "experiment/contention.h"

namespace sluice {

std::string why_same(const QueuesMet& met) {
    if (!met.packets) return "mode flow knows bandwidths only, no congestion control and no queues";
    if (met.queued_ports == 0) {
        return "no contention: no switch queue held more than " + std::to_string(kPassingPackets) +
               " packets";
    }
    if (met.events == 0) return "queues filled, but nothing was marked, paused or dropped";
    return "what differs never decided anything here";
}

std::size_t contended_ports(const Experiment& experiment,
                            const std::vector<PortStatistics>& ports) {
    const Topology& topology = experiment.topology;
    const PacketFormat& format = experiment.network.format;
    const std::int64_t full = format.payload + format.header + format.extra_header;
    std::size_t count = 0;
    for (PortId port = 0; port < ports.size(); ++port) {
        if (topology.is_host(topology.node_of(port))) continue;
        count += ports[port].max_queue_bytes > kPassingPackets * full ? 1 : 0;
    }
    return count;
}

}  // namespace sluice
