// SPDX-License-Identifier: Apache-2.0
/// Transformer language models: shape, parameters and arithmetic.
/// Equations (docs/models/workload.md): h hidden, a heads, d width of a head, g key/value heads,
/// f width of the MLP, f_e that of an expert, E experts of which k are active, n shared experts,
/// V vocabulary, L layers of which the first D are dense.
///   attention      2 h a d + 2 h g d  (+ a d + 2 g d with query/key/value biases); a d = h unless
///                  head_dim says otherwise
///   latent (MLA)   h q + q a (d_n + d_r) + h (c + d_r) + c a (d_n + d_v) + a d_v h, q and c the
///                  ranks of queries and of keys and values, d_n, d_r, d_v the widths of a head
///                  without and with rotary embedding and of its values (DeepSeek-V2, section 2.1);
///                  q = 0: queries are not compressed, h a (d_n + d_r)
///   MLP            2 h f, gated 3 h f
///   mixture        h E (router) + E + n experts, each (2 or 3) h f_e; active: k + n of them
///   norms          h, twice a layer and once at the end; latent attention q + c more
///   embedding      V h, twice if the output head has its own; + positions x h where learned
/// With `biases` every matrix but embedding, router and head has one, with `norm_biases` every
/// norm. The presets leave them out: totals are those of the models' published tables.
/// Forward arithmetic of b sequences of s tokens: 2 FLOPs per weight and token, plus
/// 2 b s s a (d_qk + d_v) for attention scores and their use, 4 b s s h in the plain case (half of
/// it only where a causal mask is asked to count); output head 2 b s h V. Backward is twice forward.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

inline std::int64_t divide_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

/// Multi-head latent attention; kv_rank 0: the model has none.
struct LatentAttention {
    std::int64_t query_rank = 0;   ///< q; 0: queries are not compressed
    std::int64_t kv_rank = 0;      ///< c
    std::int64_t nope_width = 0;   ///< d_n
    std::int64_t rope_width = 0;   ///< d_r
    std::int64_t value_width = 0;  ///< d_v
};

struct ModelShape {
    std::string name;
    std::int64_t layers = 0;
    std::int64_t hidden = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;  ///< 0: hidden / heads
    LatentAttention latent;
    std::int64_t ffn = 0;      ///< width of a dense MLP; of each expert where expert_ffn is 0
    bool gated = false;        ///< SwiGLU: three matrices instead of two
    std::int64_t experts = 0;  ///< 0: dense
    std::int64_t top_k = 0;
    std::int64_t expert_ffn = 0;      ///< width of an expert, if not ffn
    std::int64_t shared_experts = 0;  ///< every token meets them
    std::int64_t dense_layers = 0;    ///< of a mixture: this many first layers have a plain MLP
    std::int64_t expert_groups = 0;   ///< node-limited routing: experts are split into this many
    std::int64_t top_groups = 0;      ///< groups, and a token goes to at most so many; 0: no limit
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;  ///< learned position embeddings
    bool untied_head = false;
    bool qkv_bias = false;
    bool biases = false;
    bool norm_biases = false;
    std::int64_t sequence = 2048;  ///< tokens of a training sequence, where a job does not say
};

/// Throws ConfigError if a dimension is out of range or does not fit another.
void check_model(const ModelShape& model);

/// Whether layer `layer`, from 0, has experts.
bool is_mixture_layer(const ModelShape& model, std::int64_t layer);
/// Layers that have.
std::int64_t mixture_layers(const ModelShape& model);

struct ParameterCount {
    std::int64_t dense = 0;    ///< everything but routed experts; routers, shared experts included
    std::int64_t experts = 0;  ///< all routed experts of all layers
    std::int64_t active = 0;   ///< parameters that a token meets

    std::int64_t total() const { return dense + experts; }
};

ParameterCount count_parameters(const ModelShape& model);

/// Of one layer, by part.
struct LayerParameters {
    std::int64_t attention = 0;
    std::int64_t norms = 0;    ///< those of latent attention included
    std::int64_t mlp = 0;      ///< of a dense layer; 0 in a mixture's
    std::int64_t router = 0;   ///< 0 in a dense layer, as all that follow
    std::int64_t shared = 0;   ///< all shared experts
    std::int64_t expert = 0;   ///< one routed expert
    std::int64_t experts = 0;  ///< how many of them

