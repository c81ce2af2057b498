// SPDX-License-Identifier: Apache-2.0
/// Whole scenarios: topology types, link events, names, the effective configuration.
#include <doctest/doctest.h>

#include <string>

#include "core/error.h"
#include "scenario/scenario.h"
#include "scenario/topology_section.h"
#include "tests/support/error_of.h"

using namespace sluice;

namespace {

Scenario parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return parse_scenario(text, "folder/test.toml", overrides);
}

std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return sluice::error_of([&] { parse(text, overrides); });
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

const std::string kStar = "[topology]\ntype = \"star\"\nhosts = 4\n";

}  // namespace

TEST_CASE("unit.scenario.every_topology_type_builds_its_default") {
    for (const std::string& type : topology_types()) {
        if (type == "file") continue;
        const Scenario scenario = parse("[topology]\ntype = \"" + type + "\"\n");
        CHECK(scenario.topology.host_count() >= 2);
    }
}

TEST_CASE("unit.scenario.topology_keys_reach_the_builder") {
    // k = 8: 8^3 / 4 = 128 hosts, 5/4 x 8^2 = 80 switches, 3 x 128 links.
    const Scenario tree = parse(
        "[topology]\ntype = \"fat-tree\"\nk = 8\nrate = \"400Gbps\"\ndelay = \"500ns\"\n"
        "fabric_rate = \"800Gbps\"\n");
    CHECK(tree.topology.host_count() == 128);
    CHECK(tree.topology.node_count() == 208);
    CHECK(tree.topology.links().size() == 384);
    CHECK(tree.topology.rate(0) == gigabits_per_second(400));
    CHECK(tree.topology.delay(0) == 500 * kNanosecond);
    CHECK(tree.topology.links().back().rate == gigabits_per_second(800));
    CHECK(tree.topology.links().back().delay == 500 * kNanosecond);
    // 128 GPUs: 8 rails, full bisection over 16 spines.
    const Scenario rail = parse("[topology]\ntype = \"rail-optimized\"\n");
    CHECK(rail.topology.host_count() == 128);
    CHECK(rail.topology.gpus_per_server == 8);
}

TEST_CASE("unit.scenario.servers_of_any_topology") {
    CHECK(parse(kStar + "gpus_per_server = 2\n").topology.gpus_per_server == 2);
    CHECK(contains(error_of(kStar + "gpus_per_server = [3, 2]\n"),
                   "adds up to 5 GPUs, the topology has 4 hosts"));
    CHECK(contains(error_of(kStar + "gpus_per_server = [4, 0]\n"), "gpus_per_server"));
}

TEST_CASE("unit.scenario.another_types_key_is_unknown") {
    CHECK(contains(error_of("[topology]\ntype = \"star\"\nk = 4\n"),
                   "folder/test.toml:3:1: unknown key \"k\" in [topology]"));
}

TEST_CASE("unit.scenario.builder_errors_get_a_place") {
    CHECK(contains(error_of("[topology]\ntype = \"fat-tree\"\nk = 3\n"),
                   "folder/test.toml:2:8: fat-tree: "));
}

TEST_CASE("unit.scenario.link_events_by_nodes_and_index") {
    // Star: hosts 0-3, switch 4, link i joins host i.
    const Scenario scenario = parse(kStar +
                                    "[[link_event]]\nat = \"2us\"\nlink = [4, 1]\nup = true\n"
                                    "[[link_event]]\nat = \"1us\"\nlink = 3\n");
    REQUIRE(scenario.link_events.size() == 2);
    CHECK(scenario.link_events[0].at == kMicrosecond);  // in order of time
    CHECK(scenario.link_events[0].link == 3);
    CHECK(!scenario.link_events[0].up);
    CHECK(scenario.link_events[1].link == 1);
    CHECK(scenario.link_events[1].up);
    CHECK(contains(error_of(kStar + "[[link_event]]\nat = \"1us\"\nlink = [0, 1]\n"),
                   "which no cable joins"));
    CHECK(contains(error_of(kStar + "[[link_event]]\nat = \"1us\"\n"), "'link' is missing"));
}

