// SPDX-License-Identifier: Apache-2.0
#include "core/world/network_check.h"

#include <algorithm>
#include <vector>

#include "core/congestion/laws.h"
#include "core/packet/buffer.h"
#include "core/routing/base_rtt.h"

namespace sluice::step {

namespace {

constexpr Tick kLongestSerialization = 0xffffffff;
constexpr std::uint32_t kMostPorts = 0xffff;
constexpr std::int64_t kMostBytes = 0xffff;  // of a packet

/// As a port has it.
Tick port_delay(const Topology& topology, const NetworkConfig& config, PortId port) {
    const Tick delay = topology.delay(port);
    return config.arithmetic == Arithmetic::ns3 ? delay - delay % kNanosecond : delay;
}

std::string payload_fault(const NetworkConfig& config) {
    const std::int64_t largest = largest_packet(config);
    if (config.format.payload >= 1 && largest <= kMostBytes) return {};
    return "a packet of " + std::to_string(largest) + " bytes on the wire (payload " +
           std::to_string(config.format.payload) +
           "); allowed: a payload of at least 1 byte, 65535 bytes with headers";
}

std::string ports_fault(const Topology& topology) {
    for (NodeId n = 0; n < topology.node_count(); ++n) {
        if (topology.port_count(n) > kMostPorts) {
            return "node " + std::to_string(n) + " has more than 65535 ports";
        }
    }
    return topology.hosts().empty() ? "the topology has no hosts" : "";
}

std::string rate_fault(const NetworkConfig& config, Rate rate) {
    const std::int64_t bytes = largest_packet(config);
    if (serialization_time(bytes, rate, config.arithmetic) <= kLongestSerialization) return {};
    return "a link of " + std::to_string(rate.bits_per_second) +
           " bit/s is too slow: a packet of " + std::to_string(bytes) +
           " bytes must take less than 4.29 ms";
}

std::string law_fault(const congestion::Parameters& config, std::size_t rates) {
    if (rates <= congestion::kMaxIntRates || !congestion::traits(config.law).uses_int) return {};
    return "HPCC's INT header tells 8 link rates apart; this topology has " + std::to_string(rates);
}

std::string buffer_fault(const Topology& topology, const NetworkConfig& config) {
    for (NodeId n = 0; n < topology.node_count(); ++n) {
        if (topology.is_host(n)) continue;
        const std::int64_t shared = shared_buffer(topology, config, n);
        if (shared > 0) continue;
        return "switch " + std::to_string(n) + ": its buffer of " +
               std::to_string(config.buffer.size.count) +
               " bytes is smaller than the PFC headroom and reserve of its ports (" +
               std::to_string(config.buffer.size.count - shared) +
               " bytes); allowed: a larger [network.buffer] size, or a smaller headroom_factor";
    }
    return {};
}

std::string chunk_fault(const Topology& topology, const NetworkConfig& config) {
    if (!config.nic.back_to_zero || !config.congestion.window) return {};
    const std::int64_t chunk = std::int64_t{config.nic.ack_chunk} * config.format.payload;
    const std::int64_t window =
        network_base_rtt(topology, {config.format.payload, config.arithmetic}).bdp.count;
    if (window == 0 || window >= chunk) return {};
    return "back_to_zero starts chunks of " + std::to_string(chunk) +
           " bytes over, but the window holds " + std::to_string(window) +
           " bytes, so that no chunk could end; allowed: a smaller ack_chunk";
}

std::string window_fault(const NicConfig& nic) {
    if (nic.transport == Transport::go_back_n) return {};
    const std::uint32_t window = nic.reorder_window;
    if (window < 64 || window > 16'384 || (window & (window - 1)) != 0) {
        return "reorder_window is " + std::to_string(window) +
               " packets; allowed: powers of two from 64 to 16384";
    }
    if (nic.reorder_threshold < 1 || nic.reorder_threshold >= window) {
        return "reorder_threshold is " + std::to_string(nic.reorder_threshold) +
               " packets; allowed: 1 to less than reorder_window, " + std::to_string(window);
    }
    return {};
}

std::string trim_fault(const NetworkConfig& config) {
    const TrimConfig& trim = config.trim;
    constexpr std::int64_t kMost = 0x7fffffff;
    if (trim.threshold == 0) return {};
    if (trim.threshold < 0 || trim.threshold > kMost || trim.queue < 0 || trim.queue > kMost ||
        trim.priority >= step::kClasses || trim.reference_rate.bits_per_second < 0) {
        return "trimming is given by a threshold and a queue of 0 to 2147483647 bytes, a class of "
               "0 to 7, and a rate of 0 bits/s or more";
    }
    if (config.pfc) return "switches that trim need pfc = false";
    if (const std::int64_t largest = largest_packet(config); trim.threshold < largest) {
        return "a trim threshold of " + std::to_string(trim.threshold) +
               " bytes trims every packet; allowed: at least a packet, " + std::to_string(largest) +
               " bytes";
    }
    if (config.format.header + config.format.extra_header < 1) {
        return "without a header nothing is left of a packet that is trimmed";
    }
    if (config.nic.transport == Transport::go_back_n) {
        return "switches that trim need selective repeat";
    }
    return {};
}

std::string spray_fault(const NetworkConfig& config) {
    const SprayConfig& spray = config.spray;
    if (spray.band < 1) return "the load's band is 0 bytes; allowed: 1 byte and more";
    if (config.load_balance != LoadBalance::entropy) return {};
    if (config.nic.transport == Transport::go_back_n) {
        return "packets with entropy values come out of order; allowed: selective repeat";
    }
    if (spray.entropy_order == EntropyOrder::permuted &&
        (spray.entropy_values & (spray.entropy_values - 1)) != 0) {
        return "entropy values are permuted in rounds of a power of two, not of " +
               std::to_string(spray.entropy_values);
    }
    if (spray.entropy_values < 1 || spray.entropy_values > 1U << kEntropyBits) {
        return "there are " + std::to_string(spray.entropy_values) +
               " entropy values; allowed: 1 to 256";
    }
    return {};
}

}  // namespace

std::int64_t largest_packet(const NetworkConfig& config) {
    const PacketFormat& format = config.format;
    return std::max<std::int64_t>(
        {std::int64_t{format.payload} + format.header + format.extra_header, format.ack,
         format.pause});
}

std::uint32_t longest_train(const Topology& topology, const NetworkConfig& config) {
    const std::int64_t largest = largest_packet(config);
    std::int64_t most = kMostBytes / largest;
    for (const Link& link : topology.links()) {
        const Tick time = serialization_time(largest, link.rate, config.arithmetic);
        most = std::min<std::int64_t>(most, kLongestSerialization / (time + 1));
    }
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(config.train, 1, std::max<std::int64_t>(most, 1)));
}

