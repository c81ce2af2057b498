// SPDX-License-Identifier: Apache-2.0
#include "experiment/estimate.h"

#include <algorithm>
#include <string>

#include "core/error.h"
#include "core/routing/flow_check.h"
#include "core/topology/link_class.h"

namespace sluice {

Tick idle_completion_time(const Experiment& experiment, std::int64_t size,
                          const std::vector<PortId>& forward, const std::vector<PortId>& reverse) {
    const Topology& topology = experiment.topology;
    const PacketFormat& format = experiment.network.format;
    const Arithmetic arithmetic = experiment.network.arithmetic;
    const auto lasts = [&](std::int64_t bytes, PortId port) {
        return serialization_time(bytes, topology.rate(port), arithmetic);
    };
    const std::int64_t packets = (size + format.payload - 1) / format.payload;
    const std::int64_t header = format.header + format.extra_header;
    const std::int64_t full = format.payload + header;
    const std::int64_t last = size - (packets - 1) * format.payload + header;

    // A Tick holds 106 days; half of that is more than any run, and leaves room for start times.
    double roughly = 0;
    for (const PortId port : forward) {
        roughly = std::max(roughly,
                           static_cast<double>(packets) * static_cast<double>(lasts(full, port)));
    }
    if (roughly > static_cast<double>(kNever / 2)) {
        throw ConfigError("a flow of " + std::to_string(size) +
                          " bytes would last longer than 53 days");
    }

    // The full packets but one queue up at the slowest link so far; the last packet, which may be
    // shorter, follows each link's last full one as soon as it is there.
    Tick latest = 0;  // the last packet has left the link
    Tick first = 0;   // the first full packet has left it
    Tick slowest = 0;
    for (const PortId port : forward) {
        const Tick frame = lasts(full, port);
        first += frame;
        slowest = std::max(slowest, frame);
        if (packets > 1) {
            latest = std::max(latest, first + (packets - 2) * slowest);
        }
        latest += lasts(last, port) + topology.delay(port);
        first += topology.delay(port);
    }
    for (const PortId port : reverse) latest += topology.delay(port) + lasts(format.ack, port);
    return latest;
}

Tick IdealTimes::of(const FlowSpec& flow) {
    if (!routing_) {
        routing_.emplace(experiment_.topology, next_hop_order(experiment_.network.arithmetic));
    }
    return idle_completion_time(experiment_, flow.size, routing_->path(data_key(flow)),
                                routing_->path(ack_key(flow)));
}

namespace {

/// Of networks whose routing is worth keeping: that of larger ones takes memory while they run, and little of their time.
constexpr std::size_t kMostKnownPorts = 4096;

/// Switches' ports by which data of more than one host leaves.
class SharedPorts {
  public:
    explicit SharedPorts(const Topology& topology)
        : topology_(topology), source_(topology.port_count(), kNobody) {}

    /// `hops`: packet-hops of the flow.
    void add(NodeId source, const std::vector<PortId>& path, double hops) {
        crossings_.push_back({hops, inside_ports_.size()});
        for (const PortId port : path) {
            if (topology_.is_host(topology_.node_of(port))) continue;
            if (port != path.back()) inside_ports_.push_back(port);
            if (source_[port] == kSeveral) continue;
            if (source_[port] == kNobody) {
                source_[port] = source;
            } else if (source_[port] != source) {
                source_[port] = kSeveral;
                ++count_;
                inside_ += port == path.back() ? 0 : 1;
            }
        }
    }
    std::size_t count() const { return count_; }
    /// Of these, those that lead to no host.
    std::size_t inside() const { return inside_; }
    /// Packet-hops of the flows that cross one of those.
    double colliding_hops() const {
        double hops = 0;
        for (std::size_t i = 0; i < crossings_.size(); ++i) {
            const std::size_t last =
                i + 1 < crossings_.size() ? crossings_[i + 1].first : inside_ports_.size();
            const auto shares = [&](PortId port) { return source_[port] == kSeveral; };
            const auto ports = inside_ports_.begin();
            hops += std::any_of(ports + static_cast<std::ptrdiff_t>(crossings_[i].first),
                                ports + static_cast<std::ptrdiff_t>(last), shares)
                        ? crossings_[i].hops
                        : 0;
        }
        return hops;
    }

  private:
    /// A flow's packet-hops, and where its ports that lead to no host begin in `inside_ports_`.
    struct Crossing {
        double hops = 0;
        std::size_t first = 0;
    };
    static constexpr std::int64_t kNobody = -1;
    static constexpr std::int64_t kSeveral = -2;

