// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "tests/support/model_support.h"

using namespace sluice;

namespace {

/// A figure that a model's authors give, and half of its last digit.
struct Published {
    const char* model;
    double billions;
    double rounding;
    const char* source;
};

std::int64_t layers_of(const std::vector<LayerRange>& ranges) {
    std::int64_t layers = 0;
    for (const LayerRange& range : ranges) layers += range.count;
    return layers;
}

}  // namespace

TEST_CASE("unit.model.totals_are_within_half_a_percent_of_published_ones") {
    // AICB's GPT-7B and GPT-13B and the mixtures of GPTs have no published total; the reference
    // table has ours (every_preset_matches_the_reference_table).
    const std::vector<Published> figures = {
        {"gpt-6.7b", 6.7, 0.05, "Brown et al. 2020, table 2.1"},
        {"gpt-22b", 22, 0.5, "Korthikanti et al. 2022, table 3"},
        {"gpt-175b", 174.6, 0.05, "Narayanan et al. 2021, table 2"},
        {"llama-7b", 6.738415616, 0, "public weights"},
        {"llama-65b", 65.285660672, 0, "public weights"},
        {"llama3-405b", 405.853388800, 0, "public weights"},
        {"qwen2.5-72b", 72.7, 0.05, "model card"},
        {"mixtral-8x7b", 46.7, 0.05, "Jiang et al. 2024"},
        {"mixtral-8x22b", 140.6, 0.05, "public weights"},
        {"deepseek-v3", 671, 0.5, "technical report"},
    };
    for (const Published& figure : figures) {
        CAPTURE(figure.model);
        CAPTURE(figure.source);
        const double total =
            static_cast<double>(count_parameters(preset(figure.model)).total()) / 1e9;
        CHECK(std::abs(total - figure.billions) <= 0.005 * figure.billions + figure.rounding);
        // Where the figure is exact or finely rounded, so are we.
        if (figure.rounding <= 0.05) {
            CHECK(std::abs(total - figure.billions) <= figure.rounding + 1e-9);
        }
    }
    CHECK(count_parameters(preset("mixtral-8x7b")).active ==
          doctest::Approx(12.9e9).epsilon(0.005));
    CHECK(count_parameters(preset("mixtral-8x22b")).active == doctest::Approx(39e9).epsilon(0.005));
}

TEST_CASE("unit.model.latent_attention_by_hand") {
    // 7168 x 1536 + 1536 x 128 x 192 + 7168 x 576 + 512 x 128 x 256 + 128 x 128 x 7168.
    const LayerParameters layer = layer_parameters(preset("deepseek-v3"), 60);
    CHECK(layer.attention == 187'105'280);
    CHECK(layer.norms == 2 * 7168 + 1536 + 512);
    CHECK(layer.mlp == 0);
    CHECK(layer.router == 7168 * 256);
    CHECK(layer.expert == 3 * 7168 * 2048);
    CHECK(layer.shared == layer.expert);
    CHECK(layer.experts == 256);
    const LayerParameters first = layer_parameters(preset("deepseek-v3"), 2);
    CHECK(first.mlp == 3 * 7168 * 18432);
    CHECK(first.router + first.shared + first.expert + first.experts == 0);
    // Without compressed queries: h x a x (nope + rope) in place of both query matrices.
    ModelShape model = preset("deepseek-v3");
    model.latent.query_rank = 0;
    CHECK(layer_parameters(model, 60).attention ==
          187'105'280 - 7168 * 1536 - 1536 * 128 * 192 + 7168 * 128 * 192);
}

TEST_CASE("unit.model.biases_by_hand") {
    // GPT: 12 h^2 + 13 h a layer: 2 h of norms and 2 h of their biases, 4 h of attention, 5 h of
    // the MLP; final norm 2 h.
    ModelShape model = preset("gpt-13b");
    model.biases = model.norm_biases = true;
    const std::int64_t h = 5120;
    CHECK(layer_parameters(model, 0).total() == 12 * h * h + 13 * h);
    CHECK(final_norm_parameters(model) == 2 * h);
    CHECK(count_parameters(model).total() == 40 * (12 * h * h + 13 * h) + 2 * h + 52305 * h);
}

