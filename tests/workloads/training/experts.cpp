// SPDX-License-Identifier: Apache-2.0
/// Exchange of tokens with experts: loads, bytes, node-limited routing.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "tests/support/training_support.h"
#include "workloads/training/expert_load.h"

using namespace sluice;
using namespace sluice::trained;

namespace {

double sum(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

TEST_CASE("unit.experts.shares_follow_zipf_and_keep_all_tokens") {
    // 4 experts, exponent 1: 1, 1/2, 1/3, 1/4 over 25/12.
    std::vector<double> shares = expert_shares({1.0, 7, 0}, 4, 1, 0);
    CHECK(sum(shares) == doctest::Approx(1));
    std::sort(shares.begin(), shares.end());
    CHECK(shares[3] == doctest::Approx(12.0 / 25));
    CHECK(shares[0] == doctest::Approx(3.0 / 25));
    // Even without skew; the same draw again; another layer, another order.
    for (const double share : expert_shares({0, 7, 0}, 8, 2, 0)) {
        CHECK(share == doctest::Approx(0.125));
    }
    CHECK(expert_shares({1.0, 7, 0}, 64, 8, 3) == expert_shares({1.0, 7, 0}, 64, 8, 3));
    CHECK(expert_shares({1.0, 7, 0}, 64, 8, 3) != expert_shares({1.0, 7, 0}, 64, 8, 4));
    CHECK(expert_shares({1.0, 7, 0}, 64, 8, 3) != expert_shares({1.0, 8, 0}, 64, 8, 3));
}

TEST_CASE("unit.experts.no_expert_is_chosen_twice_by_a_token") {
    // Exponent 3 over 8: the first would get 84% of the copies; with top 2 at most a half.
    for (const std::int64_t top_k : {1, 2, 4, 8}) {
        const std::vector<double> shares = expert_shares({3.0, 1, 0}, 8, top_k, 0);
        CHECK(sum(shares) == doctest::Approx(1));
        for (const double share : shares) {
            CHECK(share <= 1.0 / static_cast<double>(top_k) + 1e-12);
        }
    }
}

TEST_CASE("unit.experts.capacity_drops_what_is_above") {
    const std::vector<double> shares = expert_shares({1.0, 1, 1.25}, 4, 1, 0);
    // 12/25 is cut to 1.25 / 4; the others are below it.
    CHECK(*std::max_element(shares.begin(), shares.end()) == doctest::Approx(1.25 / 4));
    CHECK(sum(shares) == doctest::Approx(1 - 12.0 / 25 + 1.25 / 4));
}

TEST_CASE("unit.experts.capacity_below_the_mean_drops_of_an_even_load_too") {
    // Every expert takes half of what it would: half the messages' bytes.
    TrainingConfig config = small_mixture(4, 4);
    const auto bytes = [&] { return totals_of(training_graph(config, 4, 1))[OpClass::ep].bytes; };
    const std::int64_t all = bytes();
    config.expert_load.capacity = 0.5;
    CHECK(bytes() == all / 2);
}

TEST_CASE("unit.experts.parts_add_up_exactly") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const std::vector<double> shares = expert_shares({0.1 * seed, seed, 0}, 64, 8, 1);
        const std::int64_t total = 1'000'003 + 7919 * static_cast<std::int64_t>(seed);
        const std::vector<std::int64_t> parts = deal_bytes(total, member_shares(shares, 16));
        CHECK(parts.size() == 16);
        CHECK(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) == total);
        for (const std::int64_t part : parts) CHECK(part >= 0);
    }
}

TEST_CASE("unit.experts.visits_of_servers") {
    // 8 equal servers, at most 4 per token, 8 experts: half of the tokens visit each.
    const std::vector<double> equal(8, 0.125);
    for (const double visit : server_visits(equal, 4, 8)) CHECK(visit == doctest::Approx(0.5));
    // No more visits than copies: top 2 to 8 servers, 0.25 copies each.
    for (const double visit : server_visits(equal, 4, 2)) CHECK(visit == doctest::Approx(0.25));
    // A popular server is visited by all, the rest of 4 visits goes to the others.
    const std::vector<double> visits =
        server_visits({0.51, 0.07, 0.07, 0.07, 0.07, 0.07, 0.07, 0.07}, 4, 16);
    CHECK(visits[0] == doctest::Approx(1));
    CHECK(sum(visits) == doctest::Approx(4));
}

