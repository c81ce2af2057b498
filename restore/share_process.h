// SPDX-License-Identifier: Apache-2.0
/// How a flow's share of a full port moves, as measured in packet mode: an Ornstein-Uhlenbeck process, in
/// units of the fair share and of base round trips,
///
///   dx = pull (1 - x) dt + noise x^q dW
///
/// whose coefficients are learned functions of what the port and the law are: of the packets that a flow
/// has in flight at its fair share, and of how many flows there are (docs/restoration.md, Shares;
/// bench/restore/share_study fits and judges them). The law's own fluid equation gives the scale of the
/// pull: HPCC adds AI per round trip to every flow and takes from all in proportion, so that shares come
/// together by n AI / C per round trip; the learned factor says how much of that packets leave.
/// Arithmetic is + - x / and sqrt, exp and log2 are the project's own: the same bits everywhere.
#pragma once

#include <array>

#include "core/congestion/laws.h"
#include "core/hybrid/share_restorer.h"

namespace sluice::restore {

/// Terms of both: 1, p, n, p p, p n, n n, r, r p, with p = log2(packets per flow) / 4, n = log2(flows) / 3,
/// r = log2(line rate / 100 Gb/s); besides v, v p, v n, v r of the pull, v = log2 |x - 1| / 3 + 1, and r n,
/// r r of the noise.
inline constexpr std::size_t kCommonTerms = 8;
inline constexpr std::size_t kPullTerms = kCommonTerms + 4;
inline constexpr std::size_t kNoiseTerms = kCommonTerms + 2;

struct ShareCoefficients {
    std::array<double, kPullTerms> pull{};    ///< logit of the part of the law's pull
    std::array<double, kNoiseTerms> noise{};  ///< natural logarithm
    double exponent = 0;                      ///< q
    double start = 0;        ///< natural logarithm of what the share at the start is off by
    double start_slope = 0;  ///< of it, per natural logarithm of packets per flow
};

/// Of a law whose shares are known; null of others.
const ShareCoefficients* learned_shares(congestion::Law law);

/// Of one flow, in fair shares and base round trips.
struct ShareProcess {
    double share = 1;
    double pull = 0;
    double noise = 0;
    double start = 0;  ///< standard error of `share`
};

/// Packets of a flow in flight at its fair share, without queues, held within what was learned from.
double packets_per_flow(const hybrid::SharePast& flow);

ShareProcess share_process(const hybrid::SharePast& flow, const congestion::Parameters& law,
                           const ShareCoefficients& learned);

/// The mean over so many round trips and the value at their end: both normal.
struct ShareForecast {
    double mean = 1;
    double mean_sd = 0;
    double end = 1;
    double end_sd = 0;
    double correlation = 0;
};
ShareForecast forecast(const ShareProcess& process, double trips);

}  // namespace sluice::restore
