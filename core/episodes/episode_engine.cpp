// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/clocks/alone.h"
#include "core/episodes/episode_engine.h"
#include "core/hybrid/outside.h"
#include "core/steady/rate_units.h"
#include "core/world/skip.h"
#include "core/world/told_flows.h"

namespace sluice::hybrid {

std::vector<NodeId> EpisodeEngine::switches_on(FlowSlot flow) const {
    std::vector<NodeId> nodes;
    for (const std::vector<PortId>* way : {&view_.tracks(flow).data, &view_.tracks(flow).acks}) {
        for (const PortId port : *way) {
            if (const NodeId node = view_.node_of(port); !store_.topology().is_host(node)) {
                nodes.push_back(node);
            }
        }
    }
    return nodes;
}

namespace {

/// serialization_time() of any number of bytes; at most kNever / 4, so that a few can be added.
Tick sending_time(std::int64_t bytes, Rate rate) {
    __extension__ typedef unsigned __int128 Wide;  // 1.2 MB are 1e19 bit-picoseconds
    const auto bits_per_second = static_cast<Wide>(rate.bits_per_second);
    const Wide scaled = static_cast<Wide>(bytes) * 8 * static_cast<Wide>(kSecond);
    const Wide time = (scaled + bits_per_second - 1) / bits_per_second;
    return static_cast<Tick>(std::min(time, static_cast<Wide>(kNever / 4)));
}

}  // namespace

Tick EpisodeEngine::least_time(FlowSlot flow) const {
    const step::World& world = store_.world();
    const step::Sender& from = view_.sender(flow);
    const std::vector<PortId>& way = view_.tracks(flow).data;
    const std::int64_t bytes = from.size + std::int64_t{from.packets} * world.data_overhead;
    const std::int64_t last = from.size % world.payload;
    const std::int64_t packet = (last > 0 ? last : world.payload) + world.data_overhead;
    const auto sending = [&](PortId port, std::int64_t sent) {
        return sending_time(sent, Rate{world.egress[port].line_rate});
    };
    Tick slowest = 0;  // what sending all takes longer there than sending the last packet
    Tick least = 0;
    for (const PortId port : way) {
        slowest = std::max(slowest, sending(port, bytes) - sending(port, packet));
        least += world.egress[port].delay + sending(port, packet);
    }
    return least + slowest;
}

EpisodePort EpisodeEngine::describe_for_episode(PortId port) const {
    const step::Egress& egress = store_.world().egress[port];
    EpisodePort told;
    told.rate = egress.line_rate;
    told.delay = egress.delay;
    told.mark_bytes = egress.ecn_kmin == step::kNeverMarks ? 0 : egress.ecn_kmin;
    told.threshold_shift = store_.world().ingress[port].threshold_shift;
    told.headroom = store_.world().ingress[port].headroom_limit;
    told.node = store_.topology().node_of(port);
    told.of_host = store_.topology().is_host(told.node);
    return told;
}

bool EpisodeEngine::may_tell(FlowSlot flow) const {
    const step::World& world = store_.world();
    const step::Footprint& way = view_.tracks(flow);
    const auto plain = [&](PortId port) {
        return world.egress[port].up && world.ingress[port].loss == 0 &&
               !is_live(view_, view_.node_of(port));
    };
    const auto leads = [&](const std::vector<PortId>& ports, NodeId to) {
        return !ports.empty() && view_.node_of(world.egress[ports.back()].peer) == to &&
               std::all_of(ports.begin(), ports.end(), plain);
    };
    return world.sprayed_classes == 0 && leads(way.data, world.spec[flow].dst) &&
           leads(way.acks, world.spec[flow].src);
}

bool EpisodeEngine::stands_alone(FlowSlot flow) const {
    return step::stands_alone(store_.world(), flow);
}

void EpisodeEngine::list_ports(NodeId node, std::vector<PortId>& ports) const {
    const step::World& world = store_.world();
    for (PortId port = world.first_port[node]; port < world.first_port[node + 1]; ++port) {
        ports.push_back(port);
    }
}

bool EpisodeEngine::run_held_calls(NodeId host, Tick at, std::vector<FlowSlot>& opened) {
    step::World& world = store_.world();
    PlainVector<step::Timer>& timers = world.host[host].timers;
    bool alone = true;
    while (timers.count > 0 && timers[0].time <= at) {
        if (step::Timer& start = timers[0]; start.kind == step::TimerKind::flow_start) {
            start.slot = step::slot_of(world, host, start);
            alone = !step::is_queue_busy(world, start.slot);
            if (!alone) {
                break;
            }
        }
        const std::uint32_t known = world.changed.count;
        step::host_timer(world, host, at);
        for (std::uint32_t i = known; i < world.changed.count; ++i) {
            if (const FlowSlot flow = world.changed[i]; world.sender_at[flow] != kNone) {
                step::hold_opened(world, flow);
                opened.push_back(flow);
            }
        }
    }
    step::refresh_wake(world, host);
    return alone;
}

std::uint32_t EpisodeEngine::run_alone(const Group& group, Tick from, Tick to) {
    std::vector<NodeId> nodes = group.hosts;
    nodes.insert(nodes.end(), group.switches.begin(), group.switches.end());
    return step::run_alone(store_, nodes, from, to);
}

void EpisodeEngine::tell_ends(FlowSlot flow, Tick received, Tick finish) {
    step::tell_ends(store_.world(), flow, received, finish);
}

void EpisodeEngine::untell_ends(FlowSlot flow) { step::untell_ends(store_.world(), flow); }

std::int64_t EpisodeEngine::whole_hops(FlowSlot flow) const {
    const step::Footprint& way = view_.tracks(flow);
    const std::int64_t packets = view_.sender(flow).packets;
    return packets * static_cast<std::int64_t>(way.data.size()) +
           acks_for(packets) * static_cast<std::int64_t>(way.acks.size());
}

/// Of so many packets of a flow that loses none.
std::int64_t EpisodeEngine::acks_for(std::int64_t packets) const {
    return step::ack_pace(store_.world().config->nic).of_whole(packets);
}

std::int64_t EpisodeEngine::account_told(const std::vector<PortId>& data,
                                         const std::vector<PortId>& acks, std::int64_t bytes,
                                         std::int64_t sent) {
    const step::World& world = store_.world();
    const std::int64_t packets = (bytes + world.payload - 1) / world.payload;
    const std::int64_t answers = acks_for(packets);
    std::int64_t hops = 0;
    const auto count = [&](PortId port, std::int64_t more, std::int64_t on_wire) {
        store_.add_skipped(port, more, on_wire);
        hops += more;
    };
    for (std::size_t i = 0; i < data.size(); ++i) {
        const std::int64_t before = i == 0 ? sent : 0;
        count(data[i], packets - before,
              bytes - std::min(before * world.payload, bytes) +
                  (packets - before) * world.data_overhead);
    }
    for (const PortId port : acks) {
        count(port, answers, answers * world.config->format.ack);
    }
    return hops;
}

std::int64_t EpisodeEngine::drop_sender(FlowSlot flow) {
    const std::int64_t sent = view_.sender(flow).next;
    step::drop_sender(store_.world(), flow);
    return sent;
}

void EpisodeEngine::resume(FlowSlot flow, std::int64_t packets, double rate, Tick now) {
    step::World& world = store_.world();
    const auto line = static_cast<double>(world.egress[view_.tracks(flow).data.front()].line_rate);
    step::reopen(world, flow, packets, std::min(rate * kBitsPerByteAndTick / line, 1.0), now);
}

void EpisodeEngine::drop_packets(const Group& group) {
    for (const PortId port : group.ports) {
        step::drop_packets(store_, port);
    }
}

}  // namespace sluice::hybrid
