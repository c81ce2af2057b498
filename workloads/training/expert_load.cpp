// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/expert_load.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.h"

namespace sluice {

namespace {

constexpr std::uint64_t kPopularity = 0x706f70756c617269;  ///< names the stream

/// Limits every share to `most` and gives the excess to the others in proportion, until none
/// is above.
void limit_and_spread(std::vector<double>& shares, double most) {
    for (std::size_t round = 0; round < shares.size(); ++round) {
        double excess = 0;
        double below = 0;
        for (double& share : shares) {
            if (share > most) {
                excess += share - most;
                share = most;
            } else if (share < most) {
                below += share;
            }
        }
        if (excess <= 0 || below <= 0) return;
        for (double& share : shares) {
            if (share < most) share += excess * share / below;
        }
    }
}

}  // namespace

std::vector<double> expert_shares(const ExpertLoad& load, std::int64_t experts, std::int64_t top_k,
                                  std::int64_t layer) {
    const auto count = static_cast<std::size_t>(experts);
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    const std::uint64_t stream = random_stream(kPopularity, static_cast<std::uint64_t>(layer));
    for (std::size_t i = count; i > 1; --i) {
        const auto pick = uniform_below(load.seed, stream, i, static_cast<std::uint32_t>(i));
        std::swap(order[i - 1], order[pick]);
    }
    std::vector<double> shares(count);
    double sum = 0;
    for (std::size_t place = 0; place < count; ++place) {
        shares[order[place]] = std::pow(static_cast<double>(place + 1), -load.exponent);
        sum += shares[order[place]];
    }
    for (double& share : shares) share /= sum;
    if (top_k > 0) limit_and_spread(shares, 1.0 / static_cast<double>(top_k));
    if (load.capacity > 0) {
        const double most = load.capacity / static_cast<double>(experts);
        for (double& share : shares) share = std::min(share, most);
    }
    return shares;
}

std::vector<double> member_shares(const std::vector<double>& expert_shares, std::uint32_t members) {
    const std::size_t each = expert_shares.size() / members;
    std::vector<double> shares(members, 0);
    for (std::size_t expert = 0; expert < expert_shares.size(); ++expert) {
        shares[expert / each] += expert_shares[expert];
    }
    return shares;
}

std::vector<double> server_visits(const std::vector<double>& shares, std::uint32_t limit,
                                  std::int64_t top_k) {
    std::vector<double> visits = shares;
    for (double& visit : visits) visit *= limit;
    limit_and_spread(visits, 1);
    for (std::size_t i = 0; i < visits.size(); ++i) {
        visits[i] = std::min(visits[i], shares[i] * static_cast<double>(top_k));
    }
    return visits;
}

std::vector<std::int64_t> deal_bytes(std::int64_t total, const std::vector<double>& shares) {
    std::vector<std::int64_t> parts(shares.size());
    double sum = 0;
    std::int64_t dealt = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        sum += shares[i];
        const std::int64_t upto = std::llround(static_cast<double>(total) * sum);
        parts[i] = upto - dealt;
        dealt = upto;
    }
    return parts;
}

}  // namespace sluice
