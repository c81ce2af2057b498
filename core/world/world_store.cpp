// SPDX-License-Identifier: Apache-2.0
#include "core/world/world_store.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/packet/nic.h"
#include "core/world/lookahead.h"

namespace sluice::step {

namespace {

template <class T>
void release(PlainVector<T>& vector) {
    std::free(vector.data);
    vector = PlainVector<T>{};
}

/// ECN thresholds of a port: the listed rate, else the nearest listed one in proportion.
EcnPoint ecn_point(const EcnConfig& config, Rate rate) {
    const auto distance = [&](const EcnPoint& point) {
        return std::abs(point.rate.bits_per_second - rate.bits_per_second);
    };
    EcnPoint nearest = *std::min_element(
        config.points.begin(), config.points.end(),
        [&](const EcnPoint& a, const EcnPoint& b) { return distance(a) < distance(b); });
    if (nearest.rate != rate) {
        const double scale = static_cast<double>(rate.bits_per_second) /
                             static_cast<double>(nearest.rate.bits_per_second);
        nearest.kmin.count =
            static_cast<std::int64_t>(static_cast<double>(nearest.kmin.count) * scale);
        nearest.kmax.count =
            static_cast<std::int64_t>(static_cast<double>(nearest.kmax.count) * scale);
    }
    return nearest;
}

std::uint32_t clamp_bytes(std::int64_t bytes) {
    return static_cast<std::uint32_t>(std::min<std::int64_t>(bytes, 0xffffffff));
}

}  // namespace

/// What an application may do, bound to a host and an instant.
class WorldStore::Services : public HostServices {
  public:
    Services(WorldStore& store, NodeId host, Tick now) : store_(store), host_(host), now_(now) {}

    void start_flow(FlowId id, Tick at) override {
        const auto flow = static_cast<FlowSlot>(id);
        if (id >= store_.flows_.size() || store_.flows_[flow].src != host_ || at < now_ ||
            store_.results_[flow].start != kNever) {
            throw InternalError("an application started flow " + std::to_string(id) +
                                " at host " + std::to_string(host_) +
                                ": not its own, in the past, or already started");
        }
        schedule(store_.world_, host_, Timer{at, TimerKind::flow_start, 0, flow});
    }
    void set_timer(NodeId host, Tick at, std::uint64_t token) override {
        if (at < now_ + (host == host_ ? 0 : lookahead())) {
            throw InternalError("an application's timer for host " + std::to_string(host) +
                                " is earlier than now plus the lookahead");
        }
        schedule(store_.world_, host, Timer{at, TimerKind::application, 0, token});
        const Callbacks& callbacks = store_.world_.callbacks;
        if (host != host_ && callbacks.call_set != nullptr) {
            callbacks.call_set(callbacks.call_set_context, host, at);
        }
    }
    Tick lookahead() const override { return store_.world_.lookahead; }