TEST_CASE("unit.model.parts_add_up_to_the_total") {
    for (const std::string& name : model_names(model_folders())) {
        CAPTURE(name);
        const ModelShape model = preset(name);
        CHECK(model.name == name);
        std::int64_t total =
            embedding_parameters(model) + head_parameters(model) + final_norm_parameters(model);
        for (std::int64_t i = 0; i < model.layers; ++i) total += layer_parameters(model, i).total();
        CHECK(total == count_parameters(model).total());
        for (const std::int64_t stages : {1, 3, 4, 16}) {
            const std::vector<LayerRange> ranges = split_layers(model, stages);
            CHECK(layers_of(ranges) == model.layers);
            std::int64_t sum = 0;
            for (const LayerRange& range : ranges)
                sum += rank_parameters(model, range, 1, 1).total();
            // A tied head on another stage than the embedding is a copy.
            const bool copy = !model.untied_head && stages > 1;
            CHECK(sum == total + (copy ? model.vocabulary * model.hidden : 0));
        }
    }
}

TEST_CASE("unit.model.tensor_parallel_split_by_hand") {
    // LLaMA-65B, first of 4 stages, tp 8: 20 layers of (4 h^2 + 3 h f) / 8 + 2 h, embedding V h / 8.
    const std::int64_t h = 8192;
    const ModelShape llama = preset("llama-65b");
    const std::vector<LayerRange> stages = split_layers(llama, 4);
    CHECK(rank_parameters(llama, stages[0], 8, 1).total() ==
          20 * ((4 * h * h + 3 * h * 22016) / 8 + 2 * h) + 32000 * h / 8);
    CHECK(rank_parameters(llama, stages[3], 8, 1).total() ==
          20 * ((4 * h * h + 3 * h * 22016) / 8 + 2 * h) + 32000 * h / 8 + h);
    // Llama 3, tp 16: 8 key and value heads, one on each rank: as if there were 16.
    const ModelShape llama3 = preset("llama3-405b");
    const LayerRange layer{0, 1, false, false};
    const std::int64_t H = 16384;
    CHECK(rank_parameters(llama3, layer, 16, 1).total() ==
          (2 * H * H + 2 * H * 16 * 128 + 3 * H * 53248) / 16 + 2 * H);
    // Mixtral, tp 4, ep 8: each rank has a quarter of one expert; the router is whole.
    const ModelShape mixtral = preset("mixtral-8x7b");
    const RankParameters rank = rank_parameters(mixtral, layer, 4, 8);
    CHECK(rank.experts == 3 * 4096 * 14336 / 4);
    CHECK(rank.dense == (2 * 4096 * 4096 + 2 * 4096 * 1024) / 4 + 2 * 4096 + 4096 * 8);
    // DeepSeek-V3's stage of dense and mixture layers: 3 dense of 4, all attention.
    const ModelShape deepseek = preset("deepseek-v3");
    const RankParameters first = rank_parameters(deepseek, {0, 4, false, false}, 1, 64);
    CHECK(first.experts == 4 * 3 * 7168 * 2048);
    CHECK(first.dense == 4 * (187'105'280 + 2 * 7168 + 2048) + 3 * 3 * 7168 * 18432 + 7168 * 256 +
                             3 * 7168 * 2048);
}

