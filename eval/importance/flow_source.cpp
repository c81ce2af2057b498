// SPDX-License-Identifier: Apache-2.0
#include "eval/importance/flow_source.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "eval/intervals/distributions.h"

namespace sluice::eval {
namespace {

constexpr std::uint64_t kFlowPurpose = 0x69735f666c6f7773ULL;
constexpr std::uint64_t kMixturePurpose = 0x69735f6d69786564ULL;

double open_unit(std::uint64_t bits) { return to_unit_interval(bits) + 0x1p-54; }

}  // namespace

double Change::log_ratio(double z) const {
    const double u = (z - shift) / scale;
    return (u * u - z * z) / 2 + std::log(scale);
}

FlowSource::FlowSource(const Traffic& traffic, const Change& change, double threshold,
                       std::uint64_t seed, std::uint64_t trial)
    : traffic_(&traffic),
      change_(change),
      threshold_(threshold),
      key_(random_key(seed, random_stream(kFlowPurpose, trial))) {
    if (!(traffic.rate > 0 && traffic.length > 0 && change.scale > 0 && change.rate_factor > 0 &&
          change.original_share >= 0 && change.original_share <= 1)) {
        throw InternalError("FlowSource: rate, length or change is out of its range");
    }
    original_ = uniform(seed, random_stream(kMixturePurpose, trial), 0) < change.original_share;
}

void FlowSource::draw() {
    const std::uint64_t n = arrivals_.size();
    const double base = arrivals_.empty() ? 0 : arrivals_.back().time;
    const bool as_changed = changed_ && !original_;
    const double rate = traffic_->rate * (as_changed ? change_.rate_factor : 1);
    const double normal = normal_quantile(open_unit(random_bits_of_key(key_, 2 * n + 1)));
    pending_changed_ = changed_;
    pending_z_ = as_changed ? change_.shift + change_.scale * normal : normal;
    pending_ = {base - std::log(open_unit(random_bits_of_key(key_, 2 * n))) / rate,
                traffic_->sizes.size(pending_z_)};
}

std::optional<Arrival> FlowSource::next() {
    if (ended_) return std::nullopt;
    draw();
    ended_ = pending_.time >= traffic_->length;
    if (ended_) return std::nullopt;
    const double last = arrivals_.empty() ? 0 : arrivals_.back().time;
    double ratio = arrivals_.empty() ? 0 : log_ratios_.back();
    if (pending_changed_) {
        ratio += change_.log_ratio(pending_z_) - std::log(change_.rate_factor) +
                 traffic_->rate * (change_.rate_factor - 1) * (pending_.time - last);
        changed_z_.push_back(pending_z_);
    }
    const double correction = arrivals_.empty() ? 0 : log_corrections_.back();
    arrivals_.push_back(pending_);
    is_changed_.push_back(pending_changed_ ? 1 : 0);
    log_ratios_.push_back(ratio);
    log_corrections_.push_back(correction + traffic_->sizes.log_correction(pending_z_));
    return pending_;
}

/// Eq. 10 at `time`: what has arrived, and that nothing else has since (the age term).
double FlowSource::log_ratio(double time) const {
    const auto after = std::upper_bound(arrivals_.begin(), arrivals_.end(), time,
                                        [](double t, const Arrival& a) { return t < a.time; });
    const auto count = static_cast<std::size_t>(after - arrivals_.begin());
    const double ratio = count == 0 ? 0 : log_ratios_[count - 1];
    const bool changed = count < arrivals_.size() ? is_changed_[count] != 0 : pending_changed_;
    if (!changed) return ratio;
    const double last = count == 0 ? 0 : arrivals_[count - 1].time;
    const double age = std::min(time, traffic_->length) - last;
    return ratio + traffic_->rate * (change_.rate_factor - 1) * age;
}

/// Of the mixture of trials: f / (s f + (1 - s) f~), and the correction of sizes.
double FlowSource::log_weight(double time) const {
    const auto after = std::upper_bound(arrivals_.begin(), arrivals_.end(), time,
                                        [](double t, const Arrival& a) { return t < a.time; });
    const auto count = static_cast<std::size_t>(after - arrivals_.begin());
    const double correction = count == 0 ? 0 : log_corrections_[count - 1];
    const double ratio = log_ratio(time);
    const double share = change_.original_share;
    if (share == 0) return ratio + correction;
    // Written so that a ratio near 0 does not overflow.
    if (ratio < 0) return ratio - std::log(share * std::exp(ratio) + 1 - share) + correction;
    return -std::log(share + (1 - share) * std::exp(-ratio)) + correction;
}

void FlowSource::finished(double time, double metric) {
    outcomes_.push_back({metric, log_weight(time)});
    if (metric > threshold_) changed_ = false;
}

bool FlowSource::redraw_after(double time) {
    changed_ = false;
    // A flow is drawn when the one before arrives.
    std::size_t keep = 1;
    while (keep < arrivals_.size() && arrivals_[keep - 1].time < time) ++keep;
    const bool all_stay = arrivals_.empty() || arrivals_.back().time < time;
    if (all_stay) return false;
    ended_ = false;
    while (arrivals_.size() > keep) {
        arrivals_.pop_back();
        if (is_changed_.back() != 0) changed_z_.pop_back();
        is_changed_.pop_back();
        log_ratios_.pop_back();
        log_corrections_.pop_back();
    }
    return true;
}

double FlowSource::log_weight_at_end() const { return log_weight(traffic_->length); }

Simulate in_two_passes(SimulateAll simulate) {
    return [simulate = std::move(simulate)](FlowSource& source, std::uint64_t trial) {
        while (source.next()) continue;
        const auto in_order = [&] {
            std::vector<Finish> all = simulate(source.arrivals(), trial);
            std::stable_sort(all.begin(), all.end(),
                             [](const Finish& a, const Finish& b) { return a.time < b.time; });
            return all;
        };
        std::vector<Finish> finishes = in_order();
        const auto rare = std::find_if(finishes.begin(), finishes.end(), [&](const Finish& finish) {
            return finish.metric > source.threshold();
        });
        if (rare != finishes.end() && source.redraw_after(rare->time)) {
            while (source.next()) continue;
            finishes = in_order();
        }
        for (const Finish& finish : finishes) source.finished(finish.time, finish.metric);
    };
}

}  // namespace sluice::eval
