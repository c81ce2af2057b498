// SPDX-License-Identifier: Apache-2.0
/// Shares of full ports that are drawn for a skip: whatever is drawn, no byte is lost or made, no link
/// carries more than it can, and engines agree; a crowd whose total is steady sleeps where it did not.
#include <limits>

#include "core/error.h"
#include "restore/drawn_shares.h"
#include "tests/support/hybrid_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// Draws anything: nothing, all to one flow, as it was, any rates, by how long the skip is.
class WildShares final : public hybrid::ShareRestorer {
  public:
    bool knows(const hybrid::SharePast&) const override { return true; }
    Tick longest(Tick base_rtt) const override { return 500 * base_rtt; }
    double most(const hybrid::SharePast& flow, Tick length) const override {
        return length % 3 == 0 ? 0 : flow.fair;
    }
    std::vector<hybrid::ShareDrawn> draw(const std::vector<hybrid::SharePast>& flows, Tick length,
                                         std::uint64_t occasion) override {
        const auto dice = [&](std::uint64_t which, std::uint32_t bound) {
            return uniform_below(occasion, static_cast<std::uint64_t>(length), which, bound);
        };
        std::vector<hybrid::ShareDrawn> drawn;
        const std::uint32_t kind = dice(0, 4);
        for (std::uint32_t i = 0; i < flows.size(); ++i) {
            const hybrid::SharePast& past = flows[i];
            CHECK(past.flows > 1);
            CHECK(past.rate >= 0);
            CHECK(past.fair * static_cast<double>(past.flows) <= past.line * 1.0001);
            switch (kind) {
                case 0: drawn.push_back({0, 0}); break;
                case 1: drawn.push_back({i == 0 ? 1.0 : 0, i == 0 ? 1.0 : 0}); break;
                case 2: drawn.push_back({past.rate, past.rate}); break;
                default: drawn.push_back({1.0 * dice(i, 1000), 1.0 * dice(i + 100, 1000)}); break;
            }
        }
        return drawn;
    }
};

class DrawsOnly final : public hybrid::ShareRestorer {
  public:
    explicit DrawsOnly(hybrid::ShareDrawn drawn) : drawn_(drawn) {}
    bool knows(const hybrid::SharePast&) const override { return true; }
    Tick longest(Tick base_rtt) const override { return 500 * base_rtt; }
    double most(const hybrid::SharePast& flow, Tick) const override { return flow.fair; }
    std::vector<hybrid::ShareDrawn> draw(const std::vector<hybrid::SharePast>& flows, Tick,
                                         std::uint64_t) override {
        return std::vector<hybrid::ShareDrawn>(flows.size(), drawn_);
    }

  private:
    hybrid::ShareDrawn drawn_;
};

/// Flows to host 0, over one port that all share.
Case crowd_case(std::uint32_t senders, std::int64_t size) {
    Case given;
    given.name = "crowd";
    StarParams params;
    params.hosts = senders + 1;
    given.topology = build_star(params);
    given.config = config_for(congestion::Law::hpcc);
    for (NodeId src = 1; src <= senders; ++src) {
        given.flows.push_back(flow(src, 0, size, src * 100 * kNanosecond));
    }
    assign_source_ports(given.flows);
    given.stop = kSecond;
    return given;
}

restore::DrawnShares learned(const Case& given, std::uint64_t seed = 1) {
    const congestion::Parameters& law = given.config.congestion;
    return {law, *restore::learned_shares(law.law), seed};
}

}  // namespace

TEST_CASE("unit.hybrid.contracts_hold_with_any_shares") {
    std::uint64_t rescaled = 0;
    WildShares wild;
    for_chained_cases(31'000, 300, RandomOptions{},
                      [&](std::uint64_t seed, Case& given, Application* application) {
                          PhaseConfig config = eager_phases();
                          config.scope =
                              seed % 4 == 0 ? PhaseScope::network : PhaseScope::partition;
                          rescaled += run_hybrid(given, config, Driver::windows, application, true,
                                                 false, nullptr, &wild)
                                          .rescaled;
                      });
    MESSAGE(rescaled << " laws woke with another share");
    CHECK(rescaled > 100);
}