  private:
    WorldStore& store_;
    NodeId host_;
    Tick now_;
};

WorldStore::WorldStore(const Topology& topology, Routing& routing, const NetworkConfig& config,
                       const std::vector<FlowSpec>& flows, const std::vector<FlowPath>& paths,
                       Application* application)
    : topology_(topology),
      routing_(routing),
      config_(config),
      flows_(flows),
      paths_(paths),
      application_(application) {
    world_.config = &config_;
    world_.payload = config.format.payload;
    world_.pfc = config.pfc;
    world_.ack_strict_in_switch = config.queues.ack_strict_in_switch;
    world_.data_overhead = config.format.header + config.format.extra_header;
    world_.route_by_table = config.load_balance == LoadBalance::spray;
    check_format();
    build_ports();
    build_buffers();
    build_windows();
    build_flows(paths);
    check_int();
    world_.callbacks.context = this;
    world_.callbacks.route = &WorldStore::route;
    if (application != nullptr) {
        world_.callbacks.received = &WorldStore::received;
        world_.callbacks.sent = &WorldStore::sent;
        world_.callbacks.timer = &WorldStore::timer;
    }
}

WorldStore::~WorldStore() {
    for (Wire& link : link_) {
        std::free(link.slots);
    }
    for (Egress& egress : egress_) {
        for (Ring& queue : egress.queue) {
            std::free(queue.slots);
        }
    }
    for (Host& host : host_) {
        release(host.timers);
    }
    for (HostPort& port : host_port_) {
        release(port.sender);
        release(port.ready);
    }
    release(world_.senders);
    release(world_.free_senders);
    release(world_.int_words);
    for (PlainVector<std::uint32_t>& blocks : world_.free_int_blocks) {
        release(blocks);
    }
    release(world_.finished);
    release(world_.changed);
    release(world_.went_back);
    release(world_.announced);
}

void WorldStore::check_format() const {
    const std::int64_t largest =
        std::max<std::int64_t>({std::int64_t{config_.format.payload} + world_.data_overhead,
                                config_.format.ack, config_.format.pause});
    if (config_.format.payload < 1 || largest > 0xffff) {
        throw ConfigError("a packet of " + std::to_string(largest) +
                          " bytes on the wire (payload " + std::to_string(config_.format.payload) +
                          "); allowed: a payload of at least 1 byte, 65535 bytes with headers");
    }
}

const std::vector<std::uint32_t>& WorldStore::serialization_table(Rate rate) {
    auto& table = tables_[rate.bits_per_second];
    if (table == nullptr) {
        const std::int64_t largest =
            std::max<std::int64_t>({std::int64_t{config_.format.payload} + world_.data_overhead,
                                    config_.format.ack, config_.format.pause});
        table = std::make_unique<std::vector<std::uint32_t>>(static_cast<std::size_t>(largest) + 1);
        for (std::int64_t bytes = 0; bytes <= largest; ++bytes) {
            const Tick time = serialization_time(bytes, rate, config_.arithmetic);
            if (time > Tick{0xffffffff}) {
                throw ConfigError("a link of " + std::to_string(rate.bits_per_second) +
                                  " bit/s is too slow: a packet of " + std::to_string(bytes) +
                                  " bytes must take less than 4.29 ms");
            }
            (*table)[static_cast<std::size_t>(bytes)] = static_cast<std::uint32_t>(time);
        }
    }
    return *table;
}

void WorldStore::build_ports() {
    const std::size_t nodes = topology_.node_count();
    const std::size_t ports = topology_.port_count();
    first_port_.resize(nodes + 1);
    is_host_.resize(nodes);
    for (NodeId n = 0; n < nodes; ++n) {
        first_port_[n] = topology_.first_port(n);
        is_host_[n] = topology_.is_host(n) ? 1 : 0;
        if (topology_.port_count(n) > 0xffff) {
            throw ConfigError("node " + std::to_string(n) + " has more than 65535 ports");
        }
    }
    first_port_[nodes] = static_cast<PortId>(ports);
    egress_.resize(ports);
    ingress_.resize(ports);
    link_.resize(ports);
    arrival_.assign(ports, kNever);
    decision_.assign(ports, kNever);
    host_port_.resize(ports);
    host_.resize(nodes);
    home_.resize(nodes);
    std::iota(home_.begin(), home_.end(), CellId{0});
    wake_.assign(nodes, kNever);
    block_wake_.assign((nodes + 63) / 64, kNever);
    std::vector<std::int64_t> rates;
    for (PortId p = 0; p < ports; ++p) {
        Egress& egress = egress_[p];
        const Rate rate = topology_.rate(p);
        egress.delay = topology_.delay(p);
        if (config_.arithmetic == Arithmetic::ns3) {
            egress.delay -= egress.delay % kNanosecond;
        }
        egress.serialization = serialization_table(rate).data();
        egress.peer = topology_.peer_of(p);
        egress.peer_cell = topology_.neighbor(p);
        egress.line_rate = rate.bits_per_second;
        ingress_[p].loss = topology_.links()[topology_.link_of(p)].loss;
        auto known = std::find(rates.begin(), rates.end(), rate.bits_per_second);
        egress.rate_index = static_cast<std::uint8_t>(known - rates.begin());
        if (known == rates.end()) {
            rates.push_back(rate.bits_per_second);
        }
        egress.ecn_kmin = 0xffffffff;
        egress.ecn_kmax = 0xffffffff;
        if (config_.ecn.enabled && !config_.ecn.points.empty()) {
            const EcnPoint point = ecn_point(config_.ecn, rate);
            egress.ecn_kmin = clamp_bytes(point.kmin.count);
            egress.ecn_kmax = clamp_bytes(point.kmax.count);
            egress.ecn_pmax = point.pmax;
        }
    }
    if (rates.size() > 8 && config_.congestion.law == congestion::Law::hpcc) {
        throw ConfigError("HPCC's INT header tells 8 link rates apart; this topology has " +
                          std::to_string(rates.size()));
    }
    for (std::size_t i = 0; i < rates.size() && i < 8; ++i) {
        world_.int_rates.bits_per_second[i] = rates[i];
    }
    world_.int_units = congestion::int_units(config_.congestion.hpcc.int_multiplier);
    world_.node_count = static_cast<std::uint32_t>(nodes);
    world_.first_port = first_port_.data();
    world_.is_host = is_host_.data();
    world_.egress = egress_.data();
    world_.ingress = ingress_.data();
    world_.link = link_.data();
    world_.arrival = arrival_.data();
    world_.decision = decision_.data();
    world_.host = host_.data();
    world_.host_port = host_port_.data();
    world_.cell_count = world_.node_count;
    world_.home = home_.data();
    world_.wake = wake_.data();
    world_.block_wake = block_wake_.data();
}

void WorldStore::build_buffers() {
    buffer_.resize(topology_.node_count());
    world_.buffer = buffer_.data();
    if (topology_.hosts().empty()) {
        throw ConfigError("the topology has no hosts");
    }
    const std::int64_t nic_rate = egress_[first_port_[topology_.hosts().front()]].line_rate;
    for (NodeId n = 0; n < topology_.node_count(); ++n) {
        if (topology_.is_host(n)) {
            continue;
        }
        Buffer& buffer = buffer_[n];
        buffer.reserve = config_.buffer.reserve.count;
        buffer.resume_offset = config_.buffer.resume_offset.count;
        buffer.egress_alpha = config_.buffer.egress_alpha;
        buffer.shared_size = config_.buffer.size.count;
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
            ingress.headroom_limit =
                clamp_bytes(pfc_headroom(config_, Rate{egress_[p].line_rate}, egress_[p].delay));
            buffer.shared_size -= ingress.headroom_limit + buffer.reserve;
        }
        if (buffer.shared_size < 0 && config_.arithmetic == Arithmetic::ns3) {
            buffer.shared_size += std::int64_t{1} << 32;  // its sums are unsigned, of 32 bits
        }
        if (buffer.shared_size <= 0) {
            throw ConfigError(
                "switch " + std::to_string(n) + ": its buffer of " +
                std::to_string(config_.buffer.size.count) +
                " bytes is smaller than the PFC headroom and reserve of its ports (" +
                std::to_string(config_.buffer.size.count - buffer.shared_size) +
                " bytes); allowed: a larger [network.buffer] size, or a smaller headroom_factor");
        }
    }
}

