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
#pragma once

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
    std::uint64_t* words_;
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

/// The next packet to send again is at Scoreboard::resend. False: there is none.
SLUICE_HD inline bool has_missing(const World& world, FlowSlot flow) {
    Scoreboard& board = world.scoreboard[flow];
    const WindowBits sacked = sacked_of(world, flow);
    while (board.resend < board.resend_end && sacked.has(board.resend)) {
        ++board.resend;
    }
    return board.resend < board.resend_end;
}

/// The window of the receiver has room for the sender's next packet.
SLUICE_HD inline bool has_room_to_reorder(const World& world, const Sender& sender) {
    return !repeats_selectively(world) || sender.next - sender.una < world.reorder_window;
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
    sacked.set(index);
    board.sacked_bytes += payload_of(world, index, sender.size);
    board.highest = index >= board.highest ? index + 1 : board.highest;
    return true;
}

/// Packets from Sender::una to `acked` are acknowledged.
SLUICE_HD inline void note_acknowledged(const World& world, const Sender& sender,
                                        std::uint32_t acked) {
    Scoreboard& board = world.scoreboard[sender.flow];
    WindowBits sacked = sacked_of(world, sender.flow);
    for (std::uint32_t i = sender.una; i < acked; ++i) {
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
/// arrived.
SLUICE_HD inline void find_losses(const World& world, const Sender& sender, std::uint32_t missing,
                                  Tick departed) {
    Scoreboard& board = world.scoreboard[sender.flow];
    if (board.highest <= missing + world.reorder_threshold) {
        return;
    }
    const std::uint32_t end = board.highest - world.reorder_threshold;
    board.resend_end = board.resend_end < end ? end : board.resend_end;
    if (board.resend > missing && departed >= board.proof) {  // lost again
        begin_pass(board, missing, board.resend_end);
    }
}

/// How long after the last progress a sender gives up on what it has sent.
SLUICE_HD inline Tick selective_timeout(const World& world, const Sender& sender) {
    const Tick timeout = world.config->nic.retransmit_timeout;
    if (sender.next < sender.packets || has_missing(world, sender.flow)) {
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
}

}  // namespace sluice::step
