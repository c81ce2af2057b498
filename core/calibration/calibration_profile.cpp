// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/calibration_profile.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/steady/trend.h"

namespace sluice::hybrid {

namespace {

/// Largest relative error of a flow's bytes in a skip, from the uncertainty of its mean rate or from a continuing trend.
/// A fifth of what the detector allows a group by its own measurements.
constexpr double kTolerance = 0.02;
/// The same for flows that share a port: as much as the detector allows such a group.
constexpr double kSharedTolerance = 0.01;
/// Bytes in flight may change by this fraction of their mean during a skip, as in the detector.
constexpr double kFlightRange = 0.3;
/// Means over at least this many bins are computed from prefix sums.
constexpr double kManyBins = 16;
/// trusted_shared() shortens the skip by 1/kStepsBack of its present length per step.
constexpr std::size_t kStepsBack = 8;
/// The algorithm's rate is settled if it changes by at most this fraction over the later half of the bins.
constexpr double kLawRange = 0.02;
/// What groups that share no port have agreed on is taken to go on for another such part of it: contributors end with their
/// last whole bins, and others' messages are longer.
constexpr double kBeyond = 0.125;
constexpr double kUnlimited = 1e18;
/// In a summary, a block that starts at bin n covers n / kBinsPerBlock bins, at least one.
constexpr std::size_t kBinsPerBlock = 16;
/// Blocks of equal length that the bins are divided into. The later half of them is fitted.
constexpr std::size_t kFitBlocks = 2 * steady::kBlocks;

}  // namespace

CalibrationProfile::CalibrationProfile(const ProfileKind& kind, const ProfileSummary& summary)
    : CalibrationProfile(kind) {
    saturated_ = summary.saturated;
    tail_skip_ = summary.tail_skip;
    tail_ = summary.tail;
    const std::vector<double> no_spread(summary.initial.size(), 0);
    initial_ = total_of(summary.initial_groups, summary.initial, no_spread, no_spread);
    for (const ProfileSummary::Block& block : summary.blocks) {
        const std::vector<double> unknown(block.readings.size(), 0);
        bins_.insert(bins_.end(), block.bins,
                     total_of(block.groups, block.readings, block.rate_spread,
                              kind.shared ? block.sent_spread : unknown));
        complete_bins_ +=
            block.groups >= required_contributors() && complete_bins_ + block.bins == bins_.size()
                ? block.bins
                : 0;
    }
}

/// The sum of `sent` stays 0: only its variance is needed.
CalibrationProfile::Bin CalibrationProfile::total_of(double groups,
                                                     const std::vector<BinReading>& means,
                                                     const std::vector<double>& rate_spread,
                                                     const std::vector<double>& sent_spread) {
    Bin total{groups, {}, {}, {}};
    for (std::size_t f = 0; f < means.size(); ++f) {
        total.sum.push_back(
            {means[f].rate * groups, means[f].in_flight * groups, means[f].law_rate * groups, 0});
        total.rate_squares.push_back(
            (means[f].rate * means[f].rate + rate_spread[f] * rate_spread[f]) * groups);
        total.sent_squares.push_back(sent_spread[f] * sent_spread[f] * groups);
    }
    return total;
}

double CalibrationProfile::required_contributors() const {
    return kind_.shared ? kRequiredContributors : 1;
}

double CalibrationProfile::tolerance() const {
    return kind_.shared ? kSharedTolerance : kTolerance;
}

ProfileSummary CalibrationProfile::summary() const {
    ProfileSummary summary;
    summary.saturated = saturated_;
    summary.tail_skip = tail_skip_;
    summary.tail = tail_;
    summary.initial_groups = initial_.groups;
    for (std::size_t f = 0; f < initial_.sum.size(); ++f) {
        summary.initial.push_back(initial(f));
    }
    for (std::size_t first = 0; first < bins_.size();) {
        ProfileSummary::Block block;
        block.bins =
            std::min(bins_.size() - first, std::max<std::size_t>(first / kBinsPerBlock, 1));
        const std::size_t last = first + block.bins;
        block.groups = bins_[first].groups;
        for (std::size_t at = first; at < last; ++at) {
            block.groups = std::min(block.groups, bins_[at].groups);
        }
        for (std::size_t f = 0; f < kind_.flows; ++f) {
            block.readings.push_back(mean_of_bins(f, first, last));
            double most_rate = 0;
            double most_sent = 0;
            for (std::size_t at = first; at < last; ++at) {
                most_rate = std::max(most_rate, rate_spread(f, at));
                most_sent = std::max(most_sent, sent_spread(f, at));
            }
            block.rate_spread.push_back(most_rate);
            if (kind_.shared) {
                block.sent_spread.push_back(most_sent);
            }
        }
        summary.blocks.push_back(std::move(block));
        first = last;
    }
    return summary;
}

void CalibrationProfile::add(std::size_t first, const std::vector<BinReading>& readings,
                             bool saturated) {
    ++additions_;
    if (saturated_ && !saturated) {
        saturated_ = false;  // rates may oscillate, which the fit has not considered
        tail_skip_ = 0;
        tail_.clear();
    }
    for (std::size_t i = 0; i + kind_.flows <= readings.size(); i += kind_.flows) {
        const std::size_t at = first + i / kind_.flows;
        prefix_bins_ = std::min(prefix_bins_, at);
        if (at > bins_.size() || at >= kMaxBins) {
            return;  // earlier bins are missing
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
            bin.sum[f].in_flight += reading.in_flight;
            bin.sum[f].law_rate += reading.law_rate;
            bin.sum[f].sent += reading.sent;
            bin.rate_squares[f] += reading.rate * reading.rate;
            bin.sent_squares[f] += reading.sent * reading.sent;
        }
        if (bin.groups == 1 && kind_.shared && bins_.size() % kFitBlocks == 0) {
            projected_skip_ = tail_skip_of(bins_.size());
            projected_bins_ = bins_.size();
        }
        if (at == complete_bins_ && bin.groups >= required_contributors()) {
            ++complete_bins_;
            if (complete_bins_ % kFitBlocks == 0) {
                fit_tail(complete_bins_);
            }
        }
    }
}

void CalibrationProfile::add_initial(const std::vector<BinReading>& readings) {
    initial_.sum.resize(kind_.flows);
    initial_.groups += 1;
    for (std::size_t f = 0; f < kind_.flows; ++f) {
        initial_.sum[f].rate += readings[f].rate;
        initial_.sum[f].in_flight += readings[f].in_flight;
    }
}

BinReading CalibrationProfile::initial(std::size_t flow) const {
    return {initial_.sum[flow].rate / initial_.groups,
            initial_.sum[flow].in_flight / initial_.groups};
}

BinReading CalibrationProfile::bin(std::size_t flow, std::size_t at) const {
    if (at >= bins_.size()) {
        if (!tail_.empty()) {
            return tail_[flow];
        }
        return bins_.empty() ? BinReading{} : bin(flow, bins_.size() - 1);
    }
    const Bin& found = bins_[at];
    return {found.sum[flow].rate / found.groups, found.sum[flow].in_flight / found.groups,
            found.sum[flow].law_rate / found.groups, 0};
}

BinReading CalibrationProfile::mean_of_bins(std::size_t flow, std::size_t first,
                                            std::size_t last) const {
    BinReading sum;
    for (std::size_t at = first; at < last; ++at) {
        const BinReading one = bin(flow, at);
        sum.rate += one.rate;
        sum.in_flight += one.in_flight;
        sum.law_rate += one.law_rate;
    }
    const auto count = static_cast<double>(last - first);
    return {sum.rate / count, sum.in_flight / count, sum.law_rate / count, 0};
}

/// Sum of the flow's mean readings over all bins before `at`.
const BinReading& CalibrationProfile::sum_before(std::size_t flow, std::size_t at) const {
    prefix_sums_.resize((bins_.size() + 1) * kind_.flows);
    for (; prefix_bins_ < at; ++prefix_bins_) {
        for (std::size_t f = 0; f < kind_.flows; ++f) {
            const BinReading& sum = prefix_sums_[prefix_bins_ * kind_.flows + f];
            const BinReading one = bin(f, prefix_bins_);
            prefix_sums_[(prefix_bins_ + 1) * kind_.flows + f] = {
                sum.rate + one.rate, sum.in_flight + one.in_flight, sum.law_rate + one.law_rate, 0};
        }
    }
    return prefix_sums_[at * kind_.flows + flow];
}

BinReading CalibrationProfile::mean(std::size_t flow, double first, double count) const {
    BinReading sum;
    const double end = first + count;
    const auto known = static_cast<double>(bins_.size());
    const auto weigh = [&](const BinReading& reading, double weight) {
        sum.rate += weight * reading.rate;
        sum.in_flight += weight * reading.in_flight;
        sum.law_rate += weight * reading.law_rate;
    };
    const double last = std::min(end, known);
    for (double at = first; at < last;) {
        if (kind_.shared && std::floor(at) == at && last - at >= kManyBins) {
            const double whole = std::floor(last);
            weigh(sum_before(flow, static_cast<std::size_t>(whole)), 1);
            weigh(sum_before(flow, static_cast<std::size_t>(at)), -1);
            at = whole;
            continue;
        }
        const double next = std::min(std::floor(at) + 1, end);
        weigh(bin(flow, static_cast<std::size_t>(at)), next - at);
        at = next;
    }
    weigh(bin(flow, bins_.size()), end - std::max(first, std::min(end, known)));
    return {sum.rate / count, sum.in_flight / count, sum.law_rate / count, 0};
}

/// Of one flow: as Detector::trusted_skip(), with one standard error as there, from the later half of `bins`.
double CalibrationProfile::tail_skip_of(std::size_t flow, std::size_t bins) const {
    std::array<double, steady::kBlocks> rates{};
    std::array<double, steady::kBlocks> flights{};
    std::array<double, steady::kBlocks> laws{};
    const std::size_t block = bins / kFitBlocks;
    for (std::size_t b = 0; b < steady::kBlocks; ++b) {
        const std::size_t first = (steady::kBlocks + b) * block;
        const BinReading mean = mean_of_bins(flow, first, first + block);
        rates[b] = mean.rate;
        flights[b] = mean.in_flight;
        laws[b] = mean.law_rate;
    }
    // Flows may share a port equally long before their algorithms' rates have settled.
    const steady::Line law = steady::fit_line(laws);
    if (kind_.shared && std::abs(law.change) > kLawRange * law.mean) {
        return 0;
    }
    const double span =
        static_cast<double>(steady::kBlocks * block) * static_cast<double>(kind_.bin_length);
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

/// Standard deviation of a flow's rate among the contributors to bin `at`.
double CalibrationProfile::rate_spread(std::size_t flow, std::size_t at) const {
    const Bin& found = bins_[at];
    const double mean = found.sum[flow].rate / found.groups;
    return std::sqrt(std::max(found.rate_squares[flow] / found.groups - mean * mean, 0.0));
}

bool CalibrationProfile::has_enough_contributors(double first) const {
    return first >= static_cast<double>(kMaxBins) ||
           (first < static_cast<double>(bins_.size()) &&
            bins_[static_cast<std::size_t>(first)].groups >= kRequiredContributors);
}

/// Standard deviation of the bytes that a flow has sent by the end of bin `at`.
double CalibrationProfile::sent_spread(std::size_t flow, std::size_t at) const {
    const Bin& found = bins_[at];
    const double mean = found.sum[flow].sent / found.groups;
    return std::sqrt(std::max(found.sent_squares[flow] / found.groups - mean * mean, 0.0));
}

double CalibrationProfile::trusted_skip(double first, double least) const {
    return std::max(tail_skip_,
                    kind_.shared ? trusted_shared(first) : trusted_unshared(first, least));
}

double CalibrationProfile::trusted_unshared(double first, double least) const {
    double known = 0;
    std::vector<double> sent(kind_.flows, 0);
    std::vector<double> deviation(kind_.flows, 0);  // as if deviations persisted
    for (auto at = static_cast<std::size_t>(first);
         has_enough_contributors(static_cast<double>(at)) && at < bins_.size(); ++at) {
        bool agree = true;
        for (std::size_t f = 0; f < kind_.flows; ++f) {
            sent[f] += bins_[at].sum[f].rate / bins_[at].groups;
            deviation[f] += rate_spread(f, at);
            agree = agree && deviation[f] <= kTolerance * sent[f];
        }
        const double bins = static_cast<double>(at) + 1 - first;
        if (!agree && bins >= least) {
            break;
        }
        known = agree ? bins : known;
    }
    return (1 + kBeyond) * known * static_cast<double>(kind_.bin_length);
}

/// True if the bytes that groups have sent of `flow` differ too much at the end of bin `at`. `before`: their spread at the
/// start of the skip. `sent`: mean bytes from there on.
bool CalibrationProfile::diverged(std::size_t flow, std::size_t at, double before,
                                  double sent) const {
    return sent_spread(flow, at) + before > kSharedTolerance * sent;
}

/// If shares drift, the groups' bytes diverge. If shares settle, groups differ by a packet or two, a shrinking fraction of
/// what they send. So only the difference at the skip's end counts. Returns the longest of the tried skips at whose end
/// the groups agree.
double CalibrationProfile::trusted_shared(double first) const {
    const auto begin = static_cast<std::size_t>(first);
    const auto agree = [&](std::size_t end) {
        for (std::size_t f = 0; f < kind_.flows; ++f) {
            const double sent = (sum_before(f, end).rate - sum_before(f, begin).rate) *
                                static_cast<double>(kind_.bin_length);
            if (diverged(f, end - 1, begin > 0 ? sent_spread(f, begin - 1) : 0, sent)) {
                return false;
            }
        }
        return true;
    };
    for (std::size_t end = complete_bins_; end > begin;) {
        if (agree(end)) {
            return (static_cast<double>(end) - first) * static_cast<double>(kind_.bin_length);
        }
        end -= std::max<std::size_t>((end - begin) / kStepsBack, 1);
    }
    return 0;
}

bool CalibrationProfile::is_settled(double first) const {
    if (!kind_.shared || complete_bins_ == 0) {
        return true;
    }
    const auto at = std::min(static_cast<std::size_t>(first), complete_bins_ - 1);
    double now = 0;
    double then = 0;
    for (std::size_t f = 0; f < kind_.flows; ++f) {
        now += bin(f, at).in_flight;
        then += tail_.empty() ? bin(f, complete_bins_ - 1).in_flight : tail_[f].in_flight;
    }
    return std::abs(now - then) <= kFlightRange * then;
}

/// Of all flows, from the later half of `bins`. 0: not known.
double CalibrationProfile::tail_skip_of(std::size_t bins) const {
    const std::size_t half = bins / 2;
    const auto span = static_cast<double>(half) * static_cast<double>(kind_.bin_length);
    double trusted = kUnlimited;
    for (std::size_t f = 0; f < kind_.flows && trusted > 0; ++f) {
        trusted = std::min(trusted, tail_skip_of(f, bins));
    }
    return !saturated_ && span < 2 * static_cast<double>(kind_.sawtooth_span) ? 0 : trusted;
}

void CalibrationProfile::fit_tail(std::size_t bins) {
    const std::size_t half = bins / 2;
    const auto span = static_cast<double>(half) * static_cast<double>(kind_.bin_length);
    if (!saturated_ && span < 2 * static_cast<double>(kind_.sawtooth_span)) {
        return;
    }
    tail_skip_ = tail_skip_of(bins);
    tail_.clear();
    for (std::size_t f = 0; f < kind_.flows; ++f) {
        const double sent = mean_of_bins(f, 0, bins).rate * static_cast<double>(bins) *
                            static_cast<double>(kind_.bin_length);
        if (kind_.shared && diverged(f, bins - 1, 0, sent)) {
            tail_skip_ = 0;
        }
        tail_.push_back(mean_of_bins(f, half, bins));
    }
}

}  // namespace sluice::hybrid