void WorldStore::build_windows() {
    world_.lookahead = network_lookahead(topology_, config_);
    widest_ = network_base_rtt(topology_, {world_.payload, config_.arithmetic});
    world_.base_rtt = widest_.rtt;
    world_.max_window = config_.congestion.window ? widest_.bdp.count : 0;
    const std::int64_t chunk = std::int64_t{config_.nic.ack_chunk} * world_.payload;
    if (config_.nic.back_to_zero && world_.max_window != 0 && world_.max_window < chunk) {
        throw ConfigError("back_to_zero starts chunks of " + std::to_string(chunk) +
                          " bytes over, but the window holds " + std::to_string(world_.max_window) +
                          " bytes, so that no chunk could end; allowed: a smaller ack_chunk");
    }
}

void WorldStore::build_flows(const std::vector<FlowPath>& paths) {
    const std::size_t count = flows_.size();
    if (!paths.empty() && paths.size() != count) {
        throw InternalError("paths must be given for every flow or for none");
    }
    route_.resize(count);
    receiver_.resize(count);
    sender_of_.assign(count, kNone);
    results_.resize(count);
    world_.spec = flows_.data();
    world_.route = route_.data();
    world_.receiver = receiver_.data();
    world_.sender_of = sender_of_.data();
    world_.result = results_.data();
    if (const ConnectionId connections = connection_count(flows_); connections > 0) {
        queue_pair_.resize(connections);
        following_.assign(count, kNone);
        world_.queue_pair = queue_pair_.data();
        world_.following = following_.data();
    }
    for (FlowSlot f = 0; f < count; ++f) {
        const FlowSpec& spec = flows_[f];
        const std::string name = "flow " + std::to_string(f);
        const std::size_t nodes = topology_.node_count();
        if (spec.src >= nodes || spec.dst >= nodes || !topology_.is_host(spec.src) ||
            !topology_.is_host(spec.dst) || spec.src == spec.dst) {
            throw ConfigError(name + " goes from node " + std::to_string(spec.src) + " to node " +
                              std::to_string(spec.dst) + "; allowed: two different hosts");
        }
        const std::int64_t packets = (spec.size + world_.payload - 1) / world_.payload;
        if (spec.size < 1 || packets >= std::int64_t{kNone}) {
            throw ConfigError(name + " has " + std::to_string(spec.size) +
                              " bytes; allowed: 1 byte to 4,294,967,294 packets");
        }
        if (spec.priority < 1 || spec.priority >= kClasses) {
            throw ConfigError(name + " has priority " + std::to_string(spec.priority) +
                              "; allowed: 1 to 7");
        }
        receiver_[f].packets = static_cast<std::uint32_t>(packets);
        set_route(f);
        if (route_[f].port[0] == kNone || route_[f].port[kPathHops] == kNone) {
            throw ConfigError(name + ": no path from host " + std::to_string(spec.src) +
                              " to host " + std::to_string(spec.dst));
        }
    }
    std::int64_t widest = world_.max_window;
    if (!config_.nic.global_base_rtt) {
        widest = build_pair_windows();
    }
    if (config_.congestion.law == congestion::Law::hpcc) {
        // At least the packets that a window lets into the network, so that a slot is not handed on
        // before its ACK is back; without a window, four times the largest BDP.
        const std::int64_t in_flight = widest > 0 ? widest : 4 * widest_.bdp.count;
        std::uint32_t slots = 16;
        while (slots < in_flight / world_.payload + 8 && slots < 0x8000) {
            slots *= 2;
        }
        world_.int_block = slots;
    }
}

