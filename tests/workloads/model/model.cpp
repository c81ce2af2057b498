// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/model_support.h"

using namespace sluice;

namespace {

/// Cells of a CSV line; quoted cells may hold commas.
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            cells.emplace_back();
        } else if (c != '\r') {
            cells.back() += c;
        }
    }
    return cells;
}

}  // namespace

TEST_CASE("unit.model.gpt_13b_by_hand") {
    // 40 layers of 12 h^2 + 2 h, final norm h, 50257 h embeddings, 2048 h positions; h = 5120.
    const std::int64_t h = 5120;
    const ParameterCount count = count_parameters(preset("gpt-13b"));
    CHECK(count.total() == 40 * (12 * h * h + 2 * h) + h + 50257 * h + 2048 * h);
    CHECK(count.total() == 12'851'128'320);
    CHECK(count.active == count.total());
    CHECK(count.experts == 0);
}

TEST_CASE("unit.model.every_preset_matches_the_reference_table") {
    const std::map<std::string, std::string> rows = {
        {"GPT-3 7B (AICB preset)", "gpt-7b"},
        {"GPT-3 6.7B (paper)", "gpt-6.7b"},
        {"GPT-3 13B (AICB preset)", "gpt-13b"},
        {"GPT-3 22B (AICB/Megatron)", "gpt-22b"},
        {"GPT-3 175B", "gpt-175b"},
        {"LLaMA-7B", "llama-7b"},
        {"LLaMA-65B", "llama-65b"},
        {"Llama-3 405B", "llama3-405b"},
        {"Qwen2.5-72B", "qwen2.5-72b"},
        {"DeepSeek-V3 671B", "deepseek-v3"},
        {"Mixtral 8x7B", "mixtral-8x7b"},
        {"Mixtral 8x22B", "mixtral-8x22b"},
        {"MoE 8x13B (GPT-13B x8, AICB-style, ungated)", "moe-8x13b"},
        {"MoE 8x22B (GPT-22B x8, AICB-style, ungated)", "moe-8x22b"},
        {"MoE 32x22B (GPT-22B x32, AICB-style, ungated)", "moe-32x22b"}};
    CHECK(model_names(model_folders()).size() == rows.size());
    const char* folder = std::getenv("SLUICE_REFERENCE");
    std::ifstream file(std::string(folder != nullptr ? folder : "") + "/models.csv");
    if (!file) {
        MESSAGE("skipped: no models.csv in the folder that SLUICE_REFERENCE names");
        return;
    }
    std::string line;
    std::getline(file, line);
    std::size_t checked = 0;
    while (std::getline(file, line)) {
        const std::vector<std::string> cells = cells_of(line);
        const auto row = rows.find(cells.at(0));
        if (row == rows.end()) continue;
        CAPTURE(row->second);
        const ParameterCount count = count_parameters(preset(row->second));
        // The table leaves out the norms inside latent attention: 61 x (1536 + 512).
        const std::int64_t norms = row->second == "deepseek-v3" ? 61 * (1536 + 512) : 0;
        CHECK(std::to_string(count.total() - norms) == cells.at(13));
        CHECK(std::to_string(count.active - norms) == cells.at(14));
        ++checked;
    }
    CHECK(checked == rows.size());
}

TEST_CASE("unit.model.flops_equal_megatrons_formula") {
    // Per layer 24 b s h^2 (1 + s / (6 h)); with recomputation (forward twice, backward twice
    // forward: 4 in all, the head 3) the iteration is 96 B s L h^2 (1 + s/6h + V/16Lh).
    const ModelShape model = preset("gpt-175b");
    const double h = 12288;
    const double s = 2048;
    const double layers = 96;
    const ForwardFlops flops = forward_flops(model, 3, 2048);
    CHECK(flops.attention + flops.mlp ==
          doctest::Approx(24 * 3 * s * h * h * (1 + s / (6 * h))).epsilon(1e-12));
    const double iteration = 4 * layers * (flops.attention + flops.mlp) + 3 * flops.head;
    CHECK(iteration == doctest::Approx(96 * 3 * s * layers * h * h *
                                       (1 + s / (6 * h) + 50257 / (16 * layers * h)))
                           .epsilon(1e-12));
}

TEST_CASE("unit.model.mixture_flops_count_active_experts") {
    const ForwardFlops dense = forward_flops(preset("gpt-13b"), 1, 2048);
    const ForwardFlops mixture = forward_flops(preset("moe-8x13b"), 1, 2048);
    CHECK(mixture.mlp == 2 * dense.mlp);
    // The router: 2 x tokens x h x 8.
    CHECK(mixture.attention - dense.attention == 2.0 * 2048 * 5120 * 8);
}

TEST_CASE("unit.model.refuses_impossible_shapes") {
    ModelShape model = preset("gpt-13b");
    model.heads = 7;
    CHECK_THROWS_AS(check_model(model), ConfigError);
    model = preset("gpt-13b");
    model.layers = 0;
    CHECK_THROWS_AS(check_model(model), ConfigError);
    model = preset("gpt-13b");
    model.hidden = std::int64_t{1} << 60;
    CHECK_THROWS_AS(check_model(model), ConfigError);
    model = preset("gpt-13b");
    model.layers = 100'000;
    check_model(model);
    model.experts = 11;
    model.top_k = 1;
    CHECK_THROWS_WITH_AS(check_model(model), doctest::Contains("layers x experts"), ConfigError);
    model = preset("moe-8x13b");
    model.hidden = model.ffn = 1 << 20;
    model.heads = model.kv_heads = 64;
    model.experts = 1024;
    model.layers = 1000;
    CHECK_THROWS_WITH_AS(check_model(model), doctest::Contains("10^15 parameters"), ConfigError);
    model = preset("moe-8x13b");
    model.top_k = 9;
    CHECK_THROWS_AS(check_model(model), ConfigError);
    CHECK_THROWS_WITH_AS(preset("gpt-14b"), doctest::Contains("gpt-13b"), ConfigError);
}