TEST_CASE("unit.hybrid.engines_agree_on_shares") {
    std::uint64_t rescaled = 0;
    RandomOptions options;
    options.lossless = true;
    for_chained_cases(32'000, 80, options,
                      [&](std::uint64_t, Case& given, Application* application) {
                          given.config.buffer.size = Bytes{1 << 28};
                          WildShares wild;
                          const auto run = [&](Driver driver) {
                              return run_hybrid(given, eager_phases(), driver, application, false,
                                                false, nullptr, &wild);
                          };
                          const HybridOutcome windows = run(Driver::windows);
                          check_same(windows.outcome, run(Driver::oracle).outcome);
                          check_same(windows.outcome, run(Driver::clocks).outcome);
                          rescaled += windows.rescaled;
                      });
    CHECK(rescaled > 20);
}

TEST_CASE("unit.hybrid.what_is_no_share_is_refused") {
    constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    const Case given = crowd_case(4, 4'000'000);
    for (const hybrid::ShareDrawn drawn :
         {hybrid::ShareDrawn{kNoNumber, 1}, hybrid::ShareDrawn{1, kNoNumber},
          hybrid::ShareDrawn{kInfinite, 1}, hybrid::ShareDrawn{1, -1}}) {
        DrawsOnly draws(drawn);
        CHECK_THROWS_AS(run_hybrid(given, PhaseConfig{}, Driver::windows, nullptr, false, false,
                                   nullptr, &draws),
                        InternalError);
    }
}

TEST_CASE("unit.hybrid.a_crowd_sleeps_where_its_total_is_steady") {
    const Case given = crowd_case(8, 10'000'000);
    restore::DrawnShares shares = learned(given);
    const auto run = [&](hybrid::ShareRestorer* restorer) {
        return run_hybrid(given, PhaseConfig{}, Driver::windows, nullptr, true, false, nullptr,
                          restorer);
    };
    const HybridOutcome held = run(nullptr);
    const HybridOutcome drawn = run(&shares);
    MESSAGE(held.phases.hops_saved << " packet-hops saved, " << drawn.phases.hops_saved
                                   << " with drawn shares");
    CHECK(drawn.phases.hops_saved > 250'000);  // of 320,000
    CHECK(held.phases.hops_saved < 30'000);
    // Port 0's time is what it was: shares move, the total does not.
    const auto last = [](const HybridOutcome& outcome) {
        Tick end = 0;
        for (const FlowResult& result : outcome.outcome.flows) {
            end = std::max(end, result.finish);
        }
        return static_cast<double>(end);
    };
    CHECK(last(drawn) == doctest::Approx(last(held)).epsilon(0.01));
}

TEST_CASE("unit.hybrid.ports_that_are_not_known_are_held") {
    // 6.5 packets for each flow.
    const Case given = crowd_case(8, 4'000'000);
    const congestion::Parameters& law = given.config.congestion;
    const auto saved = [&](double least_packets) {
        restore::DrawnShares shares(law, *restore::learned_shares(law.law), 1, least_packets);
        return run_hybrid(given, PhaseConfig{}, Driver::windows, nullptr, false, false, nullptr,
                          &shares)
            .phases.hops_saved;
    };
    CHECK(saved(5) > 10 * saved(10));
}

TEST_CASE("unit.hybrid.shares_are_drawn_by_seed_and_place") {
    const Case given = crowd_case(8, 10'000'000);
    const auto run = [&](std::uint64_t seed) {
        restore::DrawnShares shares = learned(given, seed);
        return run_hybrid(given, PhaseConfig{}, Driver::windows, nullptr, false, false, nullptr,
                          &shares);
    };
    check_same(run(1).outcome, run(1).outcome);
    CHECK(run(1).outcome.flows[0].finish != run(2).outcome.flows[0].finish);
}
