// SPDX-License-Identifier: Apache-2.0
#include "core/routing/hop_weights.h"

#include <algorithm>
#include <numeric>

namespace sluice {

namespace {

/// Divides all by their greatest common divisor. Returns the largest then.
std::int64_t reduce(std::vector<std::int64_t>& weights) {
    const std::int64_t divisor =
        std::accumulate(weights.begin(), weights.end(), std::int64_t{0},
                        [](std::int64_t a, std::int64_t b) { return std::gcd(a, b); });
    for (std::int64_t& weight : weights) {
        weight /= divisor;
    }
    return *std::max_element(weights.begin(), weights.end());
}

/// One of a port's entries: the `index`-th of `of`, in the middle of its part of the list.
struct PlacedEntry {
    PortId port;
    std::int64_t index;
    std::int64_t of;
};

bool comes_before(const PlacedEntry& a, const PlacedEntry& b) {
    const std::int64_t left = (2 * a.index + 1) * b.of;
    const std::int64_t right = (2 * b.index + 1) * a.of;
    return left != right ? left < right : a.port < b.port;
}

}  // namespace

void repeat_by_rate(const Topology& topology, std::vector<PortId>& ports) {
    if (ports.size() < 2) return;
    std::vector<std::int64_t> weights;
    weights.reserve(ports.size());
    for (const PortId port : ports) {
        weights.push_back(topology.rate(port).bits_per_second);
    }
    const std::int64_t largest = reduce(weights);
    if (largest == 1) return;
    if (largest > kMostEntries) {
        const double part = static_cast<double>(largest) / static_cast<double>(kMostEntries);
        for (std::int64_t& weight : weights) {
            const auto parts = static_cast<std::int64_t>(static_cast<double>(weight) / part + 0.5);
            weight = std::max<std::int64_t>(1, parts);
        }
        if (reduce(weights) == 1) return;
    }
    std::vector<PlacedEntry> entries;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        for (std::int64_t k = 0; k < weights[i]; ++k) {
            entries.push_back({ports[i], k, weights[i]});
        }
    }
    std::sort(entries.begin(), entries.end(), comes_before);
    ports.clear();
    for (const PlacedEntry& entry : entries) {
        ports.push_back(entry.port);
    }
}

}  // namespace sluice