    const Topology& topology_;
    std::vector<std::int64_t> source_;  ///< by port
    std::vector<Crossing> crossings_;   ///< by flow
    std::vector<PortId> inside_ports_;
    std::size_t count_ = 0;
    std::size_t inside_ = 0;
};

/// The experiment's own, or that of the tables. ConfigError if there is none.
FlowPath path_of(const Experiment& experiment, const Routing& routing, std::size_t i) {
    const FlowSpec& flow = experiment.flows[i];
    FlowPath path;
    if (!experiment.paths.empty()) path = experiment.paths[i];
    if (path.forward.empty()) {
        path.forward = routing.path(data_key(flow));
    }
    if (path.reverse.empty()) {
        path.reverse = routing.path(ack_key(flow));
    }
    if (path.forward.empty() || path.reverse.empty()) {
        try {
            check_joined(routing, flow, i);
        } catch (const ConfigError& error) {
            throw ConfigError(experiment.topology.name + ": " + error.what());
        }
    }
    return path;
}

}  // namespace

struct KnownRouting::Kept {
    Kept(const Topology& network, NextHopOrder hop_order)
        : topology(network), order(hop_order), routing(topology, order), classes(topology) {
        bytes = routing.memory_bytes();
    }

    Topology topology;
    NextHopOrder order;
    Routing routing;
    LinkClasses classes;
    std::size_t bytes = 0;  ///< as long as nobody has asked for a path
};

KnownRouting::KnownRouting() = default;
KnownRouting::~KnownRouting() = default;

const KnownRouting::Kept& KnownRouting::of(const Topology& topology, NextHopOrder order) {
    if (kept_ == nullptr || kept_->order != order || !(kept_->topology == topology)) {
        kept_ = std::make_unique<const Kept>(topology, order);
    }
    return *kept_;
}

TrafficEstimate estimate_traffic(const Experiment& experiment, KnownRouting* known) {
    const NextHopOrder order = next_hop_order(experiment.network.arithmetic);
    const bool small = experiment.topology.port_count() <= kMostKnownPorts;
    const KnownRouting::Kept* const kept =
        known != nullptr && small ? &known->of(experiment.topology, order) : nullptr;
    std::optional<Routing> own;
    std::optional<LinkClasses> own_classes;
    if (kept == nullptr) {
        own.emplace(experiment.topology, order);
        own_classes.emplace(experiment.topology);
    }
    const Routing& routing = kept != nullptr ? kept->routing : *own;
    const LinkClasses& classes = kept != nullptr ? kept->classes : *own_classes;
    TrafficEstimate estimate;
    estimate.routing_bytes = kept != nullptr ? kept->bytes : routing.memory_bytes();
    estimate.ideal.reserve(experiment.flows.size());
    estimate.link_class.reserve(experiment.flows.size());
    SharedPorts shared(experiment.topology);
    const std::int64_t payload = experiment.network.format.payload;
    const std::int64_t ack_every = experiment.network.nic.ack_every;
    for (std::size_t i = 0; i < experiment.flows.size(); ++i) {
        const FlowSpec& flow = experiment.flows[i];
        check_flow(experiment.topology, flow, i);
        const FlowPath path = path_of(experiment, routing, i);
        estimate.ideal.push_back(
            idle_completion_time(experiment, flow.size, path.forward, path.reverse));
        std::size_t highest = 0;
        for (const PortId port : path.forward) {
            highest = std::max(highest, classes.class_of(experiment.topology.link_of(port)));
        }
        estimate.link_class.push_back(
            static_cast<std::uint8_t>(std::min<std::size_t>(highest, 255)));
        const std::int64_t packets = (flow.size + payload - 1) / payload;
        const std::int64_t acks = (packets + ack_every - 1) / ack_every;
        const double hops =
            static_cast<double>(packets) * static_cast<double>(path.forward.size()) +
            static_cast<double>(acks) * static_cast<double>(path.reverse.size());
        shared.add(flow.src, path.forward, hops);
        estimate.packet_hops += hops;
        estimate.settling_hops += std::min(hops, kSettlingHops);
        const Tick round_trip = idle_completion_time(experiment, 1, path.forward, path.reverse);
        estimate.longest_round_trip = std::max(estimate.longest_round_trip, round_trip);
        estimate.long_hops += estimate.ideal.back() >= kLongMessage * round_trip ? hops : 0;
        estimate.longest_path =
            std::max(estimate.longest_path, static_cast<std::int64_t>(path.forward.size()));
        estimate.bytes += flow.size;
    }
    estimate.shared_ports = shared.count();
    estimate.shared_inside = shared.inside();
    estimate.colliding_hops = shared.colliding_hops();
    return estimate;
}

}  // namespace sluice
