// SPDX-License-Identifier: Apache-2.0
#include "experiment/comparison/distribution_distance.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/random.h"

namespace sluice {

namespace {

/// The values' range is cut here at most, at equal counts. A cut distance is at most the exact one,
/// for every exchange alike, so that the test stays exact.
constexpr std::size_t kMostCells = 4096;
constexpr std::uint64_t kExchangeDraws = 0x65786368616e6765;
/// Rounding: two sums of the same terms.
constexpr double kSameSum = 1 - 1e-9;

using Runs = std::vector<std::vector<double>>;

/// Bounds of the cells, ascending and different: values of all runs at equal counts.
std::vector<double> cell_bounds(const Runs& reference, const Runs& other) {
    std::vector<double> all;
    for (const Runs* side : {&reference, &other}) {
        for (const std::vector<double>& run : *side) all.insert(all.end(), run.begin(), run.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    const std::size_t cells = std::min(kMostCells, all.size() - 1);
    std::vector<double> bounds;
    bounds.reserve(cells + 1);
    for (std::size_t i = 0; i <= cells; ++i) {
        bounds.push_back(all[cells == 0 ? 0 : (all.size() - 1) * i / cells]);
    }
    return bounds;
}

/// The integral of a run's distribution function over each cell.
std::vector<double> integrals(std::vector<double> run, const std::vector<double>& bounds) {
    std::sort(run.begin(), run.end());
    const auto n = static_cast<double>(run.size());
    std::vector<double> cells(bounds.size() - 1, 0);
    std::size_t below = 0;
    while (below < run.size() && run[below] <= bounds.front()) ++below;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
        double from = bounds[i];
        while (below < run.size() && run[below] <= bounds[i + 1]) {
            cells[i] += static_cast<double>(below) / n * (run[below] - from);
            from = run[below++];
        }
        cells[i] += static_cast<double>(below) / n * (bounds[i + 1] - from);
    }
    return cells;
}

/// The distance if the pairs whose bit is set were exchanged.
double distance_of(const Runs& differences, const std::vector<bool>& exchanged,
                   std::vector<double>& sum) {
    std::fill(sum.begin(), sum.end(), 0);
    for (std::size_t pair = 0; pair < differences.size(); ++pair) {
        const double sign = exchanged[pair] ? -1 : 1;
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += sign * differences[pair][i];
    }
    double distance = 0;
    for (const double cell : sum) distance += std::abs(cell);
    return distance / static_cast<double>(differences.size());
}

/// Exchange `n` of the pairs; the first pair stays, for exchanging all of them changes nothing.
void make_exchange(std::size_t n, bool enumerated, std::vector<bool>& exchanged) {
    for (std::size_t pair = 1; pair < exchanged.size(); ++pair) {
        const std::uint64_t bits =
            enumerated ? n >> (pair - 1) : random_bits(n, kExchangeDraws, pair);
        exchanged[pair] = (bits & 1U) != 0;
    }
}

void require_runs(const Runs& reference, const Runs& other) {
    const auto usable = [](const Runs& side) {
        return std::all_of(side.begin(), side.end(), [](const std::vector<double>& run) {
            return !run.empty() && std::all_of(run.begin(), run.end(),
                                               [](double value) { return std::isfinite(value); });
        });
    };
    if (reference.empty() || reference.size() != other.size() || !usable(reference) ||
        !usable(other)) {
        throw InternalError("a distance of distributions without values or without pairs");
    }
}

}  // namespace

DistributionDistance distribution_distance(const Runs& reference, const Runs& other) {
    require_runs(reference, other);
    const std::size_t pairs = reference.size();
    const std::vector<double> bounds = cell_bounds(reference, other);
    Runs differences;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        std::vector<double> cells = integrals(other[pair], bounds);
        const std::vector<double> theirs = integrals(reference[pair], bounds);
        for (std::size_t i = 0; i < cells.size(); ++i) cells[i] -= theirs[i];
        differences.push_back(std::move(cells));
    }
    const bool enumerated = pairs <= kMostEnumerated;
    DistributionDistance result;
    result.exchanges = enumerated ? 1 : kSampledExchanges;
    for (std::size_t pair = 1; enumerated && pair < pairs; ++pair) result.exchanges *= 2;
    std::vector<bool> exchanged(pairs, false);
    std::vector<double> sum(bounds.size() - 1);
    result.distance = distance_of(differences, exchanged, sum);
    std::size_t as_far = 1;  // what was seen, exchange 0
    double total = result.distance;
    for (std::size_t n = 1; n < result.exchanges; ++n) {
        make_exchange(n, enumerated, exchanged);
        const double distance = distance_of(differences, exchanged, sum);
        total += distance;
        if (distance >= result.distance * kSameSum) ++as_far;
    }
    result.by_chance = total / static_cast<double>(result.exchanges);
    result.p_value = static_cast<double>(as_far) / static_cast<double>(result.exchanges);
    return result;
}

}  // namespace sluice
