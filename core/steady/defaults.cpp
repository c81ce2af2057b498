// SPDX-License-Identifier: Apache-2.0
#include "core/steady/defaults.h"

#include <algorithm>
#include <cmath>

#include "core/congestion/congestion.h"
#include "core/steady/detector.h"

namespace sluice::steady {

namespace {

/// Swings of a sawtooth that a span covers.
constexpr double kSwings = 8;
/// Round trips that a span covers for each switch whose counter of bytes decides what a law gives (docs/steady-study.md),
/// of at most so many: a calibration profile is several spans long.
constexpr Tick kRoundTripsPerCounter = 16;
constexpr std::size_t kMostCounters = 6;

/// Error of a flow's bytes that a trend may cause. A flow whose data share no port is pulled back to
/// where its law holds it: what looks like a trend is noise. Where flows share one, what they have
/// of it wanders or converges, a skip holds that up, and errors of all skips point one way
/// (docs/steady-study.md).
constexpr double kAloneTolerance = 0.1;
constexpr double kSharedTolerance = 0.01;

double flows_of(const GroupFacts& facts) {
    return static_cast<double>(std::max<std::size_t>(facts.flows, 1));
}

}  // namespace

double bdp_packets(const GroupFacts& facts) {
    const double bytes = static_cast<double>(facts.line_rate) *
                         static_cast<double>(facts.base_rtt) / (8.0 * kSecond);
    return std::max(bytes / static_cast<double>(std::max<std::int64_t>(facts.payload, 1)), 1.0);
}

double sawtooth_amplitude(const GroupFacts& facts) {
    return std::sqrt(7 * flows_of(facts) / (16 * bdp_packets(facts)));
}

Tick waiting_time(const GroupFacts& facts) {
    return congestion::waiting_time(facts.congestion, facts.base_rtt);
}

Tick sawtooth_period(const GroupFacts& facts) {
    congestion::Crowd crowd;
    crowd.flows = flows_of(facts);
    crowd.bdp_packets = bdp_packets(facts);
    crowd.base_rtt = facts.base_rtt;
    crowd.line_rate = facts.line_rate;
    return congestion::swing_period(facts.congestion, crowd);
}

DetectorSettings resolved(const DetectorSettings& settings, const GroupFacts& facts) {
    DetectorSettings full = settings;
    const auto fill = [](auto& value, auto by_default) {
        if (!(value > 0)) {
            value = by_default;
        }
    };
    const bool swings = sawtooth_period(facts) > 0;
    fill(full.theta, std::max(0.05, swings ? 1.5 * sawtooth_amplitude(facts) : 0.0));
    const auto swings_time =
        static_cast<Tick>(kSwings * static_cast<double>(sawtooth_period(facts)));
    const bool reads_ports = congestion::traits(facts.congestion.law).uses_int;
    const auto counters = static_cast<Tick>(std::min(facts.counters, kMostCounters));
    const Tick round_trips =
        std::max(kRoundTrips, reads_ports ? kRoundTripsPerCounter * counters : 0);
    fill(full.span, std::max({round_trips * facts.base_rtt, waiting_time(facts), swings_time}));
    fill(full.eps_bw, 0.05);
    const double bdp_bytes = bdp_packets(facts) * static_cast<double>(facts.payload);
    fill(full.eps_q, full.theta * bdp_bytes + 4 * static_cast<double>(facts.payload));
    fill(full.stable_rounds, 3);
    fill(full.tolerance, facts.sharing > 1 ? kSharedTolerance : kAloneTolerance);
    fill(full.growth, 32.0);
    return full;
}

Tick sampling_period(const GroupFacts& facts) {
    constexpr Tick kSamplesPerRoundTrip = 4;
    constexpr std::int64_t kPackets = 4;
    // In a crowd packets are counted at a flow's share of a port: looking more often than a flow
    // sends would cost more than simulating what it sends.
    constexpr std::size_t kCrowd = 16;
    Tick packet = 0;
    if (facts.line_rate > 0) {
        packet =
            serialization_time(facts.payload, Rate{facts.line_rate}, Arithmetic::exact) * kPackets;
    }
    if (facts.sharing > kCrowd) {
        packet *= static_cast<Tick>(facts.sharing);
    }
    return std::max({facts.base_rtt / kSamplesPerRoundTrip, packet, Tick{kNanosecond}});
}

}  // namespace sluice::steady
