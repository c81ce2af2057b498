// SPDX-License-Identifier: Apache-2.0
/// Weighted max-min rates: small cases worked out by hand, and random changes after each of which
/// the rates must satisfy the definition and equal those of filling the whole network anew.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "flowlevel/max_min.h"

using namespace sluice;
using namespace sluice::flowlevel;

namespace {

std::vector<LinkUse> over(const std::vector<std::uint32_t>& links) {
    std::vector<LinkUse> uses;
    for (const std::uint32_t link : links) {
        uses.push_back({link, 1});
    }
    return uses;
}

Demand weighted(double weight) {
    Demand demand;
    demand.weight = weight;
    return demand;
}

Demand capped(double cap) {
    Demand demand;
    demand.cap = cap;
    return demand;
}

Demand guaranteed(double minimum, double weight = 1) {
    Demand demand;
    demand.minimum = minimum;
    demand.weight = weight;
    return demand;
}

doctest::Approx about(double value) { return doctest::Approx(value).epsilon(1e-12); }

}  // namespace

TEST_CASE("unit.flowlevel.max_min.shares_follow_weights") {
    MaxMin net({12});
    const auto a = net.add(over({0}), weighted(1));
    const auto b = net.add(over({0}), weighted(2));
    const auto c = net.add(over({0}), weighted(3));
    net.update();
    CHECK(net.rate(a) == about(2));
    CHECK(net.rate(b) == about(4));
    CHECK(net.rate(c) == about(6));
    CHECK(net.bottleneck(a) == 0);
    net.remove(c);
    net.update();
    CHECK(net.rate(a) == about(4));
    CHECK(net.rate(b) == about(8));
}

TEST_CASE("unit.flowlevel.max_min.what_a_cap_leaves_is_shared") {
    MaxMin net({12});
    const auto a = net.add(over({0}), capped(1));
    const auto b = net.add(over({0}), {});
    const auto c = net.add(over({0}), {});
    net.update();
    CHECK(net.rate(a) == about(1));
    CHECK(net.bottleneck(a) == MaxMin::kNoLink);
    CHECK(net.rate(b) == about(5.5));
    CHECK(net.rate(c) == about(5.5));
    // Caps below the capacity leave the link without a level.
    net.remove(b);
    net.remove(c);
    net.update();
    CHECK(net.rate(a) == about(1));
    CHECK(net.link_level(0) == kUnlimited);
}

TEST_CASE("unit.flowlevel.max_min.parking_lot") {
    // A long flow over three links of 10; 1, 3 and 4 short ones. The last link gives 10/5 = 2 each,
    // the middle one then (10 - 2)/3, the first 10 - 2.
    MaxMin net({10, 10, 10});
    const auto far = net.add(over({0, 1, 2}), {});
    const auto first = net.add(over({0}), {});
    std::vector<MaxMin::Flow> middle;
    std::vector<MaxMin::Flow> last;
    for (int i = 0; i < 4; ++i) {
        last.push_back(net.add(over({2}), {}));
    }
    for (int i = 0; i < 3; ++i) {
        middle.push_back(net.add(over({1}), {}));
    }
    net.update();
    CHECK(net.rate(far) == about(2));
    CHECK(net.bottleneck(far) == 2);
    CHECK(net.rate(first) == about(8));
    CHECK(net.rate(middle[1]) == about(8.0 / 3));
    CHECK(net.rate(last[3]) == about(2));
    // Without the last link's own flows the middle one limits: 10/4, and the first gets 7.5.
    for (const auto flow : last) {
        net.remove(flow);
    }
    net.update();
    CHECK(net.rate(far) == about(2.5));
    CHECK(net.bottleneck(far) == 1);
    CHECK(net.rate(first) == about(7.5));
    CHECK(net.rate(middle[0]) == about(2.5));
    CHECK(net.link_level(2) == kUnlimited);
}

TEST_CASE("unit.flowlevel.max_min.a_change_runs_down_a_chain_and_no_further") {
    // Flows over links (0), (0,1), (1,2), (2), and one of its own on 3. Capacities 2, 4, 9, 5:
    // 1, 1; then 3; then 6; and 5. Link 0 at 4: 2, 2; then 2; then 7.
    MaxMin net({2, 4, 9, 5});
    const auto a = net.add(over({0}), {});
    const auto b = net.add(over({0, 1}), {});
    const auto c = net.add(over({1, 2}), {});
    const auto d = net.add(over({2}), {});
    const auto alone = net.add(over({3}), {});
    net.update();
    CHECK(net.rate(a) == about(1));
    CHECK(net.rate(b) == about(1));
    CHECK(net.rate(c) == about(3));
    CHECK(net.rate(d) == about(6));
    CHECK(net.rate(alone) == about(5));
    net.set_capacity(0, 4);
    net.update();
    CHECK(net.rate(b) == about(2));
    CHECK(net.rate(c) == about(2));
    CHECK(net.rate(d) == about(7));
    CHECK(net.changed().size() == 4);
    CHECK(std::count(net.changed().begin(), net.changed().end(), alone) == 0);
}

