// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "core/error.h"
#include "core/job/job_checks.h"
#include "core/job/job_report.h"
#include "core/job/workload.h"
#include "tests/support/training_support.h"
#include "workloads/training/training.h"
#include "workloads/training/training_costs.h"

using namespace sluice;
using trained::error_of;
using trained::mentions;
using trained::Totals;
using trained::totals_of;

namespace {

TrainingConfig gpt13b_on_128() {
    TrainingConfig config;
    config.model = preset("gpt-13b");
    config.tp = 8;
    config.dp = 4;
    config.pp = 4;
    config.micro_batches = 4;
    return config;
}

/// One GPU per stage or replica, compute only: nothing inside servers, given durations.
TrainingConfig bare(std::uint32_t dp, std::uint32_t pp, std::uint32_t micro_batches) {
    TrainingConfig config;
    config.model = preset("gpt-13b");
    config.dp = dp;
    config.pp = pp;
    config.micro_batches = micro_batches;
    config.forward_time = 3 * kMillisecond;
    config.backward_time = 5 * kMillisecond;
    return config;
}

}  // namespace

TEST_CASE("unit.training.gpt13b_on_128_gpus_has_1536_flows_and_233_gb") {
    // P = 12,851,128,320 / (tp 8 x pp 4) = 401,597,760 parameters per rank. Rings of 4: a step
    // moves a quarter, 4 B x P / 4 = 401,597,760 B reduce-scattered, 2 B x P / 4 = 200,798,880 B
    // gathered; 3 steps of each on 128 ranks: 768 flows.
    // Boundaries: 3 x 32 pairs x 4 micro-batches x 2 directions = 768 flows of
    // 2 x 2048 x 5120 / 8 = 2,621,440 B.
    const JobGraph graph = training_graph(gpt13b_on_128(), 128, 8);
    const std::map<OpClass, Totals> totals = totals_of(graph);
    REQUIRE(totals.size() == 2);
    CHECK(totals.at(OpClass::dp).flows == 768);
    CHECK(totals.at(OpClass::pp).flows == 768);
    CHECK(graph.messages().size() == 1536);
    CHECK(totals.at(OpClass::dp).bytes == 128LL * 3 * (401'597'760 + 200'798'880));
    CHECK(totals.at(OpClass::pp).bytes == 768LL * 2'621'440);
    CHECK(totals.at(OpClass::dp).bytes + totals.at(OpClass::pp).bytes == 233'333'575'680);
    std::map<std::int64_t, std::size_t> sizes;
    for (const JobGraph::Message& message : graph.messages()) ++sizes[message.bytes];
    CHECK(sizes == std::map<std::int64_t, std::size_t>{
                       {401'597'760, 384}, {200'798'880, 384}, {2'621'440, 768}});
    // Rings run over the replicas: rank +- tp within a stage; boundaries: rank +- tp x dp.
    for (const JobGraph::Message& message : graph.messages()) {
        const RankId from = graph.rank(message.send);
        const RankId to = graph.rank(message.recv);
        CHECK(from % 8 == to % 8);
        const bool boundary = message.bytes == 2'621'440;
        CHECK((from / 32 != to / 32) == boundary);
    }
    // 2 stages x ... 4 x 8 reduce-scatters and as many all-gathers, and one per boundary message.
    CHECK(graph.collectives().size() == 32 + 32 + 768);
}

TEST_CASE("unit.training.gpt13b_runs_to_completion_and_in_the_same_times_in_windows") {
    TrainingConfig config = gpt13b_on_128();
    Workload work = make_workload(training_graph(config, 128, 8), fake::hosts(128));
    fake::Engine(*work.application, work.flows, 128).run();
    REQUIRE(work.application->complete());
    std::vector<Tick> ends;
    for (OpId op = 0; op < work.application->graph().op_count(); ++op) {
        ends.push_back(work.application->end(op));
    }
    fake::Engine(*work.application, work.flows, 128).run_windows(true);
    bool same = true;
    for (OpId op = 0; op < ends.size(); ++op) same = same && work.application->end(op) == ends[op];
    CHECK(same);
}

TEST_CASE("unit.training.bubble_of_1f1b_with_free_communication") {
    // Boundary messages are free here: 1 byte in 80 ps over links without delay. Then an
    // iteration lasts (m + p - 1)(tF + tB): work m (tF + tB), bubble (p - 1)(tF + tB).
    for (const std::uint32_t p : {1U, 2U, 4U, 8U}) {
        for (const std::uint32_t m : {1U, 4U, 9U}) {
            TrainingConfig config = bare(1, p, m);
            const JobGraph graph = training_graph(config, p, 1);
            Workload work = make_workload(graph, fake::hosts(p));
            for (FlowSpec& flow : work.flows) flow.size = 0;
            fake::Engine(*work.application, work.flows, p, 0).run();
            REQUIRE(work.application->complete());
            CHECK(work.application->last_end() ==
                  Tick{m + p - 1} * (3 * kMillisecond + 5 * kMillisecond));
        }
    }
}

TEST_CASE("unit.training.pipeline_waits_for_its_messages") {
    // 2 stages, 1 micro-batch: F, message, F, B, message, B; a message is 2 x 2048 x 5120 B.
    TrainingConfig config = bare(1, 2, 1);
    Workload work = make_workload(training_graph(config, 2, 1), fake::hosts(2));
    fake::Engine(*work.application, work.flows, 2).run();
    const Tick message = 20'971'520 * fake::kTicksPerByte + kMicrosecond;
    Tick last_backward = 0;
    for (OpId op = 0; op < work.application->graph().op_count(); ++op) {
        if (work.application->graph().kind(op) == OpKind::compute) {
            last_backward = std::max(last_backward, work.application->end(op));
        }
    }
    CHECK(last_backward == 2 * 8 * kMillisecond + 2 * message);
}

TEST_CASE("unit.training.update_follows_the_last_backward") {
    // dp 2: reduce-scatter one step of 4 B x P / 2, optimizer, all-gather one step of 2 B x P / 2.
    TrainingConfig config = bare(2, 1, 3);
    config.optimizer_time = 7 * kMillisecond;
    Workload work = make_workload(training_graph(config, 2, 1), fake::hosts(2));
    fake::Engine(*work.application, work.flows, 2).run();
    const Tick half = 12'851'128'320 / 2;
    const std::vector<CollectiveSpan> spans = collective_spans(*work.application);
    REQUIRE(spans.size() == 2);
    const Tick backward_end = 3 * 8 * kMillisecond;
    const Tick scattered = backward_end + 4 * half * fake::kTicksPerByte + kMicrosecond;
    CHECK(spans[0].start == backward_end);
    CHECK(spans[1].start == scattered + 7 * kMillisecond);
    // The last acknowledgement is a latency later than the last byte.
    CHECK(spans[1].end == spans[1].start + 2 * half * fake::kTicksPerByte + 2 * kMicrosecond);
}

TEST_CASE("unit.training.compute_time_formula") {
    // Stage of 10 layers at tp 8: 10 x 24 b s h^2 (1 + s/6h) + 2 b s h V / 4 FLOPs over
    // 8 x 312e12 x 0.5, plus per layer four exchanges of 20 MiB x 7/8 at 240 GB/s + 11.8 us.
    TrainingConfig config = gpt13b_on_128();
    TrainingCosts costs = training_costs(config);
    const double h = 5120;
    const double s = 2048;
    const double flops = 10 * 24 * s * h * h * (1 + s / (6 * h)) + 2 * s * h * 50257 / 4;
    const double exchange = 20'971'520.0 * 7 / 8 / 240e9 + 11.8e-6;
    const auto forward = [&] {
        return static_cast<double>(costs.stages[0].forward + costs.stages[0].forward_tensor);
    };
    const auto backward = [&] {
        return static_cast<double>(costs.stages[0].backward + costs.stages[0].backward_tensor);
    };
    CHECK(forward() ==
          doctest::Approx((flops / (8 * 312e12 * 0.5) + 40 * exchange) * 1e12).epsilon(1e-9));
    CHECK(backward() ==
          doctest::Approx((2 * flops / (8 * 312e12 * 0.5) + 60 * exchange) * 1e12).epsilon(1e-9));
    config.nvlink_bytes_per_second = 0;
    config.nvlink_latency = 0;
    costs = training_costs(config);
    CHECK(backward() == doctest::Approx(2 * forward()).epsilon(1e-9));
    config.forward_time = 5;
    config.backward_time = 0;
    CHECK(training_costs(config).stages[3].forward == 5);
    CHECK(training_costs(config).stages[3].backward == 0);
}

TEST_CASE("unit.training.expert_groups_of_128_gpus") {
    // ep 8 over dp 4: 4 replicas x 2 tensor ranks, so at most 2 of 8 share a server of 8.
    TrainingConfig config = gpt13b_on_128();
    config.model = preset("moe-8x13b");
    config.ep = 8;
    const LaneGroups groups = ParallelGroups(config).experts();
    CHECK(groups.size() == 4);
    CHECK(groups[1] == LaneGroup{2, 3, 10, 11, 18, 19, 26, 27});
    std::set<Lane> all;
    for (const LaneGroup& group : groups) all.insert(group.begin(), group.end());
    CHECK(all.size() == 32);
    // ep 8 within dp 16: 8 neighbouring replicas at one tensor index.
    config.dp = 16;
    CHECK(ParallelGroups(config).experts().size() == 16);
    CHECK(ParallelGroups(config).experts()[8] == LaneGroup{64, 72, 80, 88, 96, 104, 112, 120});
}

TEST_CASE("unit.training.moe_8x13b_on_128_gpus") {
    // Per stage 10 layers x 4 exchanges x 4 micro-batches over 32 ranks x 7 peers; one peer of 7
    // is in the same server and analytic. A part is 2 x 2048 x 5120 x 2 / 8 / 8 = 655,360 B.
    TrainingConfig config = gpt13b_on_128();
    config.model = preset("moe-8x13b");
    config.ep = 8;
    const JobGraph graph = training_graph(config, 128, 8);
    const std::map<OpClass, Totals> totals = totals_of(graph);
    CHECK(totals.at(OpClass::ep).flows == 4 * 10 * 4 * 4 * 32 * 6);
    CHECK(totals.at(OpClass::ep).bytes == 4LL * 10 * 4 * 4 * 32 * 6 * 655'360);
    CHECK(totals.at(OpClass::pp).flows == 768);
    // Experts have no replica (ep >= dp): only dense gradients are reduced.
    CHECK(totals.at(OpClass::dp).flows == 768);
    const ParameterCount count = count_parameters(config.model);
    CHECK(training_costs(config).stages[0].dense_parameters == (count.dense + 31) / 32);
    CHECK(training_costs(config).stages[0].expert_parameters == count.experts / 128);
    // The pair inside a server: 11.8 us + 655,360 B / 240 GB/s, well above a 1 us lookahead.
    check_signals(graph, kMicrosecond);
    std::size_t signals = 0;
    for (OpId op = 0; op < graph.op_count(); ++op) {
        if (graph.kind(op) != OpKind::signal) continue;
        ++signals;
        CHECK(graph.duration(op) == 11'800'000 + 2'730'667);
        CHECK(graph.rank(op) / 8 == graph.rank(graph.target(op)) / 8);
    }
    CHECK(signals == 4 * 10 * 4 * 4 * 32);
}

TEST_CASE("unit.training.mixture_computes_the_same_time_as_one_block") {
    // Exchanges cost nothing but NVLink's latency in one server: ep 2 = dp 2, both GPUs together.
    // Per rank: m (tF + tB) of compute, and 4 exchanges of 2 us per layer and micro-batch.
    TrainingConfig config = bare(2, 1, 2);
    config.model = preset("moe-8x13b");
    config.ep = 2;
    config.nvlink_bytes_per_second = 0;
    config.nvlink_latency = 2 * kMicrosecond;
    config.forward_time = 3 * kMillisecond + 17;
    Workload work = make_workload(training_graph(config, 2, 2), fake::hosts(2));
    fake::Engine(*work.application, work.flows, 2).run();
    REQUIRE(work.application->complete());
    const JobGraph& graph = work.application->graph();
    Tick busy = 0;
    Tick last = 0;
    for (OpId op = 0; op < graph.op_count(); ++op) {
        if (graph.kind(op) != OpKind::compute || graph.rank(op) != 0) continue;
        busy += graph.duration(op);
        last = std::max(last, work.application->end(op));
    }
    CHECK(busy == 2 * (8 * kMillisecond + 17));
    CHECK(last == busy + 2 * 40 * 4 * 2 * kMicrosecond);
}

TEST_CASE("unit.training.moe_32x22b_reduces_experts_over_dp_by_ep") {
    // Wormhole's largest, 1024 GPUs TP8-EP8-DP16-PP8, one micro-batch here: dense rings of 16,
    // expert rings of 16 / 8 = 2: per rank 2 x 15 + 2 x 1 flows.
    TrainingConfig config;
    config.model = preset("moe-32x22b");
    config.tp = 8;
    config.ep = 8;
    config.dp = 16;
    config.pp = 8;
    const JobGraph graph = training_graph(config, 1024, 8);
    const std::map<OpClass, Totals> totals = totals_of(graph);
    CHECK(totals.at(OpClass::dp).flows == 1024 * (2 * 15 + 2));
    CHECK(totals.at(OpClass::ep).flows == 1024 * 6 * 4 * 7);
    // Dense 0.47 GB, experts 0.91 GB of gradients per rank in a table with tp 8, pp 8,
    // ep 32; here ep 8, so four times the experts.
    const TrainingCosts costs = training_costs(config);
    CHECK(static_cast<double>(costs.stages[0].dense_parameters) * 4 ==
          doctest::Approx(0.47e9).epsilon(0.02));
    CHECK(static_cast<double>(costs.stages[0].expert_parameters) * 4 ==
          doctest::Approx(4 * 0.91e9).epsilon(0.01));
    CHECK(costs.dispatch_bytes == 6 << 20);
    CHECK(costs.boundary_bytes == 3 << 20);
}

TEST_CASE("unit.training.table_1_configurations_build") {
    struct Row {
        const char* model;
        std::uint32_t gpus, ep, dp, pp;
    };
    for (const Row& row : {Row{"gpt-7b", 64, 1, 4, 2}, Row{"mixtral-8x7b", 64, 8, 4, 2},
                           Row{"gpt-22b", 256, 1, 8, 4}, Row{"moe-8x22b", 256, 8, 8, 4},
                           Row{"gpt-175b", 1024, 1, 16, 8}}) {
        CAPTURE(row.model);
        TrainingConfig config;
        config.model = preset(row.model);
        config.tp = 8;
        config.ep = row.ep;
        config.dp = row.dp;
        config.pp = row.pp;
        config.micro_batches = row.pp;
        const JobGraph graph = training_graph(config, row.gpus, 8);
        CHECK(graph.rank_count() == row.gpus);
        const std::size_t dp_flows = std::size_t{row.gpus} * 2 * (row.dp - 1);
        CHECK(totals_of(graph).at(OpClass::dp).flows == dp_flows);
        CHECK(totals_of(graph).at(OpClass::pp).flows ==
              std::size_t{8} * row.dp * (row.pp - 1) * row.pp * 2);
    }
}

TEST_CASE("unit.training.refuses_groups_that_do_not_fit") {
    const TrainingConfig good = gpt13b_on_128();
    CHECK(error_of(good).empty());
    CHECK(error_of(good, 256).empty());
    CHECK(mentions(error_of(good, 127), "needs more GPUs than the topology's 127"));
    CHECK(mentions(error_of(good, 128, 4), "inside a server of 4 GPUs, allowed are 1, 2, 4"));
    CHECK_FALSE(error_of(good, 128, 0).empty());
    TrainingConfig bad = good;
    bad.pp = 3;
    CHECK(mentions(error_of(bad), "layers 40 is not divisible by pp 3"));
    CHECK(mentions(error_of(bad), "pp may be 1, 2, 4, 5, 8, 10, 20, 40"));
    bad = good;
    bad.tp = 3;
    CHECK(mentions(error_of(bad), "allowed are 1, 2, 4, 8"));
    bad = good;
    bad.sequence = 2047;
    CHECK(mentions(error_of(bad), "sequence 2047 is not divisible by tp 8"));
    bad = good;
    bad.ep = 2;
    CHECK(mentions(error_of(bad), "has no experts"));
    bad = good;
    bad.model = preset("moe-8x13b");
    bad.ep = 3;
    CHECK(
        mentions(error_of(bad), "ep 3 does not fit: ep must divide the 8 experts, and divide dp "));
    bad.ep = 8;
    bad.dp = 3;
    CHECK(mentions(error_of(bad), "dp 3 or be dp times a divisor of tp 8: allowed are 1"));
    bad.dp = 12;
    CHECK(mentions(error_of(bad, 1024), "allowed are 1, 2, 4"));
    bad.tp = 1;
    bad.dp = 2;
    CHECK(
        mentions(error_of(bad),
                 "ep 8 does not fit: ep must divide the 8 experts, and divide dp 2 or be dp times "
                 "a divisor of tp 1: allowed are 1, 2"));
}

TEST_CASE("unit.training.refuses_absurd_numbers") {
    const TrainingConfig good = gpt13b_on_128();
    TrainingConfig bad = good;
    bad.dp = 0;
    CHECK(mentions(error_of(bad), "dp is 0"));
    bad = good;
    bad.dp = 0xffffffffU;
    CHECK_FALSE(error_of(bad).empty());
    bad = good;
    bad.micro_batches = 1'000'000;
    CHECK(mentions(error_of(bad), "million operations"));
    bad = good;
    bad.dp = 2048;  // on 65,536 GPUs 2,048 x 16 steps each, or 11 twice
    CHECK(mentions(error_of(bad, 65536), "million operations"));
    bad.algorithms.assign(kCollectiveKinds, CollectiveAlgorithm::automatic);
    for (const CollectiveKind kind : {CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
        bad.algorithms[static_cast<std::size_t>(kind)] = CollectiveAlgorithm::halving_doubling;
    }
    CHECK(error_of(bad, 65536).empty());
    bad.zero = 0;  // all-reduces
    CHECK(mentions(error_of(bad, 65536), "million operations"));
    bad = good;
    bad.sequence = 100'000'000;
    bad.micro_batch = 1'000'000;
    CHECK(mentions(error_of(bad), "exceed 1 PB"));
    bad = good;
    bad.efficiency = 0;
    CHECK(mentions(error_of(bad), "efficiency"));
    bad = good;
    bad.peak_flops = 1e6;
    bad.efficiency = 1e-6;
    CHECK_THROWS_WITH_AS(training_graph(bad, 128, 8), doctest::Contains("longer than a day"),
                         ConfigError);
    bad = good;
    bad.forward_time = kNever;
    CHECK(mentions(error_of(bad), "forward_time"));
    bad.forward_time = 90'000 * kSecond;
    CHECK(mentions(error_of(bad), "forward_time is 90000s, allowed are 0 to 86400s"));
    // A day, 1000 times as slow, is beyond the end of time.
    bad = good;
    bad.forward_time = 86'400 * kSecond;
    bad.backward_time = 86'400 * kSecond;
    bad.stragglers = {{0, 1000}};
    CHECK_THROWS_WITH_AS(training_graph(bad, 128, 8), doctest::Contains("longer than time lasts"),
                         ConfigError);
    bad.stragglers = {{0, 2}, {1, 2}, {0, 2}};
    CHECK(mentions(error_of(bad), "straggler: rank 0 is given twice"));
}

TEST_CASE("unit.training.workload_takes_ranks_from_the_topology") {
    // Node 0 is the switch: rank r is host r + 1.
    Topology topology;
    topology.add_node(NodeKind::ethernet);
    for (NodeId host = 1; host <= 4; ++host) {
        topology.add_node(NodeKind::host);
        topology.add_link({host, 0, gigabits_per_second(100), kMicrosecond, 0});
    }
    topology.finish();
    const auto graph = [&](const TrainingConfig& config) {
        return training_graph(config, topology.host_count(), topology.gpus_per_server);
    };
    const Workload work = make_workload(graph(bare(2, 2, 1)), topology.hosts());
    for (const FlowSpec& flow : work.flows) {
        CHECK(flow.src >= 1);
        CHECK(flow.dst >= 1);
        CHECK(flow.start == kNever);
    }
    CHECK(work.application->host(3) == 4);
    CHECK_THROWS_AS(graph(bare(4, 2, 1)), ConfigError);
}