TEST_CASE("unit.experts.bytes_of_even_and_skewed_exchanges_are_equal") {
    // 2 layers, 4 exchanges, 8 ranks: each keeps 1 / 8 of 2 b s h k B.
    TrainingConfig config = small_mixture(8, 8);
    const std::int64_t buffer = 2 * 64 * 64 * 2;
    const std::int64_t even = totals_of(training_graph(config, 8, 1)).at(OpClass::ep).bytes;
    CHECK(even == 2 * 4 * 8 * (buffer - buffer / 8));
    config.expert_load = {1.2, 3, 0};
    const JobGraph skewed = training_graph(config, 8, 1);
    // What members keep for themselves is in sum the same: one share each.
    CHECK(totals_of(skewed).at(OpClass::ep).bytes ==
          doctest::Approx(static_cast<double>(even)).epsilon(1e-3));
    std::vector<std::int64_t> received(8, 0);
    for (const JobGraph::Message& message : skewed.messages()) {
        if (skewed.label(message.send).cls == OpClass::ep) {
            received[skewed.rank(message.recv)] += message.bytes;
        }
    }
    CHECK(*std::max_element(received.begin(), received.end()) >
          *std::min_element(received.begin(), received.end()));
    config.expert_load = {1.2, 4, 0};
    const JobGraph other = training_graph(config, 8, 1);
    bool differs = other.messages().size() != skewed.messages().size();
    for (std::size_t i = 0; !differs && i < skewed.messages().size(); ++i) {
        differs = other.messages()[i].bytes != skewed.messages()[i].bytes;
    }
    CHECK(differs);
}

TEST_CASE("unit.experts.the_popular_expert_computes_longer_and_all_wait") {
    // Free network. With top 1 of 8 experts on 8 ranks and exponent 1 the first one has
    // 8 / H(8) = 2.943 times the mean. The two layers' popular experts may lie on different ranks,
    // and everybody waits for them in either.
    TrainingConfig config = small_mixture(8, 8);
    config.model.top_k = 1;
    const Tick even = duration(config, true);
    CHECK(even == config.forward_time + config.backward_time);
    config.expert_load = {1.0, 1, 0};
    double harmonic = 0;
    for (int i = 1; i <= 8; ++i) harmonic += 1.0 / i;
    const LayerCosts layer = training_costs(config).stages[0].layers[0];
    const double share = layer.routed / (layer.attention + layer.mlp);
    const double stretched = 1 + share * (8 / harmonic - 1);
    CHECK(static_cast<double>(duration(config, true)) ==
          doctest::Approx(static_cast<double>(even) * stretched).epsilon(1e-3));
}

TEST_CASE("unit.experts.compute_of_all_ranks_together_does_not_depend_on_skew") {
    TrainingConfig config = small_mixture(8, 8);
    const auto busy = [&] {
        const JobGraph graph = training_graph(config, 8, 1);
        Tick total = 0;
        for (OpId op = 0; op < graph.op_count(); ++op) {
            if (graph.kind(op) == OpKind::compute) total += graph.duration(op);
        }
        return static_cast<double>(total);
    };
    const double even = busy();
    config.expert_load = {0.8, 5, 0};
    CHECK(busy() == doctest::Approx(even).epsilon(1e-6));
}

TEST_CASE("unit.experts.counts_travel_before_each_dispatch") {
    // 2 layers, an all-gather of 2 ep E t = 128 B over 8: 7 steps x 8 ranks of 16 B.
    TrainingConfig config = small_mixture(8, 8);
    const Totals without = totals_of(training_graph(config, 8, 1)).at(OpClass::ep);
    config.small_reductions = true;
    const Totals with = totals_of(training_graph(config, 8, 1)).at(OpClass::ep);
    CHECK(with.flows - without.flows == 2 * 7 * 8);
    CHECK(with.bytes - without.bytes == 2 * 7 * 128);
}

TEST_CASE("unit.experts.eight_bit_dispatch_shrinks_one_exchange_of_four") {
    TrainingConfig config = small_mixture(8, 8);
    const double even =
        static_cast<double>(totals_of(training_graph(config, 8, 1)).at(OpClass::ep).bytes);
    config.dispatch_factor = kEightBitDispatch;
    CHECK(static_cast<double>(totals_of(training_graph(config, 8, 1)).at(OpClass::ep).bytes) ==
          doctest::Approx(even * (3 + kEightBitDispatch) / 4).epsilon(1e-3));
}