TEST_CASE("unit.model.work_adds_up_to_the_flops") {
    for (const std::string& name : model_names(model_folders())) {
        CAPTURE(name);
        const ModelShape model = preset(name);
        Pass pass;
        pass.sequences = 2;
        pass.tokens = 1024;
        LayerWork all;
        for (std::int64_t i = 0; i < model.layers; ++i) {
            const LayerWork layer = forward_work(model, i, pass);
            all.projections += layer.projections;
            all.scores += layer.scores;
            all.router += layer.router;
            all.mlp += layer.mlp;
            all.shared += layer.shared;
            all.experts += layer.experts;
        }
        const ForwardFlops flops = forward_flops(model, 2, 1024);
        const auto layers = static_cast<double>(model.layers);
        // Element-wise functions and the norms inside latent attention are not in the formula.
        const double attention = all.projections.flops + all.scores.flops + all.router.flops;
        CHECK(attention == doctest::Approx(layers * flops.attention).epsilon(1e-4));
        const double mlp = all.mlp.flops + all.shared.flops + all.experts.flops;
        CHECK(mlp == doctest::Approx(layers * flops.mlp).epsilon(1e-3));
        CHECK(head_work(model, pass).flops == doctest::Approx(flops.head).epsilon(1e-4));
    }
}

TEST_CASE("unit.model.work_of_a_layer_by_hand") {
    // GPT-13B, one sequence of 2048 tokens, tp 8: n = 2048, h = 5120, 2 bytes.
    const double n = 2048;
    const double h = 5120;
    const ModelShape model = preset("gpt-13b");
    Pass pass;
    pass.tp = 8;
    const LayerWork work = forward_work(model, 0, pass);
    // h x 3h/8 and h/8 x h; inputs n h and n h / 8, outputs 3 n h / 8 and n h.
    CHECK(work.projections.flops == 2 * n * h * h * 4 / 8);
    CHECK(work.projections.bytes == 2 * (4 * h * h / 8 + n * h * (1 + 3. / 8 + 1. / 8 + 1)));
    // Queries, keys, values and outputs of 5 heads; scores stay on the chip.
    CHECK(work.scores.flops == 4 * n * n * h / 8);
    CHECK(work.scores.bytes == 2 * 4 * n * h / 8);
    pass.flash = false;
    pass.causal = true;
    const LayerWork plain = forward_work(model, 0, pass);
    CHECK(plain.scores.flops == work.scores.flops / 2);
    CHECK(plain.scores.bytes == work.scores.bytes + 4 * 2 * n * n * 40 / 8);
    // Both norms: read and written; both additions: two read, one written; an eighth of the tokens.
    CHECK(work.norms.bytes == 2 * 2 * (2 + 3) * n * h / 8);
    pass.sequence_parallel = false;
    CHECK(forward_work(model, 0, pass).norms.bytes == 8 * work.norms.bytes);
    // h x 4h/8, its function, 4h/8 x h.
    CHECK(work.mlp.bytes == 2 * (8 * h * h / 8 + n * (h + 4 * h / 8) * 2 + 2 * n * 4 * h / 8));
    CHECK(work.experts.flops == 0);
    CHECK(work.mlp_total().flops == work.mlp.flops);
    CHECK(work.attention_total().bytes == work.projections.bytes + work.scores.bytes);
    // A longer context: each token attends to so many.
    pass.causal = false;
    pass.context = 8192;
    CHECK(forward_work(model, 0, pass).scores.flops == 4 * work.scores.flops);
    CHECK(optimizer_work(1000).bytes == 30'000);
}

TEST_CASE("unit.model.work_of_experts_by_hand") {
    // Mixtral, tp 4, ep 8: 4096 x 2 / 4 token copies; the weights of a quarter of one expert.
    const double copies = 4096. * 2 / 4;
    const double h = 4096;
    const double f = 14336;
    Pass pass;
    pass.tokens = 4096;
    pass.tp = 4;
    pass.ep = 8;
    const LayerWork work = forward_work(preset("mixtral-8x7b"), 0, pass);
    CHECK(work.experts.flops == 2 * copies * 3 * h * f + 9 * copies * f);
    CHECK(work.experts.bytes == 2 * (3 * h * f / 4 + copies * (2 * h + 3 * f) + 3 * copies * f));
    CHECK(work.router.flops == 2 * 1024 * h * 8);
    CHECK(work.mlp.flops == 0);
}