    std::int64_t dense() const { return attention + norms + mlp + router + shared; }
    std::int64_t total() const { return dense() + experts * expert; }
};

LayerParameters layer_parameters(const ModelShape& model, std::int64_t layer);
/// Token and position embeddings.
std::int64_t embedding_parameters(const ModelShape& model);
/// Of the output head where it has its own; a tied one has none.
std::int64_t head_parameters(const ModelShape& model);
std::int64_t final_norm_parameters(const ModelShape& model);

/// Consecutive layers of a model: what one pipeline stage, or one chunk of it, holds.
struct LayerRange {
    std::int64_t first = 0;
    std::int64_t count = 0;
    bool embedding = false;  ///< the embeddings are here
    bool head = false;       ///< final norm and output head are here
};

/// Cuts the model in `stages` ranges whose layer counts differ by at most one, earlier ones larger.
std::vector<LayerRange> split_layers(const ModelShape& model, std::int64_t stages);

/// What one rank holds of a range.
struct RankParameters {
    std::int64_t dense = 0;    ///< reduced over all data-parallel replicas
    std::int64_t experts = 0;  ///< reduced over dp / ep of them

    std::int64_t total() const { return dense + experts; }
};

/// Megatron's split: matrices and embeddings are cut in `tp` parts; norms, routers, the
/// down-projections of latent attention and the biases of row-parallel matrices are whole on each.
/// Experts are cut in `tp` parts and spread over `ep` replicas. A head that is tied to an embedding
/// on another stage is a copy, V h / tp. Divisions round up. `tp` is at most the number of heads.
RankParameters rank_parameters(const ModelShape& model, const LayerRange& range, std::int64_t tp,
                               std::int64_t ep);

/// Forward FLOPs of one micro-batch of b sequences of s tokens, no discount for causal masks.
struct ForwardFlops {
    double attention = 0;  ///< one layer: attention and, in a mixture, the router
    double mlp = 0;        ///< one layer: the MLP, or the active and the shared experts
    double head = 0;       ///< the output head, once
};

/// Layers that differ (dense first layers of a mixture) count with their mean.
ForwardFlops forward_flops(const ModelShape& model, std::int64_t sequences, std::int64_t tokens);

/// Arithmetic and memory traffic of one operation on one GPU: what a roofline needs.
struct Work {
    double flops = 0;
    double bytes = 0;  ///< weights read once, inputs read, outputs written

    Work& operator+=(const Work& other) {
        flops += other.flops;
        bytes += other.bytes;
        return *this;
    }
};

/// What one rank works on at a time.
struct Pass {
    std::int64_t sequences = 1;  ///< b
    std::int64_t tokens =
        2048;  ///< s of each sequence on this rank: s / cp under context parallelism
    std::int64_t context = 0;       ///< tokens that each of them attends to; 0: `tokens`
    std::int64_t tp = 1;            ///< matrices, heads and experts are cut in so many parts
    std::int64_t ep = 1;            ///< replicas that share the experts
    bool sequence_parallel = true;  ///< norms, routers and down-projections: tokens in tp parts
    bool causal = false;            ///< half of the attention scores
    /// Fused attention: scores stay on the chip. false: they are written and read twice.
    bool flash = true;
    std::int64_t value_bytes = 2;  ///< of a weight or an activation
};

/// Forward work of one rank in one layer, by part; an absent part is zero. A rank's share of
/// experts is that of even routing: b s k / tp token copies at a whole expert's width.
struct LayerWork {
    Work norms;        ///< both, and the residual additions
    Work projections;  ///< into queries, keys and values, and out of attention
    Work scores;       ///< attention itself
    Work mlp;          ///< of a dense layer
    Work router;
    Work shared;
    Work experts;

    Work attention_total() const;  ///< projections and scores
    Work mlp_total() const;        ///< the rest but norms
};

LayerWork forward_work(const ModelShape& model, std::int64_t layer, const Pass& pass);
Work embedding_work(const ModelShape& model, const Pass& pass);
/// The output head with the final norm.
Work head_work(const ModelShape& model, const Pass& pass);
/// Adam on `parameters`: reads gradient, master weight and both moments, writes the last three and
/// the weight: 4 + 12 + 12 + value_bytes bytes, 12 FLOPs each.
Work optimizer_work(std::int64_t parameters, std::int64_t value_bytes = 2);

}  // namespace sluice
