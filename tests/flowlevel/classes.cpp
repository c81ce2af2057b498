// SPDX-License-Identifier: Apache-2.0
/// Traffic classes in flow mode: rates worked out by hand, and beside the packet engine.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/packet/policies/scheduler.h"
#include "core/routing/routing.h"
#include "flowlevel/class_shares.h"
#include "flowlevel/flow_run.h"
#include "tests/support/star_support.h"
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;
using flowlevel::FlowRun;

namespace {

constexpr double kGigabyte = 12.5e9 / 1e12;  ///< bytes per tick of 100 Gb/s

/// Without headers and ACKs, so that a byte of payload is a byte on the wire.
Case bare_star(std::int64_t hosts, Scheduler scheduler) {
    Case given = lawless_star(hosts);
    given.config.format.header = 0;
    given.config.format.ack = 0;
    given.config.queues.scheduler = scheduler;
    return given;
}

void add(Case& given, std::size_t from, std::size_t to, std::int64_t size, std::uint8_t priority,
         Tick start = 0) {
    const auto hosts = given.topology.hosts();
    FlowSpec spec = flow(hosts[from], hosts[to], size, start);
    spec.priority = priority;
    given.flows.push_back(spec);
}

/// When each flow's last byte was sent, us from its start.
std::vector<double> sent(const Case& given) {
    FlowRun run({given.topology, given.config, given.flows, given.paths, given.events, nullptr,
                 given.stop});
    run.run({});
    std::vector<double> times;
    for (const FlowResult& result : run.results()) {
        times.push_back(static_cast<double>(result.received - result.start) / kMicrosecond - 2.08);
    }
    return times;
}

double alone(double bytes) { return bytes / kGigabyte / kMicrosecond; }

}  // namespace

TEST_CASE("unit.flowlevel.classes.strict_priority_leaves_the_rest") {
    Case given = bare_star(4, Scheduler::strict_priority);
    add(given, 0, 3, 1'000'000, 2);
    add(given, 1, 3, 1'000'000, 1, 20 * kMicrosecond);
    add(given, 2, 3, 1'000'000, 3);
    const std::vector<double> times = sent(given);
    CHECK(times[1] == doctest::Approx(alone(1e6)).epsilon(1e-4));
    CHECK(times[0] == doctest::Approx(alone(2e6)).epsilon(1e-4));
    CHECK(times[2] == doctest::Approx(alone(3e6)).epsilon(1e-4));
}

