// SPDX-License-Identifier: Apache-2.0
/// Transformer language models: shape, parameters and arithmetic.
/// Equations (docs/models/workload.md): h hidden, a heads, d = h / a, g key/value heads, f width of
/// the MLP, E experts of which k are active, V vocabulary, L layers.
///   attention      2 h h + 2 h g d  (+ h + 2 g d with query/key/value biases)
///   MLP            2 h f, gated 3 h f
///   mixture        h E (router) + E experts, each an MLP; active: k of them
///   norms          h, twice a layer and once at the end
///   embedding      V h, twice if the output head has its own; + positions x h where learned
/// Other biases are not counted: totals are those of the models' published tables.
/// Forward arithmetic of a layer on b sequences of s tokens: 2 FLOPs per weight and token, plus
/// 4 b s s h for attention scores and their use (no discount for causal masks); output head
/// 2 b s h V. Backward is twice forward.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

struct ModelShape {
    std::string name;
    std::int64_t layers = 0;
    std::int64_t hidden = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t ffn = 0;      ///< width of the MLP, of each expert in a mixture
    bool gated = false;        ///< SwiGLU: three matrices instead of two
    std::int64_t experts = 0;  ///< 0: dense
    std::int64_t top_k = 0;
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;  ///< learned position embeddings
    bool untied_head = false;
    bool qkv_bias = false;
};

/// Throws ConfigError if a dimension is out of range or does not fit another.
void check_model(const ModelShape& model);

struct ParameterCount {
    std::int64_t dense = 0;    ///< everything but experts; routers included
    std::int64_t experts = 0;  ///< all experts of all layers
    std::int64_t active = 0;   ///< parameters that a token meets

    std::int64_t total() const { return dense + experts; }
};

ParameterCount count_parameters(const ModelShape& model);

/// Forward FLOPs of one micro-batch of b sequences of s tokens.
struct ForwardFlops {
    double attention = 0;  ///< one layer: attention and, in a mixture, the router
    double mlp = 0;        ///< one layer: the MLP, or the active experts
    double head = 0;       ///< the output head, once
};

ForwardFlops forward_flops(const ModelShape& model, std::int64_t sequences, std::int64_t tokens);

/// The models known by name.
const std::vector<ModelShape>& model_presets();

/// Throws ConfigError naming the known models if there is none called `name`.
const ModelShape& find_model(const std::string& name);

}  // namespace sluice
