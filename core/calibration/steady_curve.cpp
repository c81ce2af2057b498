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
/// The same of flows that share a port: as much as a group that shares one is allowed by what it has seen of itself.
constexpr double kSharedTolerance = 0.01;
/// As the detector's: bytes in flight may move by this part of their mean while a skip lasts.
constexpr double kFlightRange = 0.3;
/// Sums of so many bins are kept.
constexpr double kManyBins = 16;
/// What groups have sent is compared at ends that are each this part of the rest before the one before.
constexpr std::size_t kStepsBack = 8;
/// A law's rate has settled if it moves by no more than this part of itself within the later half of the bins.
constexpr double kLawRange = 0.02;
constexpr double kUnlimited = 1e18;
/// Of a summary: so many bins of its age have one mean.
constexpr std::size_t kBinsPerBlock = 16;
/// A conclusion is drawn from the later half of the bins, in blocks of equal length.
constexpr std::size_t kPerConclusion = 2 * steady::kBlocks;

}  // namespace

SteadyCurve::SteadyCurve(const CurveKind& kind, const CurveSummary& summary) : SteadyCurve(kind) {
    saturated_ = summary.saturated;
    trusted_ = summary.trusted;
    tail_ = summary.tail;
    const std::vector<double> none(summary.origin.size(), 0);
    origins_ = total_of(summary.origins, summary.origin, none, none);
    for (const CurveSummary::Block& block : summary.blocks) {
        const std::vector<double> unknown(block.readings.size(), 0);
        bins_.insert(bins_.end(), block.bins,
                     total_of(block.groups, block.readings, block.spread,
                              kind.shared ? block.apart : unknown));
        told_ += block.groups >= tellers() && told_ + block.bins == bins_.size() ? block.bins : 0;
    }
}

/// How far groups have come is kept as their distance from a mean of 0.
SteadyCurve::Bin SteadyCurve::total_of(double groups, const std::vector<BinReading>& means,
                                       const std::vector<double>& spread,
                                       const std::vector<double>& apart) {
    Bin total{groups, {}, {}, {}};
    for (std::size_t f = 0; f < means.size(); ++f) {
        total.sum.push_back(
            {means[f].rate * groups, means[f].flight * groups, means[f].law * groups, 0});
        total.squares.push_back((means[f].rate * means[f].rate + spread[f] * spread[f]) * groups);
        total.sent_squares.push_back(apart[f] * apart[f] * groups);
    }
    return total;
}

double SteadyCurve::tellers() const { return kind_.shared ? kTellers : 1; }

double SteadyCurve::tolerance() const { return kind_.shared ? kSharedTolerance : kTolerance; }

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
        for (std::size_t f = 0; f < kind_.flows; ++f) {
            block.readings.push_back(between(f, first, last));
            double most = 0;
            double most_apart = 0;
            for (std::size_t at = first; at < last; ++at) {
                most = std::max(most, spread(f, at));
                most_apart = std::max(most_apart, apart(f, at));
            }
            block.spread.push_back(most);
            if (kind_.shared) {
                block.apart.push_back(most_apart);
            }
        }
        summary.blocks.push_back(std::move(block));
        first = last;
    }
    return summary;
}

void SteadyCurve::add(std::size_t first, const std::vector<BinReading>& readings, bool saturated) {
    ++additions_;
    if (saturated_ && !saturated) {
        saturated_ = false;  // the law swings: what was concluded without that is no longer sure
        trusted_ = 0;
        tail_.clear();
    }
    for (std::size_t i = 0; i + kind_.flows <= readings.size(); i += kind_.flows) {
        const std::size_t at = first + i / kind_.flows;
        summed_ = std::min(summed_, at);
        if (at > bins_.size() || at >= kMostBins) {
            return;  // nobody has told what comes before
        }
        if (at == bins_.size()) {
            bins_.push_back({0, std::vector<BinReading>(kind_.flows),
                             std::vector<double>(kind_.flows), std::vector<double>(kind_.flows)});
        }
        Bin& bin = bins_[at];
        bin.groups += 1;
        for (std::size_t f = 0; f < kind_.flows; ++f) {
            const BinReading& reading = readings[i + f];
            bin.sum[f].rate += reading.rate;
            bin.sum[f].flight += reading.flight;
            bin.sum[f].law += reading.law;
            bin.sum[f].sent += reading.sent;
            bin.squares[f] += reading.rate * reading.rate;
            bin.sent_squares[f] += reading.sent * reading.sent;
        }
        if (bin.groups == 1 && kind_.shared && bins_.size() % kPerConclusion == 0) {
            foreseen_ = trusted_beyond(bins_.size());
            foreseen_by_ = bins_.size();
        }
        if (at == told_ && bin.groups >= tellers()) {
            ++told_;
            if (told_ % kPerConclusion == 0) {
                conclude(told_);
            }
        }
    }
}