std::int64_t WorldStore::build_pair_windows() {
    std::vector<std::pair<NodeId, NodeId>> pairs(flows_.size());
    std::transform(flows_.begin(), flows_.end(), pairs.begin(),
                   [](const FlowSpec& spec) { return std::make_pair(spec.src, spec.dst); });
    const std::vector<BaseRtt> base =
        pair_base_rtts(topology_, {world_.payload, config_.arithmetic}, pairs);
    std::int64_t widest = 0;
    for (const BaseRtt& pair : base) {
        flow_base_rtt_.push_back(pair.rtt);
        flow_window_.push_back(config_.congestion.window ? pair.bdp.count : 0);
        widest = std::max(widest, flow_window_.back());
    }
    world_.flow_window = flow_window_.data();
    world_.flow_base_rtt = flow_base_rtt_.data();
    return widest;
}

void WorldStore::check_int() {
    if (world_.int_block == 0) {
        return;
    }
    int longest = 1;
    for (const FlowSpec& spec : flows_) {
        const int switches = routing_.distance(spec.src, spec.dst) - 1;
        if (switches > congestion::kMaxIntHops && config_.arithmetic != Arithmetic::ns3) {
            throw ConfigError("HPCC's INT header holds " + std::to_string(congestion::kMaxIntHops) +
                              " switches; the path from host " + std::to_string(spec.src) +
                              " to host " + std::to_string(spec.dst) + " has " +
                              std::to_string(switches) + "; allowed: another congestion law");
        }
        longest = std::max(longest, switches);
    }
    // Given paths may be longer than the shortest.
    for (const FlowPath& path : paths_) {
        longest = std::max(longest, static_cast<int>(path.forward.size()) - 1);
    }
    world_.int_stride = longest <= 1 ? 2 : longest <= 3 ? 4 : 8;
}

