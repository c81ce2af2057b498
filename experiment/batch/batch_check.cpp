// SPDX-License-Identifier: Apache-2.0
#include "experiment/batch/batch_check.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "core/random.h"
#include "core/results/student_t.h"

namespace sluice {

namespace {

constexpr std::uint64_t kDrawsOfChecks = 0x6261746368;  // any constant that no other use has

/// Of the checked experiments so many are an experiment's nearest: a quarter, but no fewer than five.
std::size_t nearest_of(std::size_t checked) {
    return std::min(checked - 1, std::max<std::size_t>(5, checked / 4));
}

/// By pair, of two or more; BatchCheck::error_bars.
std::vector<double> error_bars(const std::vector<CheckedPair>& pairs) {
    const std::size_t count = nearest_of(pairs.size());
    std::vector<double> bars;
    for (const CheckedPair& pair : pairs) {
        std::vector<std::pair<double, double>> others;  // how far its time is, its error
        for (const CheckedPair& other : pairs) {
            if (&other != &pair) {
                others.emplace_back(std::abs(std::log(other.jct_s / pair.jct_s)), other.error());
            }
        }
        std::sort(others.begin(), others.end());
        double squares = 0;
        for (std::size_t i = 0; i < count; ++i) {
            squares += others[i].second * others[i].second;
        }
        bars.push_back(1.96 * std::sqrt(squares / static_cast<double>(count)));
    }
    return bars;
}

int sign(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

void rank(const std::vector<CheckedPair>& pairs, BatchCheck& check) {
    std::int64_t agree = 0;
    std::int64_t agree_apart = 0;
    double untied = 0;         ///< in the batch's mode
    double untied_packet = 0;  ///< in mode packet
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const double ratio = std::log(pairs[i].packet_jct_s / pairs[j].packet_jct_s);
            const int here = sign(pairs[i].jct_s - pairs[j].jct_s);
            const int there = sign(ratio);
            ++check.pairs;
            agree += here * there;
            untied += here != 0 ? 1 : 0;
            untied_packet += there != 0 ? 1 : 0;
            if (std::abs(ratio) <= std::hypot(check.error_bars[i], check.error_bars[j])) continue;
            ++check.pairs_apart;
            agree_apart += here * there;
        }
    }
    if (untied > 0 && untied_packet > 0) {
        check.tau = static_cast<double>(agree) / std::sqrt(untied * untied_packet);
    }
    if (check.pairs_apart > 0) {
        check.tau_apart = static_cast<double>(agree_apart) / static_cast<double>(check.pairs_apart);
    }
}

}  // namespace

BatchCheck check_of(const std::vector<CheckedPair>& pairs) {
    BatchCheck check;
    check.checked = pairs.size();
    const auto count = static_cast<double>(pairs.size());
    for (const CheckedPair& pair : pairs) {
        check.mean_error += pair.error() / count;
        if (std::abs(pair.error()) > std::abs(check.largest_error))
            check.largest_error = pair.error();
    }
    if (pairs.size() > 1) {
        double squares = 0;
        for (const CheckedPair& pair : pairs) {
            squares += (pair.error() - check.mean_error) * (pair.error() - check.mean_error);
        }
        const double deviation = std::sqrt(squares / (count - 1));
        check.half_width =
            student_t_quantile(0.975, pairs.size() - 1) * deviation / std::sqrt(count);
        check.error_bars = error_bars(pairs);
        std::vector<double> bars = check.error_bars;
        const auto middle = bars.begin() + static_cast<std::ptrdiff_t>(bars.size() / 2);
        std::nth_element(bars.begin(), middle, bars.end());
        check.median_bar = *middle;
    }
    rank(pairs, check);
    return check;
}

std::string check_csv(const std::vector<CheckedPair>& pairs, const BatchCheck& check) {
    std::string text = "experiment,jct_s,packet_jct_s,error,error_bar,cpu_s,packet_cpu_s\n";
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const CheckedPair& pair = pairs[i];
        const std::string bar =
            check.error_bars.empty() ? "" : fmt::format("{}", check.error_bars[i]);
        text += fmt::format("{},{},{},{},{},{},{}\n", pair.experiment, pair.jct_s,
                            pair.packet_jct_s, pair.error(), bar, pair.cpu_s, pair.packet_cpu_s);
    }
    return text;
}

std::vector<std::size_t> draw_checks(const std::vector<std::size_t>& candidates,
                                     std::size_t count) {
    const auto key = [](std::size_t experiment) {
        return mix_bits(mix_bits(experiment) ^ kDrawsOfChecks);
    };
    std::vector<std::size_t> drawn = candidates;
    count = std::min(count, drawn.size());
    const auto before = [&](std::size_t a, std::size_t b) { return key(a) < key(b); };
    std::partial_sort(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(count),
                      drawn.end(), before);
    drawn.resize(count);
    std::sort(drawn.begin(), drawn.end());
    return drawn;
}

}  // namespace sluice
