// SPDX-License-Identifier: Apache-2.0
/// What the packet path keeps by flow or connection, beside its Sender: plain data.
#pragma once

#include <cstdint>

#include "core/congestion/int_record.h"
#include "core/flow/flow.h"
#include "core/hd.h"
#include "core/ids.h"
#include "core/packet/plain.h"

namespace sluice::step {

/// The queue of a connection. Messages behind `current` that wait are a list, by World::following.
struct QueuePair {
    FlowSlot current = kNone;  ///< the message that came last into service
    FlowSlot last = kNone;     ///< the message that was started last
};

/// Receiving side, by flow id.
struct alignas(64) Receiver {
    std::uint32_t expected = 0;  ///< next in-order packet
    std::uint32_t packets = 0;
    std::uint32_t acked = 0;  ///< expected when the last ACK left
    std::uint32_t last_nack = kNone;
    Tick nack_timer = 0;
    bool echo = false;  ///< congestion experienced since the last ACK
};

/// What a sender knows of its packets under selective repeat (selective_repeat.h). A pass sends again what has not
/// arrived of those from `resend` to `resend_end`.
struct alignas(64) Scoreboard {
    std::int64_t sacked_bytes = 0;  ///< beyond Sender::una, that have arrived
    Tick proof = kNever;        ///< an ACK for what left from here on says that the first missing
                                ///< packet, sent again, is lost again
    Tick longest_trip = 0;      ///< from a packet's departure to its ACK
    std::uint32_t highest = 0;  ///< the last packet known to have come out of order + 1
    std::uint32_t resend = 0;
    std::uint32_t resend_end = 0;
    std::uint32_t sent_since = 0;     ///< packets since the first missing one was sent again
    std::uint32_t probes = 0;         ///< time-outs at the message's tail, without progress
    std::uint32_t first_trimmed = 0;  ///< none before it is to be sent again because it was trimmed
    std::int64_t trimmed_bytes = 0;   ///< of those that are
};

/// Entropy values of a flow whose ACKs came unmarked, the oldest first: as many as REPS keeps.
struct Recycled {
    static constexpr std::uint32_t kMost = 8;

    std::uint8_t value[kMost] = {};
    std::uint8_t first = 0;
    std::uint8_t count = 0;
};

/// How bad the entropy values of a flow are: points for marks and trimmed packets, up to kMost. A value with points is passed
/// over. The points are uet-htsim's.
struct EntropyScores {
    static constexpr std::uint32_t kMost = 15;
    static constexpr std::uint32_t kOfMarked = 1;
    static constexpr std::uint32_t kOfTrimmed = 4;

    std::uint32_t position = 0;  ///< values of the rounds that were taken or passed over
    std::uint8_t score[1U << kEntropyBits] = {};
};

/// Receiver credits of a flow (credits.h), in packets. Counts begin with the flow.
struct alignas(64) Credit {
    // The sender's.
    std::uint32_t left = 0;  ///< packets that it may send
    std::uint32_t seen = 0;  ///< of `granted`
    bool speculates = true;  ///< nothing has come back yet, and `left` was granted by nobody
    // The receiver's.
    std::uint32_t granted = 0;
    std::uint32_t wanted = 0;  ///< by the sender, of `granted`
    bool waits = false;        ///< in its host's round
};

/// The port that packets of a flow took last at a switch.
struct Flowlet {
    std::uint64_t owner = 0;  ///< the flow's id and whether they are its ACKs
    Tick last = 0;            ///< when the last one of them came
    PortId port = kNone;
};

inline constexpr int kPathHops = 7;

/// A flow's INT slots: a power of two of them, on cache lines of their own.
struct IntBlock {
    std::uint64_t bits = 0;  ///< the first one's address, of 48 bits, above their number less one

    SLUICE_HD bool empty() const { return bits == 0; }
    SLUICE_HD congestion::IntRecord* words() const {
        return reinterpret_cast<congestion::IntRecord*>(static_cast<std::uintptr_t>(bits >> 16));
    }
    SLUICE_HD std::uint32_t mask() const { return static_cast<std::uint32_t>(bits & 0xffffU); }
    SLUICE_HD std::uint32_t size_class() const {
        std::uint32_t log2 = 0;
        while ((1U << log2) <= mask()) {
            ++log2;
        }
        return log2;
    }
};

/// Where a flow's packets go, one cache line. Entry h is the egress port of transmission h; a
/// packet whose entry is not a port of the node it is at (rerouted, or a longer path) is routed by
/// table.
struct alignas(64) FlowRoute {
    PortId port[2 * kPathHops];  ///< data packets' entries, then ACKs'
    IntBlock ints;               ///< none: the flow carries no records
};
static_assert(sizeof(FlowRoute) == 64, "a route is a cache line");

/// INT records of packets on their way, in a column of their own: switches write theirs, the sender
/// reads them all when the ACK is back. A slot is `int_stride` words: a tag, then one record per
/// hop. The tag tells a late duplicate, whose slot has been given to a newer packet, from the
/// packet that owns it; it also makes clearing slots between flows unnecessary.
SLUICE_HD inline std::uint64_t int_tag(FlowSlot flow, std::uint16_t transmission) {
    return (static_cast<std::uint64_t>(flow) + 1) << 16 | transmission;
}

}  // namespace sluice::step
