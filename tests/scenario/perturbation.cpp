// SPDX-License-Identifier: Apache-2.0
/// Cables that are longer by next to nothing.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "core/topology/limits.h"
#include "scenario/perturbation.h"
#include "scenario/scenario.h"
#include "tests/support/error_of.h"

using namespace sluice;

namespace {

const std::string kFatTree = "[topology]\ntype = \"fat-tree\"\nk = 4\ndelay = \"1us\"\n";

Scenario parse(const std::string& text) { return parse_scenario(text, "test.toml"); }

std::vector<Tick> delays(const Topology& topology) {
    std::vector<Tick> all;
    for (const Link& link : topology.links()) all.push_back(link.delay);
    return all;
}

}  // namespace

TEST_CASE("unit.perturbation.delays_grow_by_at_most_a_ten_thousandth") {
    CHECK(longest_perturbation(0) == 0);
    CHECK(longest_perturbation(1) == 1);
    CHECK(longest_perturbation(25'000) == 2);
    CHECK(longest_perturbation(kMicrosecond) == 100);
    CHECK(longest_perturbation(kMaxLinkDelay) == kMicrosecond);
    const Topology plain = parse(kFatTree).topology;
    const Topology longer = perturbed(plain, 1, 3);
    REQUIRE(longer.links().size() == plain.links().size());
    std::set<Tick> drawn;
    for (std::size_t i = 0; i < plain.links().size(); ++i) {
        const Link& before = plain.links()[i];
        const Link& after = longer.links()[i];
        CHECK(after.delay >= before.delay);
        CHECK(after.delay <= before.delay + 100);
        CHECK(after.a == before.a);
        CHECK(after.b == before.b);
        CHECK(after.rate.bits_per_second == before.rate.bits_per_second);
        CHECK(after.loss == before.loss);
        drawn.insert(after.delay - before.delay);
    }
    CHECK(drawn.size() > 20);  // 48 cables, 101 lengths
    CHECK(longer.name == plain.name);
    CHECK(longer.gpus_per_server == plain.gpus_per_server);
    CHECK(longer.hosts() == plain.hosts());
}

TEST_CASE("unit.perturbation.is_a_function_of_seed_and_number") {
    const Topology plain = parse(kFatTree).topology;
    CHECK(delays(perturbed(plain, 1, 0)) == delays(plain));
    CHECK(delays(perturbed(plain, 1, 3)) == delays(perturbed(plain, 1, 3)));
    CHECK(delays(perturbed(plain, 1, 3)) != delays(perturbed(plain, 1, 4)));
    CHECK(delays(perturbed(plain, 1, 3)) != delays(perturbed(plain, 2, 3)));
    Topology limits;
    limits.add_node(NodeKind::host);
    limits.add_node(NodeKind::host);
    limits.add_link({0, 1, gigabits_per_second(1), kMaxLinkDelay, 0});
    limits.add_link({0, 1, gigabits_per_second(1), 0, 0});
    limits.finish();
    CHECK(delays(perturbed(limits, 1, 1)) == delays(limits));
}

TEST_CASE("unit.perturbation.is_a_key_of_the_scenario") {
    const Scenario plain = parse(kFatTree);
    const Scenario third = parse("perturbation = 3\n" + kFatTree);
    CHECK(delays(third.topology) == delays(perturbed(plain.topology, 1, 3)));
    CHECK(delays(parse("perturbation = 0\n" + kFatTree).topology) == delays(plain.topology));
    CHECK(third.effective->json().find("\"perturbation\"") != std::string::npos);
    CHECK(plain.effective->json().find("perturbation") == std::string::npos);
    const auto refused = [](const std::string& text) { return error_of([&] { parse(text); }); };
    CHECK(refused("perturbation = -1\n" + kFatTree).find("test.toml:1:16") == 0);
    CHECK(refused("perturbation = 0.5\n" + kFatTree).find("integer") != std::string::npos);
    CHECK(refused("perturbation = 1\n" + kFatTree + "[network]\narithmetic = \"ns3\"\n")
              .find("\"exact\"") != std::string::npos);
    CHECK(refused("perturbation = 0\n" + kFatTree + "[network]\narithmetic = \"ns3\"\n") ==
          "no error");
}

TEST_CASE("unit.perturbation.the_network_draws_anew_and_workloads_do_not") {
    CHECK(perturbed_seed(5, 0) == 5);
    std::set<std::uint64_t> seeds;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        for (std::uint64_t number = 0; number < 8; ++number) {
            CHECK(perturbed_seed(seed, number) == perturbed_seed(seed, number));
            seeds.insert(perturbed_seed(seed, number));
        }
    }
    CHECK(seeds.size() == 32);
    const Scenario plain = parse("seed = 9\n" + kFatTree);
    const Scenario third = parse("seed = 9\nperturbation = 3\n" + kFatTree);
    CHECK(plain.seed == 9);
    CHECK(plain.network.seed == 9);
    CHECK(third.seed == 9);
    CHECK(third.network.seed == perturbed_seed(9, 3));
}