void SteadyCurve::add_origin(const std::vector<BinReading>& readings) {
    origins_.sum.resize(kind_.flows);
    origins_.groups += 1;
    for (std::size_t f = 0; f < kind_.flows; ++f) {
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
    return {found.sum[flow].rate / found.groups, found.sum[flow].flight / found.groups,
            found.sum[flow].law / found.groups, 0};
}

BinReading SteadyCurve::between(std::size_t flow, std::size_t first, std::size_t last) const {
    BinReading sum;
    for (std::size_t at = first; at < last; ++at) {
        const BinReading one = bin(flow, at);
        sum.rate += one.rate;
        sum.flight += one.flight;
        sum.law += one.law;
    }
    const auto count = static_cast<double>(last - first);
    return {sum.rate / count, sum.flight / count, sum.law / count, 0};
}

/// Of `flow`, the sum of all bins before `at`.
const BinReading& SteadyCurve::before(std::size_t flow, std::size_t at) const {
    sums_.resize((bins_.size() + 1) * kind_.flows);
    for (; summed_ < at; ++summed_) {
        for (std::size_t f = 0; f < kind_.flows; ++f) {
            const BinReading& sum = sums_[summed_ * kind_.flows + f];
            const BinReading one = bin(f, summed_);
            sums_[(summed_ + 1) * kind_.flows + f] = {sum.rate + one.rate, sum.flight + one.flight,
                                                      sum.law + one.law, 0};
        }
    }
    return sums_[at * kind_.flows + flow];
}

BinReading SteadyCurve::mean(std::size_t flow, double first, double count) const {
    BinReading sum;
    const double end = first + count;
    const auto known = static_cast<double>(bins_.size());
    const auto weigh = [&](const BinReading& reading, double weight) {
        sum.rate += weight * reading.rate;
        sum.flight += weight * reading.flight;
        sum.law += weight * reading.law;
    };
    const double last = std::min(end, known);
    for (double at = first; at < last;) {
        if (kind_.shared && std::floor(at) == at && last - at >= kManyBins) {
            const double whole = std::floor(last);
            weigh(before(flow, static_cast<std::size_t>(whole)), 1);
            weigh(before(flow, static_cast<std::size_t>(at)), -1);
            at = whole;
            continue;
        }
        const double next = std::min(std::floor(at) + 1, end);
        weigh(bin(flow, static_cast<std::size_t>(at)), next - at);
        at = next;
    }
    weigh(bin(flow, bins_.size()), end - std::max(first, std::min(end, known)));
    return {sum.rate / count, sum.flight / count, sum.law / count, 0};
}

/// As Detector::trusted_skip(), with one standard error as there, by the later half of `bins`.
double SteadyCurve::trusted_beyond(std::size_t flow, std::size_t bins) const {
    std::array<double, steady::kBlocks> rates{};
    std::array<double, steady::kBlocks> flights{};
    std::array<double, steady::kBlocks> laws{};
    const std::size_t block = bins / kPerConclusion;
    for (std::size_t b = 0; b < steady::kBlocks; ++b) {
        const std::size_t first = (steady::kBlocks + b) * block;
        const BinReading mean = between(flow, first, first + block);
        rates[b] = mean.rate;
        flights[b] = mean.flight;
        laws[b] = mean.law;
    }
    // Of a shared port flows may have equal parts long before their laws know.
    const steady::Line law = steady::fit_line(laws);
    if (kind_.shared && std::abs(law.change) > kLawRange * law.mean) {
        return 0;
    }
    const double span =
        static_cast<double>(steady::kBlocks * block) * static_cast<double>(kind_.unit);
    const steady::Line rate = steady::fit_line(rates);
    const double room = tolerance() - rate.mean_error / rate.mean;
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

/// The same of the bytes that they had sent by then.
double SteadyCurve::apart(std::size_t flow, std::size_t at) const {
    const Bin& found = bins_[at];
    const double mean = found.sum[flow].sent / found.groups;
    return std::sqrt(std::max(found.sent_squares[flow] / found.groups - mean * mean, 0.0));
}

double SteadyCurve::trusted(double first) const {
    return std::max(trusted_, kind_.shared ? trusted_shares(first) : trusted_alike(first));
}

double SteadyCurve::trusted_alike(double first) const {
    double known = 0;
    std::vector<double> sent(kind_.flows, 0);
    std::vector<double> off(kind_.flows, 0);  // if who is off goes on being off
    for (auto at = static_cast<std::size_t>(first);
         told_enough(static_cast<double>(at)) && at < bins_.size(); ++at) {
        for (std::size_t f = 0; f < kind_.flows; ++f) {
            sent[f] += bins_[at].sum[f].rate / bins_[at].groups;
            off[f] += spread(f, at);
            if (off[f] > kTolerance * sent[f]) {
                return known;
            }
        }
        known = (static_cast<double>(at) + 1 - first) * static_cast<double>(kind_.unit);
    }
    return known;
}

/// Whether groups that were `before` apart, and sent about `sent` bytes of `flow` from there to the end of bin `at`, did not
/// send the same.
bool SteadyCurve::parted(std::size_t flow, std::size_t at, double before, double sent) const {
    return apart(flow, at) + before > kSharedTolerance * sent;
}

/// Where shares wander, groups part; where they settle, or packets take turns, what sets groups apart is a packet or
/// two, and less and less of what they send. So it counts how far they are apart in the end: the last of some ends at which
/// they have sent the same.
double SteadyCurve::trusted_shares(double first) const {
    const auto begin = static_cast<std::size_t>(first);
    const auto alike = [&](std::size_t end) {
        for (std::size_t f = 0; f < kind_.flows; ++f) {
            const double sent =
                (before(f, end).rate - before(f, begin).rate) * static_cast<double>(kind_.unit);
            if (parted(f, end - 1, begin > 0 ? apart(f, begin - 1) : 0, sent)) {
                return false;
            }
        }
        return true;
    };
    for (std::size_t end = told_; end > begin;) {
        if (alike(end)) {
            return (static_cast<double>(end) - first) * static_cast<double>(kind_.unit);
        }
        end -= std::max<std::size_t>((end - begin) / kStepsBack, 1);
    }
    return 0;
}

bool SteadyCurve::is_settled(double first) const {
    if (!kind_.shared || told_ == 0) {
        return true;
    }
    const auto at = std::min(static_cast<std::size_t>(first), told_ - 1);
    double now = 0;
    double then = 0;
    for (std::size_t f = 0; f < kind_.flows; ++f) {
        now += bin(f, at).flight;
        then += tail_.empty() ? bin(f, told_ - 1).flight : tail_[f].flight;
    }
    return std::abs(now - then) <= kFlightRange * then;
}

/// Of all flows, by the later half of so many bins; 0: it does not tell.
double SteadyCurve::trusted_beyond(std::size_t bins) const {
    const std::size_t half = bins / 2;
    const auto span = static_cast<double>(half) * static_cast<double>(kind_.unit);
    double trusted = kUnlimited;
    for (std::size_t f = 0; f < kind_.flows && trusted > 0; ++f) {
        trusted = std::min(trusted, trusted_beyond(f, bins));
    }
    return !saturated_ && span < 2 * static_cast<double>(kind_.swings) ? 0 : trusted;
}

void SteadyCurve::conclude(std::size_t bins) {
    const std::size_t half = bins / 2;
    const auto span = static_cast<double>(half) * static_cast<double>(kind_.unit);
    if (!saturated_ && span < 2 * static_cast<double>(kind_.swings)) {
        return;
    }
    trusted_ = trusted_beyond(bins);
    tail_.clear();
    for (std::size_t f = 0; f < kind_.flows; ++f) {
        const double sent =
            between(f, 0, bins).rate * static_cast<double>(bins) * static_cast<double>(kind_.unit);
        if (kind_.shared && parted(f, bins - 1, 0, sent)) {
            trusted_ = 0;
        }
        tail_.push_back(between(f, half, bins));
    }
}

}  // namespace sluice::hybrid
