// SPDX-License-Identifier: Apache-2.0
/// Selective repeat (`network.nic.transport = "selective-repeat"`): a receiver keeps what comes out of order, in a window
/// of `reorder_window` packets from the first one that is missing, and a sender sends again only what is missing. What
/// it is and what newer RoCE NICs do: docs/models/nic.md.
///
/// An ACK carries the first missing packet, and how far beyond it the packet lies that it answers (0: before it).
/// A sender never sends `reorder_window` packets past the first that is not acknowledged, so a receiver needs no more
/// room than the window. Packets are lost
/// - by count: one that was sent `reorder_threshold` packets later has arrived;
/// - by time: there was no progress for the retransmission time-out. A message whose last packet has left waits for
///   kTailTrips base RTTs or twice the flow's longest round trip, whichever is more, and twice as long each time.
/// What is lost is sent again in passes over the window, which the congestion window does not hold up: it replaces
/// bytes that are counted as in flight.
///
/// Where switches trim, a NACK names a packet of which only the header has come. It is lost at once, is not in flight, and is
/// sent again when the congestion window lets it.
#pragma once

#include "core/memory_space.h"
#include "core/packet/policies/entropy.h"
#include "core/packet/queue_pair.h"

namespace sluice::step {

inline constexpr Tick kTailTrips = 4;

/// A flow's bits for the packets of its window; `index`: of a packet.
class WindowBits {
  public:
    SLUICE_HD WindowBits(std::uint64_t* columns, FlowSlot flow, std::uint32_t window)
        : words_(columns + std::size_t{flow} * (window / 64)), mask_(window - 1) {}

    SLUICE_HD bool has(std::uint32_t index) const {
        return (words_[(index & mask_) / 64] >> (index & 63U) & 1U) != 0;
    }
    SLUICE_HD void set(std::uint32_t index) {
        words_[(index & mask_) / 64] |= std::uint64_t{1} << (index & 63U);
    }
    SLUICE_HD void clear(std::uint32_t index) {
        words_[(index & mask_) / 64] &= ~(std::uint64_t{1} << (index & 63U));
    }