void WorldStore::set_route(FlowSlot flow) {
    const FlowSpec& spec = flows_[flow];
    FlowRoute& route = route_[flow];
    const auto fill = [&](PortId* entries, const std::vector<PortId>& given, const FlowKey& key) {
        std::fill(entries, entries + kPathHops, kNone);
        const bool usable = !given.empty() && std::all_of(given.begin(), given.end(),
                                                          [&](PortId p) { return egress_[p].up; });
        const std::vector<PortId> ports = usable ? given : routing_.path(key);
        std::copy_n(ports.begin(), std::min<std::size_t>(ports.size(), kPathHops), entries);
    };
    static const FlowPath kNoPath;
    const FlowPath& path = paths_.empty() ? kNoPath : paths_[flow];
    fill(route.port, path.forward, FlowKey{spec.src, spec.dst, spec.sport, spec.dport});
    fill(route.port + kPathHops, path.reverse, FlowKey{spec.dst, spec.src, spec.dport, spec.sport});
    if (results_[flow].start == kNever) {
        route.int_base = kNone;
        route.int_mask = 0;
    }
}

void WorldStore::resize_cells(std::uint32_t count) {
    wake_.resize(count, kNever);
    block_wake_.resize((count + 63) / 64, kNever);
    buffer_.resize(count);
    world_.cell_count = count;
    world_.wake = wake_.data();
    world_.block_wake = block_wake_.data();
    world_.buffer = buffer_.data();
}

void WorldStore::begin() {
    for (FlowSlot f = 0; f < flows_.size(); ++f) {
        if (flows_[f].start != kNever) {
            schedule(world_, flows_[f].src, Timer{flows_[f].start, TimerKind::flow_start, 0, f});
        }
    }
    if (application_ != nullptr) {
        for (const NodeId host : topology_.hosts()) {
            Services services(*this, host, 0);
            application_->on_begin(host, services);
        }
    }
}

void WorldStore::drop_queue(PortId port, Tick now) {
    Egress& egress = egress_[port];
    const NodeId node = topology_.node_of(port);
    for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
        for (Ring& ring = egress.queue[queue]; !ring.empty(); ring.pop()) {
            const Packet& packet = ring.front();
            ++egress.drops;
            ++world_.drops;
            if (queue == 0 || is_host_[node] != 0) {
                continue;
            }
            const PortId in = first_port_[node] + packet.ingress;
            Buffer& buffer = buffer_[node];
            step::release(buffer, ingress_[in], queue, packet.bytes, config_.pfc);
            if (config_.pfc && in != port && should_resume(buffer, ingress_[in], queue)) {
                ingress_[in].paused =
                    static_cast<std::uint8_t>(ingress_[in].paused & ~(1U << queue));
                --buffer.paused_classes;
                send_pfc(world_, in, queue, false, now);
                wake_cell(world_, node, now);
            }
        }
        egress.class_bytes[queue] = 0;
        egress.deficit[queue] = 0;
    }
    egress.queued_bytes = 0;
    egress.nonempty = 0;
}

void WorldStore::drop_link(PortId port) {
    Wire& link = link_[port];
    const auto lost = static_cast<std::int64_t>(link.size());
    egress_[topology_.peer_of(port)].drops += lost;
    world_.drops += static_cast<std::uint64_t>(lost);
    link.head = link.tail;
    arrival_[port] = kNever;
}

