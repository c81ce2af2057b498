// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/steady_curve.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/steady/trend.h"

namespace sluice::hybrid {

namespace {

/// Relative error of a flow's bytes in a skip that an entry's rate may cause, by its uncertainty or by a
/// trend that goes on: a fifth of what a group alone is allowed by what it has seen of itself.
constexpr double kTolerance = 0.02;
/// As the detector's: bytes in flight may move by this part of their mean while a skip lasts.
constexpr double kFlightRange = 0.3;
constexpr double kUnlimited = 1e18;
/// Groups that have to have gone as far before others are told what they did there.
constexpr double kTellers = 3;
/// Of a summary: so many bins of its age have one mean.
constexpr std::size_t kBinsPerBlock = 16;
/// A conclusion is drawn from the later half of the bins, in blocks of equal length.
constexpr std::size_t kPerConclusion = 2 * steady::kBlocks;

}  // namespace

SteadyCurve::SteadyCurve(std::size_t flows, Tick unit, Tick swings, const CurveSummary& summary)
    : SteadyCurve(flows, unit, swings) {
    saturated_ = summary.saturated;
    trusted_ = summary.trusted;
    tail_ = summary.tail;
    origins_ =
        total_of(summary.origins, summary.origin, std::vector<double>(summary.origin.size(), 0));
    for (const CurveSummary::Block& block : summary.blocks) {
        bins_.insert(bins_.end(), block.bins, total_of(block.groups, block.readings, block.spread));
    }
}

SteadyCurve::Bin SteadyCurve::total_of(double groups, const std::vector<BinReading>& means,
                                       const std::vector<double>& spread) {
    Bin total{groups, {}, {}};
    for (std::size_t f = 0; f < means.size(); ++f) {
        total.sum.push_back({means[f].rate * groups, means[f].flight * groups});
        total.squares.push_back((means[f].rate * means[f].rate + spread[f] * spread[f]) * groups);
    }
    return total;
}

CurveSummary SteadyCurve::summary() const {
    CurveSummary summary;
    summary.saturated = saturated_;
    summary.trusted = trusted_;
    summary.tail = tail_;
    summary.origins = origins_.groups;
    for (std::size_t f = 0; f < origins_.sum.size(); ++f) {
        summary.origin.push_back(origin(f));
    }
    for (std::size_t first = 0; first < bins_.size();) {
        CurveSummary::Block block;
        block.bins =
            std::min(bins_.size() - first, std::max<std::size_t>(first / kBinsPerBlock, 1));
        const std::size_t last = first + block.bins;
        block.groups = bins_[first].groups;
        for (std::size_t at = first; at < last; ++at) {
            block.groups = std::min(block.groups, bins_[at].groups);
        }
        for (std::size_t f = 0; f < flows_; ++f) {
            block.readings.push_back(between(f, first, last));
            double most = 0;
            for (std::size_t at = first; at < last; ++at) {
                most = std::max(most, spread(f, at));
            }
            block.spread.push_back(most);
        }
        summary.blocks.push_back(std::move(block));
        first = last;
    }
    return summary;
}

void SteadyCurve::add(std::size_t first, const std::vector<BinReading>& readings, bool saturated) {
    if (saturated_ && !saturated) {
        saturated_ = false;  // the law swings: what was concluded without that is no longer sure
        trusted_ = 0;
        tail_.clear();
    }
    for (std::size_t i = 0; i + flows_ <= readings.size(); i += flows_) {
        const std::size_t at = first + i / flows_;
        if (at > bins_.size() || at >= kMostBins) {
            return;  // nobody has told what comes before
        }
        if (at == bins_.size()) {
            bins_.push_back({0, std::vector<BinReading>(flows_), std::vector<double>(flows_)});
        }
        Bin& bin = bins_[at];
        bin.groups += 1;
        for (std::size_t f = 0; f < flows_; ++f) {
            bin.sum[f].rate += readings[i + f].rate;
            bin.sum[f].flight += readings[i + f].flight;
            bin.squares[f] += readings[i + f].rate * readings[i + f].rate;
        }
        if (at + 1 == bins_.size() && bin.groups == 1 && bins_.size() % kPerConclusion == 0) {
            conclude();
        }
    }
}

void SteadyCurve::add_origin(const std::vector<BinReading>& readings) {
    origins_.sum.resize(flows_);
    origins_.groups += 1;
    for (std::size_t f = 0; f < flows_; ++f) {
        origins_.sum[f].rate += readings[f].rate;
        origins_.sum[f].flight += readings[f].flight;
    }
}

BinReading SteadyCurve::origin(std::size_t flow) const {
    return {origins_.sum[flow].rate / origins_.groups, origins_.sum[flow].flight / origins_.groups};
}

BinReading SteadyCurve::bin(std::size_t flow, std::size_t at) const {
    if (at >= bins_.size()) {
        if (!tail_.empty()) {
            return tail_[flow];
        }
        return bins_.empty() ? BinReading{} : bin(flow, bins_.size() - 1);
    }
    const Bin& found = bins_[at];
    return {found.sum[flow].rate / found.groups, found.sum[flow].flight / found.groups};
}

BinReading SteadyCurve::between(std::size_t flow, std::size_t first, std::size_t last) const {
    BinReading sum;
    for (std::size_t at = first; at < last; ++at) {
        const BinReading one = bin(flow, at);
        sum.rate += one.rate;
        sum.flight += one.flight;
    }
    const auto count = static_cast<double>(last - first);
    return {sum.rate / count, sum.flight / count};
}

BinReading SteadyCurve::mean(std::size_t flow, double first, double count) const {
    BinReading sum;
    const double end = first + count;
    const auto known = static_cast<double>(bins_.size());
    const auto weigh = [&](const BinReading& reading, double weight) {
        sum.rate += weight * reading.rate;
        sum.flight += weight * reading.flight;
    };
    for (double at = first; at < std::min(end, known);) {
        const double next = std::min(std::floor(at) + 1, end);
        weigh(bin(flow, static_cast<std::size_t>(at)), next - at);
        at = next;
    }
    weigh(bin(flow, bins_.size()), end - std::max(first, std::min(end, known)));
    return {sum.rate / count, sum.flight / count};
}

/// As Detector::trusted_skip(), with one standard error as there, by the later half of what is known of `flow`.
double SteadyCurve::trusted_beyond(std::size_t flow) const {
    std::array<double, steady::kBlocks> rates{};
    std::array<double, steady::kBlocks> flights{};
    const std::size_t block = bins_.size() / kPerConclusion;
    for (std::size_t b = 0; b < steady::kBlocks; ++b) {
        const std::size_t first = (steady::kBlocks + b) * block;
        const BinReading mean = between(flow, first, first + block);
        rates[b] = mean.rate;
        flights[b] = mean.flight;
    }
    const double span = static_cast<double>(steady::kBlocks * block) * static_cast<double>(unit_);
    const steady::Line rate = steady::fit_line(rates);
    const double room = kTolerance - rate.mean_error / rate.mean;
    if (!(room > 0)) {
        return 0;
    }
    double skip = kUnlimited;
    const double drift = (std::abs(rate.change) + rate.change_error) / rate.mean / span;
    if (drift * kUnlimited > 2 * room) {
        skip = std::max(2 * room / drift - span, 0.0);
    }
    const steady::Line flight = steady::fit_line(flights);
    const double flight_drift = (std::abs(flight.change) + flight.change_error) / span;
    if (flight_drift * kUnlimited > kFlightRange * flight.mean) {
        skip = std::min(skip, kFlightRange * flight.mean / flight_drift);
    }
    return skip;
}

/// Standard deviation of a flow's rate among the groups that told of a bin.
double SteadyCurve::spread(std::size_t flow, std::size_t at) const {
    const Bin& found = bins_[at];
    const double mean = found.sum[flow].rate / found.groups;
    return std::sqrt(std::max(found.squares[flow] / found.groups - mean * mean, 0.0));
}

bool SteadyCurve::told_enough(double first) const {
    return first >= static_cast<double>(kMostBins) ||
           (first < static_cast<double>(bins_.size()) &&
            bins_[static_cast<std::size_t>(first)].groups >= kTellers);
}

double SteadyCurve::trusted(double first) const {
    double known = 0;
    std::vector<double> sent(flows_, 0);
    std::vector<double> off(flows_, 0);  // if who is off goes on being off
    for (auto at = static_cast<std::size_t>(first);
         told_enough(static_cast<double>(at)) && at < bins_.size(); ++at) {
        for (std::size_t f = 0; f < flows_; ++f) {
            sent[f] += bins_[at].sum[f].rate / bins_[at].groups;
            off[f] += spread(f, at);
            if (off[f] > kTolerance * sent[f]) {
                return std::max(trusted_, known);
            }
        }
        known = (static_cast<double>(at) + 1 - first) * static_cast<double>(unit_);
    }
    return std::max(trusted_, known);
}

void SteadyCurve::conclude() {
    const std::size_t half = bins_.size() / 2;
    const auto span = static_cast<double>(half) * static_cast<double>(unit_);
    if (!saturated_ && span < 2 * static_cast<double>(swings_)) {
        return;
    }
    trusted_ = kUnlimited;
    std::vector<BinReading> tail;
    for (std::size_t f = 0; f < flows_; ++f) {
        trusted_ = std::min(trusted_, trusted_beyond(f));
        tail.push_back(between(f, half, bins_.size()));
    }
    tail_ = std::move(tail);
}

}  // namespace sluice::hybrid
