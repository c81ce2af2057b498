// SPDX-License-Identifier: Apache-2.0
/// Random strategies: whatever check_training() accepts builds, completes, and computes as much as it
/// should.
#include <doctest/doctest.h>

#include "core/random.h"
#include "tests/support/training_support.h"

using namespace sluice;
using namespace sluice::trained;

namespace {

class Draws {
  public:
    explicit Draws(std::uint64_t seed) : seed_(seed) {}

    std::uint32_t below(std::uint32_t bound) { return uniform_below(seed_, 1, next_++, bound); }
    bool flip() { return below(2) == 1; }
    template <typename T>
    T one_of(std::initializer_list<T> values) {
        return values.begin()[below(static_cast<std::uint32_t>(values.size()))];
    }

  private:
    std::uint64_t seed_;
    std::uint64_t next_ = 0;
};

TrainingConfig draw(Draws& draws) {
    TrainingConfig config = small(draws.one_of({1U, 2U, 4U}), draws.one_of({4U, 8U}));
    config.model.layers = draws.one_of({8, 16});
    config.tp = draws.one_of({1U, 2U});
    config.cp = draws.one_of({1U, 1U, 2U});
    config.dp = draws.one_of({1U, 2U, 4U});
    config.schedule = draws.one_of({PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b,
                                    PipelineSchedule::interleaved, PipelineSchedule::zb_h1,
                                    PipelineSchedule::dualpipe});
    config.chunks = config.schedule == PipelineSchedule::interleaved ? 2 : 1;
    if (draws.flip()) {
        config.model.experts = 8;
        config.model.top_k = 2;
        config.model.shared_experts = draws.below(2);
        config.model.dense_layers = draws.below(2);
        config.ep = draws.one_of({1U, 2U, 4U});
        config.expert_load.exponent = draws.one_of({0.0, 0.7, 2.0});
        config.node_limit = draws.one_of({0U, 0U, 1U});
    }
    config.zero = draws.below(4);
    config.bucket_bytes = draws.one_of({0, 20'000, 200'000});
    config.overlap_gradients = draws.flip() && config.zero < 3;
    config.overlap_parameters = draws.flip() && config.zero > 0 && config.zero < 3;
    config.sequence_parallel = draws.flip();
    config.recompute =
        draws.one_of({Recomputation::none, Recomputation::selective, Recomputation::full});
    config.split = draws.one_of({StageSplit::even, StageSplit::layers});
    config.order = draws.one_of<const char*>(
        {"tp-cp-ep-dp-pp", "tp-cp-dp-ep-pp", "tp-cp-ep-pp-dp", "tp-pp-ep-cp-dp"});
    config.detail =
        draws.one_of({TrainingDetail::automatic, TrainingDetail::layer, TrainingDetail::stage});
    config.network_in_server = draws.flip();
    config.tied_embeddings = draws.flip();
    config.small_reductions = draws.flip();
    config.optimizer_time = draws.one_of({Tick{0}, kMicrosecond});
    config.overlap_slowdown.matrices = draws.one_of({0.0, 0.5});
    config.overlap_slowdown.attention = 2 * config.overlap_slowdown.matrices;
    if (draws.flip()) {
        config.forward_time = config.backward_time = config.weight_time = -1;
        config.peak_flops = 1e12;
    }
    return config;
}

/// Every lane computes every micro-batch on every stage, wherever that lies. Skew moves work between
/// lanes, no more.
Tick compute_of_slots(const TrainingConfig& config) {
    const TrainingCosts costs = training_costs(config);
    Tick lane = 0;
    for (const StageCosts& stage : costs.stages) lane += stage.forward + stage.backward;
    const Tick lanes = Tick{config.tp} * config.cp * config.dp;
    return lane * config.micro_batches * lanes;
}

}  // namespace

TEST_CASE("unit.training.whatever_is_accepted_completes") {
    int accepted = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Draws draws(seed);
        const TrainingConfig config = draw(draws);
        if (!error_of(config, config.ranks(), 2).empty()) continue;
        CAPTURE(seed);
        Workload work;
        try {
            work = run(config, false, 2);
        } catch (const ConfigError& error) {
            // Uneven expert groups, or a tensor-parallel group that the order tears apart.
            const std::string text = error.what();
            CHECK((mentions(text, "node_limit") || mentions(text, "several servers")));
            continue;
        }
        ++accepted;
        const JobGraph& graph = work.application->graph();
        Tick computed = 0;
        for (OpId op = 0; op < graph.op_count(); ++op) {
            if (graph.kind(op) == OpKind::compute) computed += graph.duration(op);
        }
        computed -= config.optimizer_time * config.ranks();
        const auto expected = static_cast<double>(compute_of_slots(config));
        CHECK(static_cast<double>(computed) == doctest::Approx(expected).epsilon(1e-5));
        CHECK(std::all_of(graph.collectives().begin(), graph.collectives().end(),
                          [](const Collective& collective) { return collective.members >= 2; }));
    }
    CHECK(accepted >= 100);
}
