// SPDX-License-Identifier: Apache-2.0
/// Flows: their slots, and what belongs to each.
#include "core/world/world_store.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/packet/sender.h"
#include "core/routing/flow_check.h"
#include "core/world/network_check.h"

namespace sluice::step {

namespace {

/// A column of slots, longer by what has come: where it lies now.
template <class T>
T* grown(std::vector<T>& column, std::size_t count, const T& value = T{}) {
    column.resize(count, value);
    return column.data();
}

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

void sort_by_id(const World& world, std::vector<FlowSlot>& slots) {
    std::sort(slots.begin(), slots.end(),
              [&](FlowSlot a, FlowSlot b) { return world.id[a] < world.id[b]; });
}

void WorldStore::build_flows() {
    if (!paths_.empty() && paths_.size() != flows().size()) {
        throw InternalError("paths must be given for every flow or for none");
    }
    reserve_connections(connection_count(flows()));
    for (FlowId id = 0; id < flows().size(); ++id) {
        const FlowSpec& spec = flows()[id];
        check_flow(topology_, spec, id, world_.payload);
        check_joined(routing_, spec, id);
    }
    if (base_rtts_.by_pair()) {
        base_rtts_.set_list(flows(), paths_);
    }
    if (congestion::traits(config_.congestion.law).uses_int) {
        // Without a window, four times the largest BDP may be on its way.
        const std::int64_t window = base_rtts_.largest_window();
        ints_.provide(window > 0 ? window : 4 * base_rtts_.network().bdp.count);
    }
}

void WorldStore::check_int() {
    if (!ints_.in_use()) {
        return;
    }
    int longest = 1;
    for (const FlowSpec& spec : flows()) {
        const int switches = routing_.distance(spec.src, spec.dst) - 1;
        check_int_hops(config_, spec, switches);
        longest = std::max(longest, switches);
    }
    // Given paths may be longer than the shortest.
    for (const FlowPath& path : paths_) {
        longest = std::max(longest, static_cast<int>(path.forward.size()) - 1);
    }
    ints_.set_switches(longest);
}

void WorldStore::reserve_connections(ConnectionId count) {
    if (count > queue_pair_.size()) {
        queue_pair_.resize(std::max<std::size_t>(count, 2 * queue_pair_.size()));
        known_route_.resize(queue_pair_.size());
        world_.queue_pair = queue_pair_.data();
    }
}

FlowSlot WorldStore::take_slot_for(FlowId id, const FlowSpec& spec) {
    FlowSlot slot = kNone;
    if (free_slots_.empty()) {
        slot = static_cast<FlowSlot>(id_.size());
        grow_slots(id_.size() + 1);
    } else {
        slot = free_slots_.back();
        free_slots_.pop_back();
    }
    fill_slot(slot, id, spec);
    return slot;
}

void WorldStore::fill_slot(FlowSlot slot, FlowId id, const FlowSpec& spec) {
    id_[slot] = id;
    spec_[slot] = spec;
    receiver_[slot] = Receiver{};
    receiver_[slot].packets =
        static_cast<std::uint32_t>((spec.size + world_.payload - 1) / world_.payload);
    sender_at_[slot] = kNone;
    result_[slot] = FlowResult{};
    following_[slot] = kNone;
    set_route(slot);
    if (base_rtts_.by_pair()) {
        set_pair(slot, base_rtts_.of(id, spec));
    }
}

void WorldStore::grow_slots(std::size_t count) {
    world_.id = grown(id_, count, kNoFlow);
    world_.spec = grown(spec_, count);
    world_.route = grown(route_, count);
    world_.receiver = grown(receiver_, count);
    world_.sender_at = grown(sender_at_, count, kNone);
    world_.result = grown(result_, count);
    world_.following = grown(following_, count, FlowSlot{kNone});
    if (answers_left_out()) {
        world_.answers = grown(answers_, count);
        world_.answer_takes = grown(answer_takes_, count, kNever);
    }
    if (!config_.nic.global_base_rtt) {
        world_.flow_window = grown(flow_window_, count);
        world_.flow_base_rtt = grown(flow_base_rtt_, count);
    }
}

void WorldStore::leave_answers_out() {
    cross_.resize(egress_.size());
    world_.cross = cross_.data();
    // Not null, even where no flow has a slot yet.
    const std::size_t count = std::max<std::size_t>(id_.size(), 1);
    world_.answers = grown(answers_, count);
    world_.answer_takes = grown(answer_takes_, count, kNever);
}

void WorldStore::set_pair(FlowSlot slot, const BaseRtt& pair) {
    flow_base_rtt_[slot] = pair.rtt;
    flow_window_[slot] = base_rtts_.window(pair);
}

void WorldStore::pin_list() {
    for (FlowId id = 0; id < flows().size(); ++id) {
        if (take_slot_for(id, flows()[id]) != id) {
            throw InternalError("slots were given out before the list was pinned");
        }
    }
    registry_.pin();
}

/// ConfigError unless a flow of no list can be carried. While links are down it waits for its path, as
/// those do that lose theirs.
void WorldStore::check_opened(const FlowSpec& spec) const {
    if (registry_.is_listed(spec.id)) {
        throw InternalError("flow " + std::to_string(spec.id) +
                            " was opened with the id of a flow of the list");
    }
    check_flow(topology_, spec, spec.id, world_.payload);
    if (world_.any_link_down) {
        return;
    }
    check_joined(routing_, spec, spec.id);
    if (ints_.in_use()) {
        check_int_hops(config_, spec, routing_.distance(spec.src, spec.dst) - 1);
    }
}

/// The columns have room for a flow of no list, and know what it needs.
bool WorldStore::fits(const FlowSpec& spec) const {
    if (spec.connection != kNone && spec.connection >= queue_pair_.size()) {
        return false;
    }
    if (base_rtts_.by_pair() && !base_rtts_.knows(spec)) {
        return false;
    }
    return !ints_.in_use() || ints_.holds(routing_.distance(spec.src, spec.dst) - 1);
}

/// fits() from now on.
void WorldStore::make_room(const FlowSpec& spec) {
    if (spec.connection != kNone) {
        reserve_connections(spec.connection + 1);
    }
    if (ints_.in_use() && !ints_.holds(routing_.distance(spec.src, spec.dst) - 1)) {
        ints_.widen(slot_count());
    }
    if (base_rtts_.by_pair() && !base_rtts_.knows(spec)) {
        const BaseRtt& pair = base_rtts_.add(spec);
        if (ints_.in_use()) {
            ints_.provide(base_rtts_.window(pair));
        }
    }
}

FlowId WorldStore::open_flow(World& world, FlowSpec spec, Tick at) {
    registry_.number(spec);
    check_opened(spec);
    registry_.add(spec);
    schedule(world, spec.src, Timer{at, TimerKind::flow_start, kNone, spec.id});
    return spec.id;
}

FlowSlot WorldStore::open_slot(FlowSpec spec) {
    registry_.number(spec);
    check_opened(spec);
    make_room(spec);
    return take_slot_for(spec.id, spec);
}

FlowSlot WorldStore::take_slot(World& world, NodeId host, FlowId id) {
    return static_cast<WorldStore*>(world.callbacks.context)->take_start(world, host, id);
}

/// The slot of a flow whose start has come; kNone if it cannot be had in a shared window.
FlowSlot WorldStore::take_start(World& world, NodeId host, FlowId id) {
    const bool listed = registry_.is_listed(id);
    const FlowSpec& spec = registry_.starting(host, id);
    FlowSlot slot = kNone;
    if (!world.shared) {
        if (!listed) {
            make_room(spec);
        }
        slot = take_slot_for(id, spec);
    } else if (world.free_slots.count > 0 && (listed || fits(spec))) {
        slot = world.free_slots[--world.free_slots.count];
        fill_slot(slot, id, spec);
    }
    if (slot != kNone) {
        registry_.remove(host, id);
    }
    return slot;
}

void WorldStore::close_slot(FlowSlot slot, std::int64_t retransmitted, Tick now) {
    if (result_[slot].start == kNever) {
        result_[slot].start = now;
    }
    result_[slot].finish = now;
    result_[slot].retransmitted = retransmitted;
    world_.retransmitted += static_cast<std::uint64_t>(retransmitted);
    world_.changed.push(world_.memory, slot);
}

FlowRecord WorldStore::record(FlowSlot slot) const {
    return FlowRecord{id_[slot], spec_[slot], result_[slot]};
}

void WorldStore::release(FlowSlot slot) {
    registry_.keep_result(world_, slot);
    if (QueuePair* const pair = queue_pair_of(world_, slot);
        pair != nullptr && pair->current == slot) {
        *pair = QueuePair{};
    }
    return_int_slots(world_, host_[spec_[slot].src], slot);
    if (answers_left_out()) {
        answers_[slot].head = answers_[slot].tail;
        answers_[slot].base = 0;
        answer_takes_[slot] = kNever;
    }
    id_[slot] = kNoFlow;
    free_slots_.push_back(slot);
}

std::vector<FlowSlot> WorldStore::living() const {
    std::vector<FlowSlot> slots;
    for (FlowSlot slot = 0; slot < id_.size(); ++slot) {
        if (id_[slot] != kNoFlow) {
            slots.push_back(slot);
        }
    }
    sort_by_id(world_, slots);
    return slots;
}

void WorldStore::set_route(FlowSlot slot) {
    FlowRoute& route = route_[slot];
    const FlowSpec& spec = spec_[slot];
    if (spec.connection == kNone || id_[slot] < paths_.size() || is_sprayed(world_, slot)) {
        find_route(slot);
    } else {
        KnownRoute& known = known_route_[spec.connection];
        if (known.epoch == route_epoch_ && known.src == spec.src && known.dst == spec.dst &&
            known.sport == spec.sport && known.dport == spec.dport) {
            std::copy_n(known.route.port, 2 * kPathHops, route.port);
        } else {
            find_route(slot);
            known = {route, spec.src, spec.dst, route_epoch_, spec.sport, spec.dport};
        }
    }
    if (result_[slot].start == kNever) {
        route.ints = IntBlock{};
    }
}

void WorldStore::find_route(FlowSlot slot) {
    const FlowSpec& spec = spec_[slot];
    FlowRoute& route = route_[slot];
    const bool sprayed = is_sprayed(world_, slot);
    const auto fill = [&](PortId* entries, const std::vector<PortId>& given, const FlowKey& key) {
        std::fill(entries, entries + kPathHops, kNone);
        const bool usable =
            !sprayed && !given.empty() &&
            std::all_of(given.begin(), given.end(), [&](PortId p) { return egress_[p].up; });
        const std::vector<PortId> ports = usable ? given : routing_.path(key);
        std::copy_n(ports.begin(), std::min<std::size_t>(ports.size(), kPathHops), entries);
        for (int hop = 1; sprayed && hop < kPathHops; ++hop) {
            if (entries[hop] != kNone &&
                routing_.next_hops(topology_.node_of(entries[hop]), key.dst).size() > 1) {
                entries[hop] = kNone;  // each packet chooses
            }
        }
    };
    static const FlowPath kNoPath;
    const bool listed = id_[slot] < paths_.size();
    const FlowPath& path = listed ? paths_[id_[slot]] : kNoPath;
    fill(route.port, path.forward, data_key(spec));
    fill(route.port + kPathHops, path.reverse, ack_key(spec));
}

}  // namespace sluice::step
