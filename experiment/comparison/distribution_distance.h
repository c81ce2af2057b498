// SPDX-License-Identifier: Apache-2.0
/// How far apart are two modes' distributions of a figure that every flow has, and is that more than
/// chance? The values of one run hang together, so the run is the unit of chance, not the flow.
///
/// The distance is Wasserstein-1 between the modes' mean distributions over their runs: by how much
/// values of equal rank differ on average. Of logarithms that is a relative difference.
/// The chance is judged by exchanging the two modes within pairs of runs: if the modes do not differ,
/// every exchange was as likely as what was seen, however much the runs of a pair have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

struct DistributionDistance {
    double distance = 0;
    double by_chance = 0;  ///< its mean over the exchanges
    /// The share of exchanges that give no smaller distance. The smallest possible is 2^-(pairs - 1).
    double p_value = 1;
    std::size_t exchanges = 0;  ///< looked at: all 2^(pairs - 1), or kSampledExchanges drawn
};

/// Up to this many pairs every exchange is looked at.
inline constexpr std::size_t kMostEnumerated = 14;
inline constexpr std::size_t kSampledExchanges = 10'000;

/// Entry i of each side is a run's values; the runs i are a pair. As many runs on both sides, at least
/// one, none of them empty; values are finite. InternalError otherwise.
DistributionDistance distribution_distance(const std::vector<std::vector<double>>& reference,
                                           const std::vector<std::vector<double>>& other);

}  // namespace sluice
