// SPDX-License-Identifier: Apache-2.0
/// Congestion control, the data: the laws' parameters, their per-flow state and what an ACK tells.
/// Plain trivially copyable structs that every engine stores in its own columns. The functions are
/// in core/congestion/congestion.h, the model in docs/models/congestion.md.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "core/units.h"

namespace sluice::congestion {

enum class Law : std::uint8_t { none, hpcc, dcqcn, timely, dctcp };

/// Rates are bits/s as integers; products with a double are truncated, as ns-3's DataRate does.
struct HpccParameters {
    double target_utilization = 0.95;  ///< eta
    int max_stage = 5;                 ///< additive steps before a multiplicative one
    std::int64_t additive_rate = 50'000'000;
    bool fast_reaction = true;     ///< react to every ACK, not once per RTT
    bool multi_rate = false;       ///< one rate per hop instead of one for the path
    bool sample_feedback = false;  ///< fast reaction ignores hops with an empty queue
    int int_multiplier = 4;        ///< INT units: bytes in 128 x this, queue in 80 x this
};

struct DcqcnParameters {
    Tick alpha_interval = 1 * kMicrosecond;
    Tick decrease_interval = 4 * kMicrosecond;
    Tick increase_interval = 300 * kMicrosecond;
    double gain = 1.0 / 256;
    int fast_recovery_stages = 1;
    std::int64_t additive_rate = 20'000'000;
    std::int64_t hyper_rate = 200'000'000;
    bool clamp_target_rate = false;
    double rate_on_first_cnp = 1.0;
};

struct TimelyParameters {
    Tick t_low = 50 * kMicrosecond;
    Tick t_high = 500 * kMicrosecond;
    Tick min_rtt = 20 * kMicrosecond;
    double ewma = 0.875;
    double beta = 0.8;
    std::int64_t additive_rate = 100'000'000;
    std::int64_t hyper_rate = 500'000'000;
    int hyper_after = 5;  ///< increases before the hyper step
};

struct DctcpParameters {
    double gain = 1.0 / 16;
    std::int64_t additive_rate = 615'000'000;
};

struct Parameters {
    Law law = Law::hpcc;
    std::int64_t min_rate = 1'000'000'000;
    bool pacing = true;           ///< rate-bound sending; false: only the window bounds
    bool window = true;           ///< bound bytes in flight
    bool variable_window = true;  ///< scale the window by rate / line rate
    std::int64_t payload = 1000;  ///< bytes per full packet (MTU)
    HpccParameters hpcc;
    DcqcnParameters dcqcn;
    TimelyParameters timely;
    DctcpParameters dctcp;
};

/// One INT record: 64 bits as on the wire. time 24 bits (ns), bytes 20 bits (units of
/// 128 x multiplier), queue 17 bits (units of 80 x multiplier), line rate 3 bits (an index into
/// IntRates). Packed and unpacked in core/congestion/int_record.h.
using IntRecord = std::uint64_t;
inline constexpr int kMaxIntHops = 7;

/// The distinct port rates of a network (bits/s), at most 8 under INT laws.
struct IntRates {
    std::int64_t bits_per_second[8] = {};
};

/// What every ACK touches comes first; the per-hop columns are read under multi_rate only.
struct HpccState {
    std::int64_t current_rate = 0;
    std::int64_t last_update = 0;  ///< bytes: snd_nxt when the last full update was made
    double u = 1.0;
    std::int32_t stage = 0;
    IntRecord hop[kMaxIntHops] = {};
    std::int64_t hop_rate[kMaxIntHops] = {};
    double hop_u[kMaxIntHops] = {};
    std::int32_t hop_stage[kMaxIntHops] = {};
};

struct DcqcnState {
    std::int64_t target_rate = 0;
    double alpha = 1.0;
    Tick alpha_due = kNever;     ///< next alpha update; applied lazily
    Tick decrease_due = kNever;  ///< next decrease check; may lie in the past while unmarked
    Tick increase_due = kNever;
    std::int32_t stage = 0;
    bool alpha_marked = false;     ///< an echo arrived since the last alpha update
    bool decrease_marked = false;  ///< an echo arrived since the last decrease check
    bool started = false;          ///< the first echo has been seen
};

struct TimelyState {
    std::int64_t current_rate = 0;
    std::int64_t last_update = 0;
    std::int64_t last_rtt_ns = 0;
    double rtt_diff = 0;
    std::int32_t stage = 0;
};

struct DctcpState {
    double alpha = 1.0;
    std::int64_t last_update = 0;
    std::int64_t high_seq = 0;
    std::int64_t marked = 0;
    std::int64_t batch = 0;
    bool reduced = false;  ///< in CWR
};

/// A flow's congestion state. `rate` and `window` are what the NIC obeys.
struct State {
    std::int64_t rate = 0;        ///< current sending rate, bits/s
    std::int64_t line_rate = 0;   ///< its NIC port's rate, bits/s
    std::int64_t max_window = 0;  ///< bytes; 0: no window
    Tick base_rtt = 0;            ///< T
    /// The law re-times the packet in wait when the rate changes (HPCC): the NIC then moves the
    /// flow's next departure by the difference of the two pacing gaps of its last packet. Fixed by
    /// start(); with an unchanged rate the difference is zero.
    bool retime = false;
    union {
        HpccState hpcc;
        DcqcnState dcqcn;
        TimelyState timely;
        DctcpState dctcp;
    };
    SLUICE_HD State() : hpcc() {}
};

/// What an ACK tells a law.
struct Ack {
    Tick now = 0;
    std::int64_t acked = 0;  ///< bytes acknowledged cumulatively (next expected byte)
    std::int64_t next = 0;   ///< bytes: the sender's snd_nxt; after a NACK, already rewound
    bool echo = false;       ///< congestion experienced echo (CNP bit)
    Tick sent = 0;           ///< the data packet's departure from its NIC (TIMELY)
    const IntRecord* hops = nullptr;  ///< HPCC: the packet's INT records, first switch first
    int hop_count = 0;                ///< 0 with hops == nullptr: no INT in this ACK
};

}  // namespace sluice::congestion
