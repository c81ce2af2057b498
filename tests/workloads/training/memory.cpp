// SPDX-License-Identifier: Apache-2.0
/// Memory per GPU: every figure is derived from the formulae in workloads/training/memory.h.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/support/error_of.h"
#include "workloads/training/memory.h"

using namespace sluice;

namespace {

constexpr std::int64_t kGigabyte = 1'000'000'000;

ModelShape gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
    ModelShape model;
    model.layers = layers;
    model.hidden = hidden;
    model.heads = model.kv_heads = heads;
    model.ffn = 4 * hidden;
    model.vocabulary = 50257;
    model.positions = 2048;
    return model;
}

ModelShape gpt_175b() { return gpt(96, 12288, 96); }

ModelShape llama_65b() {
    ModelShape model = gpt(80, 8192, 64);
    model.ffn = 22016;
    model.gated = true;
    model.vocabulary = 32000;
    model.positions = 0;
    model.untied_head = true;
    return model;
}

ModelShape qwen_72b() {
    ModelShape model = llama_65b();
    model.kv_heads = 8;
    model.ffn = 29568;
    model.vocabulary = 152064;
    model.qkv_bias = true;
    return model;
}

ModelShape mixtral_8x7b() {
    ModelShape model = gpt(32, 4096, 32);
    model.kv_heads = 8;
    model.ffn = 14336;
    model.gated = true;
    model.experts = 8;
    model.top_k = 2;
    model.vocabulary = 32000;
    model.positions = 0;
    model.untied_head = true;
    return model;
}

ModelShape deepseek_v3() {
    ModelShape model = gpt(61, 7168, 128);
    model.latent = {1536, 512, 128, 64, 128};
    model.ffn = 18432;
    model.gated = true;
    model.experts = 256;
    model.top_k = 8;
    model.expert_ffn = 2048;
    model.shared_experts = 1;
    model.dense_layers = 3;
    model.vocabulary = 129280;
    model.positions = 0;
    model.untied_head = true;
    return model;
}

/// Parameters and FLOPs cut evenly: what the examples assume. Chunks of a rank as the schedule says.
MemoryInputs even_split(const ModelShape& model, std::int64_t tp, const PipelineShape& pipeline,
                        std::uint32_t rank) {
    MemoryInputs inputs;
    inputs.model = model;
    inputs.tp = tp;
    inputs.pipeline = pipeline;
    inputs.pipeline_rank = rank;
    const std::int64_t stages = stage_count(pipeline);
    for (std::uint32_t c = 0; c < chunks_per_rank(pipeline); ++c) {
        const std::int64_t stage = stage_of(pipeline, rank, c);
        MemoryChunk chunk;
        chunk.layers = {stage * model.layers / stages, model.layers / stages, stage == 0,
                        stage == stages - 1};
        chunk.parameters.dense = count_parameters(model).total() / (tp * stages);
        inputs.chunks.push_back(chunk);
    }
    return inputs;
}

PipelineShape one_f_one_b(std::uint32_t p, std::uint32_t m) {
    return {PipelineSchedule::one_f_one_b, p, m, 1};
}

double gigabytes(std::int64_t bytes) { return static_cast<double>(bytes) / kGigabyte; }

double state(MemoryInputs inputs, std::int64_t zero, std::int64_t replicas) {
    inputs.zero = zero;
    inputs.replicas = replicas;
    const MemoryUse use = memory_use(inputs);
    return gigabytes(use.weights + use.gradients + use.optimizer);
}

/// Agrees with a figure that has one decimal.
bool rounds_to(double value, double figure) { return std::abs(value - figure) < 0.05 + 1e-9; }

}  // namespace