std::int64_t shared_buffer(const Topology& topology, const NetworkConfig& config, NodeId node) {
    std::int64_t shared = config.buffer.size.count;
    for (std::uint32_t i = 0; config.pfc && i < topology.port_count(node); ++i) {
        const PortId port = topology.first_port(node) + i;
        const std::int64_t headroom =
            pfc_headroom(config, topology.rate(port), port_delay(topology, config, port));
        shared -= std::min<std::int64_t>(headroom, 0xffffffff) + config.buffer.reserve.count;
    }
    if (shared < 0 && config.arithmetic == Arithmetic::ns3) {
        shared += std::int64_t{1} << 32;  // its sums are unsigned, of 32 bits
    }
    return shared;
}

std::string int_hops_fault(const NetworkConfig& config, int switches) {
    if (!congestion::traits(config.congestion.law).uses_int ||
        switches <= congestion::kMaxIntHops || config.arithmetic == Arithmetic::ns3) {
        return {};
    }
    return "HPCC's INT header holds " + std::to_string(congestion::kMaxIntHops) +
           " switches, and a path has " + std::to_string(switches) +
           "; allowed: another congestion law";
}

std::optional<NetworkFault> network_fault(const Topology& topology, const NetworkConfig& config) {
    using Of = NetworkFault::Of;
    if (std::string text = payload_fault(config); !text.empty()) {
        return NetworkFault{Of::payload, std::move(text), {}};
    }
    if (std::string text = ports_fault(topology); !text.empty()) {
        return NetworkFault{Of::topology, std::move(text), {}};
    }
    const std::vector<std::int64_t> rates = distinct_rates(topology);
    for (const std::int64_t rate : rates) {
        if (std::string text = rate_fault(config, Rate{rate}); !text.empty()) {
            return NetworkFault{Of::rate, std::move(text), Rate{rate}};
        }
    }
    if (std::string text = law_fault(config.congestion, rates.size()); !text.empty()) {
        return NetworkFault{Of::law, std::move(text), {}};
    }
    if (std::string text = buffer_fault(topology, config); !text.empty()) {
        return NetworkFault{Of::buffer, std::move(text), {}};
    }
    if (std::string text = chunk_fault(topology, config); !text.empty()) {
        return NetworkFault{Of::chunk, std::move(text), {}};
    }
    if (std::string text = window_fault(config.nic); !text.empty()) {
        return NetworkFault{Of::window, std::move(text), {}};
    }
    if (std::string text = spray_fault(config); !text.empty()) {
        return NetworkFault{Of::spray, std::move(text), {}};
    }
    if (std::string text = trim_fault(config); !text.empty()) {
        return NetworkFault{Of::trim, std::move(text), {}};
    }
    return std::nullopt;
}

}  // namespace sluice::step
