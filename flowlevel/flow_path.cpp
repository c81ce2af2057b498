// SPDX-License-Identifier: Apache-2.0
#include "flowlevel/flow_path.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace sluice::flowlevel {
namespace {

std::int64_t overhead(const NetworkConfig& config) {
    return std::int64_t{config.format.header} + config.format.extra_header;
}

Tick frame_time(const Topology& topology, const NetworkConfig& config, PortId port,
                std::int64_t bytes) {
    return serialization_time(bytes, topology.rate(port), config.arithmetic);
}

/// Adds the ports of one path, in its order.
void add_path(const std::vector<PortId>& path, double PortShare::*part,
              std::vector<PortShare>& shares) {
    for (const PortId port : path) {
        auto known = std::find_if(shares.begin(), shares.end(),
                                  [&](const PortShare& share) { return share.port == port; });
        if (known == shares.end()) {
            known = shares.insert(shares.end(), PortShare{port, 0, 0});
        }
        (*known).*part = 1;
    }
}

/// Adds what spraying gives each port: the source keeps to its ECMP port, each switch divides what
/// it gets evenly. Switches are visited by distance, so each has its whole part when it is.
void add_spray(const Topology& topology, const Routing& routing, const FlowKey& key,
               double PortShare::*part, std::vector<PortShare>& shares) {
    std::map<NodeId, double> layer;  // by id, so that the order is defined
    const auto send = [&](PortId port, double share, std::map<NodeId, double>& next) {
        auto known = std::find_if(shares.begin(), shares.end(),
                                  [&](const PortShare& other) { return other.port == port; });
        if (known == shares.end()) {
            known = shares.insert(shares.end(), PortShare{port, 0, 0});
        }
        (*known).*part += share;
        if (topology.neighbor(port) != key.dst) {
            next[topology.neighbor(port)] += share;
        }
    };
    const PortId first = routing.select(key.src, key);
    if (first != kNone) {
        send(first, 1, layer);
    }
    while (!layer.empty()) {
        std::map<NodeId, double> next;
        for (const auto& [node, share] : layer) {
            const Routing::PortRange hops = routing.next_hops(node, key.dst);
            for (const PortId port : hops) {
                send(port, share / static_cast<double>(hops.size()), next);
            }
        }
        layer = std::move(next);
    }
}

/// How long after the last byte's departure, at the slowest link's frame rate, it arrives. A chain
/// of links is a pipeline: a packet leaves a link when it is there and the one before it has left.
/// The slowest way through: the first packet up to some link j, one after the other over j, the
/// last but one on to some link k, and the last one from k to the end.
Tick pipeline_time(const Topology& topology, const NetworkConfig& config,
                   const std::vector<PortId>& path, const FlowFrames& frames) {
    const std::int64_t full = config.format.payload + overhead(config);
    Tick delay = 0;
    Tick last_ones = 0;  // the last packet's times from k to the end
    double slowest = frame_rate(topology, config, path.front());
    for (const PortId port : path) {
        delay += topology.delay(port);
        last_ones += frame_time(topology, config, port, frames.last_bytes);
        slowest = std::min(slowest, frame_rate(topology, config, port));
    }
    Tick longest = frames.packets == 1 ? last_ones : 0;
    if (frames.packets > 1) {
        Tick full_ones = 0;  // a full packet's times up to k
        Tick widest = 0;     // the longest of them
        for (const PortId port : path) {
            const Tick time = frame_time(topology, config, port, full);
            full_ones += time;
            widest = std::max(widest, time);
            longest = std::max(longest, full_ones + (frames.packets - 2) * widest + last_ones);
            last_ones -= frame_time(topology, config, port, frames.last_bytes);
        }
    }
    const Tick sending = std::llround(static_cast<double>(frames.data_bytes) / slowest);
    return delay + std::max<Tick>(longest - sending, 0);
}

}  // namespace

FlowFrames frames_of(std::int64_t size, const NetworkConfig& config) {
    const std::int64_t payload = config.format.payload;
    FlowFrames frames;
    frames.packets = (size + payload - 1) / payload;
    frames.data_bytes = size + frames.packets * overhead(config);
    frames.last_bytes = size - (frames.packets - 1) * payload + overhead(config);
    const std::int64_t every = std::max(config.nic.ack_every, 1);
    const auto groups = [&](std::int64_t packets) { return (packets + every - 1) / every; };
    // Counting starts anew at each chunk's end.
    const std::int64_t chunk = config.nic.ack_chunk > 0 ? config.nic.ack_chunk : frames.packets;
    frames.acks = frames.packets / chunk * groups(chunk) + groups(frames.packets % chunk);
    frames.ack_bytes = frames.acks * config.format.ack;
    return frames;
}

double frame_rate(const Topology& topology, const NetworkConfig& config, PortId port) {
    const std::int64_t full = config.format.payload + overhead(config);
    return static_cast<double>(full) /
           static_cast<double>(frame_time(topology, config, port, full));
}

FlowPorts find_ports(const Topology& topology, const Routing& routing, const NetworkConfig& config,
                     const FlowSpec& spec, const FlowPath& path) {
    const FlowKey forward = data_key(spec);
    const FlowKey reverse = ack_key(spec);
    const bool spray = config.sprays(spec.priority);
    const auto ports_of = [&](const std::vector<PortId>& given, const FlowKey& key) {
        const bool usable =
            !spray && !given.empty() && std::all_of(given.begin(), given.end(), [&](PortId port) {
                return routing.link_up(topology.link_of(port));
            });
        return usable ? given : routing.path(key);
    };
    FlowPorts ports;
    const std::vector<PortId> data = ports_of(path.forward, forward);
    const std::vector<PortId> acks = ports_of(path.reverse, reverse);
    if (data.empty() || acks.empty()) {
        return ports;
    }
    if (spray) {
        add_spray(topology, routing, forward, &PortShare::data, ports.shares);
        add_spray(topology, routing, reverse, &PortShare::acks, ports.shares);
    } else {
        add_path(data, &PortShare::data, ports.shares);
        add_path(acks, &PortShare::acks, ports.shares);
    }
    ports.pipeline = pipeline_time(topology, config, data, frames_of(spec.size, config));
    for (const PortId port : acks) {
        ports.ack_return +=
            topology.delay(port) + frame_time(topology, config, port, config.format.ack);
    }
    return ports;
}

}  // namespace sluice::flowlevel
