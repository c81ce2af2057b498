// SPDX-License-Identifier: Apache-2.0
/// What an event wakes where the scenario leaves it open: local phases where nothing would fold and they are known to
/// be right.
#include <doctest/doctest.h>

#include <string>

#include "experiment/build_experiment.h"

using namespace sluice;

namespace {

/// Of a training job on 32 GPUs, in mode wormhole; `more` are further tables and keys of [workload].
BuiltExperiment built_of(const std::string& topology, const std::string& law,
                         const std::string& more = "", const std::string& phases = "",
                         HostPorts ports = HostPorts::none) {
    Scenario scenario = parse_scenario("mode = \"wormhole\"\n[topology]\n" + topology +
                                           "gpus_per_server = 8\nrate = \"100Gbps\"\n"
                                           "[congestion]\nlaw = \"" +
                                           law + "\"\n[phases]\n" + phases +
                                           "[workload]\ntype = \"training\"\nmodel = \"gpt-13b\"\n"
                                           "tp = 8\ndp = 2\npp = 2\nsequence = 2048\n" +
                                           more,
                                       "job.toml");
    BuiltExperiment built = build_experiment(scenario, ports);
    const bool data = built.experiment.phases.wake == Wake::data;
    // What a run says of itself is what it does.
    CHECK((scenario.effective->json().find("\"wake\": \"data\"") != std::string::npos) == data);
    return built;
}

const std::string kOneSegment = "type = \"rail-optimized\"\ngpus = 32\nservers_per_segment = 4\n";
const std::string kTwoSegments = "type = \"rail-optimized\"\ngpus = 32\nservers_per_segment = 2\n";

Wake wake_of(const std::string& topology, const std::string& law, const std::string& more = "",
             const std::string& phases = "") {
    return built_of(topology, law, more, phases).experiment.phases.wake;
}

}  // namespace

TEST_CASE("unit.wake_choice.rings_below_one_switch_fold") {
    CHECK(wake_of(kOneSegment, "hpcc") == Wake::partition);
}

TEST_CASE("unit.wake_choice.ranks_that_differ_do_not") {
    const BuiltExperiment built = built_of(kOneSegment, "hpcc", "compute_jitter = 0.01\n");
    CHECK(built.experiment.phases.wake == Wake::data);
    CHECK(built.notes.back() == "phases.wake: data, because ranks compute for different times");
}

TEST_CASE("unit.wake_choice.messages_that_cross_spines_do_not") {
    const BuiltExperiment built = built_of(kTwoSegments, "hpcc");
    CHECK(built.experiment.phases.wake == Wake::data);
    CHECK(built.notes.back() == "phases.wake: data, because messages cross several switches");
}

TEST_CASE("unit.wake_choice.host_ports_leave_no_copies") {
    const auto wake = [](const char* law, const char* phases) {
        return built_of(kOneSegment, law, "", phases, HostPorts::attached).experiment.phases.wake;
    };
    CHECK(wake("hpcc", "") == Wake::data);
    CHECK(wake("dcqcn", "") == Wake::partition);
    CHECK(wake("hpcc", "wake = \"partition\"\n") == Wake::partition);
}

TEST_CASE("unit.wake_choice.what_is_asked_for_stands") {
    CHECK(wake_of(kTwoSegments, "hpcc", "", "wake = \"partition\"\n") == Wake::partition);
    CHECK(wake_of(kOneSegment, "hpcc", "", "wake = \"data\"\n") == Wake::data);
    CHECK(wake_of(kTwoSegments, "hpcc", "", "wake = \"data\"\n") == Wake::data);
}

TEST_CASE("unit.wake_choice.partitions_where_acks_must_be_packets") {
    CHECK(wake_of(kTwoSegments, "hpcc", "", "episodes = true\n") == Wake::partition);
    CHECK(wake_of(kTwoSegments, "hpcc", "", "scope = \"network\"\n") == Wake::partition);
    CHECK(wake_of(kTwoSegments, "hpcc", "", "restore = \"empty\"\n") == Wake::partition);
    CHECK(wake_of(kTwoSegments + "delay = \"10ns\"\n", "hpcc") == Wake::partition);
    CHECK(wake_of(kTwoSegments, "timely") == Wake::partition);
    CHECK(wake_of(kTwoSegments, "none") == Wake::partition);
}

TEST_CASE("unit.wake_choice.partitions_beside_other_flows_and_link_events") {
    CHECK(wake_of(kTwoSegments, "hpcc", "[[link_event]]\nat = \"1ms\"\nlink = 0\nup = true\n") ==
          Wake::partition);
    Scenario scenario =
        parse_scenario("mode = \"hybrid\"\n[topology]\n" + kTwoSegments +
                           "gpus_per_server = 8\nrate = \"100Gbps\"\n[[workload]]\ntype = "
                           "\"training\"\nmodel = \"gpt-13b\"\n"
                           "tp = 8\ndp = 2\npp = 2\nsequence = 2048\n"
                           "[[workload]]\ntype = \"flows\"\nlist = [[0, 9, \"1MB\", \"0us\"]]\n",
                       "both.toml");
    CHECK(build_experiment(scenario).experiment.phases.wake == Wake::partition);
}

TEST_CASE("unit.wake_choice.messages_are_long_by_their_round_trips") {
    CHECK(wake_of(kTwoSegments + "delay = \"2us\"\n", "hpcc") == Wake::data);
    CHECK(wake_of(kTwoSegments + "delay = \"1ms\"\n", "hpcc") == Wake::partition);
}

TEST_CASE("unit.wake_choice.what_packets_do_soon_partitions_do_soon_enough") {
    // 77 M packet-hops instead of 309 M.
    CHECK(wake_of(kTwoSegments, "hpcc", "[network]\npayload = 4096\n") == Wake::partition);
}

TEST_CASE("unit.wake_choice.short_messages_have_packets_for_acks") {
    Scenario scenario = parse_scenario(
        "mode = \"hybrid\"\n[topology]\n" + kTwoSegments +
            "gpus_per_server = 8\n[workload]\ntype = \"ring-all-reduce\"\nsize = \"1MB\"\n",
        "ring.toml");
    CHECK(build_experiment(scenario).experiment.phases.wake == Wake::partition);
}

TEST_CASE("unit.wake_choice.messages_of_an_exchange_are_long_together") {
    const auto wake_of_exchange = [](const std::string& size) {
        Scenario scenario = parse_scenario(
            "mode = \"hybrid\"\n[topology]\ntype = \"leaf-spine\"\nleaves = 4\nspines = 16\n"
            "hosts_per_leaf = 16\nrate = \"100Gbps\"\n[congestion]\nlaw = \"hpcc\"\n"
            "[workload]\ntype = \"all-to-all\"\nsize = \"" +
                size + "\"\n",
            "exchange.toml");
        return build_experiment(scenario).experiment.phases.wake;
    };
    // 63 messages a host: of 94 round trips each, and of 19.
    CHECK(wake_of_exchange("640MB") == Wake::data);
    CHECK(wake_of_exchange("128MB") == Wake::partition);
}

TEST_CASE("unit.wake_choice.modes_without_phases_say_nothing_of_it") {
    Scenario scenario = parse_scenario("mode = \"packet\"\n[topology]\n" + kTwoSegments +
                                           "gpus_per_server = 8\n[workload]\ntype = \"training\"\n"
                                           "model = \"gpt-7b\"\ntp = 8\ndp = 2\npp = 2\n",
                                       "job.toml");
    const BuiltExperiment built = build_experiment(scenario);
    for (const std::string& note : built.notes) {
        CHECK(note.find("phases.wake") == std::string::npos);
    }
}
