// SPDX-License-Identifier: Apache-2.0
/// The first packet that packet mode and the HPCC ns-3 send differently.
///
///     first_divergence CONFIG MIX_TR
///
/// CONFIG: an experiment of the HPCC ns-3's form; MIX_TR: the packet trace that it wrote (ENABLE_TRACE
/// 1, all nodes in TRACE_FILE). Every transmission of every port, in order, is compared with the
/// trace's dequeues; of the ports that differ, the earliest first difference is printed with what went
/// before it at that port. Exit code 1 if there is one. Slow: it looks at all ports after each instant.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "core/error.h"
#include "core/ns3/driver.h"
#include "core/world/world_store.h"
#include "experiment/hpcc/hpcc_import.h"

using namespace sluice;

namespace {

/// One packet leaving a port.
struct Departure {
    std::int64_t ns = 0;
    std::string what;
    bool operator==(const Departure& other) const { return ns == other.ns && what == other.what; }
};
using Ports = std::map<std::pair<NodeId, std::uint32_t>, std::vector<Departure>>;

std::string data_text(NodeId src, NodeId dst, unsigned sport, std::uint64_t sequence) {
    return fmt::format("data {}>{}:{} byte {}", src, dst, sport, sequence);
}
std::string ack_text(NodeId src, NodeId dst, unsigned dport, std::uint64_t sequence, bool nack) {
    return fmt::format("{} {}>{}:{} byte {}", nack ? "nack" : "ack", src, dst, dport, sequence);
}

template <class T>
T field(const char* record, std::size_t offset) {
    T value;
    std::memcpy(&value, record + offset, sizeof value);
    return value;
}

NodeId node_of_address(std::uint32_t ip) { return (ip >> 8) & 0xffff; }

/// What leaves ports according to the trace: records of 56 bytes (trace-format.h), after a head that
/// lists port speeds.
Ports read_trace(const std::string& path) {
    constexpr std::size_t kRecord = 56;
    constexpr std::uint8_t kDequeue = 2;
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    if (bytes.size() < 4) {
        throw ConfigError(path, 0, "not a packet trace of the HPCC ns-3");
    }
    constexpr std::size_t kSpeed = 11;  // node 16, interface 8, rate 64
    const std::size_t head = 4 + field<std::uint32_t>(bytes.data(), 0) * kSpeed + 4;
    Ports ports;
    for (std::size_t at = head; at + kRecord <= bytes.size(); at += kRecord) {
        const char* const record = bytes.data() + at;
        if (field<std::uint8_t>(record, 27) != kDequeue) {
            continue;
        }
        const NodeId src = node_of_address(field<std::uint32_t>(record, 16));
        const NodeId dst = node_of_address(field<std::uint32_t>(record, 20));
        const auto protocol = field<std::uint8_t>(record, 26);
        const auto sport = field<std::uint16_t>(record, 32);
        const auto dport = field<std::uint16_t>(record, 34);
        Departure departure;
        departure.ns = field<std::int64_t>(record, 0);
        if (protocol == 0x11) {
            departure.what = data_text(src, dst, sport, field<std::uint32_t>(record, 36));
        } else if (protocol == 0xfc || protocol == 0xfd) {
            departure.what =
                ack_text(src, dst, dport, field<std::uint32_t>(record, 40), protocol == 0xfd);
        } else {
            departure.what = field<std::uint32_t>(record, 32) > 0 ? "pause" : "resume";
        }
        const unsigned interface = field<std::uint8_t>(record, 10);
        ports[{field<std::uint16_t>(record, 8), interface - 1}].push_back(departure);
    }
    return ports;
}

std::string text_of(const Experiment& experiment, const step::Packet& packet) {
    const std::int64_t payload = experiment.network.format.payload;
    if (packet.packet_kind() >= step::PacketKind::pause) {
        return packet.packet_kind() == step::PacketKind::pause ? "pause" : "resume";
    }
    const FlowSpec& flow = experiment.flows[packet.flow];
    const auto byte =
        static_cast<std::uint64_t>(std::min<std::int64_t>(packet.sequence * payload, flow.size));
    if (packet.packet_kind() == step::PacketKind::data) {
        return data_text(flow.src, flow.dst, flow.sport, byte);
    }
    return ack_text(flow.dst, flow.src, flow.sport, byte,
                    packet.packet_kind() == step::PacketKind::nack);
}

/// Our own departures: after each instant, what every port has put on its link since.
Ports run_ours(const Experiment& experiment) {
    Routing routing(experiment.topology, next_hop_order(experiment.network.arithmetic));
    step::WorldStore store(experiment.topology, routing, experiment.network, experiment.flows,
                           experiment.paths, nullptr);
    store.begin();
    ns3::Driver driver(store, experiment.link_events, {});
    const Topology& topology = experiment.topology;
    std::vector<std::int64_t> seen(topology.port_count(), 0);
    Ports ports;
    for (Tick next = driver.next(); next < experiment.stop;) {
        next = driver.advance(std::min(next + 1, experiment.stop));
        for (PortId p = 0; p < topology.port_count(); ++p) {
            const step::Egress& egress = store.world().egress[p];
            step::Wire& link = store.world().link[egress.peer];
            for (std::int64_t fresh = egress.tx_packets - seen[p]; fresh > 0; --fresh) {
                const step::Packet& packet = link.at(link.tail - static_cast<std::uint32_t>(fresh));
                const Tick left = packet.time - egress.delay - egress.serialization[packet.bytes];
                const NodeId node = topology.node_of(p);
                ports[{node, p - topology.first_port(node)}].push_back(
                    {left / kNanosecond, text_of(experiment, packet)});
            }
            seen[p] = egress.tx_packets;
        }
    }
    return ports;
}

const Departure* at(const std::vector<Departure>& list, std::size_t i) {
    return i < list.size() ? &list[i] : nullptr;
}

std::string shown(const Departure* departure) {
    return departure == nullptr ? "nothing"
                                : fmt::format("{} ns {}", departure->ns, departure->what);
}

struct Difference {
    std::int64_t ns = INT64_MAX;
    std::pair<NodeId, std::uint32_t> port;
    std::size_t index = 0;
};

Difference earliest(const Ports& ours, const Ports& theirs) {
    Difference first;
    for (const auto& [port, list] : theirs) {
        const auto found = ours.find(port);
        static const std::vector<Departure> kNone;
        const std::vector<Departure>& mine = found == ours.end() ? kNone : found->second;
        for (std::size_t i = 0; i < std::max(list.size(), mine.size()); ++i) {
            const Departure* const a = at(mine, i);
            const Departure* const b = at(list, i);
            if (a != nullptr && b != nullptr && *a == *b) {
                continue;
            }
            const std::int64_t ns =
                std::min(a != nullptr ? a->ns : INT64_MAX, b != nullptr ? b->ns : INT64_MAX);
            if (ns < first.ns) {
                first = {ns, port, i};
            }
            break;
        }
    }
    return first;
}

int compare(const std::string& config, const std::string& trace) {
    const HpccImport import = import_hpcc(config, "", 0);
    const Ports theirs = read_trace(trace);
    const Ports ours = run_ours(import.experiment);
    std::size_t packets = 0;
    for (const auto& entry : theirs) packets += entry.second.size();
    const Difference first = earliest(ours, theirs);
    if (first.ns == INT64_MAX) {
        fmt::print("all {} transmissions of {} ports are equal\n", packets, theirs.size());
        return 0;
    }
    fmt::print("first difference: node {} port {}, transmission {}\n", first.port.first,
               first.port.second, first.index);
    const std::vector<Departure>& list = theirs.at(first.port);
    for (std::size_t i = first.index < 5 ? 0 : first.index - 5; i < first.index; ++i) {
        fmt::print("  both    {}\n", shown(at(list, i)));
    }
    const auto found = ours.find(first.port);
    fmt::print("  ns-3    {}\n  sluice  {}\n", shown(at(list, first.index)),
               shown(found == ours.end() ? nullptr : at(found->second, first.index)));
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        fmt::print(stderr, "usage: first_divergence CONFIG MIX_TR\n");
        return 2;
    }
    try {
        return compare(argv[1], argv[2]);
    } catch (const std::exception& error) {
        fmt::print(stderr, "first_divergence: {}\n", error.what());
        return 2;
    }
}