TEST_CASE("unit.experts.node_limited_routing_sends_one_copy_per_server") {
    // 4 servers of 2, top 2 of 8 experts, at most 1 server per token: of a rank's s b tokens a
    // quarter visits each server, 3 of 4 leave, in 4 exchanges of 2 layers. Without the limit two
    // copies of each leave for 6 of 8 members.
    TrainingConfig config = small_mixture(8, 8);
    config.node_limit = 1;
    const std::int64_t tokens = 2 * 64 * 64;
    const JobGraph graph = training_graph(config, 8, 2);
    CHECK(totals_of(graph).at(OpClass::ep).bytes == 2 * 4 * 8 * (tokens * 3 / 4));
    for (const JobGraph::Message& message : graph.messages()) {
        if (graph.label(message.send).cls != OpClass::ep) continue;
        CHECK(graph.rank(message.send) % 2 == graph.rank(message.recv) % 2);
    }
    config.node_limit = 0;
    CHECK(totals_of(training_graph(config, 8, 2)).at(OpClass::ep).bytes ==
          2 * 4 * 8 * (2 * tokens * 6 / 8));
    // Where the group is one server the limit means nothing.
    config.node_limit = 1;
    CHECK(totals_of(training_graph(config, 8, 8)).count(OpClass::ep) == 0);
    CHECK(run(config, false, 2).application->complete());
}

TEST_CASE("unit.experts.dualpipe_hides_the_exchange_of_one_slot_behind_the_other") {
    // Two stages of one layer, ep 4: every slot has two exchanges. In 1F1B they are exposed, in
    // pairs each slot's are hidden behind the other's compute.
    TrainingConfig config = small_mixture(4, 4);
    config.pp = 2;
    config.micro_batches = 12;
    config.zero = 0;
    config.gradient_bytes = 1;
    config.forward_time = 40 * kMicrosecond;
    config.backward_time = 80 * kMicrosecond;
    config.weight_time = 40 * kMicrosecond;
    const Tick one_by_one = duration(config, false);
    config.schedule = PipelineSchedule::dualpipe;
    const Workload work = run(config, false);
    const JobGraph& graph = work.application->graph();
    CHECK(work.application->last_end() < one_by_one);
    // No backward of the last stage begins before its own forward has its tokens back.
    std::map<std::string, Tick> forward_end;
    for (OpId op = 0; op < graph.op_count(); ++op) {
        const std::string& name = graph.name(graph.label(op).name);
        if (graph.rank(op) == 0 && name.rfind("combine layer1 chunk1", 0) == 0) {
            Tick& end = forward_end[name.substr(name.find(" mb"))];
            if (graph.kind(op) == OpKind::delay) end = work.application->end(op);
        }
    }
    REQUIRE(forward_end.size() == 6);
    for (OpId op = 0; op < graph.op_count(); ++op) {
        const std::string& name = graph.name(graph.label(op).name);
        if (graph.rank(op) == 0 && name.rfind("gradient chunk1", 0) == 0) {
            CHECK(work.application->start(op) >= forward_end.at(name.substr(name.find(" mb"))));
        }
    }
}

TEST_CASE("unit.experts.gradients_of_experts_are_reduced_over_their_copies") {
    // ep 4 of dp 8: two copies of each expert.
    TrainingConfig config = small_mixture(4, 8);
    const StageCosts costs = training_costs(config).stages[0];
    const std::int64_t dense_bytes = 7 * 6 * costs.dense_parameters;
    const std::int64_t expert_bytes = 4 * 6 * costs.expert_parameters;
    CHECK(totals_of(training_graph(config, 8, 1)).at(OpClass::dp).bytes ==
          dense_bytes + expert_bytes);
    config.zero = 3;
    CHECK(totals_of(training_graph(config, 8, 1)).at(OpClass::dp).bytes ==
          (dense_bytes + expert_bytes) / 6 * 8);
    CHECK(run(config, false).application->complete());
}

namespace {

/// Two pipeline ranks of 8 lanes: TP2 x DP4, in expert groups of 4 (a GPU per server) or 8 (two).
TrainingConfig stage_mixture(std::uint32_t ep) {
    TrainingConfig config = small_mixture(ep, 4);
    config.model.layers = 8;
    config.tp = 2;
    config.pp = 2;
    config.micro_batches = 4;
    config.detail = TrainingDetail::stage;
    return config;
}

/// Bytes of class ep by (sender, receiver).
std::map<std::pair<RankId, RankId>, std::int64_t> exchanged(const JobGraph& graph) {
    std::map<std::pair<RankId, RankId>, std::int64_t> bytes;
    for (const JobGraph::Message& message : graph.messages()) {
        if (graph.label(message.send).cls != OpClass::ep) continue;
        bytes[{graph.rank(message.send), graph.rank(message.recv)}] += message.bytes;
    }
    return bytes;
}

}  // namespace

