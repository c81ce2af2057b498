// SPDX-License-Identifier: Apache-2.0
/// What NICs do under receiver credits (congestion/rccc.h). A data packet says in its stamp, where an ACK has its distance, up
/// to how many credits in all its sender wants. The receiving host keeps its flows that want more in a round, and sends them
/// pulls: ACKs that answer nothing and say, in place of a transmission number, how many credits the flow has been given in all.
/// So neither a lost packet nor a lost pull loses credits, and after a time-out a sender takes one that it has not.
#pragma once

#include "core/packet/arrivals.h"
#include "core/packet/nic_port.h"
#include "core/packet/selective_repeat.h"
#include "core/packet/timers.h"
#include "core/packet/trimming.h"

namespace sluice::step {

inline constexpr std::uint16_t kPull = 15;  ///< Packet::int_hops of a pull; no other ACK has any

SLUICE_HD inline std::int64_t full_packet(const World& world) {
    return std::int64_t{world.payload} + world.data_overhead;
}

SLUICE_HD inline std::uint32_t most_credits(const World& world, const Sender& sender) {
    return congestion::rccc::most_credits(world.config->congestion.rccc, sender.cc.line_rate,
                                          sender.cc.base_rtt, full_packet(world));
}

/// A message comes into service: it may send, until something comes back, what nobody has granted.
SLUICE_HD inline void begin_credits(const World& world, const Sender& sender) {
    if (world.credit != nullptr) {
        world.credit[sender.flow].left = most_credits(world, sender);
    }
}

/// Packets that are still to be sent, for the first time or again, as far as the sender knows.
SLUICE_HD inline std::uint32_t packets_to_send(const World& world, const Sender& sender) {
    const Scoreboard& board = world.scoreboard[sender.flow];
    const auto trimmed =
        static_cast<std::uint32_t>((board.trimmed_bytes + world.payload - 1) / world.payload);
    return sender.packets - sender.next + trimmed + (board.resend_end - board.resend);
}

/// A packet is about to leave.
SLUICE_HD inline void spend_credit(const World& world, const Sender& sender) {
    if (world.credit != nullptr) {
        --world.credit[sender.flow].left;
    }
}

/// `packet`, which has just cost a credit, says how many more are wanted.
SLUICE_HD inline void ask_for_credits(const World& world, const Sender& sender, Packet& packet) {
    if (world.credit == nullptr) {
        return;
    }
    const Credit& credit = world.credit[sender.flow];
    const std::uint32_t most = most_credits(world, sender);
    const std::uint32_t left = packets_to_send(world, sender);
    const std::uint32_t useful = left < most ? left : most;
    std::uint32_t more = useful > credit.left ? useful - credit.left : 0;
    if (credit.speculates && more == 0 && left > 0) {
        more = 1;  // what it has may be gone soon
    }
    packet.stamp = stamp_with(packet.stamp, (credit.seen + more) & kDistanceMask);
}

/// An answer to `sender`, or a pull. True: it was a pull, and says nothing else.
SLUICE_HD inline bool take_credits(const World& world, const Sender& sender, const Packet& packet) {
    if (world.credit == nullptr) {
        return false;
    }
    Credit& credit = world.credit[sender.flow];
    if (credit.speculates) {
        credit.speculates = false;
        credit.left = 0;
    }
    if (packet.int_hops != kPull) {
        return false;
    }
    const auto more = static_cast<std::uint16_t>(packet.transmission - credit.seen);
    if (more < 0x8000) {
        const std::uint32_t most = most_credits(world, sender);
        credit.seen += more;
        credit.left = credit.left + more < most ? credit.left + more : most;
    }
    return true;
}

/// The host's next pull is due at `at`.
SLUICE_HD inline void arm_pull(World& world, NodeId node, Tick at) {
    Timer timer;
    timer.time = at;
    timer.kind = TimerKind::pull;
    push_timer(world.memory, world.host[node], timer);
}

/// `packet`, of data or what is left of it, has come to `node`.
SLUICE_HD inline void note_wanted(World& world, NodeId node, const Packet& packet, Tick now) {
    if (world.credit == nullptr ||
        world.receiver[packet.flow].expected == world.receiver[packet.flow].packets) {
        return;
    }
    Credit& credit = world.credit[packet.flow];
    const std::uint32_t more = (distance_in(packet.stamp) - credit.wanted) & kDistanceMask;
    credit.wanted += more <= kDistanceMask / 2 ? more : 0;
    // A packet that was trimmed costs another credit. Its sender may have nothing left to send by which it could ask for it.
    if (is_trimmed(world, packet) && credit.wanted == credit.granted) {
        ++credit.wanted;
    }
    if (credit.waits || credit.granted >= credit.wanted) {
        return;
    }
    credit.waits = true;
    Puller& puller = world.puller[node];
    puller.round.push(world.memory, packet.flow);
    if (!puller.active) {
        puller.active = true;
        arm_pull(world, node, now);
    }
}

/// All of `flow` has come to `node`.
SLUICE_HD inline void leave_round(World& world, NodeId node, FlowSlot flow) {
    if (world.credit == nullptr || !world.credit[flow].waits) {
        return;
    }
    world.credit[flow].waits = false;
    PlainVector<FlowSlot>& round = world.puller[node].round;
    std::uint32_t place = 0;
    while (round[place] != flow) {
        ++place;
    }
    round.erase(place);
}

/// The host's pull is due: one flow gets its credits.
SLUICE_HD inline void give_credits(World& world, NodeId node, Tick now) {
    Puller& puller = world.puller[node];
    if (puller.round.count == 0) {
        puller.active = false;
        return;
    }
    const FlowSlot flow = puller.round[0];
    puller.round.erase(0);
    const congestion::rccc::Parameters& parameters = world.config->congestion.rccc;
    Credit& credit = world.credit[flow];
    const std::uint32_t open = credit.wanted - credit.granted;
    const auto most = static_cast<std::uint32_t>(parameters.packets_per_pull);
    const std::uint32_t given = open < most ? open : most;
    credit.granted += given;
    credit.waits = credit.granted < credit.wanted;
    if (credit.waits) {
        puller.round.push(world.memory, flow);
    }
    Packet packet;
    packet.stamp = stamp_with(now, 0);
    packet.flow = flow;
    packet.sequence = credit.granted / most;  // so that pulls take their paths in turn, too
    packet.bytes = static_cast<std::uint16_t>(world.config->format.ack);
    packet.transmission = static_cast<std::uint16_t>(credit.granted);
    packet.kind = static_cast<std::uint16_t>(PacketKind::ack);
    packet.traffic_class = world.spec[flow].priority & (kClasses - 1);
    packet.int_hops = kPull;
    const PortId port = egress_of(world, node, packet);
    const PortId way = port == kNone ? world.first_port[node] : port;
    const Tick gap = congestion::rccc::pull_gap(parameters, given, full_packet(world),
                                                world.egress[way].line_rate);
    arm_pull(world, node, now + gap);
    if (port == kNone) {
        lose(world, world.egress[way], &Egress::drops_no_way);
        return;
    }
    enqueue(world, world.egress[port], packet, 0);
    decide(world, world.host[node], port, now);
}

}  // namespace sluice::step