void WorldStore::widen_int_slots() {
    if (world_.int_block == 0 || world_.int_stride == 8) {
        return;
    }
    PlainVector<congestion::IntRecord> wide;
    const std::uint32_t slots = world_.int_words.count / world_.int_stride;
    wide.reserve(world_.memory, slots * 8);
    wide.count = slots * 8;
    for (std::uint32_t word = 0; word < wide.count; ++word) {
        const std::uint32_t in_slot = word % 8;
        wide[word] = in_slot < world_.int_stride
                         ? world_.int_words[word / 8 * world_.int_stride + in_slot]
                         : 0;
    }
    release(world_.int_words);
    world_.int_words = wide;
    world_.int_stride = 8;
}

void WorldStore::set_link(LinkId link, bool up, Tick now) {
    widen_int_slots();  // a detour may be longer than any shortest path
    const Topology& topology = topology_;
    for (PortId p = 0; p < topology.port_count(); ++p) {
        if (topology.link_of(p) != link) {
            continue;
        }
        egress_[p].up = up;
        if (up) {
            egress_[p].free_at = std::max(egress_[p].free_at, now);
            continue;
        }
        drop_queue(p, now);
        drop_link(p);
        decision_[p] = kNever;
        for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
            set_paused(egress_[p], queue, false, now);
            if ((ingress_[p].paused >> queue & 1U) != 0) {
                --buffer_[topology.node_of(p)].paused_classes;
            }
        }
        ingress_[p].paused = 0;
    }
    routing_.set_link(link, up);
    set_routes();
    reroute(now);
}

void WorldStore::change_routes(LinkId link, bool up) {
    widen_int_slots();
    routing_.set_link(link, up);
}

void WorldStore::set_routes() {
    world_.any_link_down = std::any_of(egress_.begin(), egress_.end(),
                                       [](const Egress& egress) { return !egress.up; });
    for (FlowSlot f = 0; f < flows_.size(); ++f) {
        if (results_[f].finish == kNever) {
            set_route(f);
        }
    }
}

void WorldStore::reroute(Tick now) {
    for (FlowSlot f = 0; f < flows_.size(); ++f) {
        const std::uint32_t index = sender_of_[f];
        if (index == kNone) {
            continue;
        }
        const PortId port = departure_port(world_, flows_[f].src, f);
        Sender& sender = world_.senders[index];
        if (port != sender.port) {
            detach(world_, index);
            attach(world_, index, port);
            sender.cc.line_rate = egress_[port].line_rate;
            update_ready(world_, sender);
        }
    }
    for (const NodeId host : topology_.hosts()) {
        for (PortId p = first_port_[host]; p < first_port_[host + 1]; ++p) {
            decide(world_, p, now);
            if (decision_[p] != kNever) {
                wake_cell(world_, host, decision_[p]);
            }
        }
    }
}

PortId WorldStore::route(void* self, NodeId node, const Packet& packet) {
    const auto& store = *static_cast<const WorldStore*>(self);
    const FlowSpec& spec = store.flows_[packet.flow];
    const bool data = packet.packet_kind() == PacketKind::data;
    const FlowKey key = data ? FlowKey{spec.src, spec.dst, spec.sport, spec.dport}
                             : FlowKey{spec.dst, spec.src, spec.dport, spec.sport};
    if (!store.world_.route_by_table || node == key.src) {
        return store.routing_.select(node, key);
    }
    const Routing::PortRange ports = store.routing_.next_hops(node, key.dst);
    if (ports.empty()) {
        return kNone;
    }
    constexpr std::uint64_t kSprayDraws = 0x7370726179;
    const std::uint64_t stream = random_stream(kSprayDraws, packet.flow);
    const std::uint64_t draw =
        (static_cast<std::uint64_t>(node) << 32 |
         static_cast<std::uint64_t>(packet.transmission) << 1 | (data ? 1U : 0U)) ^
        static_cast<std::uint64_t>(packet.sequence) << 48;
    return ports.begin()[uniform_below(store.config_.seed, stream, draw,
                                       static_cast<std::uint32_t>(ports.size()))];
}

