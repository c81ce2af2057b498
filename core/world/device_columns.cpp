// SPDX-License-Identifier: Apache-2.0
#include "core/world/device_columns.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/packet/buffer.h"
#include "core/packet/route_table.h"
#include "core/world/ecn_point.h"
#include "core/world/lookahead.h"
#include "core/world/network_check.h"

namespace sluice::step {

namespace {

std::uint32_t clamp_bytes(std::int64_t bytes) {
    return static_cast<std::uint32_t>(std::min<std::int64_t>(bytes, 0xffffffff));
}

/// Bytes of a class queue above which a port of `rate` trims: a packet at least.
std::uint32_t trim_above(const NetworkConfig& config, Rate rate) {
    const TrimConfig& trim = config.trim;
    if (trim.threshold == 0) return kUnlimited;
    const std::int64_t reference = trim.reference_rate.bits_per_second;
    if (reference == 0) return clamp_bytes(trim.threshold);
    const double scaled = static_cast<double>(trim.threshold) *
                          static_cast<double>(rate.bits_per_second) /
                          static_cast<double>(reference);
    constexpr double kMost = 0x7fffffff;
    return clamp_bytes(
        std::max(static_cast<std::int64_t>(std::min(scaled, kMost)), largest_packet(config)));
}

/// A port as it stands in the topology, but for its table of serialization times. `rates`: the
/// distinct ones of the network.
Egress egress_of(const Topology& topology, const NetworkConfig& config, PortId port,
                 const std::vector<std::int64_t>& rates) {
    Egress egress{};
    const Rate rate = topology.rate(port);
    egress.delay = topology.delay(port);
    if (config.arithmetic == Arithmetic::ns3) {
        egress.delay -= egress.delay % kNanosecond;
    }
    egress.peer = topology.peer_of(port);
    egress.out = egress.peer;
    egress.peer_cell = topology.neighbor(port);
    egress.line_rate = rate.bits_per_second;
    egress.rate_index = static_cast<std::uint8_t>(
        std::find(rates.begin(), rates.end(), rate.bits_per_second) - rates.begin());
    egress.ecn_kmin = kNeverMarks;
    egress.ecn_kmax = kNeverMarks;
    const bool nvswitch = topology.kind(topology.node_of(port)) == NodeKind::nvswitch;
    if (config.ecn.enabled && !config.ecn.points.empty() && (config.ecn.nvswitches || !nvswitch)) {
        const EcnPoint point = ecn_point(config.ecn, rate);
        egress.ecn_kmin = clamp_bytes(point.kmin.count);
        egress.ecn_kmax = clamp_bytes(point.kmax.count);
        egress.ecn_pmax = point.pmax;
    }
    egress.trim_above = trim_above(config, rate);
    return egress;
}

void set_int_rates(World& world, const congestion::Parameters& config,
                   const std::vector<std::int64_t>& rates) {
    for (std::size_t i = 0; i < rates.size() && i < congestion::kMaxIntRates; ++i) {
        world.int_rates.bits_per_second[i] = rates[i];
    }
    world.int_units = congestion::int_units(congestion::int_multiplier(config));
}

}  // namespace

DeviceColumns::DeviceColumns(World& world, const Topology& topology, const NetworkConfig& config)
    : world_(world), topology_(topology), config_(config) {
    build_ports();
    build_buffers();
    if (config_.load_balance == LoadBalance::flowlet) {
        build_flowlets();
    }
    if (congestion::traits(config_.congestion.law).credits) {
        puller_.resize(topology_.node_count());
        world_.puller = puller_.data();
    }
    world_.lookahead = network_lookahead(topology_, config_);
}

DeviceColumns::~DeviceColumns() {
    for (Wire& wire : link_) {
        std::free(wire.slots);
    }
    for (Egress& egress : egress_) {
        for (Ring& queue : egress.queue) {
            // Most classes have none, and a call for each would take longer than all else here.
            if (queue.slots != nullptr) std::free(queue.slots);
        }
    }
    for (Host& host : host_) {
        free_vector(host.timers);
        free_vector(host.senders);
        free_vector(host.free_senders);
    }
    for (HostPort& port : host_port_) {
        free_vector(port.sender);
        free_vector(port.ready);
    }
    for (Puller& puller : puller_) {
        free_vector(puller.round);
    }
}

const std::vector<std::uint32_t>& DeviceColumns::serialization_table(Rate rate) {
    auto& table = tables_[rate.bits_per_second];
    if (table == nullptr) {
        const std::int64_t largest = largest_packet(config_) * world_.train;
        table = std::make_unique<std::vector<std::uint32_t>>(static_cast<std::size_t>(largest) + 1);
        for (std::int64_t bytes = 0; bytes <= largest; ++bytes) {
            (*table)[static_cast<std::size_t>(bytes)] =
                static_cast<std::uint32_t>(serialization_time(bytes, rate, config_.arithmetic));
        }
    }
    return *table;
}

void DeviceColumns::build_ports() {
    const std::size_t nodes = topology_.node_count();
    const std::size_t ports = topology_.port_count();
    first_port_.resize(nodes + 1);
    is_host_.resize(nodes);
    for (NodeId n = 0; n < nodes; ++n) {
        first_port_[n] = topology_.first_port(n);
        is_host_[n] = topology_.is_host(n) ? 1 : 0;
    }
    first_port_[nodes] = static_cast<PortId>(ports);
    egress_.resize(ports);
    ingress_.resize(ports);
    link_.resize(ports);
    host_port_.resize(ports);
    host_.resize(nodes);
    home_.resize(nodes);
    std::iota(home_.begin(), home_.end(), CellId{0});
    wake_.assign(nodes, kNever);
    block_wake_.assign((nodes + 63) / 64, kNever);
    const std::vector<std::int64_t> rates = distinct_rates(topology_);
    for (PortId p = 0; p < ports; ++p) {
        egress_[p] = egress_of(topology_, config_, p, rates);
        egress_[p].serialization = serialization_table(topology_.rate(p)).data();
        ingress_[p].loss = topology_.links()[topology_.link_of(p)].loss;
    }
    set_int_rates(world_, config_.congestion, rates);
    world_.node_count = static_cast<std::uint32_t>(nodes);
    world_.first_port = first_port_.data();
    world_.is_host = is_host_.data();
    world_.egress = egress_.data();
    world_.ingress = ingress_.data();
    world_.link = link_.data();
    world_.host = host_.data();
    world_.host_port = host_port_.data();
    world_.cell_count = world_.node_count;
    world_.home = home_.data();
    world_.wake = wake_.data();
    world_.block_wake = block_wake_.data();
}

void DeviceColumns::build_buffers() {
    buffer_.resize(topology_.node_count());
    world_.buffer = buffer_.data();
    const std::int64_t nic_rate = egress_[first_port_[topology_.hosts().front()]].line_rate;
    for (NodeId n = 0; n < topology_.node_count(); ++n) {
        if (topology_.is_host(n)) {
            continue;
        }
        Buffer& buffer = buffer_[n];
        buffer.reserve = config_.buffer.reserve.count;
        buffer.resume_offset = config_.buffer.resume_offset.count;
        buffer.shared_size = shared_buffer(topology_, config_, n);
        for (PortId p = first_port_[n]; p < first_port_[n + 1]; ++p) {
            Ingress& ingress = ingress_[p];
            int shift = config_.buffer.alpha_shift;
            for (std::int64_t rate = egress_[p].line_rate; rate > nic_rate && shift > 0;
                 rate /= 2) {
                --shift;
            }
            ingress.threshold_shift = static_cast<std::uint8_t>(shift);
            if (!config_.pfc) {
                continue;
            }
            // What trains add is not taken from the pool: packets would not need it.
            ingress.headroom_limit =
                clamp_bytes(pfc_headroom(config_, Rate{egress_[p].line_rate}, egress_[p].delay) +
                            3 * (world_.train - 1) * largest_packet(config_));
        }
    }
}

void DeviceColumns::build_flowlets() {
    switch_number_.assign(topology_.node_count(), kNone);
    std::uint32_t switches = 0;
    for (NodeId n = 0; n < topology_.node_count(); ++n) {
        if (!topology_.is_host(n)) {
            switch_number_[n] = switches++;
        }
    }
    flowlets_.resize(std::size_t{switches} * kFlowlets);
    world_.switch_number = switch_number_.data();
    world_.flowlets = flowlets_.data();
}

void DeviceColumns::resize_cells(std::uint32_t count) {
    wake_.resize(count, kNever);
    block_wake_.resize((count + 63) / 64, kNever);
    buffer_.resize(count);
    world_.cell_count = count;
    world_.whole_nodes = false;
    world_.wake = wake_.data();
    world_.block_wake = block_wake_.data();
    world_.buffer = buffer_.data();
}

void DeviceColumns::reserve_outboxes(std::size_t count) {
    const std::size_t wanted = egress_.size() + count;
    if (wanted > link_.size()) {
        link_.resize(wanted);
        world_.link = link_.data();
    }
}

void DeviceColumns::add_cross_streams() {
    cross_.resize(egress_.size());
    world_.cross = cross_.data();
    world_.lone_packets = false;
}

std::size_t DeviceColumns::memory_bytes() const {
    std::size_t bytes =
        egress_.size() * (sizeof(Egress) + sizeof(Ingress) + sizeof(Wire) + sizeof(HostPort));
    bytes += host_.size() * (sizeof(Host) + sizeof(Buffer) + sizeof(Tick) + sizeof(PortId) + 1);
    bytes += flowlets_.size() * sizeof(Flowlet) + puller_.size() * sizeof(Puller);
    for (const auto& table : tables_) {
        bytes += table.second->size() * sizeof(std::uint32_t);
    }
    return bytes;
}

}  // namespace sluice::step