TEST_CASE("unit.scenario.name_mode_seed_stop_output") {
    const Scenario scenario = parse("name = \"n\"\nseed = 9\nstop = \"1ms\"\n" + kStar +
                                    "[output]\ndir = \"d\"\ntrace = false\nfct = true\n");
    CHECK(scenario.name == "n");
    CHECK(scenario.mode == Mode::wormhole);
    CHECK(scenario.network.seed == 9);
    CHECK(scenario.stop == kMillisecond);
    CHECK(scenario.output.directory == "d");
    CHECK(scenario.output.optional == std::vector<std::string>{"flows", "fct"});
    CHECK(parse(kStar).name == "test");  // the file's
    CHECK(parse(kStar).stop == kNever);
    CHECK(parse("mode = \"flow\"\n" + kStar).mode == Mode::flow);
    // What only packet mode has is asked for.
    CHECK(parse(kStar + "[network]\narithmetic = \"ns3\"\n").mode == Mode::packet);
    CHECK(parse(kStar + "[output]\nrecord_queues = true\n").mode == Mode::packet);
    CHECK(parse(kStar + "[output]\nrecord_queues = false\n").mode == Mode::wormhole);
    CHECK(
        error_of("mode = \"hybird\"\n" + kStar) ==
        "folder/test.toml:1:8: 'mode' is \"hybird\"; must be one of packet, hybrid, wormhole, flow "
        "(nearest: hybrid)");
    CHECK(contains(error_of("name = \"../x\"\n" + kStar), "slashes"));
}

TEST_CASE("unit.scenario.workload_tables_are_handed_on_unread") {
    Scenario one = parse(kStar + "[workload]\nanything = 1\n");
    REQUIRE(one.workloads.size() == 1);
    CHECK(one.workloads[0].has("anything"));
    Scenario two = parse(kStar + "[[workload]]\na = 1\n[[workload]]\nb = 1\n");
    REQUIRE(two.workloads.size() == 2);
    CHECK(two.workloads[1].has("b"));
}

TEST_CASE("unit.scenario.unknown_tables_are_refused_before_building") {
    // A k = 100 fat-tree takes seconds to build; the slip is found at once.
    CHECK(contains(error_of("[topolgy]\ntype = \"fat-tree\"\nk = 100\n"),
                   "did you mean \"topology\"?"));
}

TEST_CASE("unit.scenario.overrides_apply_in_order") {
    const Scenario scenario = parse(kStar, {"topology.hosts=8", "topology.hosts=6", "seed=3"});
    CHECK(scenario.topology.host_count() == 6);
    CHECK(scenario.network.seed == 3);
}

TEST_CASE("unit.scenario.effective_configuration_is_complete_json") {
    const Scenario scenario = parse(kStar);
    const std::string json = scenario.effective->json();
    for (const char* text : {"\"law\": \"hpcc\"", "\"additive_rate\": \"50Mbps\"",
                             "\"size\": \"32MiB\"", "\"hosts\": 4", "\"pfc\": true"}) {
        CHECK(contains(json, text));
    }
}

TEST_CASE("unit.scenario.settings_are_values_that_messages_name_by_their_option") {
    ConfigValue values = parse_config(kStar, "test.toml");
    set_config(values, "phases.skip", boolean_value(false), "--no-skip");
    set_config(values, "name", text_value("a \"b\" = c"), "--name");
    const Scenario scenario = make_scenario(values, "test.toml");
    CHECK_FALSE(scenario.phases.skip);
    CHECK(scenario.name == "a \"b\" = c");
    set_config(values, "topology.rate", text_value("fast"), "--rate");
    CHECK(contains(sluice::error_of([&] { make_scenario(values, "test.toml"); }), "--rate"));
}