  private:
    Global<std::uint64_t> words_;
    std::uint32_t mask_;
};

SLUICE_HD inline bool repeats_selectively(const World& world) {
    return world.scoreboard != nullptr;
}
SLUICE_HD inline WindowBits sacked_of(const World& world, FlowSlot flow) {
    return {world.sacked, flow, world.reorder_window};
}
SLUICE_HD inline WindowBits arrived_of(const World& world, FlowSlot flow) {
    return {world.arrived, flow, world.reorder_window};
}

/// Packets of the flow take several paths, so that they may come in any order.
SLUICE_HD inline bool takes_several_paths(const World& world, FlowSlot flow) {
    return repeats_selectively(world) && is_sprayed(world, flow);
}

/// Bandwidth-delay products that the flow may have in flight. Paths of different delays need more than a base round trip's.
SLUICE_HD inline double window_products(const World& world, FlowSlot flow) {
    return takes_several_paths(world, flow) ? world.config->congestion.sprayed_window : 1;
}

/// Bytes beyond the first that is not acknowledged, of which the sender knows that they have arrived.
SLUICE_HD inline std::int64_t arrived_beyond(const World& world, const Sender& sender) {
    return repeats_selectively(world) ? world.scoreboard[sender.flow].sacked_bytes : 0;
}

/// Bytes beyond the first that is not acknowledged, of which the sender knows that they were trimmed.
SLUICE_HD inline std::int64_t trimmed_beyond(const World& world, const Sender& sender) {
    return repeats_selectively(world) ? world.scoreboard[sender.flow].trimmed_bytes : 0;
}

/// When the data packet that `answer` answers left, by the simulated time.
SLUICE_HD inline Tick departure_of(const World& world, const Sender& sender, const Packet& answer,
                                   Tick now) {
    if (!repeats_selectively(world)) {
        return answer.stamp + sender.skipped;
    }
    const auto local = static_cast<std::uint64_t>(now - sender.skipped);
    const auto stamp = static_cast<std::uint64_t>(answer.stamp);
    return now - static_cast<Tick>((local - stamp) & kStampMask);
}

/// Switches cut packets, and receivers tell which.
SLUICE_HD inline bool trims(const World& world) { return world.trimmed != nullptr; }
SLUICE_HD inline WindowBits trimmed_of(const World& world, FlowSlot flow) {
    return {world.trimmed, flow, world.reorder_window};
}
/// Packets that were trimmed are to be sent again.
SLUICE_HD inline bool has_trimmed(const World& world, FlowSlot flow) {
    return trims(world) && world.scoreboard[flow].trimmed_bytes > 0;
}

/// Packet `index` is no longer one that is to be sent again because it was trimmed.
SLUICE_HD inline void forget_trimmed(const World& world, const Sender& sender,
                                     std::uint32_t index) {
    WindowBits trimmed = trimmed_of(world, sender.flow);
    if (trimmed.has(index)) {
        trimmed.clear(index);
        world.scoreboard[sender.flow].trimmed_bytes -= payload_of(world, index, sender.size);
    }
}

/// The next packet to send again in a pass is at Scoreboard::resend. False: there is none.
SLUICE_HD inline bool has_missing(const World& world, FlowSlot flow) {
    Scoreboard& board = world.scoreboard[flow];
    const WindowBits sacked = sacked_of(world, flow);
    while (board.resend < board.resend_end && sacked.has(board.resend)) {
        ++board.resend;
    }
    return board.resend < board.resend_end;
}

/// Takes the next packet that is to be sent again: there is one.
SLUICE_HD inline std::uint32_t next_missing(const World& world, const Sender& sender) {
    Scoreboard& board = world.scoreboard[sender.flow];
    if (!trims(world)) {
        return board.resend++;
    }
    std::uint32_t index = 0;
    if (has_missing(world, sender.flow)) {
        index = board.resend++;
    } else {
        const WindowBits trimmed = trimmed_of(world, sender.flow);
        index = board.first_trimmed < sender.una ? sender.una : board.first_trimmed;
        while (!trimmed.has(index)) {
            ++index;
        }
        board.first_trimmed = index + 1;
    }
    forget_trimmed(world, sender, index);
    return index;
}

/// No receiver has to grant the flow's packets, or it has one that is granted.
SLUICE_HD inline bool has_credit(const World& world, FlowSlot flow) {
    return world.credit == nullptr || world.credit[flow].left > 0;
}

/// Something is under way that would be missed: packets, or the credits that the sender waits for.
SLUICE_HD inline bool awaits_answer(const World& world, const Sender& sender) {
    return sender.next > sender.una || !has_credit(world, sender.flow);
}

/// The receiver lets the sender's next packet come: its window has room, and there is a credit.
SLUICE_HD inline bool is_let_in(const World& world, const Sender& sender) {
    return !repeats_selectively(world) ||
           (sender.next - sender.una < world.reorder_window && has_credit(world, sender.flow));
}

/// Bytes of the queue pair that are in flight, as far as the sender knows.
SLUICE_HD inline std::int64_t bytes_in_flight(const World& world, const Sender& sender) {
    const std::int64_t sent = sender.next_bytes - sender.una_bytes + sender.behind;
    if (!repeats_selectively(world)) {
        return sent;
    }
    const Scoreboard& board = world.scoreboard[sender.flow];
    return sent - board.sacked_bytes - board.trimmed_bytes;
}

/// The congestion window has room for the sender's next packet. Under laws that send whole packets Sender::window is what a
/// full one leaves of it, and a last one may be shorter.
SLUICE_HD inline bool has_window(const World& world, const Sender& sender) {
    const std::int64_t flight = bytes_in_flight(world, sender);
    if (flight < sender.window || sender.next + 1 != sender.packets) {
        return flight < sender.window;
    }
    const std::int64_t shorter = world.payload - payload_of(world, sender.next, sender.size);
    return world.config->congestion.whole_packets && flight < sender.window + shorter;
}

/// From here on packets from the first missing one to `end` are sent again, as far as they have not arrived.
SLUICE_HD inline void begin_pass(Scoreboard& board, std::uint32_t missing, std::uint32_t end) {
    board.resend = missing;
    board.resend_end = end;
    board.proof = kNever;
    board.sent_since = 0;
}

/// A packet leaves at `now`. Counts those behind the first missing one, when that was sent again; the instant at which
/// `reorder_threshold` of them have left is Scoreboard::proof.
SLUICE_HD inline void note_departure(const World& world, const Sender& sender, Tick now) {
    Scoreboard& board = world.scoreboard[sender.flow];
    if (board.resend > sender.una && board.proof == kNever &&
        board.sent_since++ >= world.reorder_threshold) {
        board.proof = now;
    }
}

/// Marks the single packet that an ACK names as arrived. True if that was not known.
SLUICE_HD inline bool note_sack(const World& world, const Sender& sender, const Packet& answer) {
    const std::uint32_t distance = distance_in(answer.stamp);
    const std::uint32_t index = answer.sequence + distance;
    Scoreboard& board = world.scoreboard[sender.flow];
    WindowBits sacked = sacked_of(world, sender.flow);
    if (distance == 0 || index < sender.una || index >= sender.next || sacked.has(index)) {
        return false;
    }
    if (trims(world)) {
        forget_trimmed(world, sender, index);
    }
    sacked.set(index);
    board.sacked_bytes += payload_of(world, index, sender.size);
    board.highest = index >= board.highest ? index + 1 : board.highest;
    return true;
}

/// A NACK: the packet that it names was trimmed. Returns its bytes; 0: it has arrived, or is to be sent again already.
SLUICE_HD inline std::int64_t note_trimmed(const World& world, const Sender& sender,
                                           const Packet& answer) {
    const std::uint32_t index = answer.sequence + distance_in(answer.stamp);
    if (index < sender.una || index >= sender.next || sacked_of(world, sender.flow).has(index)) {
        return 0;
    }
    WindowBits trimmed = trimmed_of(world, sender.flow);
    if (trimmed.has(index)) {
        return 0;
    }
    trimmed.set(index);
    Scoreboard& board = world.scoreboard[sender.flow];
    const std::int64_t bytes = payload_of(world, index, sender.size);
    const bool first = board.trimmed_bytes == 0 || index < board.first_trimmed;
    board.first_trimmed = first ? index : board.first_trimmed;
    board.trimmed_bytes += bytes;
    return bytes;
}

/// Packets from Sender::una to `acked` are acknowledged.
SLUICE_HD inline void note_acknowledged(const World& world, const Sender& sender,
                                        std::uint32_t acked) {
    Scoreboard& board = world.scoreboard[sender.flow];
    WindowBits sacked = sacked_of(world, sender.flow);
    for (std::uint32_t i = sender.una; i < acked; ++i) {
        if (trims(world)) {
            forget_trimmed(world, sender, i);
        }
        if (sacked.has(i)) {
            sacked.clear(i);
            board.sacked_bytes -= payload_of(world, i, sender.size);
        }
    }
    board.probes = 0;
    board.proof = kNever;
    board.sent_since = 0;
    board.resend = board.resend < acked ? acked : board.resend;
    board.resend_end = board.resend_end < acked ? acked : board.resend_end;
}

/// Decides what is lost, after an ACK of a packet that left at `departed`. `missing` is the first packet that has not
/// arrived. Returns the bytes of what is lost anew.
SLUICE_HD inline std::int64_t find_losses(const World& world, const Sender& sender,
                                          std::uint32_t missing, Tick departed) {
    Scoreboard& board = world.scoreboard[sender.flow];
    if (board.highest <= missing + world.reorder_threshold) {
        return 0;
    }
    const std::uint32_t end = board.highest - world.reorder_threshold;
    const WindowBits sacked = sacked_of(world, sender.flow);
    std::int64_t lost = 0;
    for (std::uint32_t i = board.resend_end < missing ? missing : board.resend_end; i < end; ++i) {
        lost += sacked.has(i) ? 0 : payload_of(world, i, sender.size);
    }
    board.resend_end = board.resend_end < end ? end : board.resend_end;
    if (board.resend > missing && departed >= board.proof) {  // lost again
        begin_pass(board, missing, board.resend_end);
        lost += payload_of(world, missing, sender.size);
    }
    return lost;
}

/// How long after the last progress a sender gives up on what it has sent.
SLUICE_HD inline Tick selective_timeout(const World& world, const Sender& sender) {
    const Tick timeout = world.config->nic.retransmit_timeout;
    if (sender.next < sender.packets || has_missing(world, sender.flow) ||
        has_trimmed(world, sender.flow)) {
        return timeout;
    }
    const Scoreboard& board = world.scoreboard[sender.flow];
    const Tick base = kTailTrips * sender.cc.base_rtt;
    const Tick seen = 2 * board.longest_trip;
    const Tick trips = (base < seen ? seen : base) << board.probes;
    return trips < timeout ? trips : timeout;
}

/// After a time-out: sends again everything that has not arrived. At a message's tail all of that may still be on its
/// way, so there it is the first missing packet, and those that others have overtaken.
SLUICE_HD inline void give_up(const World& world, const Sender& sender) {
    Scoreboard& board = world.scoreboard[sender.flow];
    const bool tail = selective_timeout(world, sender) < world.config->nic.retransmit_timeout;
    const std::uint32_t overtaken = board.highest > sender.una ? board.highest : sender.una + 1;
    begin_pass(board, sender.una, tail ? overtaken : sender.next);
    board.probes += tail ? 1 : 0;
    if (!has_credit(world, sender.flow)) {
        world.credit[sender.flow].left = 1;  // its packet asks for more
    }
}

/// What an ACK or NACK, which acknowledges up to packet `acked`, says of single packets. Returns the bytes of those of which
/// it says that they are lost.
SLUICE_HD inline std::int64_t heed_sack(World& world, Sender& sender, const Packet& packet,
                                        std::uint32_t acked, Tick now) {
    if (world.has_entropy) {
        judge_entropy(world, packet);
    }
    const bool nack = packet.packet_kind() == PacketKind::nack;
    const std::int64_t cut = nack ? note_trimmed(world, sender, packet) : 0;
    if (cut > 0 || (!nack && note_sack(world, sender, packet))) {
        sender.last_progress = now;
    }
    if (acked > sender.una) {
        note_acknowledged(world, sender, acked);
        sender.timed_out = false;
    }
    const Tick departed = departure_of(world, sender, packet, now);
    Scoreboard& board = world.scoreboard[sender.flow];
    board.longest_trip = now - departed > board.longest_trip ? now - departed : board.longest_trip;
    return cut + find_losses(world, sender, acked > sender.una ? acked : sender.una, departed);
}

}  // namespace sluice::step
