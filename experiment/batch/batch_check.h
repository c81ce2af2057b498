// SPDX-License-Identifier: Apache-2.0
/// How far a batch is off, and whether its ranking holds: some experiments, drawn at random, in mode packet, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// One experiment in the batch's mode and in mode packet.
struct CheckedPair {
    std::size_t experiment = 0;
    double jct_s = 0;         ///< > 0
    double packet_jct_s = 0;  ///< > 0
    double cpu_s = 0;
    double packet_cpu_s = 0;

    /// Of the batch's, as a share of packet mode's.
    double error() const { return jct_s / packet_jct_s - 1; }
};

struct BatchCheck {
    std::size_t checked = 0;
    double mean_error = 0;
    double half_width = 0;  ///< of the mean's 95% interval (Student's t); 0: of one there is none
    double largest_error = 0;
    /// By pair: how far it may be off, as a share: 1.96 times the root mean square of the errors of those whose time is
    /// nearest to its own, itself left out. Experiments whose network hardly counts are hardly off, and say so.
    std::vector<double> error_bars;
    double median_bar = 0;
    /// Kendall's tau-b of both rankings, over all pairs.
    double tau = 0;
    std::size_t pairs = 0;
    /// Concordant less discordant ones, as a share of the pairs whose times in mode packet differ by more than both error
    /// bars together (root of the sum of squares).
    double tau_apart = 0;
    std::size_t pairs_apart = 0;
};

/// `pairs` has at least one.
BatchCheck check_of(const std::vector<CheckedPair>& pairs);

/// "experiment,jct_s,packet_jct_s,error,error_bar,cpu_s,packet_cpu_s", and a line a pair.
std::string check_csv(const std::vector<CheckedPair>& pairs, const BatchCheck& check);

/// `count` of `candidates`, drawn at random, in their order. The draw of fewer is among that of more.
std::vector<std::size_t> draw_checks(const std::vector<std::size_t>& candidates, std::size_t count);

}  // namespace sluice