TEST_CASE("unit.memory.state.published_examples_of_zero_0_to_3") {
    const struct {
        const char* what;
        ModelShape model;
        std::int64_t tp;
        std::uint32_t pp;
        std::int64_t dp;
        double gigabytes[4];
    } examples[] = {
        {"GPT-7B", gpt(36, 4096, 32), 4, 1, 4, {29.8, 13.1, 10.3, 7.5}},
        {"GPT-13B", gpt(40, 5120, 40), 8, 1, 8, {25.7, 8.8, 6.0, 3.2}},
        {"GPT-22B", gpt(48, 6144, 64), 8, 1, 8, {44.1, 15.2, 10.3, 5.5}},
        {"GPT-175B", gpt_175b(), 8, 8, 16, {43.6, 13.0, 7.8, 2.7}},
        {"LLaMA-65B", llama_65b(), 8, 4, 16, {32.6, 9.7, 5.9, 2.0}},
    };
    for (const auto& example : examples) {
        const MemoryInputs inputs =
            even_split(example.model, example.tp, one_f_one_b(example.pp, 16), 0);
        for (std::int64_t zero = 0; zero <= 3; ++zero) {
            CAPTURE(example.what);
            CAPTURE(zero);
            const double actual = state(inputs, zero, example.dp);
            CAPTURE(actual);
            CHECK(rounds_to(actual, example.gigabytes[zero]));
        }
    }
}

