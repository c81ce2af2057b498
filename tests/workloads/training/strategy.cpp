// SPDX-License-Identifier: Apache-2.0
/// Orders, schedules, ZeRO and overlap of training graphs, against closed forms.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "tests/support/schedule_forms.h"
#include "tests/support/training_support.h"
#include "workloads/training/training_memory.h"

using namespace sluice;
using namespace sluice::trained;

namespace {

constexpr PipelineSchedule kAll[] = {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b,
                                     PipelineSchedule::interleaved, PipelineSchedule::zb_h1,
                                     PipelineSchedule::dualpipe};

void set_schedule(TrainingConfig& config, PipelineSchedule schedule, std::uint32_t chunks = 2) {
    config.schedule = schedule;
    config.chunks = schedule == PipelineSchedule::interleaved ? chunks : 1;
}

/// Parameters of a rank that has every layer of `small`, over its stages.
std::int64_t dense(const TrainingConfig& config, std::uint32_t stage) {
    return training_costs(config).stages[stage].dense_parameters;
}

}  // namespace

TEST_CASE("unit.training.bubbles_of_all_schedules_with_free_communication") {
    // Work of a rank m (tF + tB); what is above it is the published bubble of the chunk's times.
    for (const PipelineSchedule schedule :
         {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b, PipelineSchedule::interleaved,
          PipelineSchedule::zb_h1}) {
        for (const std::uint32_t p : {1U, 2U, 4U, 8U}) {
            for (const std::uint32_t m : {p, 2 * p, 4 * p}) {
                for (const TrainingDetail detail : {TrainingDetail::stage, TrainingDetail::layer}) {
                    TrainingConfig config = small(p, m);
                    set_schedule(config, schedule);
                    config.detail = detail;
                    CAPTURE(to_string(schedule));
                    CAPTURE(p);
                    CAPTURE(m);
                    const Tick v = config.chunks;
                    const SlotTimes times = {config.forward_time / v,
                                             (config.backward_time - config.weight_time) / v,
                                             config.weight_time / v, 0};
                    CHECK(duration(config, true) ==
                          m * (config.forward_time + config.backward_time) +
                              bubble_time(config.pipeline(), times));
                }
            }
        }
    }
}

TEST_CASE("unit.training.bubble_of_dualpipe_with_free_communication") {
    // (p/2 - 1)(c + (b + w) - 3w) where f = b and w <= f; a pair hides nothing here: c = f + b + w.
    for (const std::uint32_t p : {2U, 4U, 8U}) {
        for (const std::uint32_t m : {2 * p, 4 * p}) {
            for (const TrainingDetail detail : {TrainingDetail::stage, TrainingDetail::layer}) {
                TrainingConfig config = small(p, m);
                config.schedule = PipelineSchedule::dualpipe;
                config.detail = detail;
                config.forward_time = 12 * kMillisecond;
                config.backward_time = 22 * kMillisecond;
                config.weight_time = 10 * kMillisecond;
                CAPTURE(p);
                CAPTURE(m);
                CHECK(duration(config, true) ==
                      m * 34 * kMillisecond + (p / 2 - 1) * (34 + 22 - 30) * kMillisecond);
            }
        }
    }
}

TEST_CASE("unit.training.every_schedule_sends_every_boundary_both_ways") {
    // p v - 1 boundaries x m micro-batches x 2 directions, b s h x 2 B each, per lane.
    for (const PipelineSchedule schedule : kAll) {
        TrainingConfig config = small(4, 8);
        config.dp = 2;
        set_schedule(config, schedule);
        CAPTURE(to_string(schedule));
        const JobGraph graph = training_graph(config, 8, 1);
        const std::size_t boundaries = 4 * config.chunks - 1;
        CHECK(totals_of(graph).at(OpClass::pp).flows == boundaries * 8 * 2 * 2);
        CHECK(totals_of(graph).at(OpClass::pp).bytes ==
              static_cast<std::int64_t>(boundaries) * 8 * 2 * 2 * (2 * 64 * 64));
        CHECK(run(config, false).application->complete());
    }
}