void WorldStore::received(void* self, NodeId host, FlowSlot flow, Tick now) {
    auto& store = *static_cast<WorldStore*>(self);
    Services services(store, host, now);
    store.application_->on_received(host, flow, now, services);
}

void WorldStore::sent(void* self, NodeId host, FlowSlot flow, Tick now) {
    auto& store = *static_cast<WorldStore*>(self);
    Services services(store, host, now);
    store.application_->on_sent(host, flow, now, services);
}

void WorldStore::timer(void* self, NodeId host, std::uint64_t token, Tick now) {
    auto& store = *static_cast<WorldStore*>(self);
    Services services(store, host, now);
    store.application_->on_timer(host, token, now, services);
}

void WorldStore::add_skipped(PortId port, std::int64_t packets, std::int64_t bytes) {
    if (skipped_.empty()) {
        skipped_.resize(egress_.size());
    }
    skipped_[port].packets += packets;
    skipped_[port].bytes += bytes;
}

void WorldStore::settle_skipped(PortId port) {
    if (skipped_.empty()) {
        return;
    }
    const std::int64_t part =
        skipped_[port].bytes % static_cast<std::int64_t>(world_.int_units.bytes_unit);
    skipped_[port].bytes -= part;
    egress_[port].tx_bytes += part;
}

std::vector<PortStatistics> WorldStore::port_statistics(Tick now) const {
    std::vector<PortStatistics> all(egress_.size());
    for (std::size_t p = 0; p < egress_.size(); ++p) {
        const Egress& egress = egress_[p];
        PortStatistics& port = all[p];
        port.tx_bytes = egress.tx_bytes;
        port.tx_packets = egress.tx_packets;
        if (!skipped_.empty()) {
            port.tx_bytes += skipped_[p].bytes;
            port.tx_packets += skipped_[p].packets;
        }
        port.max_queue_bytes = egress.max_queued_bytes;
        port.ecn_marks = egress.ecn_marks;
        port.drops = egress.drops;
        port.pauses_sent = egress.pauses_sent;
        port.paused_ticks =
            egress.paused_ticks + (egress.paused != 0 ? now - egress.paused_since : 0);
    }
    return all;
}

Tick WorldStore::last_arrival() const {
    Tick last = 0;
    for (const Egress& egress : egress_) {
        last = std::max(last, egress.tx_packets > 0 ? egress.free_at + egress.delay : 0);
    }
    return last;
}

RunCounters WorldStore::counters() const {
    RunCounters total;
    for (const Egress& egress : egress_) {
        total.packet_hops += static_cast<std::uint64_t>(egress.tx_packets);
        total.pfc_pauses += static_cast<std::uint64_t>(egress.pauses_sent);
        total.ecn_marks += static_cast<std::uint64_t>(egress.ecn_marks);
    }
    for (FlowSlot f = 0; f < flows_.size(); ++f) {
        const std::uint32_t index = sender_of_[f];
        total.retransmitted_bytes += static_cast<std::uint64_t>(
            index == kNone ? results_[f].retransmitted : world_.senders[index].retransmitted);
    }
    total.drops = world_.drops;
    total.events = world_.events;
    total.hop_checksum = world_.checksum;
    return total;
}

std::size_t WorldStore::memory_bytes() const {
    std::size_t bytes = world_.memory.ring_bytes + world_.memory.other_bytes;
    bytes += egress_.size() * (sizeof(Egress) + sizeof(Ingress) + sizeof(Wire) + sizeof(HostPort) +
                               2 * sizeof(Tick));
    bytes += host_.size() * (sizeof(Host) + sizeof(Buffer) + sizeof(Tick) + sizeof(PortId) + 1);
    bytes += route_.size() * (sizeof(FlowRoute) + sizeof(Receiver) + sizeof(FlowResult) +
                              sizeof(FlowSpec) + sizeof(std::uint32_t));
    bytes += queue_pair_.size() * sizeof(QueuePair) + following_.size() * sizeof(FlowSlot);
    for (const auto& table : tables_) {
        bytes += table.second->size() * sizeof(std::uint32_t);
    }
    return bytes;
}

}  // namespace sluice::step
