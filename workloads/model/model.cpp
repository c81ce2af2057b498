// SPDX-License-Identifier: Apache-2.0
#include "workloads/model/model.h"

#include "core/error.h"

namespace sluice {

namespace {

ModelShape gpt(const char* name, std::int64_t layers, std::int64_t hidden, std::int64_t heads,
               std::int64_t experts = 0) {
    ModelShape model;
    model.name = name;
    model.layers = layers;
    model.hidden = hidden;
    model.heads = heads;
    model.kv_heads = heads;
    model.ffn = 4 * hidden;
    model.experts = experts;
    model.top_k = experts > 0 ? 2 : 0;
    model.vocabulary = 50257;
    model.positions = 2048;
    return model;
}

ModelShape llama(const char* name, std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                 std::int64_t kv_heads, std::int64_t ffn, std::int64_t vocabulary,
                 std::int64_t experts = 0) {
    ModelShape model;
    model.name = name;
    model.layers = layers;
    model.hidden = hidden;
    model.heads = heads;
    model.kv_heads = kv_heads;
    model.ffn = ffn;
    model.gated = true;
    model.experts = experts;
    model.top_k = experts > 0 ? 2 : 0;
    model.vocabulary = vocabulary;
    model.untied_head = true;
    return model;
}

std::vector<ModelShape> make_presets() {
    std::vector<ModelShape> models = {
        // AICB's preset script; 6.7B as in the GPT-3 paper.
        gpt("gpt-6.7b", 32, 4096, 32),
        gpt("gpt-7b", 36, 4096, 32),
        gpt("gpt-13b", 40, 5120, 40),
        gpt("gpt-22b", 48, 6144, 64),
        gpt("gpt-175b", 96, 12288, 96),
        // GPT shapes whose every MLP is replaced by experts, two of them active.
        gpt("moe-8x13b", 40, 5120, 40, 8),
        gpt("moe-8x22b", 48, 6144, 64, 8),
        gpt("moe-32x22b", 48, 6144, 64, 32),
        // Public configurations.
        llama("mixtral-8x7b", 32, 4096, 32, 8, 14336, 32000, 8),
        llama("mixtral-8x22b", 56, 6144, 48, 8, 16384, 32768, 8),
        llama("llama-7b", 32, 4096, 32, 32, 11008, 32000),
        llama("llama-65b", 80, 8192, 64, 64, 22016, 32000),
        llama("llama3-405b", 126, 16384, 128, 8, 53248, 128256),
        llama("qwen2.5-72b", 80, 8192, 64, 8, 29568, 152064),
    };
    models.back().qkv_bias = true;
    return models;
}

std::int64_t head_width(const ModelShape& model) { return model.hidden / model.heads; }

std::int64_t attention_weights(const ModelShape& model) {
    return 2 * model.hidden * model.hidden + 2 * model.hidden * model.kv_heads * head_width(model);
}

std::int64_t mlp_weights(const ModelShape& model) {
    return (model.gated ? 3 : 2) * model.hidden * model.ffn;
}

void check_range(const ModelShape& model, const char* what, std::int64_t value, std::int64_t least,
                 std::int64_t most) {
    if (value < least || value > most) {
        throw ConfigError("model \"" + model.name + "\": " + what + " is " + std::to_string(value) +
                          ", allowed are " + std::to_string(least) + " to " + std::to_string(most));
    }
}

}  // namespace

void check_model(const ModelShape& model) {
    // Bounds keep every product below 2^63.
    constexpr std::int64_t kWidest = 1 << 20;
    check_range(model, "layers", model.layers, 1, 100'000);
    check_range(model, "hidden", model.hidden, 1, kWidest);
    check_range(model, "heads", model.heads, 1, model.hidden);
    check_range(model, "kv_heads", model.kv_heads, 1, model.heads);
    check_range(model, "ffn", model.ffn, 1, kWidest);
    check_range(model, "vocabulary", model.vocabulary, 1, 100'000'000);
    check_range(model, "positions", model.positions, 0, 100'000'000);
    check_range(model, "experts", model.experts, 0, 1024);
    check_range(model, "layers x experts", model.layers * model.experts, 0, 1'024'000);
    check_range(model, "top_k", model.top_k, model.experts > 0 ? 1 : 0, model.experts);
    if (model.hidden % model.heads != 0) {
        throw ConfigError("model \"" + model.name + "\": hidden " + std::to_string(model.hidden) +
                          " is not divisible by heads " + std::to_string(model.heads));
    }
}

ParameterCount count_parameters(const ModelShape& model) {
    const std::int64_t h = model.hidden;
    std::int64_t layer = attention_weights(model) + 2 * h;
    if (model.qkv_bias) layer += h + 2 * model.kv_heads * head_width(model);
    const std::int64_t mlp = mlp_weights(model);
    std::int64_t active_mlp = 0;
    ParameterCount count;
    if (model.experts > 0) {
        layer += h * model.experts;
        count.experts = model.layers * model.experts * mlp;
        active_mlp = model.top_k * mlp;
    } else {
        layer += mlp;
    }
    count.dense = model.layers * layer + h + (model.untied_head ? 2 : 1) * model.vocabulary * h +
                  model.positions * h;
    count.active = count.dense + model.layers * active_mlp;
    return count;
}

ForwardFlops forward_flops(const ModelShape& model, std::int64_t sequences, std::int64_t tokens) {
    const double all_tokens = static_cast<double>(sequences) * static_cast<double>(tokens);
    const auto h = static_cast<double>(model.hidden);
    const auto experts = static_cast<double>(model.experts);
    const auto active = model.experts > 0 ? static_cast<double>(model.top_k) : 1.0;
    ForwardFlops flops;
    flops.attention =
        2 * all_tokens * (static_cast<double>(attention_weights(model)) + h * experts) +
        4 * all_tokens * static_cast<double>(tokens) * h;
    flops.mlp = 2 * all_tokens * active * static_cast<double>(mlp_weights(model));
    flops.head = 2 * all_tokens * h * static_cast<double>(model.vocabulary);
    return flops;
}

const std::vector<ModelShape>& model_presets() {
    static const std::vector<ModelShape> kPresets = make_presets();
    return kPresets;
}

const ModelShape& find_model(const std::string& name) {
    std::string known;
    for (const ModelShape& model : model_presets()) {
        if (model.name == name) return model;
        known += (known.empty() ? "" : ", ") + model.name;
    }
    throw ConfigError("unknown model \"" + name + "\": known are " + known);
}

}  // namespace sluice