TEST_CASE("unit.training.chunks_of_one_rank_send_nothing_to_each_other") {
    TrainingConfig config = small(1, 2);
    set_schedule(config, PipelineSchedule::interleaved, 4);
    CHECK(training_graph(config, 1, 1).messages().empty());
    CHECK(duration(config, true) == 2 * (config.forward_time + config.backward_time));
}

TEST_CASE("unit.training.dualpipe_halves_hold_the_same_stages") {
    // Ranks d and p - 1 - d hold stages d and p - 1 - d: dp 1 still reduces over 2 copies, both
    // stages' parameters, one ring step of RS (4 B) and AG (2 B) of a half each.
    TrainingConfig config = small(4, 8);
    set_schedule(config, PipelineSchedule::dualpipe);
    const JobGraph graph = training_graph(config, 4, 1);
    const std::int64_t of_a_rank = dense(config, 0) + dense(config, 3);
    CHECK(totals_of(graph).at(OpClass::dp).bytes == 2 * of_a_rank * (4 + 2));
    // The published bubble is what remains where every pair waits for the other end's; its order
    // never leaves more.
    const SlotTimes times = {config.forward_time, config.backward_time - config.weight_time,
                             config.weight_time, config.forward_time + config.backward_time};
    const Tick work = 8 * (config.forward_time + config.backward_time);
    CHECK(duration(config, true) >= work);
    CHECK(duration(config, true) <= work + bubble_time(config.pipeline(), times));
}

TEST_CASE("unit.training.zero_stages_move_these_bytes") {
    // A ring of n moves (n - 1) S per all-gather or reduce-scatter, twice that per all-reduce, in
    // all; m micro-batches.
    constexpr std::int64_t n = 4;
    constexpr std::int64_t m = 3;
    TrainingConfig config = small(1, m);
    config.dp = n;
    const std::int64_t parameters = dense(config, 0);
    const std::map<std::uint32_t, std::int64_t> expected = {
        {0, 2 * (n - 1) * 4 * parameters},
        {1, (n - 1) * (4 + 2) * parameters},
        {2, (n - 1) * (4 + 2) * parameters},
        {3, (n - 1) * m * (2 + 2 + 4) * parameters},
    };
    for (const auto& [zero, bytes] : expected) {
        CAPTURE(zero);
        config.zero = zero;
        CHECK(totals_of(training_graph(config, n, 1)).at(OpClass::dp).bytes == bytes);
        CHECK(run(config, false).application->complete());
    }
}

TEST_CASE("unit.training.buckets_and_overlap_move_the_same_bytes") {
    TrainingConfig config = small(2, 4);
    config.dp = 3;
    const std::int64_t whole = totals_of(training_graph(config, 6, 1)).at(OpClass::dp).bytes;
    const std::size_t flows = totals_of(training_graph(config, 6, 1)).at(OpClass::dp).flows;
    config.bucket_bytes = 4 * dense(config, 0) / 5;
    // The rank's gradients in 5 or 6 buckets: so many times the flows.
    const std::map<OpClass, Totals> cut = totals_of(training_graph(config, 6, 1));
    CHECK(cut.at(OpClass::dp).bytes == whole);
    CHECK(cut.at(OpClass::dp).flows % flows == 0);
    CHECK(cut.at(OpClass::dp).flows / flows >= 5);
    for (const PipelineSchedule schedule :
         {PipelineSchedule::one_f_one_b, PipelineSchedule::interleaved, PipelineSchedule::zb_h1}) {
        TrainingConfig overlapping = config;
        set_schedule(overlapping, schedule);
        overlapping.overlap_gradients = overlapping.overlap_parameters = true;
        CHECK(totals_of(training_graph(overlapping, 6, 1)).at(OpClass::dp).bytes ==
              doctest::Approx(static_cast<double>(whole)).epsilon(1e-4));
        CHECK(run(overlapping, false).application->complete());
    }
}