TEST_CASE("unit.flowlevel.max_min.minimum_first_then_the_rest_by_weight") {
    // HyGra eq. 3: 10 - 6 = 4 are left over for weights 1 and 3.
    MaxMin net({10});
    const auto a = net.add(over({0}), guaranteed(6, 1));
    const auto b = net.add(over({0}), guaranteed(0, 3));
    net.update();
    CHECK(net.rate(a) == about(7));
    CHECK(net.rate(b) == about(3));
    CHECK(net.level(a) == about(1));
}

TEST_CASE("unit.flowlevel.max_min.scarce_minimums_are_cut_in_proportion") {
    // 15 + 5 promised on 10: half of each, nothing for the flow that was promised nothing. The first
    // is held there, so the last one gets what it leaves of the second link: 10 - 7.5.
    MaxMin net({10, 10});
    const auto a = net.add(over({0, 1}), guaranteed(15));
    const auto b = net.add(over({0}), guaranteed(5));
    const auto none = net.add(over({0}), {});
    const auto c = net.add(over({1}), guaranteed(2));
    net.update();
    CHECK(net.rate(a) == about(7.5));
    CHECK(net.level(a) == about(-0.5));
    CHECK(net.rate(b) == about(2.5));
    CHECK(net.rate(none) == doctest::Approx(0));
    CHECK(net.rate(c) == about(2.5));
    net.remove(a);
    net.update();
    CHECK(net.rate(b) == about(7.5));
    CHECK(net.rate(none) == about(2.5));
    CHECK(net.rate(c) == about(10));
}

TEST_CASE("unit.flowlevel.max_min.a_dead_link_stops_its_flows_until_repaired") {
    MaxMin net({10, 10});
    const auto a = net.add(over({0, 1}), guaranteed(1));
    const auto b = net.add(over({1}), {});
    net.update();
    net.set_capacity(0, 0);
    net.update();
    CHECK(net.rate(a) == 0);
    CHECK(net.rate(b) == about(10));
    net.set_capacity(0, 4);
    net.update();
    CHECK(net.rate(a) == about(4));
    CHECK(net.rate(b) == about(6));
}

TEST_CASE("unit.flowlevel.max_min.coefficients_count_what_a_flow_puts_on_a_link") {
    // 2 r + r = 10.
    MaxMin one({10});
    const auto a = one.add({{0, 2}}, {});
    const auto b = one.add({{0, 1}}, {});
    one.update();
    CHECK(one.rate(a) == about(10.0 / 3));
    CHECK(one.rate(b) == about(10.0 / 3));
    CHECK(one.load(0) == about(10));
    // Two flows in opposite directions over one cable, data 1.048 and ACKs 0.06 per byte.
    MaxMin cable({100, 100});
    const auto there = cable.add({{0, 1.048}, {1, 0.06}}, {});
    const auto back = cable.add({{1, 1.048}, {0, 0.06}}, {});
    cable.update();
    CHECK(cable.rate(there) == about(100 / 1.108));
    CHECK(cable.rate(back) == about(100 / 1.108));
}

TEST_CASE("unit.flowlevel.max_min.refuses_impossible_demands") {
    MaxMin net({10});
    CHECK_THROWS_AS(net.add({}, {}), InternalError);
    CHECK_THROWS_AS(net.add(over({1}), {}), InternalError);
    CHECK_THROWS_AS(net.add({{0, 0}}, {}), InternalError);
    CHECK_THROWS_AS(net.add(over({0}), weighted(0)), InternalError);
    Demand demand = guaranteed(2);
    demand.cap = 1;
    CHECK_THROWS_AS(net.add(over({0}), demand), InternalError);
    CHECK_THROWS_AS(net.set_capacity(0, -1), InternalError);
    // A cap alone is enough.
    const auto flow = net.add({}, capped(3));
    net.update();
    CHECK(net.rate(flow) == about(3));
}