TEST_CASE("unit.flowlevel.classes.deficit_round_robin_shares_by_weight_not_by_flow") {
    Case given = bare_star(5, Scheduler::deficit_round_robin);
    given.config.queues.weights[1] = 3;
    add(given, 0, 4, 750'000, 1);
    add(given, 1, 4, 500'000, 2);
    add(given, 2, 4, 500'000, 2);
    // 3 : 1 until the first is done; the two others have half of the quarter each, then of all.
    const std::vector<double> times = sent(given);
    CHECK(times[0] == doctest::Approx(alone(1e6)).epsilon(1e-4));
    CHECK(times[1] == doctest::Approx(alone(1e6) + alone(2 * 375'000)).epsilon(1e-4));
    CHECK(times[2] == doctest::Approx(times[1]).epsilon(1e-4));
}

TEST_CASE("unit.flowlevel.classes.what_a_class_does_not_take_is_left_to_others") {
    // Host 0 sends to two others: its class 1 flow into port 3 has half its NIC, below its share of 4/5.
    Case given = bare_star(5, Scheduler::deficit_round_robin);
    given.config.queues.weights[1] = 4;
    add(given, 0, 3, 500'000, 1);
    add(given, 0, 4, 500'000, 1);
    add(given, 1, 3, 1'000'000, 2);
    const std::vector<double> times = sent(given);
    CHECK(times[0] == doctest::Approx(alone(1e6)).epsilon(1e-4));
    CHECK(times[2] == doctest::Approx(alone(1.5e6)).epsilon(1e-4));
}

TEST_CASE("unit.flowlevel.classes.a_nic_serves_flows_in_turn_whatever_their_class") {
    Case given = bare_star(3, Scheduler::strict_priority);
    add(given, 0, 1, 500'000, 1);
    add(given, 0, 2, 500'000, 5);
    const std::vector<double> times = sent(given);
    CHECK(times[0] == doctest::Approx(alone(1e6)).epsilon(1e-4));
    CHECK(times[1] == doctest::Approx(alone(1e6)).epsilon(1e-4));
}

/// Packets without a law, held back by PFC.
TEST_CASE("unit.flowlevel.classes.packets_agree") {
    double worst = 0;
    double sum = 0;
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Dice dice(seed);
        Case given = lawless_star(6);
        given.config.queues.scheduler =
            dice.chance(50) ? Scheduler::strict_priority : Scheduler::deficit_round_robin;
        for (std::int32_t& weight : given.config.queues.weights) {
            weight = static_cast<std::int32_t>(1 + dice.below(4));
        }
        given.config.pfc = true;
        for (std::size_t from = 0; from < 4; ++from) {
            add(given, from, 4 + dice.below(2), 2'000'000 + dice.below(2'000'000),
                static_cast<std::uint8_t>(1 + dice.below(3)));
        }
        FlowRun fluid({given.topology, given.config, given.flows, given.paths, given.events,
                       nullptr, given.stop});
        fluid.run({});
        const Outcome packets = run_windows(given);
        for (std::size_t f = 0; f < given.flows.size(); ++f) {
            const auto time = [&](const FlowResult& result) {
                return static_cast<double>(result.finish - result.start);
            };
            const double error = std::abs(time(fluid.results()[f]) / time(packets.flows[f]) - 1);
            worst = std::max(worst, error);
            sum += error;
            ++count;
        }
    }
    MESSAGE("mean error " << sum / count << ", at most " << worst);
    CHECK(sum / count < 0.01);
    CHECK(worst < 0.05);
}

namespace {

/// Flows of a leaf-spine network that come and go.
class Churn {
  public:
    Churn(Dice& dice, const Topology& topology, const NetworkConfig& config)
        : dice_(dice),
          ports_(topology.port_count()),
          routing_(topology),
          net_(std::vector<double>(topology.port_count(), 1.0)),
          classes_(topology, config, net_) {}

    void change() {
        if (live_.size() > 20 || (!live_.empty() && dice_.chance(30))) {
            const std::size_t which = dice_.below(static_cast<std::uint32_t>(live_.size()));
            net_.remove(live_[which].handle);
            touch(live_[which].path);
            live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(which));
            return;
        }
        const NodeId src = dice_.below(16);
        const NodeId dst = (src + 1 + dice_.below(15)) % 16;
        const auto port = static_cast<std::uint16_t>(dice_.below(1 << 16));
        const std::vector<PortId> path = routing_.path({src, dst, port, 1});
        const auto priority = static_cast<std::uint8_t>(1 + dice_.below(4));
        std::vector<flowlevel::LinkUse> uses;
        for (const PortId hop : path) uses.push_back({classes_.link(hop, priority), 1.0});
        live_.push_back({net_.add(uses, {}), path});
        by_handle_.resize(std::max<std::size_t>(by_handle_.size(), live_.back().handle + 1));
        by_handle_[live_.back().handle] = path;
        touch(path);
    }
    /// Rounds until capacities and rates agree; kMostRounds if they do not.
    int settle() {
        net_.update();
        for (int round = 0; round < flowlevel::ClassShares::kMostRounds; ++round) {
            for (const flowlevel::MaxMin::Flow flow : net_.changed()) touch(by_handle_[flow]);
            if (!classes_.share(round)) return round + 1;
            net_.update();
        }
        return flowlevel::ClassShares::kMostRounds;
    }
    double largest_load() const {
        std::vector<double> load(ports_);
        for (const Live& one : live_) {
            for (const PortId port : one.path) load[port] += net_.rate(one.handle);
        }
        return *std::max_element(load.begin(), load.end());
    }

  private:
    struct Live {
        flowlevel::MaxMin::Flow handle;
        std::vector<PortId> path;
    };
    void touch(const std::vector<PortId>& path) {
        for (const PortId port : path) classes_.touch(port);
    }

    Dice& dice_;
    std::size_t ports_;
    Routing routing_;
    flowlevel::MaxMin net_;
    flowlevel::ClassShares classes_;
    std::vector<Live> live_;
    std::vector<std::vector<PortId>> by_handle_;
};

}  // namespace

TEST_CASE("unit.flowlevel.classes.capacities_and_rates_come_to_rest") {
    int all = 0;
    int restless = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Dice dice(seed);
        const Topology topology = build_leaf_spine({4, 2, 4, 1, {}, {}});
        NetworkConfig config = config_for(congestion::Law::none);
        config.queues.scheduler =
            dice.chance(50) ? Scheduler::strict_priority : Scheduler::deficit_round_robin;
        for (std::int32_t& weight : config.queues.weights) {
            weight = static_cast<std::int32_t>(1 + dice.below(6));
        }
        Churn churn(dice, topology, config);
        for (int step = 0; step < 80; ++step) {
            churn.change();
            const int rounds = churn.settle();
            all += rounds;
            restless += rounds == flowlevel::ClassShares::kMostRounds ? 1 : 0;
            REQUIRE(churn.largest_load() < 1.005);
        }
    }
    MESSAGE((all / 4800.0) << " rounds in the mean, " << restless << " of 4800 cut off");
    CHECK(restless < 24);
}
