// SPDX-License-Identifier: Apache-2.0
#include "core/results/completion_times.h"

#include <algorithm>

#include "core/error.h"
#include "core/results/percentile.h"

namespace sluice {

namespace {

constexpr unsigned kFraction = 11;  ///< bits of a time that its class has, behind the leading one
constexpr std::size_t kClasses = (64 - kFraction) << kFraction;

}  // namespace

/// Times below 2^11 have a class each; of others the exponent and the 11 bits behind the leading one.
std::size_t CompletionTimes::class_of(Tick time) {
    const auto value = static_cast<std::uint64_t>(std::max<Tick>(time, 0));
    unsigned exponent = 0;
    while (value >> exponent >= std::uint64_t{2} << kFraction) ++exponent;
    return (std::size_t{exponent} << kFraction) + static_cast<std::size_t>(value >> exponent);
}

Tick CompletionTimes::least_of(std::size_t index) {
    constexpr std::size_t kOne = std::size_t{1} << kFraction;
    if (index < 2 * kOne) return static_cast<Tick>(index);
    const std::size_t exponent = (index >> kFraction) - 1;
    return static_cast<Tick>((index - (exponent << kFraction)) << exponent);
}

void CompletionTimes::add_to_classes(Tick time) {
    if (counts_.empty()) {
        counts_.assign(kClasses + (std::size_t{2} << kFraction), 0);
        const std::vector<Tick> kept = std::move(times_);
        times_ = {};
        for (const Tick one : kept) add_to_classes(one);
    }
    ++counts_[class_of(time)];
    ++counted_;
    most_ = std::max(most_, time);
    sum_low_ += static_cast<std::uint64_t>(time) & 0xffffffffU;
    sum_high_ += static_cast<std::uint64_t>(time) >> 32;
}

void CompletionTimes::close() {
    if (counts_.empty()) {
        std::sort(times_.begin(), times_.end());
        double sum = 0;
        for (const Tick time : times_) sum += to_seconds(time);
        sum_s_ = sum;
        most_ = times_.back();
        return;
    }
    sum_s_ = (static_cast<double>(sum_high_) * 4294967296.0 + static_cast<double>(sum_low_)) /
             static_cast<double>(kSecond);
}

double CompletionTimes::mean_seconds() const { return sum_s_ / static_cast<double>(count()); }

Tick CompletionTimes::percentile(unsigned percent) const {
    if (counts_.empty()) return sluice::percentile(times_, percent);
    if (percent > 100) throw InternalError("percentile above 100");
    const std::size_t rank =
        std::max<std::size_t>(1, counted_ / 100 * percent + (counted_ % 100 * percent + 99) / 100);
    std::size_t index = 0;
    for (std::size_t before = 0; (before += counts_[index]) < rank;) ++index;
    return least_of(index);
}

}  // namespace sluice