TEST_CASE("unit.training.buckets_hide_behind_the_last_backward") {
    // One stage, dp 2, 16 layers of 2 us backward each. A bucket is one layer's gradients; its ring
    // is one step of half of it, 4 B x P / 32 x 80 ps = q, + 1 us of latency. If q + 1 us < 2 us
    // every bucket but the last is hidden.
    TrainingConfig config = small(1, 1);
    config.dp = 2;
    config.zero = 0;
    const std::int64_t parameters = dense(config, 0);
    config.gradient_bytes = 1;
    const Tick whole = 2 * (parameters / 2 * fake::kTicksPerByte + kMicrosecond);
    const Tick compute = config.forward_time + config.backward_time;
    config.bucket_bytes = parameters;
    const Tick apart = duration(config, false);
    CHECK(apart >= compute + whole);
    config.backward_time = 100 * whole;
    const Tick long_compute = config.forward_time + config.backward_time;
    config.bucket_bytes = parameters / 16;
    config.overlap_gradients = true;
    const Tick last = 2 * ((parameters / 32 + 64) * fake::kTicksPerByte + 2 * kMicrosecond);
    CHECK(duration(config, false) > long_compute);
    CHECK(duration(config, false) <= long_compute + last);
    CHECK(duration(config, true) == long_compute);
}

TEST_CASE("unit.training.parameters_are_gathered_before_their_forward") {
    // The first layer waits for its bucket, the others arrive while it computes: the iteration
    // begins one bucket late, where all of them in a row would take 16 times as long.
    TrainingConfig config = small(1, 1);
    config.dp = 2;
    config.forward_time = 16 * kMillisecond;
    config.backward_time = 32 * kMillisecond;
    const std::int64_t parameters = dense(config, 0);
    config.bucket_bytes = 4 * (parameters / 16);
    config.overlap_gradients = config.overlap_parameters = true;
    const Tick gather = 2 * (parameters / 32 + 2) * fake::kTicksPerByte + 2 * kMicrosecond;
    const Tick scatter = 4 * (parameters / 32 + 2) * fake::kTicksPerByte + 2 * kMicrosecond;
    const Tick compute = config.forward_time + config.backward_time;
    CHECK(duration(config, false) > compute);
    CHECK(duration(config, false) <= compute + gather + scatter);
}

TEST_CASE("unit.training.compute_slows_while_its_rank_communicates") {
    TrainingConfig config = small(1, 1);
    config.dp = 2;
    config.forward_time = kMillisecond;
    config.backward_time = 2 * kMillisecond;
    const Tick without = duration(config, false);
    config.overlap_gradients = true;
    config.bucket_bytes = 4 * dense(config, 0) / 16;
    const Tick overlapped = duration(config, false);
    config.overlap_slowdown = {1, 1, 1};
    CHECK(overlapped < without);
    // Slower by what is overlapped, at least until the network is no longer hidden.
    CHECK(duration(config, false) > overlapped);
    config.overlap_slowdown = {};
    CHECK(duration(config, false) == overlapped);
}