TEST_CASE("unit.experts.a_stage_exchanges_once_per_micro_batch_what_its_layers_do") {
    for (const std::uint32_t ep : {4U, 8U}) {
        for (const Recomputation recompute : {Recomputation::none, Recomputation::full}) {
            for (const PipelineSchedule schedule :
                 {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b,
                  PipelineSchedule::interleaved, PipelineSchedule::zb_h1,
                  PipelineSchedule::dualpipe}) {
                CAPTURE(ep);
                CAPTURE(to_string(schedule));
                TrainingConfig config = stage_mixture(ep);
                config.dispatch_factor = 0.5;
                config.recompute = recompute;
                config.schedule = schedule;
                config.chunks = schedule == PipelineSchedule::interleaved ? 2 : 1;
                REQUIRE(error_of(config, 16, 2).empty());
                const JobGraph stages = training_graph(config, 16, 2);
                // Forward and backward, 4 micro-batches, 2 stages (4 with chunks) of 8 lanes; a
                // group of 8 has a pair in each server, which is no flow.
                const std::size_t slots = 2 * 4 * 2 * config.chunks;
                CHECK(totals_of(stages).at(OpClass::ep).flows == slots * 8 * (ep == 4 ? 3 : 6));
                config.detail = TrainingDetail::layer;
                CHECK(exchanged(stages) == exchanged(training_graph(config, 16, 2)));
                config.detail = TrainingDetail::stage;
                CHECK(run(config, false, 2).application->complete());
            }
        }
    }
}

TEST_CASE("unit.experts.a_stage_computes_the_same_time_as_its_layers") {
    // Inside servers tensor parallelism of experts counts, too: over the ranks that share one.
    for (const std::uint32_t ep : {4U, 8U}) {
        for (const Recomputation recompute : {Recomputation::none, Recomputation::full}) {
            TrainingConfig config = stage_mixture(ep);
            config.forward_time = config.backward_time = config.weight_time = -1;
            config.peak_flops = 1e9;
            config.recompute = recompute;
            config.pp = 1;
            config.micro_batches = 2;
            const auto lasts = [&](TrainingDetail detail) {
                config.detail = detail;
                const JobGraph graph = training_graph(config, 8, 8);
                CHECK(graph.messages().empty());
                std::map<OpClass, Tick> spent;
                for (OpId op = 0; op < graph.op_count(); ++op) {
                    if (graph.rank(op) == 0) spent[graph.label(op).cls] += graph.duration(op);
                }
                return std::pair{spent[OpClass::compute], spent[OpClass::tp]};
            };
            const auto by_stage = lasts(TrainingDetail::stage);
            const auto by_layer = lasts(TrainingDetail::layer);
            CHECK(static_cast<double>(by_stage.first) ==
                  doctest::Approx(static_cast<double>(by_layer.first)).epsilon(1e-9));
            CHECK(static_cast<double>(by_stage.second) ==
                  doctest::Approx(static_cast<double>(by_layer.second)).epsilon(1e-9));
        }
    }
}

TEST_CASE("unit.experts.detail_is_layers_unless_stages_are_asked_for") {
    TrainingConfig config = stage_mixture(4);
    CHECK(training_detail(config, false) == TrainingDetail::stage);
    CHECK(training_detail(config, true) == TrainingDetail::layer);
    config.detail = TrainingDetail::automatic;
    CHECK(training_detail(config, false) == TrainingDetail::layer);
    // Layers without experts exchange nothing.
    config = stage_mixture(4);
    config.model.dense_layers = 4;
    const JobGraph graph = training_graph(config, 16, 2);
    for (const JobGraph::Message& message : graph.messages()) {
        if (graph.label(message.send).cls == OpClass::ep) CHECK(graph.rank(message.send) >= 8);
    }
}

TEST_CASE("unit.experts.what_a_sum_over_a_stage_cannot_show_is_refused") {
    const auto refused = [](const char* key, auto change) {
        TrainingConfig config = stage_mixture(4);
        change(config);
        CHECK(mentions(error_of(config), "detail = \"stage\""));
        CHECK(mentions(error_of(config), key));
    };
    refused("expert_skew", [](TrainingConfig& config) { config.expert_load.exponent = 1; });
    refused("expert_capacity", [](TrainingConfig& config) { config.expert_load.capacity = 0.5; });
    refused("node_limit", [](TrainingConfig& config) { config.node_limit = 1; });
    refused("small_reductions", [](TrainingConfig& config) { config.small_reductions = true; });
    refused("zero = 3", [](TrainingConfig& config) { config.zero = 3; });
    refused("cp", [](TrainingConfig& config) { config.cp = 2; });
    TrainingConfig config = stage_mixture(4);
    config.expert_load.capacity = 1.25;
    CHECK(error_of(config).empty());
}
