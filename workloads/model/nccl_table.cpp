// SPDX-License-Identifier: Apache-2.0
#include "workloads/model/nccl_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sluice {

namespace {

constexpr double kSlots = 8;  ///< of a connection's buffer (NCCL_STEPS)
/// Bytes of buffers that are cached at most: an assumption, the part of processors' last-level caches that devices get. What was
/// measured uses 8 MiB, or 32.
constexpr double kCachedBuffers = 16 << 20;

/// The one that holds for `members`.
double rate_of(const std::vector<NcclChoice::Bandwidth>& bandwidths, std::uint32_t members) {
    const NcclChoice::Bandwidth* best = &bandwidths.front();
    for (const NcclChoice::Bandwidth& bandwidth : bandwidths) {
        if (bandwidth.members <= members) best = &bandwidth;
    }
    return best->bytes_per_second;
}

/// Both of a step and its transfer; p = `overlap`.
double overlapped(double step_us, double transfer_us, double overlap) {
    // Scaled by the larger of the two, so that no power overflows.
    const double most = std::max(step_us, transfer_us);
    if (most <= 0) return 0;
    const double less = std::min(step_us, transfer_us) / most;
    return most * std::pow(1 + std::pow(less, overlap), 1 / overlap);
}

/// A step on links that all members share.
double shared_step_us(const NcclChoice& choice, CollectiveKind kind, double bytes, double block,
                      double rate) {
    const auto at = static_cast<std::size_t>(kind);
    const double own_rate = choice.bandwidth.front().bytes_per_second * choice.factor[at];
    const double mine = overlapped(choice.step_us, block * 1e6 / own_rate, choice.overlap);
    const double buffers = kSlots * bytes * (choice.protocol == NcclProtocol::ll ? 2 : 1);
    const bool cached = choice.algorithm == NcclAlgorithm::ring && buffers <= kCachedBuffers;
    const double shared = cached ? choice.cached_factor[at] : choice.shared_factor[at];
    const double share = block * 1e6 / (rate * (shared > 0 ? shared : choice.factor[at]));
    return choice.algorithm == NcclAlgorithm::ring ? std::hypot(mine, share)
                                                   : std::max(mine, share);
}

std::uint32_t steps_of(NcclAlgorithm algorithm, CollectiveKind kind, std::uint32_t members) {
    if (algorithm == NcclAlgorithm::nvls) return 1;
    return kind == CollectiveKind::all_reduce ? 2 * (members - 1) : members - 1;
}

/// Bytes of a step.
double block_of(NcclAlgorithm algorithm, std::uint32_t members, double bytes) {
    return algorithm == NcclAlgorithm::nvls ? bytes : bytes / members;
}

}  // namespace

const char* to_string(NcclAlgorithm algorithm) {
    switch (algorithm) {
        case NcclAlgorithm::ring: return "ring";
        case NcclAlgorithm::nvls: return "nvls";
        case NcclAlgorithm::pairs: return "pairs";
    }
    return "";
}

const char* to_string(NcclProtocol protocol) {
    switch (protocol) {
        case NcclProtocol::ll: return "LL";
        case NcclProtocol::ll128: return "LL128";
        case NcclProtocol::simple: return "Simple";
    }
    return "";
}

bool supports(NcclAlgorithm algorithm, CollectiveKind kind) {
    if (kind == CollectiveKind::all_to_all) return algorithm == NcclAlgorithm::pairs;
    const bool reduces_or_gathers = kind == CollectiveKind::all_reduce ||
                                    kind == CollectiveKind::reduce_scatter ||
                                    kind == CollectiveKind::all_gather;
    return algorithm != NcclAlgorithm::pairs && reduces_or_gathers;
}

double time_us(const NcclChoice& choice, CollectiveKind kind, std::uint32_t members, double bytes) {
    const std::uint32_t steps = steps_of(choice.algorithm, kind, members);
    const double block = block_of(choice.algorithm, members, bytes);
    const double rate = rate_of(choice.bandwidth, members);
    if (choice.shared_links && rate != choice.bandwidth.front().bytes_per_second) {
        return choice.base_us + steps * shared_step_us(choice, kind, bytes, block, rate);
    }
    const double transfer = block * 1e6 / choice.factor[static_cast<std::size_t>(kind)] / rate;
    return choice.base_us + steps * overlapped(choice.step_us, transfer, choice.overlap);
}

double model_us(const NcclChoice& choice, CollectiveKind kind, std::uint32_t members,
                double bytes) {
    if (members < choice.fewest_members) return std::numeric_limits<double>::infinity();
    if (choice.most_block > 0) {
        const bool own = block_of(choice.algorithm, members, bytes) <= choice.most_block;
        return own ? 0 : std::numeric_limits<double>::infinity();
    }
    if (!choice.cost_model) return time_us(choice, kind, members, bytes);
    const double transfer = block_of(choice.algorithm, members, bytes) * 1e6 /
                            rate_of(choice.cost_model->bandwidth, members);
    return choice.cost_model->base_us +
           steps_of(choice.algorithm, kind, members) * (choice.cost_model->step_us + transfer);
}

bool NcclTable::has(CollectiveKind kind) const {
    for (const NcclChoice& choice : choices) {
        if (choice.factor[static_cast<std::size_t>(kind)] > 0) return true;
    }
    return false;
}

const NcclChoice* NcclTable::choose(CollectiveKind kind, std::uint32_t members,
                                    double bytes) const {
    const NcclChoice* best = nullptr;
    std::pair<double, double> least;
    for (const NcclChoice& choice : choices) {
        if (choice.factor[static_cast<std::size_t>(kind)] <= 0) continue;
        const std::pair<double, double> own = {model_us(choice, kind, members, bytes),
                                               time_us(choice, kind, members, bytes)};
        if (best != nullptr && own >= least) continue;
        best = &choice;
        least = own;
    }
    return best;
}

const NcclChoice* NcclTable::find(NcclAlgorithm algorithm, NcclProtocol protocol) const {
    const NcclChoice* found = nullptr;
    for (const NcclChoice& choice : choices) {
        if (choice.algorithm == algorithm && choice.protocol == protocol) found = &choice;
    }
    return found;
}

}  // namespace sluice