TEST_CASE("unit.training.operators_are_slowed_by_their_kind") {
    TrainingConfig config = small(2, 2);
    config.detail = TrainingDetail::layer;
    config.optimizer_time = kMicrosecond;
    config.recompute = Recomputation::selective;
    config.overlap_slowdown = {0.2, 0.7, 0.1};
    const auto slowdowns = [&config] {
        std::map<std::string, std::set<std::int64_t>> found;
        const JobGraph graph = training_graph(config, config.ranks(), 1);
        for (OpId op = 0; op < graph.op_count(); ++op) {
            const std::string& name = graph.name(graph.label(op).name);
            if (graph.kind(op) == OpKind::compute && graph.duration(op) > 0) {
                found[name.substr(0, name.find(' '))].insert(graph.overlap_slowdown(op));
            }
        }
        return found;
    };
    std::map<std::string, std::set<std::int64_t>> found = slowdowns();
    CHECK(found["mlp"] == std::set<std::int64_t>{200'000});
    CHECK(found["mlp-grad"] == std::set<std::int64_t>{200'000});
    CHECK(found["optimizer"] == std::set<std::int64_t>{100'000});
    // Of attention's 8 h^2 + 4 s h FLOPs a token (s = h here), 4 s h of them scores: a third; backward twice, and
    // the scores once more: 3 x 4 of 2 x 12 + 4.
    const auto mixed = [](double share) {
        return std::set<std::int64_t>{std::llround((0.2 + share * 0.5) * 1e6)};
    };
    CHECK(found["attention"] == mixed(4.0 / 12));
    CHECK(found["attention-grad"] == mixed(12.0 / 28));
    // A whole slot as one operation has the mean of its parts.
    config.detail = TrainingDetail::stage;
    config.recompute = Recomputation::none;
    found = slowdowns();
    REQUIRE(found["forward"].size() == 1);
    CHECK(*found["forward"].begin() > 200'000);
    CHECK(*found["forward"].begin() < *mixed(4.0 / 12).begin());
    CHECK(found["forward"] == found["backward"]);
    // Slower by what is overlapped only.
    config = small(1, 1);
    config.dp = 2;
    config.overlap_gradients = true;
    config.bucket_bytes = 4 * dense(config, 0) / 16;
    config.forward_time = kMillisecond;
    config.backward_time = 2 * kMillisecond;
    const Tick none = duration(config, false);
    config.overlap_slowdown.attention = 0.5;
    const Tick attention = duration(config, false);
    config.overlap_slowdown.matrices = 0.5;
    CHECK(none <= attention);
    CHECK(attention < duration(config, false));
}

TEST_CASE("unit.training.a_straggler_delays_the_pipeline_as_its_schedule_says") {
    // 1F1B, p 2, m 4, tF 16, tB 32 us, the last stage half as fast: it is busy from 16 us on for
    // 4 x 2 x 48 us, then stage 0 has its last backward to do.
    TrainingConfig config = small(2, 4);
    config.stragglers = {{1, 2.0}};
    CHECK(duration(config, true) == (16 + 4 * 2 * 48 + 32) * kMicrosecond);
    // With dp 2 every rank waits for the reduction, whoever is slow.
    config = small(1, 2);
    config.dp = 2;
    config.stragglers = {{0, 1.5}};
    CHECK(duration(config, true) == 2 * 48 * kMicrosecond * 3 / 2);
    config.stragglers = {{2, 1.5}};
    CHECK(mentions(error_of(config), "straggler: rank 2 does not exist"));
}

TEST_CASE("unit.training.jitter_is_log_normal_by_rank_and_computation") {
    // One rank computes 200 micro-batches on end: the sum is about the mean, exp(sigma^2 / 2).
    TrainingConfig config = small(1, 200);
    const auto busy = static_cast<double>(duration(config, true));
    config.compute_jitter = 0.05;
    const double jittered = static_cast<double>(duration(config, true)) / busy;
    CHECK(jittered != 1);
    CHECK(jittered == doctest::Approx(1.00125).epsilon(0.01));
    CHECK(static_cast<double>(duration(config, true)) / busy == jittered);
    config.jitter_seed = 1;
    CHECK(static_cast<double>(duration(config, true)) / busy != jittered);
    // Ranks that wait for each other wait for the slowest.
    config.dp = 8;
    config.micro_batches = 1;
    const Tick together = duration(config, false);
    config.compute_jitter = 0;
    CHECK(duration(config, false) < together);
    config.compute_jitter = 2;
    CHECK(mentions(error_of(config), "compute_jitter"));
}

TEST_CASE("unit.training.tensor_parallelism_stage_by_stage_and_layer_by_layer_lasts_the_same") {
    TrainingConfig config;
    config.model = preset("gpt-13b");
    config.tp = 8;
    config.micro_batches = 2;
    const Tick by_stage = duration(config, true, 8);
    config.detail = TrainingDetail::layer;
    const Tick by_layer = duration(config, true, 8);
    CHECK(static_cast<double>(by_layer) ==
          doctest::Approx(static_cast<double>(by_stage)).epsilon(1e-9));
    const JobGraph graph = training_graph(config, 8, 8);
    CHECK(graph.messages().empty());
    // 40 layers, 4 exchanges forward, 6 backward, 2 micro-batches.
    CHECK(graph.meetings().size() == 40 * 10 * 2);
    // Without sequence parallelism: two all-reduces each way.
    config.sequence_parallel = false;
    CHECK(training_graph(config, 8, 8).meetings().size() == 40 * 4 * 2);
}

TEST_CASE("unit.training.tensor_parallelism_over_the_network") {
    // Ring all-gathers and reduce-scatters of 2 b s h over 8: 7 steps x 8 ranks each, 10 a layer.
    TrainingConfig config = small(1, 1);
    config.tp = 8;
    CHECK(mentions(error_of(config, 8, 4), "tp_across_servers"));
    config.tp_across_servers = true;
    const std::map<OpClass, Totals> totals = totals_of(training_graph(config, 8, 4));
    // Two servers of four: 2 of 8 messages of a step cross, on each of four channels.
    CHECK(totals.at(OpClass::tp).flows == 16 * 10 * 7 * 2 * 4);
    config.network_in_server = true;
    const std::map<OpClass, Totals> all = totals_of(training_graph(config, 8, 8));
    CHECK(all.at(OpClass::tp).flows == 16 * 10 * 7 * 8);
    CHECK(all.at(OpClass::tp).bytes == 16LL * 10 * 7 * (2 * 64 * 64));
}

TEST_CASE("unit.training.recomputation_lengthens_the_backward_pass") {
    TrainingConfig config = small(1, 1);
    config.forward_time = config.backward_time = config.weight_time = -1;
    config.peak_flops = 1e9;
    const StageCosts none = training_costs(config).stages[0];
    CHECK(none.backward == doctest::Approx(2.0 * static_cast<double>(none.forward)));
    config.recompute = Recomputation::full;
    const StageCosts full = training_costs(config).stages[0];
    const double head = none.head * static_cast<double>(kSecond);
    CHECK(full.backward == doctest::Approx(3.0 * static_cast<double>(none.forward) - head));
    config.recompute = Recomputation::selective;
    // Scores: 4 b s s h FLOPs a layer at 0.5e9 FLOP/s.
    const double scores = 16 * 4.0 * 64 * 64 * 64 / 0.5e9 * 1e12;
    CHECK(training_costs(config).stages[0].backward ==
          doctest::Approx(2.0 * static_cast<double>(none.forward) + scores));
    for (const Recomputation recompute : {Recomputation::full, Recomputation::selective}) {
        config.recompute = recompute;
        config.detail = TrainingDetail::layer;
        const StageCosts costs = training_costs(config).stages[0];
        CHECK(duration(config, true) == costs.forward + costs.backward);
    }
}

TEST_CASE("unit.training.context_parallelism_passes_keys_and_values_round") {
    // cp 4: per layer and lane 3 blocks forward, 3 backward and 3 of their gradients; a block is
    // keys and values of s / 4 tokens: 2 x 2 x 16 x 64 B.
    TrainingConfig config = small(1, 2);
    config.cp = 4;
    const JobGraph graph = training_graph(config, 4, 1);
    const Totals totals = totals_of(graph).at(OpClass::cp);
    CHECK(totals.flows == 2 * 16 * 4 * (3 + 6));
    CHECK(totals.bytes == static_cast<std::int64_t>(totals.flows) * 2 * 2 * 16 * 64);
    // Free, it costs nothing; and gradients are reduced over cp x dp.
    CHECK(duration(config, true) == 2 * (config.forward_time + config.backward_time));
    CHECK(totals_of(graph).at(OpClass::dp).flows == 4 * 3 * 2);
    // Blocks that arrive in time are hidden: 4096 B take 0.33 us + 1 us, a block's turn takes
    // longer if a layer's attention does.
    config.micro_batches = 1;
    config.forward_time = config.backward_time = 100 * kMillisecond;
    config.weight_time = 50 * kMillisecond;
    config.dp = 1;
    config.zero = 0;
    config.gradient_bytes = 1;
    const Tick reduction = 6 * (dense(config, 0) / 4 + 1) * fake::kTicksPerByte + 8 * kMicrosecond;
    CHECK(duration(config, false) <= 200 * kMillisecond + reduction + 16 * 4 * kMicrosecond);
}

TEST_CASE("unit.training.rank_orders") {
    // Default: tp fastest, then cp, dp, pp.
    ParallelDegrees degrees;
    degrees.tp = 2;
    degrees.cp = 2;
    degrees.dp = 2;
    degrees.pp = 2;
    const ParallelGroups standard(degrees);
    CHECK(standard.rank(1, 0) == 8);
    CHECK(standard.tensor()[1] == LaneGroup{2, 3});
    CHECK(standard.context()[0] == LaneGroup{0, 2});
    CHECK(standard.replicas()[1] == LaneGroup{1, 3, 5, 7});
    // tp-cp-ep-pp-dp (Megatron's --use-tp-pp-dp-mapping): stages before replicas.
    degrees.order = "tp-cp-ep-pp-dp";
    const ParallelGroups stages_first(degrees);
    CHECK(stages_first.rank(1, 0) == 4);
    CHECK(stages_first.rank(0, 4) == 8);
    CHECK(stages_first.rank(1, 7) == 15);
    // dp fastest: tensor-parallel peers are apart.
    degrees.order = "dp-cp-tp-pp";
    const ParallelGroups data_first(degrees);
    CHECK(data_first.rank(0, 1) == 4);
    std::set<RankId> all;
    for (std::uint32_t stage = 0; stage < 2; ++stage) {
        for (Lane lane = 0; lane < 8; ++lane) all.insert(data_first.rank(stage, lane));
    }
    CHECK(all.size() == 16);
    CHECK(*all.rbegin() == 15);
    // Experts over cp x dp: 2 consecutive copies, or copies 2 apart.
    degrees.order = "tp-cp-ep-dp-pp";
    degrees.ep = 2;
    CHECK(ParallelGroups(degrees).experts()[0] == LaneGroup{0, 2});
    CHECK(ParallelGroups(degrees).expert_replicas()[0] == LaneGroup{0, 4});
    degrees.order = "tp-cp-dp-ep-pp";
    CHECK(ParallelGroups(degrees).experts()[0] == LaneGroup{0, 4});
    CHECK(ParallelGroups(degrees).expert_replicas()[0] == LaneGroup{0, 2});
}

TEST_CASE("unit.training.orders_that_are_none") {
    TrainingConfig config = small(2, 2);
    for (const auto& [order, why] :
         std::map<std::string, std::string>{{"tp-dp", "leaves pp out"},
                                            {"tp-dp-pp-dp", "names dp twice"},
                                            {"tp-dp-pp-xp", "names \"xp\""},
                                            {"", "names \"\""},
                                            {"tp--dp-pp", "names \"\""}}) {
        config.order = order;
        CHECK(mentions(error_of(config), why));
    }
    config.order = "tp-dp-pp";
    CHECK(error_of(config).empty());
    config.cp = 2;
    CHECK(mentions(error_of(config), "leaves cp out"));
    // A tensor-parallel group that the order takes apart.
    config = small(1, 1);
    config.tp = 2;
    config.dp = 2;
    config.order = "dp-tp-pp";
    CHECK_THROWS_WITH_AS(training_graph(config, 4, 2), doctest::Contains("on several servers"),
                         ConfigError);
}

TEST_CASE("unit.training.embeddings_loss_and_norm_are_summed_on_request") {
    TrainingConfig config = small(2, 2);
    config.dp = 2;
    config.tied_embeddings = config.small_reductions = true;
    const std::map<OpClass, Totals> totals = totals_of(training_graph(config, 4, 1));
    // 4 B x V h between first and last stage, all-reduce of two: each sends two halves; two lanes.
    CHECK(totals.at(OpClass::embedding).bytes == 2 * 2 * 4 * 1000 * 64);
    CHECK(totals.count(OpClass::other) == 1);
    CHECK(run(config, false).application->complete());
}

TEST_CASE("unit.training.memory_is_checked_before_anything_runs") {
    // GPT-175B on TP8-PP4 without ZeRO needs 87 GB of state alone.
    TrainingConfig config;
    config.model = preset("gpt-175b");
    config.tp = 8;
    config.pp = 4;
    config.dp = 32;
    config.micro_batches = 8;
    config.zero = 0;
    config.gradient_bytes = 2;
    const TrainingMemory memory = training_memory(config);
    const std::int64_t state = memory.use.weights + memory.use.gradients + memory.use.optimizer;
    CHECK(static_cast<double>(state) == doctest::Approx(87.3e9).epsilon(0.01));
    CHECK_THROWS_WITH_AS(check_memory(memory, 80'000'000'000), doctest::Contains("out of memory: "),
                         ConfigError);
    CHECK(mentions(describe_memory(memory, 80'000'000'000), " GB of 80.0 GB per GPU"));
    // TP8-PP8-DP16 with the distributed optimizer: 6 + 12 / 16 bytes of 2.73 G parameters.
    config.pp = 8;
    config.dp = 16;
    config.zero = 1;
    config.gradient_bytes = 4;
    const MemoryUse fits = training_memory(config).use;
    CHECK(static_cast<double>(fits.weights + fits.gradients + fits.optimizer) ==
          doctest::Approx(6.75 * 174.59e9 / 64).epsilon(0.01));
    CHECK_NOTHROW(check_memory(training_memory(config), 80'000'000'000));
    CHECK_NOTHROW(check_memory(training_memory(config), 0));
}

TEST_CASE("unit.training.refuses_strategies_that_contradict_themselves") {
    TrainingConfig config = small(2, 4);
    config.zero = 3;
    config.overlap_gradients = true;
    CHECK(mentions(error_of(config), "zero = 3"));
    config = small(2, 4);
    config.zero = 0;
    config.overlap_parameters = true;
    CHECK(mentions(error_of(config), "zero = 0"));
    config = small(2, 3);
    set_schedule(config, PipelineSchedule::interleaved);
    CHECK_FALSE(error_of(config).empty());
    config = small(3, 4);
    CHECK(mentions(error_of(config),
                   "layers 16 is not divisible by pp 3: pp may be 1, 2, 4, 8, 16; or, "
                   "with split = \"layers\", any up to 16 (1 stage of 6 and 2 stages of 5)"));
    config.layers_per_stage = {5, 6, 5};
    CHECK(mentions(error_of(config), "split"));
    config.split = StageSplit::layers;
    CHECK(error_of(config).empty());
    config.layers_per_stage = {5, 6};
    CHECK(mentions(error_of(config), "has 2 numbers, the pipeline 3 stages"));
    config.layers_per_stage = {5, 6, 6};
    CHECK(mentions(error_of(config), "adds up to 17 layers, the model has 16"));
    config.layers_per_stage = {16, 0, 0};
    CHECK(mentions(error_of(config), "layers_per_stage is 0"));
    config.layers_per_stage.clear();
    config.detail = TrainingDetail::stage;
    config.overlap_gradients = true;
    CHECK(mentions(error_of(config), "detail"));
    config = small(2, 4);
    config.weight_time = 2 * config.backward_time;
    CHECK(mentions(error_of(config), "weight_time"));
    config = small(1, 1);
    config.cp = 3;
    CHECK(mentions(error_of(config), "sequence 64 is not divisible by cp 3"));
}

TEST_CASE("unit.training.uneven_stages_compute_and_reduce_what_they_hold") {
    // 16 layers on 3 stages: 6, 5, 5. Given times are those of a third of the model.
    TrainingConfig config = small(3, 3);
    config.split = StageSplit::layers;
    config.dp = 2;
    const TrainingCosts costs = training_costs(config);
    CHECK(costs.stages[0].forward == config.forward_time * 18 / 16);
    CHECK(costs.stages[2].forward == config.forward_time * 15 / 16);
    config.layers_per_stage = {4, 5, 7};
    const TrainingCosts given = training_costs(config);
    CHECK(given.stages[0].forward == config.forward_time * 12 / 16);
    CHECK(given.stages[2].forward == config.forward_time * 21 / 16);
    CHECK(given.stages[2].range.first == 9);
    CHECK(given.stages[2].dense_parameters > costs.stages[2].dense_parameters);
    CHECK(run(config, false).application->complete());
    config.layers_per_stage.clear();
    // The first stage holds the embedding, the last one its copy: more than the middle one.
    CHECK(costs.stages[2].dense_parameters - costs.stages[1].dense_parameters >= 64'000);
    CHECK(run(config, false).application->complete());
}
