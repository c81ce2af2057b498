// SPDX-License-Identifier: Apache-2.0
#include "core/world/network_flows.h"

#include <algorithm>
#include <string>

#include "core/error.h"
#include "core/packet/sender.h"
#include "core/routing/flow_check.h"
#include "core/world/network_check.h"

namespace sluice::step {

namespace {

/// ConfigError unless the flow can be carried.
void check_flow(const Topology& topology, const FlowSpec& spec, FlowId id, std::int64_t payload) {
    sluice::check_flow(topology, spec, id);
    const std::int64_t packets = (spec.size + payload - 1) / payload;
    if (packets >= std::int64_t{kNone}) {
        throw ConfigError("flow " + std::to_string(id) + " has " + std::to_string(spec.size) +
                          " bytes; allowed: at most 4,294,967,294 packets");
    }
}

/// ConfigError if the law's INT records hold fewer switches.
void check_int_hops(const NetworkConfig& config, const FlowSpec& spec, int switches) {
    if (const std::string fault = int_hops_fault(config, switches); !fault.empty()) {
        throw ConfigError("from host " + std::to_string(spec.src) + " to host " +
                          std::to_string(spec.dst) + ": " + fault);
    }
}

}  // namespace

NetworkFlows::NetworkFlows(World& world, const Topology& topology, Routing& routing,
                           const NetworkConfig& config, const std::vector<FlowSpec>& list,
                           const std::vector<FlowPath>& paths)
    : world_(world),
      topology_(topology),
      config_(config),
      base_rtts_(topology, config, paths),
      registry_(list, topology.node_count()),
      columns_(world, base_rtts_.by_pair()),
      routes_(world, topology, routing, paths),
      ints_(world),
      last_peer_(topology.node_count(), kNone) {
    if (!paths.empty() && paths.size() != list.size()) {
        throw InternalError("paths must be given for every flow or for none");
    }
    world_.base_rtt = base_rtts_.network().rtt;
    world_.max_window = base_rtts_.window(base_rtts_.network());
    reserve_connections(connection_count(list));
    for (FlowId id = 0; id < list.size(); ++id) {
        check_flow(topology_, list[id], id, world_.payload);
        check_joined(routing, list[id], id);
    }
    if (config_.nic.transport == Transport::selective_repeat) {
        columns_.repeat_selectively(config_.nic.reorder_window, config_.nic.reorder_threshold);
    }
    if (base_rtts_.by_pair()) {
        base_rtts_.set_list(list, paths);
    }
    if (congestion::traits(config_.congestion.law).uses_int) {
        provide_ints(paths);
    }
}

void NetworkFlows::provide_ints(const std::vector<FlowPath>& paths) {
    // Without a window, four times the largest BDP may be on its way.
    const std::int64_t window = base_rtts_.most_in_flight(base_rtts_.largest_window());
    ints_.provide(window > 0 ? window : 4 * base_rtts_.network().bdp.count);
    int longest = 1;
    for (const FlowSpec& spec : registry_.list()) {
        const int switches = switches_between(spec);
        check_int_hops(config_, spec, switches);
        longest = std::max(longest, switches);
    }
    // Given paths may be longer than the shortest.
    for (const FlowPath& path : paths) {
        longest = std::max(longest, static_cast<int>(path.forward.size()) - 1);
    }
    ints_.set_switches(longest);
}

void NetworkFlows::reserve_connections(ConnectionId count) {
    if (count > columns_.connection_count()) {
        columns_.reserve_connections(count);
        routes_.reserve_connections(columns_.connection_count());
    }
}

FlowSlot NetworkFlows::take_slot(FlowId id, const FlowSpec& spec) {
    const FlowSlot slot = columns_.take();
    fill_slot(slot, id, spec);
    return slot;
}

void NetworkFlows::fill_slot(FlowSlot slot, FlowId id, const FlowSpec& spec) {
    columns_.fill(slot, id, spec);
    routes_.set(slot);
    if (base_rtts_.by_pair()) {
        const BaseRtt& pair = base_rtts_.of(id, spec);
        columns_.set_pair(slot, pair.rtt, base_rtts_.window(pair));
    }
}

void NetworkFlows::pin_list() {
    for (FlowId id = 0; id < registry_.list().size(); ++id) {
        if (take_slot(id, registry_.list()[id]) != id) {
            throw InternalError("slots were given out before the list was pinned");
        }
    }
    registry_.pin();
}

/// ConfigError unless a flow of no list can be carried. While links are down it waits for its path, as
/// those do that lose theirs.
void NetworkFlows::check_opened(const FlowSpec& spec) {
    if (registry_.is_listed(spec.id)) {
        throw InternalError("flow " + std::to_string(spec.id) +
                            " was opened with the id of a flow of the list");
    }
    check_flow(topology_, spec, spec.id, world_.payload);
    if (world_.any_link_down || last_peer_[spec.src] == spec.dst) {
        return;
    }
    check_joined(routes_.routing(), spec, spec.id);
    if (ints_.in_use()) {
        check_int_hops(config_, spec, switches_between(spec));
    }
    last_peer_[spec.src] = spec.dst;
}

/// The columns have room for a flow of no list, and know what it needs.
bool NetworkFlows::fits(const FlowSpec& spec) const {
    if (spec.connection != kNone && spec.connection >= columns_.connection_count()) {
        return false;
    }
    if (base_rtts_.by_pair() && !base_rtts_.knows(spec)) {
        return false;
    }
    return !ints_.in_use() || ints_.holds(switches_between(spec));
}

/// fits() from now on.
void NetworkFlows::make_room(const FlowSpec& spec) {
    if (spec.connection != kNone) {
        reserve_connections(spec.connection + 1);
    }
    if (ints_.in_use() && !ints_.holds(switches_between(spec))) {
        ints_.widen(columns_.slot_count());
    }
    if (base_rtts_.by_pair() && !base_rtts_.knows(spec)) {
        const BaseRtt& pair = base_rtts_.add(spec);
        if (ints_.in_use()) {
            ints_.provide(base_rtts_.most_in_flight(base_rtts_.window(pair)));
        }
    }
}

FlowId NetworkFlows::open(World& world, FlowSpec spec, Tick at) {
    registry_.number(spec);
    check_opened(spec);
    registry_.add(spec);
    schedule(world, spec.src, Timer{at, TimerKind::flow_start, kNone, spec.id});
    return spec.id;
}

FlowSlot NetworkFlows::open_slot(FlowSpec spec) {
    registry_.number(spec);
    check_opened(spec);
    make_room(spec);
    return take_slot(spec.id, spec);
}

FlowSlot NetworkFlows::take_start(World& world, NodeId host, FlowId id) {
    const bool listed = registry_.is_listed(id);
    const FlowSpec& spec = registry_.starting(host, id);
    FlowSlot slot = kNone;
    if (!world.shared) {
        if (!listed) {
            make_room(spec);
        }
        slot = take_slot(id, spec);
    } else if (world.free_slots.count > 0 && (listed || fits(spec))) {
        slot = world.free_slots[--world.free_slots.count];
        fill_slot(slot, id, spec);
    }
    if (slot != kNone) {
        registry_.forget_waiting(host, id);
    }
    return slot;
}

void NetworkFlows::close_slot(FlowSlot slot, std::int64_t retransmitted, Tick now) {
    FlowResult& result = world_.result[slot];
    if (result.start == kNever) {
        result.start = now;
    }
    result.finish = now;
    result.retransmitted = retransmitted;
    world_.retransmitted += static_cast<std::uint64_t>(retransmitted);
    world_.changed.push(world_.memory, slot);
}

void NetworkFlows::release(FlowSlot slot) {
    registry_.keep_result(world_, slot);
    columns_.release(slot);
}

void NetworkFlows::change_routes(LinkId link, bool up) {
    ints_.widen(columns_.slot_count());  // a detour may be longer than any shortest path
    routes_.set_link(link, up);
}

std::vector<FlowSpec> NetworkFlows::under_way() const {
    std::vector<FlowSpec> flows;
    for (const FlowSlot slot : living()) {
        const FlowRecord flow = record(slot);
        if (flow.result.start != kNever && flow.result.finish == kNever) {
            flows.push_back(flow.spec);
        }
    }
    return flows;
}

std::size_t NetworkFlows::memory_bytes() const {
    return columns_.memory_bytes() +
           registry_.list().size() * (sizeof(FlowSpec) + sizeof(FlowResult) + 1);
}

}  // namespace sluice::step
