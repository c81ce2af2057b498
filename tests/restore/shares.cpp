// SPDX-License-Identifier: Apache-2.0
// The learned process of shares: its moments, and what is drawn from it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/congestion/congestion.h"
#include "restore/drawn_shares.h"
#include "restore/share_process.h"

using namespace sluice;
using namespace sluice::restore;

namespace {

constexpr std::int64_t kLine = 100'000'000'000;
constexpr Tick kTrip = 4 * kMicrosecond;

congestion::Parameters hpcc() {
    return congestion::default_parameters(congestion::Law::hpcc, kLine);
}

/// `share` times the fair one of `flows`.
hybrid::SharePast past_of(double share, std::size_t flows) {
    hybrid::SharePast past;
    past.line = static_cast<double>(kLine) / 8e12 / 1000;
    past.flows = flows;
    past.fair = 0.87 * past.line / static_cast<double>(flows);
    past.rate = share * past.fair;
    past.base_rtt = kTrip;
    return past;
}

DrawnShares drawer(std::uint64_t seed = 1) {
    return {hpcc(), *learned_shares(congestion::Law::hpcc), seed};
}

}  // namespace

TEST_CASE("unit.restore.shares_are_known_of_hpcc") {
    CHECK(learned_shares(congestion::Law::hpcc) != nullptr);
    CHECK(learned_shares(congestion::Law::dcqcn) == nullptr);
    PhaseConfig config;
    CHECK(make_share_restorer(config, hpcc(), 1) == nullptr);
    config.shares = Sharing::learned;
    CHECK(make_share_restorer(config, hpcc(), 1) != nullptr);
    CHECK(make_share_restorer(config,
                              congestion::default_parameters(congestion::Law::timely, kLine),
                              1) == nullptr);
}

TEST_CASE("unit.restore.a_share_wanders_and_is_pulled_back") {
    ShareProcess process;
    process.share = 1.5;
    process.pull = 0.01;
    process.noise = 0.02;
    const ShareForecast soon = forecast(process, 0.5);
    CHECK(soon.mean == doctest::Approx(1.5).epsilon(0.01));
    CHECK(soon.end_sd == doctest::Approx(0.02 * std::sqrt(0.5)).epsilon(0.01));
    CHECK(std::abs(soon.mean_sd / soon.end_sd * std::sqrt(3.0) - 1) < 0.01);
    const ShareForecast later = forecast(process, 100);
    CHECK(later.end == doctest::Approx(1 + 0.5 * std::exp(-1.0)));
    CHECK(later.mean == doctest::Approx(1 + 0.5 * (1 - std::exp(-1.0))));
    const ShareForecast last = forecast(process, 10'000);
    CHECK(last.end == doctest::Approx(1.0));
    CHECK(last.end_sd == doctest::Approx(0.02 / std::sqrt(0.02)));
    CHECK(last.mean_sd < last.end_sd / 4);
    // Where the series ends its place is taken without a step.
    const ShareForecast below = forecast(process, 9.999);
    const ShareForecast above = forecast(process, 10.001);
    CHECK(std::abs(below.mean_sd / above.mean_sd - 1) < 1e-3);
    CHECK(std::abs(below.end_sd / above.end_sd - 1) < 1e-3);
    CHECK(std::abs(below.correlation - above.correlation) < 1e-3);
    CHECK(std::abs(soon.correlation - std::sqrt(3.0) / 2) < 1e-2);
}

TEST_CASE("unit.restore.learned_shares_come_together_and_are_finite") {
    for (const std::size_t flows : {2, 8, 100'000}) {
        for (const double share : {0.0, 0.1, 1.0, 1.9}) {
            const ShareProcess process = share_process(past_of(share, flows), hpcc(),
                                                       *learned_shares(congestion::Law::hpcc));
            CHECK(process.pull > 0);
            CHECK(process.pull < 1e3);
            CHECK(process.noise > 0);
            CHECK(process.noise < 1);
            const ShareForecast told = forecast(process, 1024);
            CHECK(std::abs(told.end - 1) <= std::abs(share - 1));
            CHECK(std::isfinite(told.end_sd));
            CHECK(told.correlation <= 1);
        }
    }
}

TEST_CASE("unit.restore.shares_are_drawn_as_forecast") {
    constexpr int kDraws = 2000;
    constexpr std::size_t kFlows = 8;
    const Tick length = 200 * kTrip;
    const std::vector<hybrid::SharePast> crowd(kFlows, past_of(1, kFlows));
    const ShareForecast told =
        forecast(share_process(crowd[0], hpcc(), *learned_shares(congestion::Law::hpcc)), 200);
    DrawnShares shares = drawer();
    double mean = 0;
    double square = 0;
    double product = 0;
    double mean_square = 0;
    int beyond = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
        const std::vector<hybrid::ShareDrawn> drawn =
            shares.draw(crowd, length, static_cast<std::uint64_t>(draw));
        double sum = 0;
        double mean_sum = 0;
        for (const hybrid::ShareDrawn& one : drawn) {
            sum += one.end / kFlows;
            mean_sum += one.mean / kFlows;
        }
        // As scaled to the port's total.
        const double end = drawn[3].end / sum - 1;
        const double middle = drawn[3].mean / mean_sum - 1;
        mean += end / kDraws;
        square += end * end / kDraws;
        product += end * middle / kDraws;
        mean_square += middle * middle / kDraws;
        beyond += middle * crowd[3].fair + crowd[3].fair > shares.most(crowd[3], length) ? 1 : 0;
    }
    CHECK(std::abs(mean) < 4 * told.end_sd / std::sqrt(kDraws));
    CHECK(std::sqrt(square) == doctest::Approx(told.end_sd).epsilon(0.06));
    CHECK(std::sqrt(mean_square) == doctest::Approx(told.mean_sd).epsilon(0.06));
    CHECK(product / std::sqrt(square * mean_square) ==
          doctest::Approx(told.correlation).epsilon(0.03));
    CHECK(beyond < kDraws / 50);
}

TEST_CASE("unit.restore.copies_of_a_group_draw_alike") {
    const std::vector<hybrid::SharePast> crowd(4, past_of(1.2, 4));
    const auto first = drawer(7).draw(crowd, 100 * kTrip, 42);
    const auto second = drawer(7).draw(crowd, 100 * kTrip, 42);
    const auto other = drawer(8).draw(crowd, 100 * kTrip, 42);
    for (std::size_t i = 0; i < crowd.size(); ++i) {
        CHECK(first[i].mean == second[i].mean);
        CHECK(first[i].end == second[i].end);
        CHECK(first[i].end != other[i].end);
        CHECK(first[i].end > 0);
    }
    CHECK(first[0].end != first[1].end);
}
