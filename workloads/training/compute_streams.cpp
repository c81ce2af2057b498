// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/compute_streams.h"

#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "core/text/quantity.h"

namespace sluice {

namespace {

constexpr std::uint64_t kComputeJitter = 0x636f6d70;  // a stream of draws of its own

/// exp(N(0, sigma)), by Box and Muller.
double log_normal(double sigma, std::uint64_t seed, RankId rank, std::uint64_t n) {
    const std::uint64_t stream = random_stream(kComputeJitter, rank);
    const double radius = std::sqrt(-2 * std::log(1 - uniform(seed, stream, 2 * n)));
    constexpr double kTurn = 6.283185307179586;
    return std::exp(sigma * radius * std::cos(kTurn * uniform(seed, stream, 2 * n + 1)));
}

std::int64_t millionths(double slowdown) { return static_cast<std::int64_t>(slowdown * 1e6 + 0.5); }

}  // namespace

Tick slowed(Tick time, double factor) {
    const double scaled = static_cast<double>(time) * factor;
    if (!(scaled < static_cast<double>(kNever))) {
        throw ConfigError("a slow rank would compute one micro-batch for longer than time lasts (" +
                          format_time(kNever) + "): check stragglers, expert_skew and the times");
    }
    return std::llround(scaled);
}

ComputeStreams::ComputeStreams(const TrainingConfig& config, JobGraph& graph)
    : config_(config),
      graph_(graph),
      slowdown_(graph.rank_count(), 1.0),
      drawn_(graph.rank_count(), 0),
      last_(graph.rank_count(), kNone) {
    for (const Straggler& straggler : config.stragglers)
        slowdown_[straggler.rank] = straggler.factor;
    graph.set_overlap_slowdown(millionths(config.overlap_slowdown.matrices));
}

OpId ComputeStreams::add(RankId at, Tick time, Label label, double overlap) {
    const OpId op = graph_.add_compute(at, on_rank(at, time), label);
    // Where it is not what most compute is.
    if (overlap != config_.overlap_slowdown.matrices)
        graph_.set_overlap_slowdown(op, millionths(overlap));
    last_[at] = op;
    return op;
}

/// As long as the rank computes what would take others `time`.
Tick ComputeStreams::on_rank(RankId at, Tick time) {
    double factor = slowdown_[at];
    if (config_.compute_jitter > 0 && time > 0) {
        factor *= log_normal(config_.compute_jitter, config_.jitter_seed, at, drawn_[at]++);
    }
    return factor == 1.0 ? time : slowed(time, factor);
}

}  // namespace sluice
