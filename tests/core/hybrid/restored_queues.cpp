// SPDX-License-Identifier: Apache-2.0
/// Queues that are changed as packets go on: whatever a restorer says, no byte is lost or made, no link
/// carries more than it can, and two engines agree.
#include <algorithm>
#include <limits>

#include "core/error.h"
#include "restore/empty_queues.h"
#include "restore/restorers.h"
#include "tests/support/hybrid_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// Says anything: nothing, as it was, some packets more or fewer, more than any buffer.
class WildRestorer final : public hybrid::Restorer {
  public:
    std::size_t looks() const override { return 5; }
    std::vector<double> depths(const std::vector<hybrid::PortPast>& ports) override {
        std::vector<double> wanted;
        for (const hybrid::PortPast& past : ports) {
            CHECK(past.depth.size() >= 1);
            CHECK(past.depth.size() <= looks());
            CHECK(past.flows > 0);
            CHECK(past.load <= 1.0001);
            const auto draw = [&](std::uint32_t bound) {
                return uniform_below(7, past.port, static_cast<std::uint64_t>(past.skipped), bound);
            };
            const double held = past.depth.back();
            switch (draw(5)) {
                case 0: wanted.push_back(0); break;
                case 1: wanted.push_back(held); break;
                case 2: wanted.push_back(held / 2); break;
                case 3: wanted.push_back(held + draw(40'000)); break;
                default: wanted.push_back(1e15); break;
            }
        }
        return wanted;
    }
};

class SaysOnly final : public hybrid::Restorer {
  public:
    explicit SaysOnly(double depth) : depth_(depth) {}
    std::size_t looks() const override { return 1; }
    std::vector<double> depths(const std::vector<hybrid::PortPast>& ports) override {
        return std::vector<double>(ports.size(), depth_);
    }

  private:
    double depth_;
};

/// Counts who asks, and says that queues are as they were, or deeper than any buffer.
class Counting final : public hybrid::Restorer {
  public:
    Counting(double frame, bool deep) : frame_(frame), deep_(deep) {}
    std::size_t looks() const override { return 8; }
    std::vector<double> depths(const std::vector<hybrid::PortPast>& ports) override {
        std::vector<double> wanted;
        for (const hybrid::PortPast& past : ports) {
            CHECK(*std::max_element(past.depth.begin(), past.depth.end()) >= frame_);
            wanted.push_back(deep_ ? 1e15 : past.depth.back());
        }
        asked += ports.size();
        return wanted;
    }
    std::uint64_t asked = 0;

  private:
    double frame_;
    bool deep_;
};

/// Every contract after every transition, over `count` cases.
hybrid::RestoredQueues check_contracts_of(std::uint64_t first, std::uint64_t count,
                                          hybrid::Restorer& restorer) {
    hybrid::RestoredQueues total;
    for_chained_cases(first, count, RandomOptions{},
                      [&](std::uint64_t seed, Case& given, Application* application) {
                          PhaseConfig config = eager_phases();
                          config.scope =
                              seed % 4 == 0 ? PhaseScope::network : PhaseScope::partition;
                          const HybridOutcome made = run_hybrid(
                              given, config, Driver::windows, application, true, false, &restorer);
                          total.delivered += made.restored.delivered;
                          total.given_back += made.restored.given_back;
                          total.placed += made.restored.placed;
                      });
    MESSAGE(total.delivered << " packets delivered besides, " << total.given_back << " given back, "
                            << total.placed << " placed");
    return total;
}

}  // namespace

TEST_CASE("unit.hybrid.contracts_hold_with_emptied_queues") {
    restore::EmptyQueues empty;
    const hybrid::RestoredQueues made = check_contracts_of(24'000, 200, empty);
    CHECK(made.delivered > 100);
    CHECK(made.given_back > 100);
    CHECK(made.placed == 0);
}

TEST_CASE("unit.hybrid.contracts_hold_with_any_queues") {
    WildRestorer wild;
    const hybrid::RestoredQueues made = check_contracts_of(25'000, 300, wild);
    CHECK(made.delivered > 30);
    CHECK(made.given_back > 100);
    CHECK(made.placed > 1000);
}

TEST_CASE("unit.hybrid.contracts_hold_with_predicted_queues") {
    hybrid::RestoredQueues total;
    PhaseConfig config = eager_phases();
    config.restore = Restoration::transformer;
    for_chained_cases(
        28'000, 40, RandomOptions{}, [&](std::uint64_t, Case& given, Application* application) {
            const congestion::Law law = given.config.congestion.law;
            if (law == congestion::Law::none) {
                CHECK_THROWS_AS(make_restorer(config, law), ConfigError);  // it was not made for it
                return;
            }
            const auto run = [&](Driver driver, bool check) {
                const auto restorer = make_restorer(config, law);
                return run_hybrid(given, config, driver, application, check, false, restorer.get());
            };
            const HybridOutcome made = run(Driver::windows, true);
            check_same(made.outcome, run(Driver::windows, false).outcome);
            total.given_back += made.restored.given_back + made.restored.delivered;
            total.placed += made.restored.placed;
        });
    MESSAGE(total.given_back << " packets taken out, " << total.placed << " placed");
    CHECK(total.given_back > 10);
    CHECK(total.placed > 10);
}

TEST_CASE("unit.hybrid.engines_agree_on_restored_queues") {
    hybrid::RestoredQueues total;
    RandomOptions options;
    options.lossless = true;
    for_chained_cases(
        26'000, 80, options, [&](std::uint64_t, Case& given, Application* application) {
            given.config.buffer.size = Bytes{1 << 28};
            const PhaseConfig config = eager_phases();
            WildRestorer wild;
            const auto run = [&](Driver driver) {
                return run_hybrid(given, config, driver, application, false, false, &wild);
            };
            const HybridOutcome windows = run(Driver::windows);
            const HybridOutcome oracle = run(Driver::oracle);
            check_same(windows.outcome, oracle.outcome);
            CHECK(windows.restored.placed == oracle.restored.placed);
            total.placed += windows.restored.placed;
            total.given_back += windows.restored.given_back;
        });
    CHECK(total.placed > 300);
    CHECK(total.given_back > 30);
}

TEST_CASE("unit.hybrid.what_is_no_depth_is_refused") {
    for (const double depth : {std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity(), -1.0}) {
        SaysOnly says(depth);
        bool refused = false;
        for_chained_cases(27'000, 20, RandomOptions{},
                          [&](std::uint64_t, Case& given, Application* application) {
                              try {
                                  run_hybrid(given, eager_phases(), Driver::windows, application,
                                             false, false, &says);
                              } catch (const InternalError&) {
                                  refused = true;
                              }
                          });
        CHECK(refused);
    }
}

TEST_CASE("unit.hybrid.what_restorers_were_asked_and_did_is_counted") {
    RestorationCounters deep;
    RestorationCounters held;
    for_chained_cases(
        29'000, 30, RandomOptions{}, [&](std::uint64_t, Case& given, Application* application) {
            // Ports where ACKs alone have waited are not asked.
            const auto frame = static_cast<double>(given.config.format.payload);
            for (RestorationCounters* sum : {&deep, &held}) {
                Counting counting(frame, sum == &deep);
                const HybridOutcome made = run_hybrid(given, eager_phases(), Driver::windows,
                                                      application, false, false, &counting);
                const RestorationCounters& counters = made.phases.restoration;
                CHECK(counters.asked == counting.asked);
                CHECK(counters.ports >= counters.asked);
                CHECK(counters.placed == made.restored.placed);
                CHECK(counters.taken_out == made.restored.delivered + made.restored.given_back);
                sum->ports += counters.ports;
                sum->asked += counters.asked;
                sum->moved += counters.moved;
            }
            const HybridOutcome without =
                run_hybrid(given, eager_phases(), Driver::windows, application);
            CHECK(without.phases.restoration.ports == 0);
        });
    CHECK(deep.asked > 20);
    CHECK(deep.ports > deep.asked);
    CHECK(deep.moved == deep.asked);
    CHECK(held.asked > 20);
    CHECK(held.moved == 0);
}
