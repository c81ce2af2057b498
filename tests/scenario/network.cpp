// SPDX-License-Identifier: Apache-2.0
/// [network] and [congestion]: defaults by law and NIC rate, every parameter settable, refusals.
#include <doctest/doctest.h>

#include <string>

#include "core/error.h"
#include "core/packet/policies/policies.h"
#include "scenario/combinations/combinations.h"
#include "scenario/network_section.h"
#include "scenario/scenario.h"
#include "tests/support/error_of.h"

using namespace sluice;

namespace {

const std::string kStar = "[topology]\ntype = \"star\"\nhosts = 4\n";

NetworkConfig network_of(const std::string& text) {
    return parse_scenario(kStar + text, "test.toml").network;
}

std::string error_of(const std::string& text) {
    return sluice::error_of([&] { parse_scenario(kStar + text, "test.toml"); });
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("unit.scenario.network_defaults_are_the_reference_at_100g") {
    const NetworkConfig network = network_of("");
    CHECK(network.congestion.law == congestion::Law::hpcc);
    CHECK(network.congestion.hpcc.additive_rate == 50'000'000);
    CHECK(network.format.payload == 1000);
    CHECK(network.format.header == 48);
    // 1090 B on the wire, ACKs of 88 B.
    CHECK(network.format.extra_header == 42);
    CHECK(network.format.ack == 88);
    CHECK(network.pfc);
    CHECK(network.buffer.size == mebibytes(32));
    REQUIRE(network.ecn.points.size() == 1);
    CHECK(network.ecn.points[0].kmin == Bytes{400'000});
    CHECK(network.ecn.points[0].kmax == Bytes{1'600'000});
    CHECK(network.ecn.points[0].pmax == 0.2);
    CHECK(network.seed == 1);
}

TEST_CASE("unit.scenario.packet_format_follows_the_law") {
    const NetworkConfig timely = network_of("[congestion]\nlaw = \"timely\"\n");
    CHECK(timely.format.extra_header == 8);  // its time stamp: 1056 B on the wire
    CHECK(timely.format.ack == 60);
    const NetworkConfig dcqcn = network_of("[congestion]\nlaw = \"dcqcn\"\n");
    CHECK(dcqcn.format.extra_header == 0);
    CHECK(!dcqcn.congestion.window);
    const NetworkConfig own = network_of("[network.packet]\nextra_header = 10\nack = \"64B\"\n");
    CHECK(own.format.extra_header == 10);
    CHECK(own.format.ack == 64);
}

TEST_CASE("unit.scenario.dctcp_marks_at_one_threshold") {
    const NetworkConfig network = network_of("[congestion]\nlaw = \"dctcp\"\n");
    CHECK(network.ecn.points[0].kmin == Bytes{300'000});
    CHECK(network.ecn.points[0].kmax == Bytes{300'000});
    CHECK(network.ecn.points[0].pmax == 1.0);
}

TEST_CASE("unit.scenario.defaults_scale_with_the_nic_rate") {
    const Scenario scenario =
        parse_scenario("[topology]\ntype = \"star\"\nrate = \"400Gbps\"\n", "test.toml");
    CHECK(scenario.network.buffer.size == mebibytes(128));
    CHECK(scenario.network.ecn.points[0].rate == gigabits_per_second(400));
    CHECK(scenario.network.ecn.points[0].kmin == Bytes{1'600'000});
    CHECK(scenario.network.ecn.points[0].kmax == Bytes{6'400'000});
    CHECK(scenario.network.congestion.hpcc.additive_rate == 200'000'000);
}

TEST_CASE("unit.scenario.the_unit_of_int_stays_below_a_frame") {
    // The reference's rate / 25 Gb/s would be 16, i.e. 2048 bytes; a frame of 1090 bytes holds 8
    // units of 128, one of 4186 bytes 32.
    const auto multiplier = [](const char* rate, const char* payload) {
        const std::string text = std::string("[topology]\ntype = \"star\"\nrate = \"") + rate +
                                 "\"\n[network]\npayload = " + payload + "\n";
        return parse_scenario(text, "test.toml").network.congestion.hpcc.int_multiplier;
    };
    CHECK(multiplier("100Gbps", "1000") == 4);
    CHECK(multiplier("200Gbps", "1000") == 8);
    CHECK(multiplier("400Gbps", "1000") == 8);
    CHECK(multiplier("400Gbps", "4096") == 16);
    CHECK(multiplier("400Gbps", "1") == 1);
}

TEST_CASE("unit.scenario.automatic_buffer_holds_twice_the_headroom") {
    // 2 ports, 3 x 12.5 GB/s x 10 ms = 375 MB of headroom and 4096 B of reserve each.
    const Scenario scenario =
        parse_scenario("[topology]\ntype = \"star\"\nhosts = 2\ndelay = \"10ms\"\n", "test.toml");
    CHECK(scenario.network.buffer.size == Bytes{2 * 2 * (375'000'000 + 4096)});
}

TEST_CASE("unit.scenario.every_law_parameter_is_settable") {
    const NetworkConfig h = network_of(
        "[congestion]\nlaw = \"hpcc\"\nmin_rate = \"2Gbps\"\npacing = false\nwindow = false\n"
        "variable_window = false\n[congestion.hpcc]\ntarget_utilization = 0.9\nmax_stage = 3\n"
        "additive_rate = \"10Mbps\"\nfast_reaction = false\nmulti_rate = true\n"
        "sample_feedback = true\nint_multiplier = 8\n");
    CHECK(h.congestion.min_rate == 2'000'000'000);
    CHECK((!h.congestion.pacing && !h.congestion.window && !h.congestion.variable_window));
    CHECK(h.congestion.hpcc.target_utilization == 0.9);
    CHECK(h.congestion.hpcc.max_stage == 3);
    CHECK(h.congestion.hpcc.additive_rate == 10'000'000);
    CHECK((!h.congestion.hpcc.fast_reaction && h.congestion.hpcc.multi_rate));
    CHECK((h.congestion.hpcc.sample_feedback && h.congestion.hpcc.int_multiplier == 8));
    const NetworkConfig d = network_of(
        "[congestion]\nlaw = \"dcqcn\"\n[congestion.dcqcn]\nalpha_interval = \"50us\"\n"
        "decrease_interval = \"50us\"\nincrease_interval = \"55us\"\ngain = 0.5\n"
        "fast_recovery_stages = 5\nadditive_rate = \"5Mbps\"\nhyper_rate = \"50Mbps\"\n"
        "clamp_target_rate = true\nrate_on_first_cnp = 0.5\n");
    CHECK(d.congestion.dcqcn.increase_interval == 55 * kMicrosecond);
    CHECK(d.congestion.dcqcn.rate_on_first_cnp == 0.5);
    const NetworkConfig t = network_of(
        "[congestion]\nlaw = \"timely\"\n[congestion.timely]\nt_low = \"10us\"\nt_high = \"90us\"\n"
        "min_rtt = \"5us\"\newma = 0.5\nbeta = 0.5\nadditive_rate = \"5Mbps\"\n"
        "hyper_rate = \"50Mbps\"\nhyper_after = 2\n");
    CHECK(t.congestion.timely.t_high == 90 * kMicrosecond);
    CHECK(t.congestion.timely.hyper_after == 2);
    const NetworkConfig c = network_of(
        "[congestion]\nlaw = \"dctcp\"\n[congestion.dctcp]\ngain = 0.5\nadditive_rate = "
        "\"5Mbps\"\n");
    CHECK(c.congestion.dctcp.gain == 0.5);
}

TEST_CASE("unit.scenario.devices_are_settable") {
    const NetworkConfig n = network_of(
        "[network]\nload_balance = \"spray\"\npayload = 4096\npfc = false\n"
        "[network.queues]\nack_strict_in_switch = true\nack_strict_at_host = false\n"
        "ack_pause_class = 0\nweights = [1, 2, 3, 4, 5, 6, 7]\n[network.nic]\nack_every = 4\n"
        "ack_chunk = 8\nback_to_zero = true\nnack_interval = \"1us\"\n"
        "retransmit_timeout = \"0s\"\nglobal_base_rtt = false\n[network.buffer]\nsize = \"4MiB\"\n"
        "reserve = \"1KiB\"\nheadroom_factor = 2.5\nalpha_shift = 1\nresume_offset = \"0B\"\n"
        "egress_alpha = 0.25\n");
    CHECK(n.load_balance == LoadBalance::spray);
    CHECK(n.sprayed_classes() == 0xff);
    const NetworkConfig some = network_of("[network]\nsprayed_priorities = [2, 7]\n");
    CHECK(some.sprayed_classes() == 0x84);
    CHECK((some.sprays(2) && !some.sprays(3)));
    CHECK(n.congestion.payload == 4096);
    CHECK(!n.pfc);
    CHECK((n.queues.weights[0] == 0 && n.queues.weights[1] == 1 && n.queues.weights[7] == 7));
    CHECK((n.nic.ack_every == 4 && n.nic.ack_chunk == 8 && n.nic.back_to_zero));
    CHECK((n.nic.retransmit_timeout == 0 && !n.nic.global_base_rtt));
    CHECK((n.buffer.size == mebibytes(4) && n.buffer.alpha_shift == 1));
}

TEST_CASE("unit.scenario.switch_policies_are_chosen_by_word") {
    const NetworkConfig by_default = network_of("");
    CHECK(by_default.buffer.admission == Admission::dynamic_threshold);
    CHECK(by_default.queues.scheduler == Scheduler::deficit_round_robin);
    CHECK(by_default.marking == Marking::red_marking);
    const NetworkConfig n = network_of(
        "[network.buffer]\nadmission = \"static\"\nstatic_threshold = \"100KiB\"\n"
        "[network.queues]\nscheduler = \"strict\"\n[network.ecn]\nmarking = \"threshold\"\n");
    CHECK(n.buffer.admission == Admission::static_threshold);
    CHECK(n.buffer.static_threshold == kibibytes(100));
    CHECK(n.queues.scheduler == Scheduler::strict_priority);
    CHECK(n.marking == Marking::threshold_marking);
    CHECK(contains(error_of("[network.buffer]\nadmission = \"static\"\n"), "static_threshold"));
    CHECK(contains(error_of("[network.buffer]\nadmission = \"fixed\"\n"), "dynamic, static"));
    CHECK(contains(error_of("[network.queues]\nscheduler = \"wfq\"\n"), "dwrr, strict"));
    CHECK(contains(error_of("[network.ecn]\nmarking = \"blue\"\n"), "red, threshold"));
}

TEST_CASE("unit.scenario.rule_keys_without_effect_are_named") {
    const auto unused = [](const std::string& text) {
        return keys_without_effect(parse_scenario(kStar + text, "test.toml"));
    };
    CHECK(
        unused("[network.buffer]\nadmission = \"static\"\nstatic_threshold = \"1KiB\"\n").empty());
    CHECK(unused("[network.buffer]\nstatic_threshold = \"1KiB\"\n") ==
          std::vector<std::string>{
              "network.buffer.static_threshold: the admission rule is another one"});
    CHECK(
        unused("[network.buffer]\nadmission = \"static\"\nstatic_threshold = \"1KiB\"\n"
               "alpha_shift = 1\n") ==
        std::vector<std::string>{"network.buffer.alpha_shift: the admission rule is another one"});
    CHECK(unused("[network.queues]\nscheduler = \"strict\"\nweights = [1, 1, 1, 1, 1, 1, 1]\n") ==
          std::vector<std::string>{"network.queues.weights: the scheduler is another one"});
    CHECK(unused("[congestion.dcqcn]\ngain = 0.5\n") ==
          std::vector<std::string>{"congestion.dcqcn.gain: the law is another one"});
}

TEST_CASE("unit.scenario.rule_what_flow_mode_ignores_is_named") {
    const auto unused = [](const std::string& text, const std::string& mode = "flow") {
        std::vector<std::string> keys =
            keys_without_effect(parse_scenario("mode = \"" + mode + "\"\n" + text, "test.toml"));
        for (std::string& key : keys) key.resize(key.find(':'));
        return keys;
    };
    using Keys = std::vector<std::string>;
    const std::string work = "[workload]\ntype = \"ring\"\n";
    const std::string tree =
        "[topology]\ntype = \"fat-tree\"\nloss = 0.1\nfabric_loss = 0.2\n" + work;
    CHECK(unused(tree) == Keys{"topology.loss", "topology.fabric_loss"});
    CHECK(unused(tree, "packet").empty());
    CHECK(unused("[topology]\ntype = \"dumbbell\"\nbottleneck_loss = 0.1\n" + work) ==
          Keys{"topology.bottleneck_loss"});
    CHECK(unused("[topology]\ntype = \"dragonfly\"\nlocal_loss = 0\nglobal_loss = 0.1\n" + work) ==
          Keys{"topology.local_loss", "topology.global_loss"});
    CHECK(unused("[topology]\ntype = \"spectrum-x\"\ngpus = 64\nnvlink_loss = 0.1\n"
                 "gpu_type = \"H100\"\n" +
                 work) == Keys{"topology.nvlink_loss", "topology.gpu_type"});
    // The seed of who draws nothing.
    const std::string seeded = "seed = 2\n" + kStar;
    CHECK(unused(seeded + work) == Keys{"seed"});
    CHECK(unused(seeded + work + "jitter = 0\n") == Keys{"seed"});
    CHECK(unused(seeded + work, "packet").empty());
    CHECK(unused("perturbation = 1\n" + seeded + work).empty());
    for (const char* drawn :
         {"type = \"ring\"\njitter = \"1us\"", "type = \"permutation\"", "type = \"incast\"",
          "type = \"poisson\"\ncdf = \"WebSearch\"",
          "type = \"collective\"\nplacement = \"random\"",
          "type = \"training\"\ncompute_jitter = 0.1", "type = \"training\"\nexpert_skew = 1",
          "type = \"stream\"\npattern = \"shift\""}) {
        CHECK(unused(seeded + "[workload]\n" + drawn + "\n").empty());
        CHECK(unused(seeded + "[[workload]]\ntype = \"ring\"\n[[workload]]\n" + drawn + "\n")
                  .empty());
    }
    CHECK(unused(seeded + "[workload]\ntype = \"training\"\nexpert_skew = 1\nexpert_seed = 3\n") ==
          Keys{"seed"});
    // Chunks are acknowledged at once where a loss goes back to their start.
    const std::string chunk = kStar + "[network.nic]\nback_to_zero = true\nack_chunk = 2\n" + work;
    CHECK(unused(chunk) == Keys{"network.nic.back_to_zero", "network.nic.ack_chunk"});
    CHECK(unused(chunk, "packet").empty());
}

TEST_CASE("unit.scenario.rule_fold_is_without_effect_where_nothing_folds") {
    const auto unused = [](const std::string& first, const std::string& last = "") {
        return keys_without_effect(
            parse_scenario("fold = false\n" + first + kStar + last, "test.toml"));
    };
    const std::vector<std::string> named{
        "fold: there is no symmetry reduction in this mode, with these phases and this arithmetic"};
    CHECK(unused("").empty());
    CHECK(unused("mode = \"flow\"\n") == named);
    CHECK(unused("mode = \"hybrid\"\n").empty());
    CHECK(unused("mode = \"hybrid\"\n", "[phases]\nscope = \"network\"\n") == named);
    CHECK(unused("mode = \"hybrid\"\n", "[phases]\nwake = \"data\"\n") == named);
    CHECK(unused("", "[network]\narithmetic = \"ns3\"\n") == named);
}

TEST_CASE("unit.scenario.law_ranges_stand_once") {
    const auto dcqcn = [](const std::string& key) {
        return error_of("[congestion]\nlaw = \"dcqcn\"\n[congestion.dcqcn]\n" + key + "\n");
    };
    CHECK(contains(dcqcn("rate_on_first_cnp = 0.0005"), "test.toml:7:21"));
    CHECK(contains(dcqcn("rate_on_first_cnp = 0.0005"), "0.001"));
    CHECK(contains(dcqcn("alpha_interval = \"2s\""), "test.toml:7:18"));
    CHECK(network_of("[congestion.dcqcn]\ngain = 0\n").congestion.dcqcn.gain == 0);
}

TEST_CASE("unit.scenario.ns3_refuses_what_it_cannot_mean") {
    const std::string ns3 = "[network]\narithmetic = \"ns3\"\n";
    CHECK(network_of(ns3).arithmetic == Arithmetic::ns3);
    CHECK(contains(error_of(ns3 + "[network.queues]\nweights = [1, 1, 2, 1, 1, 1, 1]\n"),
                   "by round robin of packets"));
    CHECK(contains(error_of(ns3 + "[network.nic]\nack_every = 2\n"), "never be acknowledged"));
    for (const char* policy :
         {"[network.queues]\nscheduler = \"strict\"\n", "[network.ecn]\nmarking = \"threshold\"\n",
          "[network.buffer]\nadmission = \"static\"\nstatic_threshold = \"1MiB\"\n"}) {
        CHECK(contains(error_of(ns3 + policy), "without network.buffer.admission"));
    }
}

TEST_CASE("unit.scenario.ecn_points_by_rate") {
    const NetworkConfig n = network_of(
        "[network.ecn]\npoints = [{rate = \"100Gbps\", kmin = \"1KB\", kmax = \"2KB\", pmax = 1},"
        " {rate = \"400Gbps\"}]\n");
    REQUIRE(n.ecn.points.size() == 2);
    CHECK(n.ecn.points[0].kmax == Bytes{2000});
    CHECK(n.ecn.points[1].kmin == Bytes{1'600'000});  // the default, at its rate
    CHECK(contains(error_of("[network.ecn]\nkmin = \"1KB\"\npoints = [{rate = \"1Gbps\"}]\n"),
                   "cannot be combined with 'points'"));
    CHECK(contains(error_of("[network.ecn]\npoints = [{rate = \"1Gbps\"}, {rate = \"1Gbps\"}]\n"),
                   "listed twice"));
}

TEST_CASE("unit.scenario.hpcc_refuses_more_than_eight_link_rates") {
    // INT names a port's rate with 3 bits.
    const ConfigValue empty = parse_config("[congestion]\nlaw = \"hpcc\"\n", "test.toml");
    EffectiveConfig effective;
    ConfigSection root(empty, effective);
    Topology nine;
    for (int i = 0; i < 9; ++i) nine.add_node(NodeKind::host);
    const NodeId hub = nine.add_node(NodeKind::ethernet);
    for (NodeId i = 0; i < 9; ++i) {
        nine.add_link({i, hub, gigabits_per_second(i + 1), kMicrosecond, 0});
    }
    nine.finish();
    CHECK_THROWS_WITH_AS(read_network(root, nine), doctest::Contains("at most 8"), ConfigError);
}

TEST_CASE("unit.scenario.network_refusals_have_their_place") {
    CHECK(contains(error_of("[congestion]\nlaw = \"tcp\"\n"), "test.toml:5:7: 'law' is \"tcp\""));
    CHECK(contains(error_of("[congestion]\nmin_rate = \"200Gbps\"\n"), "above the NIC rate"));
    CHECK(contains(error_of("[congestion.hpcc]\nmax_stag = 1\n"),
                   "unknown key \"max_stag\" in [congestion.hpcc]; did you mean \"max_stage\"?"));
    CHECK(contains(error_of("[congestion.timely]\nt_low = \"9ms\"\n"), "above t_high"));
    CHECK(contains(error_of("[network.nic]\nback_to_zero = true\nack_chunk = 0\n"), "ack_chunk"));
    CHECK(contains(error_of("[network.buffer]\nsize = \"64KiB\"\n"), "headroom"));
    CHECK(contains(error_of("[network.queues]\nack_pause_class = 8\n"), "from 0 to 7"));
}
