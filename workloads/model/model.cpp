// SPDX-License-Identifier: Apache-2.0
#include "workloads/model/model.h"

#include <algorithm>

#include "core/error.h"

namespace sluice {

namespace {

bool latent(const ModelShape& model) { return model.latent.kv_rank > 0; }

std::int64_t head_width(const ModelShape& model) {
    return model.head_dim > 0 ? model.head_dim : model.hidden / model.heads;
}

/// Width of all heads' outputs, which the last projection of attention reads.
std::int64_t value_width(const ModelShape& model) {
    return model.heads * (latent(model) ? model.latent.value_width : head_width(model));
}

/// Of a head: what queries and keys are compared over, and values added over.
std::int64_t score_width(const ModelShape& model) {
    const LatentAttention& mla = model.latent;
    return latent(model) ? mla.nope_width + mla.rope_width + mla.value_width
                         : 2 * head_width(model);
}

std::int64_t norm_values(const ModelShape& model) { return model.norm_biases ? 2 : 1; }

std::int64_t expert_width(const ModelShape& model) {
    return model.expert_ffn > 0 ? model.expert_ffn : model.ffn;
}

/// A part's parameters: those that tensor parallelism cuts, and those that every rank has whole.
struct Split {
    std::int64_t cut = 0;
    std::int64_t whole = 0;
};

Split attention_parameters(const ModelShape& model, std::int64_t kv_heads) {
    const std::int64_t h = model.hidden;
    Split parameters;
    parameters.cut = h * value_width(model);
    if (latent(model)) {
        const LatentAttention& mla = model.latent;
        const std::int64_t query = model.heads * (mla.nope_width + mla.rope_width);
        parameters.cut += (mla.query_rank > 0 ? mla.query_rank : h) * query;
        parameters.cut += mla.kv_rank * model.heads * (mla.nope_width + mla.value_width);
        parameters.whole += h * mla.query_rank + h * (mla.kv_rank + mla.rope_width);
    } else {
        const std::int64_t outputs = (model.heads + 2 * kv_heads) * head_width(model);
        parameters.cut += h * outputs;
        if (model.qkv_bias || model.biases) parameters.cut += outputs;
    }
    if (model.biases) parameters.whole += h;
    return parameters;
}

/// Of an MLP or of an expert, `width` wide.
Split mlp_parameters(const ModelShape& model, std::int64_t width) {
    const std::int64_t inputs = model.gated ? 2 : 1;
    Split parameters;
    parameters.cut = (inputs + 1) * model.hidden * width;
    if (model.biases) {
        parameters.cut += inputs * width;
        parameters.whole = model.hidden;
    }
    return parameters;
}

std::int64_t norm_parameters(const ModelShape& model) {
    std::int64_t values = 2 * model.hidden;
    if (latent(model)) values += model.latent.query_rank + model.latent.kv_rank;
    return values * norm_values(model);
}

std::int64_t sum(const Split& parameters) { return parameters.cut + parameters.whole; }

void check_range(const ModelShape& model, const char* what, std::int64_t value, std::int64_t least,
                 std::int64_t most) {
    if (value < least || value > most) {
        throw ConfigError("model \"" + model.name + "\": " + what + " is " + std::to_string(value) +
                          ", allowed are " + std::to_string(least) + " to " + std::to_string(most));
    }
}

void check_divides(const ModelShape& model, const char* what, std::int64_t value, const char* by,
                   std::int64_t divisor) {
    if (value % divisor != 0) {
        throw ConfigError("model \"" + model.name + "\": " + what + " " + std::to_string(value) +
                          " is not divisible by " + by + " " + std::to_string(divisor));
    }
}

// Bounds keep every product below 2^63.
constexpr std::int64_t kWidest = 1 << 20;

void check_attention(const ModelShape& model) {
    check_range(model, "heads", model.heads, 1, model.hidden);
    check_range(model, "kv_heads", model.kv_heads, 1, model.heads);
    check_range(model, "head_dim", model.head_dim, 0, kWidest);
    check_range(model, "heads x head_dim", model.heads * model.head_dim, 0, kWidest);
    const LatentAttention& mla = model.latent;
    check_range(model, "kv_lora_rank", mla.kv_rank, 0, kWidest);
    const std::int64_t most = mla.kv_rank > 0 ? kWidest : 0;
    const std::int64_t least = mla.kv_rank > 0 ? 1 : 0;
    check_range(model, "q_lora_rank", mla.query_rank, 0, most);
    check_range(model, "qk_nope_head_dim", mla.nope_width, least, most);
    check_range(model, "qk_rope_head_dim", mla.rope_width, 0, most);
    check_range(model, "v_head_dim", mla.value_width, least, most);
    check_range(model, "heads x (qk_nope_head_dim + qk_rope_head_dim)",
                model.heads * (mla.nope_width + mla.rope_width), 0, kWidest);
    check_range(model, "heads x v_head_dim", model.heads * mla.value_width, 0, kWidest);
    if (mla.kv_rank == 0 && model.head_dim == 0) {
        check_divides(model, "hidden", model.hidden, "heads", model.heads);
    }
}

void check_experts(const ModelShape& model) {
    check_range(model, "experts", model.experts, 0, 1024);
    const bool mixture = model.experts > 0;
    check_range(model, "shared_experts", model.shared_experts, 0, mixture ? 1024 : 0);
    check_range(model, "layers x experts", model.layers * (model.experts + model.shared_experts), 0,
                1'024'000);
    check_range(model, "top_k", model.top_k, mixture ? 1 : 0, model.experts);
    check_range(model, "expert_ffn", model.expert_ffn, 0, mixture ? kWidest : 0);
    check_range(model, "dense_layers", model.dense_layers, 0, mixture ? model.layers : 0);
    check_range(model, "expert_groups", model.expert_groups, 0, model.experts);
    check_range(model, "top_groups", model.top_groups, model.expert_groups > 0 ? 1 : 0,
                model.expert_groups);
    if (model.expert_groups == 0) return;
    check_divides(model, "experts", model.experts, "expert_groups", model.expert_groups);
    check_range(model, "top_k", model.top_k, 1,
                model.experts / model.expert_groups * model.top_groups);
}

}  // namespace

void check_model(const ModelShape& model) {
    check_range(model, "layers", model.layers, 1, 100'000);
    check_range(model, "hidden", model.hidden, 1, kWidest);
    check_attention(model);
    check_range(model, "ffn", model.ffn, 1, kWidest);
    check_range(model, "vocabulary", model.vocabulary, 1, 100'000'000);
    check_range(model, "positions", model.positions, 0, 100'000'000);
    check_range(model, "sequence", model.sequence, 1, 100'000'000);
    check_experts(model);
    constexpr std::int64_t kMostParameters = 1'000'000'000'000'000;
    if (count_parameters(model).total() > kMostParameters) {
        throw ConfigError("model \"" + model.name + "\" has more than 10^15 parameters");
    }
}

bool is_mixture_layer(const ModelShape& model, std::int64_t layer) {
    return model.experts > 0 && layer >= model.dense_layers;
}

std::int64_t mixture_layers(const ModelShape& model) {
    return model.experts > 0 ? model.layers - model.dense_layers : 0;
}

LayerParameters layer_parameters(const ModelShape& model, std::int64_t layer) {
    LayerParameters parameters;
    parameters.attention = sum(attention_parameters(model, model.kv_heads));
    parameters.norms = norm_parameters(model);
    if (!is_mixture_layer(model, layer)) {
        parameters.mlp = sum(mlp_parameters(model, model.ffn));
        return parameters;
    }
    parameters.router = model.hidden * model.experts;
    parameters.expert = sum(mlp_parameters(model, expert_width(model)));
    parameters.shared = model.shared_experts * parameters.expert;
    parameters.experts = model.experts;
    return parameters;
}

std::int64_t embedding_parameters(const ModelShape& model) {
    return (model.vocabulary + model.positions) * model.hidden;
}

std::int64_t head_parameters(const ModelShape& model) {
    return model.untied_head ? model.vocabulary * model.hidden : 0;
}

std::int64_t final_norm_parameters(const ModelShape& model) {
    return model.hidden * norm_values(model);
}

ParameterCount count_parameters(const ModelShape& model) {
    ParameterCount count;
    count.dense =
        embedding_parameters(model) + head_parameters(model) + final_norm_parameters(model);
    const std::int64_t mixtures = mixture_layers(model);
    std::int64_t active_experts = 0;
    if (mixtures < model.layers) {
        count.dense += (model.layers - mixtures) * layer_parameters(model, 0).dense();
    }
    if (mixtures > 0) {
        const LayerParameters layer = layer_parameters(model, model.layers - 1);
        count.dense += mixtures * layer.dense();
        count.experts = mixtures * layer.experts * layer.expert;
        active_experts = mixtures * model.top_k * layer.expert;
    }
    count.active = count.dense + active_experts;
    return count;
}

std::vector<LayerRange> split_layers(const ModelShape& model, std::int64_t stages) {
    std::vector<LayerRange> ranges;
    std::int64_t first = 0;
    for (std::int64_t stage = 0; stage < stages; ++stage) {
        const std::int64_t count = model.layers / stages + (stage < model.layers % stages ? 1 : 0);
        ranges.push_back({first, count, stage == 0, stage + 1 == stages});
        first += count;
    }
    return ranges;
}

RankParameters rank_parameters(const ModelShape& model, const LayerRange& range, std::int64_t tp,
                               std::int64_t ep) {
    // Key and value heads cannot be cut: with fewer of them than ranks, ranks hold copies.
    const std::int64_t kv_heads = divide_up(model.kv_heads, tp) * tp;
    const Split attention = attention_parameters(model, kv_heads);
    const auto on_rank = [tp](const Split& part) { return divide_up(part.cut, tp) + part.whole; };
    const std::int64_t every_layer = on_rank(attention) + norm_parameters(model);
    const std::int64_t last = range.first + range.count;
    const std::int64_t dense_layers =
        model.experts > 0
            ? std::clamp(model.dense_layers - range.first, std::int64_t{0}, range.count)
            : last - range.first;
    const std::int64_t mixtures = range.count - dense_layers;

    RankParameters rank;
    rank.dense = range.count * every_layer;
    rank.dense += dense_layers * on_rank(mlp_parameters(model, model.ffn));
    if (mixtures > 0) {
        const Split expert = mlp_parameters(model, expert_width(model));
        rank.dense +=
            mixtures * (model.hidden * model.experts + model.shared_experts * on_rank(expert));
        rank.experts = divide_up(mixtures * model.experts * on_rank(expert), ep);
    }
    const std::int64_t words = divide_up(model.vocabulary * model.hidden, tp);
    if (range.embedding) rank.dense += words + model.positions * model.hidden;
    if (range.head) {
        rank.dense += final_norm_parameters(model);
        if (model.untied_head || !range.embedding) rank.dense += words;
    }
    return rank;
}

ForwardFlops forward_flops(const ModelShape& model, std::int64_t sequences, std::int64_t tokens) {
    const double all_tokens = static_cast<double>(sequences) * static_cast<double>(tokens);
    const auto h = static_cast<double>(model.hidden);
    const auto layers = static_cast<double>(model.layers);
    const auto mixtures = static_cast<double>(mixture_layers(model));
    const auto weights = [](const ModelShape& shape) {
        ModelShape plain = shape;
        plain.biases = plain.qkv_bias = false;
        return plain;
    }(model);
    const auto matrices = static_cast<double>(sum(attention_parameters(weights, model.kv_heads)));
    const auto mlp = static_cast<double>(sum(mlp_parameters(weights, model.ffn)));
    const auto expert = static_cast<double>(sum(mlp_parameters(weights, expert_width(model))));
    const auto active = static_cast<double>(model.top_k + model.shared_experts);

    ForwardFlops flops;
    const double router = h * static_cast<double>(model.experts) * (mixtures / layers);
    flops.attention = 2 * all_tokens * (matrices + router) +
                      2 * all_tokens * static_cast<double>(tokens) *
                          static_cast<double>(model.heads * score_width(model));
    const double met = (layers - mixtures) / layers * mlp + mixtures / layers * active * expert;
    flops.mlp = 2 * all_tokens * met;
    flops.head = 2 * all_tokens * h * static_cast<double>(model.vocabulary);
    return flops;
}

}  // namespace sluice