TEST_CASE("unit.memory.state.bytes_per_parameter") {
    MemoryInputs inputs = even_split(gpt_175b(), 8, one_f_one_b(8, 16), 0);
    inputs.chunks[0].parameters = {1'000'000'000, 0};
    CHECK(state(inputs, 0, 16) == doctest::Approx(16));
    CHECK(state(inputs, 3, 16) == doctest::Approx(1));
    inputs.gradient_bytes = 4;
    CHECK(state(inputs, 0, 16) == doctest::Approx(18));
    // Megatron's distributed optimizer.
    CHECK(state(inputs, 1, 16) == doctest::Approx(6 + 12.0 / 16));

    // Experts divide by their own replicas: 3e9 of them on dp / ep = 2 ranks.
    inputs.gradient_bytes = 2;
    inputs.chunks[0].parameters = {1'000'000'000, 3'000'000'000};
    inputs.expert_replicas = 2;
    CHECK(state(inputs, 1, 16) == doctest::Approx(4 * 4 + 12.0 / 16 + 3 * 12.0 / 2));
    CHECK(state(inputs, 3, 16) == doctest::Approx(16.0 / 16 + 3 * 16.0 / 2));
}

TEST_CASE("unit.memory.state.zero_3_gathers_live_parameters") {
    MemoryInputs inputs = even_split(gpt(36, 4096, 32), 4, one_f_one_b(1, 1), 0);
    inputs.replicas = 4;
    inputs.live_parameters = 1'000'000'000;
    CHECK(memory_use(inputs).buffers == 0);
    inputs.zero = 3;
    CHECK(memory_use(inputs).buffers == 2'000'000'000);
    // No more than there are.
    inputs.live_parameters = 100'000'000'000;
    CHECK(memory_use(inputs).buffers == 2 * inputs.chunks[0].parameters.dense);
}

TEST_CASE("unit.memory.layer.plain_layer_equals_the_published_equations") {
    // s b h (34 + 5 a s / h), (10 + 24 / t + 5 a s / (h t)), (34 + 5 a s / h) / t; h = 12288,
    // a = 96, s = 2048: 5 a s / h = 80. What weights need: 32.
    MemoryInputs inputs = even_split(gpt_175b(), 1, one_f_one_b(1, 1), 0);
    inputs.micro_batch = 3;
    const double sbh = 2048.0 * 3 * 12288;
    const auto expect = [&](double whole, double scores, double weights_only) {
        const LayerActivations kept = layer_activations(inputs, 0);
        CHECK(kept.whole == doctest::Approx(sbh * whole));
        CHECK(kept.scores == doctest::Approx(sbh * scores));
        CHECK(kept.weights_only == doctest::Approx(sbh * weights_only));
    };
    expect(34, 80, 32);
    inputs.tp = 8;
    expect(34.0 / 8, 80.0 / 8, 32.0 / 8);
    inputs.sequence_parallel = false;
    expect(10 + 24.0 / 8, 80.0 / 8, 8 + 24.0 / 8);
    inputs.activation_factor = 0.5;
    expect((10 + 24.0 / 8) / 2, 80.0 / 8 / 2, (8 + 24.0 / 8) / 2);
    inputs.activation_factor = 1;
    // Context parallelism: half of the tokens, each of which attends to all.
    inputs.cp = 2;
    expect((10 + 24.0 / 8) / 2, 80.0 / 8 / 2, (8 + 24.0 / 8) / 2);
}

TEST_CASE("unit.memory.layer.gated_grouped_and_without_dropout") {
    // Per token of LLaMA-65B: attention 4 h + 8 h, MLP 2 h (norm) + 3 h + 8 f with dropout; without,
    // two masks of h less.
    MemoryInputs inputs = even_split(llama_65b(), 1, one_f_one_b(1, 1), 0);
    const double h = 8192;
    CHECK(layer_activations(inputs, 0).whole ==
          doctest::Approx(2048 * (13 * h + 5 * h + 8 * 22016)));
    inputs.dropout = false;
    CHECK(layer_activations(inputs, 0).whole ==
          doctest::Approx(2048 * (12 * h + 4 * h + 8 * 22016)));
    CHECK(layer_activations(inputs, 0).scores == doctest::Approx(2.0 * 64 * 2048 * 2048));
    // 8 of 64 heads for keys and values: 2 x 2 B x (h - h / 8) less.
    MemoryInputs grouped = even_split(qwen_72b(), 1, one_f_one_b(1, 1), 0);
    grouped.dropout = false;
    CHECK(layer_activations(grouped, 0).whole ==
          doctest::Approx(2048 * (16 * h - 4 * h * 7 / 8 + 8 * 29568)));
}

TEST_CASE("unit.memory.layer.mixture") {
    // Mixtral, per token without dropout: attention 4 h + 2 (h + h / 4 + h / 4 + h) = 9 h; norm and
    // router inputs 4 h, 8 x 8 experts; two copies of 2 h + 8 f.
    MemoryInputs inputs = even_split(mixtral_8x7b(), 1, one_f_one_b(1, 1), 0);
    inputs.dropout = false;
    const double h = 4096;
    const double copy = 2 * h + 8 * 14336;
    CHECK(layer_activations(inputs, 0).whole ==
          doctest::Approx(2048 * (9 * h + 4 * h + 64 + 2 * copy)));
    // The hottest rank gets half as many again.
    inputs.capacity_factor = 1.5;
    CHECK(layer_activations(inputs, 0).whole ==
          doctest::Approx(2048 * (9 * h + 4 * h + 64 + 3 * copy)));
}

TEST_CASE("unit.memory.layer.latent_attention") {
    // DeepSeek-V3, per token without dropout. Attention: 4 h; queries and keys 128 (128 + 64) =
    // 24576 wide, values and output 128 x 128 = 16384; latent vectors 1536 + 512 + 64, twice.
    // Layer 0 is dense: 4 h + 8 x 18432. Layer 3 has 8 of 256 experts and a shared one, 2048 wide.
    MemoryInputs inputs = even_split(deepseek_v3(), 1, one_f_one_b(1, 1), 0);
    inputs.dropout = false;
    const double h = 7168;
    const double attention = 4 * h + 2 * (2 * 24576 + 2 * 16384) + 4 * 2112;
    CHECK(layer_activations(inputs, 0).whole ==
          doctest::Approx(2048 * (attention + 4 * h + 8 * 18432)));
    CHECK(
        layer_activations(inputs, 3).whole ==
        doctest::Approx(2048 * (attention + 4 * h + 8 * 256 + 8 * (2 * h + 8 * 2048) + 8 * 2048)));
}

TEST_CASE("unit.memory.layer.what_gradients_of_weights_need") {
    // Inputs of the matrices and gradients of their outputs, 2 B each.
    const auto of_layer = [](const ModelShape& model, std::int64_t layer) {
        return layer_activations(even_split(model, 1, one_f_one_b(1, 1), 0), layer).weights_only /
               2048;
    };
    // LLaMA: attention 2 h + 6 h, 2 h + 2 h; MLP 2 h + 4 f, 2 f + 2 h.
    const double llama = 8192;
    CHECK(of_layer(llama_65b(), 0) == doctest::Approx(16 * llama + 6 * 22016));
    // Mixtral: attention 2 h + 2 (h + h / 2), 2 h + 2 h; router 2 h and 4 B of logits for 8 experts;
    // two copies with 2 h + 4 f, 2 f + 2 h.
    const double mixtral = 4096;
    CHECK(of_layer(mixtral_8x7b(), 0) ==
          doctest::Approx(9 * mixtral + 2 * mixtral + 32 + 2 * (4 * mixtral + 6 * 14336)));
    // DeepSeek-V3: attention as when whole but for one of the norm's inputs; then router, 8 copies
    // and the shared expert, which reads the router's input.
    const double v3 = 7168;
    const double attention = 4 * v3 + 2 * (2 * 24576 + 2 * 16384) + 4 * 2112;
    CHECK(of_layer(deepseek_v3(), 3) ==
          doctest::Approx(attention + 2 * v3 + 4 * 256 + 8 * (4 * v3 + 6 * 2048) + 2 * v3 +
                          6 * 2048));
}

TEST_CASE("unit.memory.activations.published_examples_of_175b_stage_0") {
    // 12 layers x 8 micro-batches x 34 s b h / 8 = 0.107 GB each: 10.3 GB.
    MemoryInputs inputs = even_split(gpt_175b(), 8, one_f_one_b(8, 64), 0);
    CHECK(gigabytes(memory_use(inputs).activations) == doctest::Approx(10.27).epsilon(0.001));
    CHECK(memory_use(inputs).recomputed == 0);
    // Full recomputation: 12 x 8 x 2 s b h = 4.8 GB, not cut in tp parts, and one layer live.
    inputs.recomputation = Recomputation::full;
    CHECK(gigabytes(memory_use(inputs).activations) == doctest::Approx(4.83).epsilon(0.001));
    CHECK(gigabytes(memory_use(inputs).recomputed) == doctest::Approx(0.107).epsilon(0.001));
    inputs.shard_saved_inputs = true;
    CHECK(gigabytes(memory_use(inputs).activations) == doctest::Approx(4.83 / 8).epsilon(0.001));
}

TEST_CASE("unit.memory.activations.scores_are_dropped_by_selective_recomputation_or_flash") {
    MemoryInputs inputs = even_split(gpt_175b(), 8, one_f_one_b(8, 64), 0);
    const std::int64_t flash = memory_use(inputs).activations;
    inputs.flash_attention = false;
    // 34 + 80 instead of 34.
    CHECK(static_cast<double>(memory_use(inputs).activations) ==
          doctest::Approx(static_cast<double>(flash) * 114 / 34));
    inputs.recomputation = Recomputation::selective;
    CHECK(memory_use(inputs).activations == flash);
    // One layer's scores live: 5 a s s b / t.
    CHECK(memory_use(inputs).recomputed == 5LL * 96 * 2048 * 2048 / 8);
}

TEST_CASE("unit.memory.activations.follow_the_schedule") {
    const auto layers_kept = [](const PipelineShape& shape, std::uint32_t rank) {
        const MemoryInputs inputs = even_split(gpt_175b(), 8, shape, rank);
        const double layer = layer_activations(inputs, 0).whole;
        const std::int64_t head =
            inputs.chunks[0].layers.head ? std::llround(2048.0 * 4 * 12288 / 8) : 0;
        return static_cast<double>(memory_use(inputs).activations - head) / layer;
    };
    // 8 ranks of 12 layers, 32 micro-batches.
    CHECK(layers_kept({PipelineSchedule::gpipe, 8, 32, 1}, 3) == doctest::Approx(12 * 32));
    CHECK(layers_kept({PipelineSchedule::one_f_one_b, 8, 32, 1}, 0) == doctest::Approx(12 * 8));
    CHECK(layers_kept({PipelineSchedule::one_f_one_b, 8, 32, 1}, 5) == doctest::Approx(12 * 3));
    CHECK(layers_kept({PipelineSchedule::one_f_one_b, 8, 2, 1}, 0) == doctest::Approx(12 * 2));
    // Interleaved with 3 chunks: 1 + 7 / 24 times 1F1B's.
    CHECK(layers_kept({PipelineSchedule::interleaved, 8, 32, 3}, 0) ==
          doctest::Approx(12 * 8 * (1 + 7.0 / 24)));
    // ZB-H1: rank 0 as 1F1B; rank 7 one whole micro-batch and 7 of which weights need 32 / 34.
    CHECK(layers_kept({PipelineSchedule::zb_h1, 8, 32, 1}, 0) == doctest::Approx(12 * 8));
    MemoryInputs last = even_split(gpt_175b(), 8, {PipelineSchedule::zb_h1, 8, 32, 1}, 7);
    last.chunks[0].layers.head = false;
    CHECK(static_cast<double>(memory_use(last).activations) ==
          doctest::Approx(12 * layer_activations(last, 0).whole * (1 + 7 * 32.0 / 34)));
    // DualPipe: 9 micro-batches of 12 layers, wherever the rank is but for the head's input.
    CHECK(layers_kept({PipelineSchedule::dualpipe, 8, 32, 1}, 3) == doctest::Approx(12 * 9));
}

TEST_CASE("unit.memory.logits_are_on_the_last_stage_and_follow_its_micro_batches") {
    // Qwen2.5-72B, s = 4096, V = 152064, t = 1: 6 s V = 3.7 GB.
    const auto logits = [](const PipelineShape& shape, std::uint32_t rank) {
        MemoryInputs inputs = even_split(qwen_72b(), 1, shape, rank);
        inputs.sequence = 4096;
        return memory_use(inputs).logits;
    };
    const std::int64_t once = 6LL * 4096 * 152064;
    CHECK(rounds_to(gigabytes(once), 3.7));
    CHECK(logits({PipelineSchedule::one_f_one_b, 4, 16, 1}, 3) == once);
    CHECK(logits({PipelineSchedule::one_f_one_b, 4, 16, 1}, 2) == 0);
    CHECK(logits({PipelineSchedule::gpipe, 4, 16, 1}, 3) == 16 * once);
    // The last chunk's backward follows its forward at once, however many chunks there are.
    CHECK(logits({PipelineSchedule::interleaved, 4, 16, 2}, 3) == once);
    // Rank 0 holds the last stage of the other direction.
    CHECK(logits({PipelineSchedule::dualpipe, 4, 16, 1}, 0) > 0);
    CHECK(logits({PipelineSchedule::dualpipe, 4, 16, 1}, 1) == 0);
    // ZB-H1's last rank: one micro-batch whole, and of 3 the gradient of the logits, 2 s V.
    CHECK(logits({PipelineSchedule::zb_h1, 4, 16, 1}, 3) == 2 * once);
    // Dropout masks of the embedding: one byte a value.
    CHECK(memory_use(even_split(qwen_72b(), 8, one_f_one_b(4, 16), 0)).embedding ==
          4 * 2048 * 8192 / 8);
}

TEST_CASE("unit.memory.activations.of_the_head_are_two_inputs_of_4_bytes") {
    const auto kept = [](PipelineSchedule schedule, bool head) {
        MemoryInputs inputs = even_split(gpt_175b(), 8, {schedule, 4, 16, 1}, 3);
        inputs.chunks[0].layers.head = head;
        return memory_use(inputs).activations;
    };
    // Inputs of the final norm and of the head, 2 s b h / 8 each. ZB-H1: 1 whole, 3 with the latter.
    const std::int64_t input = 2LL * 2048 * 12288 / 8;
    const PipelineSchedule plain = PipelineSchedule::one_f_one_b;
    CHECK(kept(plain, true) - kept(plain, false) == 2 * input);
    const PipelineSchedule split = PipelineSchedule::zb_h1;
    CHECK(kept(split, true) - kept(split, false) == (2 + 3) * input);
}

TEST_CASE("unit.memory.dualpipe_holds_two_stages") {
    const MemoryInputs single = even_split(gpt_175b(), 8, one_f_one_b(8, 32), 2);
    MemoryInputs dual = even_split(gpt_175b(), 8, {PipelineSchedule::dualpipe, 8, 32, 1}, 2);
    CHECK(memory_use(dual).weights == 2 * memory_use(single).weights);
    CHECK(memory_use(dual).optimizer == 2 * memory_use(single).optimizer);
    // Sharded state is shared with the rank that holds the same stages.
    MemoryInputs sharded = single;
    sharded.zero = dual.zero = 1;
    sharded.replicas = dual.replicas = 16;
    CHECK(memory_use(dual).weights == 2 * memory_use(sharded).weights);
    CHECK(memory_use(dual).optimizer == memory_use(sharded).optimizer);
}

TEST_CASE("unit.memory.fixed_parts_and_total") {
    MemoryInputs inputs = even_split(gpt(36, 4096, 32), 4, one_f_one_b(1, 1), 0);
    const MemoryUse before = memory_use(inputs);
    CHECK(before.fixed == 1'500'000'000);
    CHECK(before.buffers == 0);
    inputs.nccl_channels = 16;
    inputs.nccl_peers = 10;
    inputs.bucket_bytes = 1'000'000;
    const MemoryUse use = memory_use(inputs);
    CHECK(use.buffers == 16LL * 10 * 4 * 1024 * 1024 + 1'000'000);
    // 5% of everything but the context and NCCL.
    const std::int64_t allocated =
        use.total() - use.fragmentation - 750'000'000 - 16LL * 10 * 4 * 1024 * 1024;
    CHECK(std::abs(use.fragmentation - allocated / 20) <= 1);
    std::int64_t sum = 0;
    for (const auto& [name, bytes] : use.parts()) {
        CHECK(std::strlen(name) > 0);
        sum += bytes;
    }
    CHECK(sum == use.total());
    CHECK(sum == use.weights + use.gradients + use.optimizer + use.activations + use.recomputed +
                     use.embedding + use.logits + use.buffers + use.fixed + use.fragmentation);
}

TEST_CASE("unit.memory.verdict") {
    // 92% of 80 GB are 73.6 GB.
    MemoryUse use;
    use.weights = 73'600'000'000;
    CHECK(!is_out_of_memory(use, 80 * kGigabyte));
    use.weights += 1;
    CHECK(is_out_of_memory(use, 80 * kGigabyte));

    // 175B, tp 8, pp 4 without ZeRO: 87 GB of state alone.
    MemoryInputs inputs = even_split(gpt_175b(), 8, one_f_one_b(4, 64), 0);
    CHECK(rounds_to(state(inputs, 0, 16), 87.3));
    CHECK(is_out_of_memory(memory_use(inputs), 80 * kGigabyte));
    // The distributed optimizer on 16 replicas makes it fit.
    inputs.zero = 1;
    inputs.gradient_bytes = 4;
    inputs.replicas = 16;
    CHECK(!is_out_of_memory(memory_use(inputs), 80 * kGigabyte));
}

TEST_CASE("unit.memory.verdict.of_175b_on_64_a100_follows_recomputation") {
    // Korthikanti et al., table 3: tp 8, pp 8, 3 chunks, micro-batches of 1, one replica; fp32
    // gradients, A100 of 80 GB. Storing everything with tensor parallelism alone does not fit;
    // sequence parallelism with selective recomputation does.
    const PipelineShape shape = {PipelineSchedule::interleaved, 8, 64, 3};
    MemoryInputs inputs = even_split(gpt_175b(), 8, shape, 0);
    inputs.gradient_bytes = 4;
    inputs.flash_attention = false;
    inputs.sequence_parallel = false;
    const MemoryUse before = memory_use(inputs);
    CHECK(is_out_of_memory(before, 80 * kGigabyte));
    inputs.sequence_parallel = true;
    inputs.recomputation = Recomputation::selective;
    const MemoryUse after = memory_use(inputs);
    CHECK(!is_out_of_memory(after, 80 * kGigabyte));
    // (10 + 24 / 8 + 80 / 8) / (34 / 8); the abstract says 5 times less.
    CHECK(gigabytes(before.activations) / gigabytes(after.activations) ==
          doctest::Approx(23 / 4.25));
}

TEST_CASE("unit.memory.values_out_of_range_are_refused") {
    MemoryInputs inputs = even_split(gpt(36, 4096, 32), 4, one_f_one_b(1, 1), 0);
    const auto error = [&] { return error_of([&] { memory_use(inputs); }); };
    CHECK(error() == "no error");
    inputs.zero = 4;
    CHECK(error() == "zero is 4, allowed are 0 to 3");
    inputs.zero = 0;
    inputs.cp = 0;
    CHECK(error() == "memory: cp is out of range, allowed are 1 to 1e15");
    inputs.cp = 1;
    inputs.fragmentation = std::nan("");
    CHECK(error() == "memory: fragmentation is out of range, allowed are 0 to 1e15");
    inputs.fragmentation = 0;
    inputs.sequence = 1'000'000'000'000;
    inputs.micro_batch = 1'000'000'000;
    CHECK(error() == "memory per GPU is out of range, allowed are up to 1e17 bytes per part");
    inputs = even_split(gpt(36, 4096, 32), 4, one_f_one_b(1, 1), 0);
    inputs.chunks.clear();
    CHECK_THROWS_AS(memory_use(inputs), InternalError);
}