namespace {

struct Added {
    MaxMin::Flow handle;
    std::vector<LinkUse> links;
    Demand demand;
};

/// The definition: no link is overloaded, and each flow below its cap has a full link on which no
/// flow has a higher level.
void check_definition(const MaxMin& net, const std::vector<Added>& flows,
                      const std::vector<double>& capacities) {
    std::vector<double> load(capacities.size(), 0);
    std::vector<double> highest(capacities.size(), -1);
    for (const Added& flow : flows) {
        for (const LinkUse& use : flow.links) {
            load[use.link] += use.coefficient * net.rate(flow.handle);
            highest[use.link] = std::max(highest[use.link], net.level(flow.handle));
        }
    }
    bool feasible = true;
    for (std::size_t link = 0; link < load.size(); ++link) {
        feasible &= load[link] <= capacities[link] * (1 + 1e-9);
    }
    CHECK(feasible);
    bool justified = true;
    for (const Added& flow : flows) {
        const double level = net.level(flow.handle);
        bool found = net.rate(flow.handle) >= flow.demand.cap * (1 - 1e-9);
        for (const LinkUse& use : flow.links) {
            found |= load[use.link] >= capacities[use.link] * (1 - 1e-9) &&
                     level >= highest[use.link] - 1e-9 * (1 + std::abs(highest[use.link]));
        }
        justified &= found;
        const double expected = level <= 0 ? flow.demand.minimum * (1 + level)
                                           : flow.demand.minimum + flow.demand.weight * level;
        justified &= std::abs(expected - net.rate(flow.handle)) <= 1e-12 * (1 + expected);
    }
    CHECK(justified);
}

/// Random changes on `links` links; `rich` adds weights, caps, minimums, coefficients and failures.
void random_changes(std::uint64_t seed, std::uint32_t link_count, std::size_t flow_count,
                    int changes, bool rich) {
    std::uint64_t draws = 0;
    const auto below = [&](std::uint32_t bound) { return uniform_below(seed, 1, draws++, bound); };
    const auto unit = [&] { return uniform(seed, 1, draws++); };
    const auto capacity = [&] { return rich ? 1 + 99 * unit() : 100.0; };
    std::vector<double> capacities(link_count);
    std::generate(capacities.begin(), capacities.end(), capacity);
    MaxMin net(capacities);
    std::vector<Added> flows;
    std::vector<double> before;
    const auto add = [&] {
        Added flow;
        std::vector<std::uint32_t> links;
        for (std::uint32_t hops = 1 + below(6); hops > 0; --hops) {
            links.push_back(below(link_count));
        }
        std::sort(links.begin(), links.end());
        links.erase(std::unique(links.begin(), links.end()), links.end());
        for (const std::uint32_t link : links) {
            flow.links.push_back({link, rich ? 0.05 + 2 * unit() : 1});
        }
        if (rich) {
            flow.demand.weight = 0.1 + 5 * unit();
            flow.demand.minimum = below(3) == 0 ? 10 * unit() : 0;
            flow.demand.cap = below(3) == 0 ? flow.demand.minimum + 10 * unit() : kUnlimited;
        }
        flow.handle = net.add(flow.links, flow.demand);
        flows.push_back(std::move(flow));
    };
    double worst = 0;
    bool listed = true;
    for (int change = 0; change < changes; ++change) {
        for (std::uint32_t several = 1 + below(3); several > 0; --several) {
            const std::uint32_t kind = below(8);
            if (flows.size() < flow_count && (kind < 4 || flows.size() < flow_count / 2)) {
                add();
            } else if (!flows.empty() && kind < 7) {
                const std::uint32_t victim = below(static_cast<std::uint32_t>(flows.size()));
                net.remove(flows[victim].handle);
                flows[victim] = flows.back();
                flows.pop_back();
            } else if (rich) {
                const std::uint32_t link = below(link_count);
                capacities[link] = below(4) == 0 ? 0 : capacity();
                net.set_capacity(link, capacities[link]);
            }
        }
        before.assign(net.handle_limit(), 0);
        for (const Added& flow : flows) {
            before[flow.handle] = net.rate(flow.handle);
        }
        net.update();
        for (const Added& flow : flows) {
            const bool moved = net.rate(flow.handle) != before[flow.handle];
            listed &=
                !moved || std::count(net.changed().begin(), net.changed().end(), flow.handle) == 1;
        }
        check_definition(net, flows, capacities);
        MaxMin whole = net;
        whole.solve_all();
        for (const Added& flow : flows) {
            const double rate = whole.rate(flow.handle);
            worst = std::max(worst, std::abs(net.rate(flow.handle) - rate) / (rate + 1e-3));
        }
    }
    CHECK(listed);
    CHECK(worst < 1e-9);
    // It is the incremental way that was tested.
    CHECK(net.fillings() == 0);
}

}  // namespace

TEST_CASE("unit.flowlevel.max_min.random_changes_equal_filling_anew") {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        CAPTURE(seed);
        random_changes(seed, 40, 150, 1500, true);
    }
}

TEST_CASE("unit.flowlevel.max_min.random_changes_with_many_ties") {
    // Equal capacities, weights and coefficients: levels coincide all the time.
    for (std::uint64_t seed = 11; seed <= 13; ++seed) {
        CAPTURE(seed);
        random_changes(seed, 30, 120, 1500, false);
    }
}

TEST_CASE("unit.flowlevel.max_min.bulk_changes_take_the_other_way_to_the_same_rates") {
    // More at once than update() treats one by one.
    MaxMin bulk({100, 60, 80});
    MaxMin single({100, 60, 80});
    for (std::uint32_t i = 0; i < 300; ++i) {
        const std::vector<LinkUse> links = over({i % 3, (i + 1 + i % 2) % 3});
        const Demand demand = weighted(1 + i % 7);
        bulk.add(links, demand);
        single.add(links, demand);
        single.update();
    }
    bulk.update();
    CHECK(bulk.changed().size() == 300);
    CHECK(bulk.fillings() == 1);
    CHECK(single.fillings() == 0);
    double worst = 0;
    for (std::uint32_t i = 0; i < 300; ++i) {
        worst = std::max(worst, std::abs(bulk.rate(i) / single.rate(i) - 1));
    }
    CHECK(worst < 1e-10);
}
