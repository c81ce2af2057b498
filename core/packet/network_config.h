// SPDX-License-Identifier: Apache-2.0
/// The frozen, validated description of how network devices behave. Built by the scenario loader
/// (scenario/scenario.h) or the HPCC importer; engines only read it. Values are those of
/// the HPCC ns-3 reference at 100 Gb/s under HPCC (docs/models/); what scales with the rate is resolved before this struct.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/congestion/congestion.h"
#include "core/units.h"

namespace sluice {

// Which rules there are: the lists in core/packet/policies/. The first of each list is the default.
enum class Admission : std::uint8_t;
enum class Scheduler : std::uint8_t;
enum class Marking : std::uint8_t;

/// Bytes on the wire. No preamble, gap or FCS.
struct PacketFormat {
    std::int32_t payload = 1000;  ///< full packet's payload (MTU)
    std::int32_t header = 48;     ///< 14 L2 + 20 IP + 8 UDP + 6
    std::int32_t extra_header =
        42;                   ///< HPCC's INT (42, always full size); TIMELY's stamp 8; else 0
    std::int32_t ack = 88;    ///< ACK/NACK frame: 60, under HPCC 88
    std::int32_t pause = 43;  ///< PFC frame
};

/// Shared buffer of a switch (docs/models/switch.md).
struct BufferConfig {
    Bytes size = mebibytes(32);
    Bytes reserve = {4096};      ///< per ingress port and queue
    double headroom_factor = 3;  ///< headroom of a port = factor x rate x delay
    Admission admission{};       ///< what one queue may take of the shared pool
    /// Dynamic threshold with PFC: free shared >> shift, one step less for each doubling of the
    /// port's rate over the NIC rate.
    int alpha_shift = 3;
    /// Dynamic threshold without PFC: a queue may hold egress_alpha x free shared bytes; 0 leaves
    /// egress unlimited.
    double egress_alpha = 1.0;
    Bytes static_threshold;  ///< static threshold, with PFC and without
    Bytes resume_offset = {3072};
};

/// ECN marking of ports of one rate: linear from kmin to kmax up to pmax, certain above kmax,
/// decided at dequeue on the egress queue's bytes after the packet's removal.
struct EcnPoint {
    Rate rate;
    Bytes kmin;
    Bytes kmax;
    double pmax = 0;
};

struct EcnConfig {
    bool enabled = true;
    /// Thresholds by port rate. A rate that is not listed scales the nearest listed one in
    /// proportion. Empty: no marking.
    std::vector<EcnPoint> points;
    bool nvswitches = true;  ///< NVSwitches mark, too
};

/// Queues of a port. Queue 0 is strict (pause, and ACKs if asked); 1..7 carry data classes.
struct QueueConfig {
    Scheduler scheduler{};              ///< of a switch's classes 1..7
    bool ack_strict_in_switch = false;  ///< ACKs ride queue 0 in switches, else their data's queue
    bool ack_strict_at_host = true;     ///< ACKs leave a NIC before data
    /// Which class' pause stops a NIC's ACKs (0: none).
    std::uint8_t ack_pause_class = 3;
    /// DWRR quantum weights of classes 1..7; equal weights serve packets in turn.
    std::int32_t weights[8] = {0, 1, 1, 1, 1, 1, 1, 1};
};

/// What a NIC does about packets that come out of order.
enum class Transport : std::uint8_t {
    go_back_n,         ///< drops them, and its peer sends all again from the first missing one on
    selective_repeat,  ///< keeps them, and its peer sends again what is missing
};

struct NicConfig {
    Transport transport = Transport::go_back_n;
    /// Selective repeat: packets that a receiver keeps from the first missing one on, a power of two from 64 on.
    std::uint32_t reorder_window = 1024;
    /// Selective repeat: a packet is lost if one this many packets behind it has arrived.
    std::uint32_t reorder_threshold = 512;
    std::int32_t ack_every = 1;  ///< packets per ACK; the last of a message, and one that closes
                                 ///< the sender's window, are always acknowledged
    std::int32_t ack_chunk = 4;  ///< also acknowledge every so many packets (L2_CHUNK_SIZE), 0: off
    /// Arithmetic::ns3 counts both in bytes and applies the interval as that simulator does
    /// (core/ns3/nic.h).
    Bytes ack_interval = {1};
    Bytes chunk_bytes = {4000};
    bool ack_early = false;     ///< a flow's first packet and marked ones have ACKs at once
    bool back_to_zero = false;  ///< go-back-0 within a chunk instead of go-back-N
    Tick nack_interval = 500 * kMicrosecond;
    Tick retransmit_timeout = 4 * kMillisecond;  ///< 0: none (ns-3 has none)
    /// GLOBAL_T: every flow uses the largest base RTT and BDP of the network.
    bool global_base_rtt = true;
};

/// How packets choose among equal-cost next hops (docs/models/spraying.md).
enum class LoadBalance : std::uint8_t {
    ecmp,         ///< hash of the flow, fixed per flow
    spray,        ///< each packet picks one by (seed, flow, packet)
    round_robin,  ///< a flow's packets take them in turn
    adaptive,     ///< each packet takes the least loaded one
    flowlet,      ///< the same, by the first packet after a gap in its flow; the others follow it
    entropy,      ///< hash of the flow and of a value that the sender gives the packet
};

/// How entropy values follow each other in a round, by its draw.
enum class EntropyOrder : std::uint8_t {
    rotated,   ///< they ascend, from the drawn one on
    permuted,  ///< they are the numbers from 0 on XOR the drawn one; of a power of two
};

/// Of those that need more than their name.
struct SprayConfig {
    std::int64_t band =
        4192;  ///< adaptive, flowlet: bytes in a queue that count as one step of its load
    Tick flowlet_gap = 10 * kMicrosecond;  ///< flowlet: a packet that comes later chooses anew
    std::uint32_t entropy_values = 256;    ///< entropy: how many there are, at most 2^kEntropyBits
    EntropyOrder entropy_order = EntropyOrder::rotated;
    bool entropy_recycle = false;  ///< entropy: values whose ACKs came unmarked are used again
    bool entropy_avoid = false;    ///< entropy: values of marked or trimmed packets are passed over
};

/// Which packet loses its payload where one arrives at a full queue.
enum class TrimVictim : std::uint8_t {
    arriving,  ///< the one that arrives
    drawn,     ///< it, or the newest one that waits: either by an even draw
};

/// Switches that cut a packet's payload, where it would have been lost or have waited for long (docs/models/switch.md).
struct TrimConfig {
    std::int64_t threshold =
        0;                ///< bytes in an egress queue above which payloads are cut; 0: never
    Rate reference_rate;  ///< of ports with just that threshold, others in proportion; 0: all alike
    TrimVictim victim = TrimVictim::arriving;
    std::uint8_t priority = 0;    ///< class in which headers go on; 0: before all others
    std::int64_t queue = 25'000;  ///< bytes of headers, as long as that class is 0
};

/// What the step of a node reads: plain data, so that it can be handed to a device as it is.
struct StepConfig {
    Arithmetic arithmetic = Arithmetic::exact;
    std::uint64_t seed = 1;  ///< of marks, spraying, losses
    LoadBalance load_balance = LoadBalance::ecmp;
    SprayConfig spray;
    bool pfc = true;
    PacketFormat format;
    BufferConfig buffer;
    QueueConfig queues;
    TrimConfig trim;
    Marking marking{};  ///< which packets of a queue between kmin and kmax are marked
    NicConfig nic;
    congestion::Parameters congestion;
    std::uint32_t train = 1;  ///< packets of the longest train (trains.h); 1: each goes by itself
};
static_assert(std::is_trivially_copyable<StepConfig>::value, "plain data only");

struct NetworkConfig : StepConfig {
    EcnConfig ecn;
    std::uint8_t sprayed_priorities = 0;  ///< bit p: those of flows of priority p spray, too

    /// Bit p: packets of flows of priority p choose their ways one by one.
    std::uint8_t sprayed_classes() const {
        return load_balance == LoadBalance::ecmp ? sprayed_priorities : std::uint8_t{0xff};
    }
    bool sprays(std::uint8_t priority) const { return (sprayed_classes() >> priority & 1U) != 0; }
};

/// A link taken out of service, or put back, at an instant.
struct LinkEvent {
    Tick at = 0;
    std::uint32_t link = 0;
    bool up = false;
};

}  // namespace sluice
