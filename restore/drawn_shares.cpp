// SPDX-License-Identifier: Apache-2.0
#include "restore/drawn_shares.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace sluice::restore {

namespace {

/// Of the skips that were learned from, base round trips.
constexpr Tick kLongest = 1024;
/// With fewer in flight the pull to the fair share is that of quantized windows and INT counters, another
/// for every rate, delay and number of flows (docs/restoration.md): not sure.
constexpr double kSurePackets = 30;
/// Standard deviations that a mean hardly exceeds.
constexpr double kMostDeviations = 2.5;
/// What is left of a share at least, of what it was expected to be.
constexpr double kLeastLeft = 0.05;
constexpr std::uint64_t kPurpose = 0x736861726573ULL;

/// Nearly a standard normal: the sum of twelve uniform numbers less 6, within +-6.
double normal(std::uint64_t key, std::uint64_t which) {
    constexpr int kNumbers = 12;
    double sum = -6;
    for (int i = 0; i < kNumbers; ++i) {
        sum += to_unit_interval(random_bits_of_key(key, which * kNumbers + i));
    }
    return sum;
}

}  // namespace

bool DrawnShares::knows(const hybrid::SharePast& flow) const {
    return packets_per_flow(flow) >= least_packets_;
}

Tick DrawnShares::longest(Tick base_rtt) const { return kLongest * base_rtt; }

ShareForecast DrawnShares::forecast_of(const hybrid::SharePast& flow, Tick length) const {
    const double trips =
        static_cast<double>(length) / static_cast<double>(std::max<Tick>(flow.base_rtt, 1));
    return forecast(share_process(flow, law_, learned_), trips);
}

double DrawnShares::most(const hybrid::SharePast& flow, Tick length) const {
    const ShareForecast told = forecast_of(flow, length);
    return flow.fair * std::max(told.mean + kMostDeviations * told.mean_sd, kLeastLeft);
}

std::vector<hybrid::ShareDrawn> DrawnShares::draw(const std::vector<hybrid::SharePast>& flows,
                                                  Tick length, std::uint64_t occasion) {
    std::vector<hybrid::ShareDrawn> drawn;
    for (std::size_t place = 0; place < flows.size(); ++place) {
        const hybrid::SharePast& flow = flows[place];
        const ShareForecast told = forecast_of(flow, length);
        const std::uint64_t key =
            random_key(mix_bits(seed_) ^ occasion, random_stream(kPurpose, place));
        const double first = normal(key, 0);
        const double second = normal(key, 1);
        // Scaling the sum to the port's total takes a flow's part of what all moved.
        const auto count = static_cast<double>(flow.flows);
        const double wider = std::sqrt(count / (count - 1));
        const double rest = std::sqrt(std::max(1 - told.correlation * told.correlation, 0.0));
        const double mean = told.mean + wider * told.mean_sd * first;
        const double end =
            told.end + wider * told.end_sd * (told.correlation * first + rest * second);
        drawn.push_back({flow.fair * std::max(mean, kLeastLeft * told.mean),
                         flow.fair * std::max(end, kLeastLeft * told.end)});
    }
    return drawn;
}

std::unique_ptr<hybrid::ShareRestorer> make_share_restorer(const PhaseConfig& config,
                                                           const congestion::Parameters& law,
                                                           std::uint64_t seed) {
    const ShareCoefficients* const learned = learned_shares(law.law);
    if (config.shares == Sharing::hold || learned == nullptr) {
        return nullptr;
    }
    const double least = config.shares == Sharing::learned ? kSurePackets : 0;
    return std::make_unique<DrawnShares>(law, *learned, seed, least);
}

}  // namespace sluice::restore
