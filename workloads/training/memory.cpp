// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/memory.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"

namespace sluice {

namespace {

constexpr double kMostMemory = 1e17;  // ten parts of it fit into 63 bits

std::int64_t whole_bytes(double bytes) {
    if (!(bytes >= 0 && bytes <= kMostMemory)) {
        throw ConfigError("memory per GPU is out of range, allowed are up to 1e17 bytes per part");
    }
    return std::llround(bytes);
}

void check_least(const char* key, double value, double least) {
    if (!(value >= least && value <= 1e15)) {
        throw ConfigError("memory: " + std::string(key) + " is out of range, allowed are " +
                          std::to_string(static_cast<std::int64_t>(least)) + " to 1e15");
    }
}

void check_inputs(const MemoryInputs& inputs) {
    const struct {
        const char* key;
        double value;
        double least;
    } ranges[] = {
        {"sequence", static_cast<double>(inputs.sequence), 1},
        {"micro_batch", static_cast<double>(inputs.micro_batch), 1},
        {"tp", static_cast<double>(inputs.tp), 1},
        {"cp", static_cast<double>(inputs.cp), 1},
        {"replicas", static_cast<double>(inputs.replicas), 1},
        {"expert replicas", static_cast<double>(inputs.expert_replicas), 1},
        {"bytes of a parameter", inputs.parameter_bytes, 0},
        {"bytes of a gradient", inputs.gradient_bytes, 0},
        {"bytes of optimizer state", inputs.optimizer_bytes, 0},
        {"live parameters", static_cast<double>(inputs.live_parameters), 0},
        {"capacity factor", inputs.capacity_factor, 0},
        {"activation factor", inputs.activation_factor, 0},
        {"bucket bytes", static_cast<double>(inputs.bucket_bytes), 0},
        {"NCCL channels", static_cast<double>(inputs.nccl_channels), 0},
        {"NCCL peers", static_cast<double>(inputs.nccl_peers), 0},
        {"NCCL bytes per channel", static_cast<double>(inputs.nccl_bytes_per_channel), 0},
        {"context bytes", static_cast<double>(inputs.context_bytes), 0},
        {"workspace bytes", static_cast<double>(inputs.workspace_bytes), 0},
        {"fragmentation", inputs.fragmentation, 0},
    };
    for (const auto& range : ranges) check_least(range.key, range.value, range.least);
    if (inputs.zero < 0 || inputs.zero > 3) {
        throw ConfigError("zero is " + std::to_string(inputs.zero) + ", allowed are 0 to 3");
    }
    if (inputs.chunks.size() != chunks_per_rank(inputs.pipeline)) {
        throw InternalError("memory: the schedule has another number of chunks per rank");
    }
}

/// Bytes per token.
struct PerToken {
    /// Whole on each tensor-parallel rank, unless the sequence is cut in `tp` parts too.
    double replicated = 0;
    double sharded = 0;

    PerToken& operator+=(const PerToken& other) {
        replicated += other.replicated;
        sharded += other.sharded;
        return *this;
    }
};

struct LayerPerToken {
    PerToken whole;
    PerToken weights_only;

    LayerPerToken& operator+=(const LayerPerToken& other) {
        whole += other.whole;
        weights_only += other.weights_only;
        return *this;
    }
};

/// Widths, over all heads, of what attention keeps.
struct AttentionWidths {
    double query = 0;
    double key = 0;
    double value = 0;
    double output = 0;
    double latent = 0;  ///< between down- and up-projections
};

AttentionWidths attention_widths(const ModelShape& model) {
    const auto heads = static_cast<double>(model.heads);
    const LatentAttention& latent = model.latent;
    if (latent.kv_rank > 0) {
        const double query_key = heads * static_cast<double>(latent.nope_width + latent.rope_width);
        const double value = heads * static_cast<double>(latent.value_width);
        return {query_key, query_key, value, value,
                static_cast<double>(latent.query_rank + latent.kv_rank + latent.rope_width)};
    }
    const double width = model.head_dim > 0 ? static_cast<double>(model.head_dim)
                                            : static_cast<double>(model.hidden) / heads;
    const double key_value = width * static_cast<double>(model.kv_heads);
    return {width * heads, key_value, key_value, width * heads, 0};
}

LayerPerToken attention(const MemoryInputs& inputs) {
    const auto h = static_cast<double>(inputs.model.hidden);
    const AttentionWidths widths = attention_widths(inputs.model);
    const double projected = widths.query + widths.key + widths.value;
    LayerPerToken kept;
    kept.whole.replicated = 4 * h + (inputs.dropout ? h : 0) + 4 * widths.latent;
    kept.whole.sharded = 2 * (projected + widths.output);
    // Inputs of the projections and gradients of their outputs. Latent vectors are both.
    kept.weights_only.replicated = 4 * h + 4 * widths.latent;
    kept.weights_only.sharded = 2 * (projected + widths.output);
    return kept;
}

/// Between an MLP's first and last matrix: two products, the activation function's output and what
/// the last one reads in a gated MLP, else input and output of the activation function.
double inside_mlp(const MemoryInputs& inputs, double width) {
    return (inputs.model.gated ? 8 : 4) * width;
}

/// What the gradients of weights need of it: gradients of the first matrices' outputs and the input
/// of the last.
double inside_weights_only(const MemoryInputs& inputs, double width) {
    return (inputs.model.gated ? 6 : 4) * width;
}

LayerPerToken plain_mlp(const MemoryInputs& inputs) {
    const auto h = static_cast<double>(inputs.model.hidden);
    const auto f = static_cast<double>(inputs.model.ffn);
    LayerPerToken kept;
    kept.whole.replicated = 4 * h + (inputs.dropout ? h : 0);
    kept.whole.sharded = inside_mlp(inputs, f);
    kept.weights_only.replicated = 4 * h;
    kept.weights_only.sharded = inside_weights_only(inputs, f);
    return kept;
}

LayerPerToken mixture(const MemoryInputs& inputs) {
    const ModelShape& model = inputs.model;
    const auto h = static_cast<double>(model.hidden);
    const auto f = static_cast<double>(model.expert_ffn > 0 ? model.expert_ffn : model.ffn);
    const auto experts = static_cast<double>(model.experts);
    const double shared = f * static_cast<double>(model.shared_experts);
    const double copies = static_cast<double>(model.top_k) * inputs.capacity_factor;
    const double mask = inputs.dropout ? h : 0;
    LayerPerToken kept;
    kept.whole.replicated = 4 * h + 8 * experts;
    kept.whole.sharded =
        copies * (2 * h + mask + inside_mlp(inputs, f)) + inside_mlp(inputs, shared);
    kept.weights_only.replicated = 2 * h + 4 * experts + (shared > 0 ? 2 * h : 0);
    kept.weights_only.sharded =
        copies * (4 * h + inside_weights_only(inputs, f)) + inside_weights_only(inputs, shared);
    return kept;
}

double tokens_of(const MemoryInputs& inputs) {
    return static_cast<double>(inputs.sequence) / static_cast<double>(inputs.cp) *
           static_cast<double>(inputs.micro_batch);
}

double bytes_of(const MemoryInputs& inputs, const PerToken& per_token) {
    const auto tp = static_cast<double>(inputs.tp);
    return tokens_of(inputs) *
           (per_token.sharded / tp + per_token.replicated / (inputs.sequence_parallel ? tp : 1));
}

/// What one micro-batch keeps in one chunk, by part.
struct ChunkActivations {
    double layers = 0;
    double layers_weights_only = 0;
    double embedding = 0;
    double logits = 0;
    double logits_weights_only = 0;

    ChunkLoad load() const {
        return {layers + embedding + logits, layers_weights_only + logits_weights_only};
    }
};

double kept_by_layer(const MemoryInputs& inputs, const LayerActivations& layer) {
    if (inputs.recomputation == Recomputation::full) {
        const double input = 2 * tokens_of(inputs) * static_cast<double>(inputs.model.hidden);
        return inputs.shard_saved_inputs ? input / static_cast<double>(inputs.tp) : input;
    }
    const bool scores = inputs.recomputation == Recomputation::none && !inputs.flash_attention;
    return layer.whole + (scores ? layer.scores : 0);
}

/// While a layer is recomputed it holds again what was not kept.
double recomputed_by_layer(const MemoryInputs& inputs, const LayerActivations& layer) {
    const double scores = inputs.flash_attention ? 0 : layer.scores;
    switch (inputs.recomputation) {
        case Recomputation::none: return 0;
        case Recomputation::selective: return scores;
        case Recomputation::full: return layer.whole + scores;
    }
    throw InternalError("unknown recomputation");
}

ChunkActivations chunk_activations(const MemoryInputs& inputs, const LayerRange& range) {
    const auto h = static_cast<double>(inputs.model.hidden);
    const auto vocabulary = static_cast<double>(inputs.model.vocabulary);
    ChunkActivations kept;
    for (std::int64_t layer = range.first; layer < range.first + range.count; ++layer) {
        const LayerActivations one = layer_activations(inputs, layer);
        kept.layers += kept_by_layer(inputs, one);
        kept.layers_weights_only += one.weights_only;
    }
    if (range.embedding && inputs.dropout) kept.embedding = bytes_of(inputs, {h, 0});
    if (range.head) {
        kept.layers += bytes_of(inputs, {4 * h, 0});
        kept.layers_weights_only += bytes_of(inputs, {2 * h, 0});
        kept.logits = bytes_of(inputs, {0, 6 * vocabulary});
        kept.logits_weights_only = bytes_of(inputs, {0, 2 * vocabulary});
    }
    return kept;
}

void add_state(const MemoryInputs& inputs, MemoryUse& use) {
    const double holders = inputs.pipeline.schedule == PipelineSchedule::dualpipe ? 2 : 1;
    const double replicas = holders * static_cast<double>(inputs.replicas);
    const double expert_replicas = holders * static_cast<double>(inputs.expert_replicas);
    double dense = 0;
    double experts = 0;
    for (const MemoryChunk& chunk : inputs.chunks) {
        dense += static_cast<double>(chunk.parameters.dense);
        experts += static_cast<double>(chunk.parameters.experts);
    }
    const auto held = [&](std::int64_t from_zero, double bytes) {
        const bool shared = inputs.zero >= from_zero;
        return whole_bytes(
            bytes * (shared ? dense / replicas + experts / expert_replicas : dense + experts));
    };
    use.optimizer = held(1, inputs.optimizer_bytes);
    use.gradients = held(2, inputs.gradient_bytes);
    use.weights = held(3, inputs.parameter_bytes);
    if (inputs.zero == 3) {
        const double live = std::min(static_cast<double>(inputs.live_parameters), dense + experts);
        use.buffers += whole_bytes(live * inputs.parameter_bytes);
    }
}

void add_activations(const MemoryInputs& inputs, MemoryUse& use) {
    std::vector<ChunkActivations> chunks;
    std::vector<ChunkLoad> loads;
    double recomputed = 0;
    for (const MemoryChunk& chunk : inputs.chunks) {
        chunks.push_back(chunk_activations(inputs, chunk.layers));
        loads.push_back(chunks.back().load());
        const LayerRange& range = chunk.layers;
        for (std::int64_t layer = range.first; layer < range.first + range.count; ++layer) {
            recomputed =
                std::max(recomputed, recomputed_by_layer(inputs, layer_activations(inputs, layer)));
        }
    }
    const ActivationPeak peak = activation_peak(inputs.pipeline, inputs.pipeline_rank, loads);
    double layers = 0;
    double embedding = 0;
    double logits = 0;
    for (std::size_t c = 0; c < chunks.size(); ++c) {
        const double whole = peak.whole[c];
        const double weights_only = peak.weights_only[c];
        layers += whole * chunks[c].layers + weights_only * chunks[c].layers_weights_only;
        embedding += whole * chunks[c].embedding;
        logits += whole * chunks[c].logits + weights_only * chunks[c].logits_weights_only;
    }
    use.activations = whole_bytes(layers);
    use.embedding = whole_bytes(embedding);
    use.logits = whole_bytes(logits);
    use.recomputed = whole_bytes(recomputed);
}

}  // namespace

LayerActivations layer_activations(const MemoryInputs& inputs, std::int64_t layer) {
    LayerPerToken kept = attention(inputs);
    kept += is_mixture_layer(inputs.model, layer) ? mixture(inputs) : plain_mlp(inputs);
    // Softmax's output, the dropout mask and the output of dropout, per head and pair of tokens.
    const double per_pair = inputs.dropout ? 5 : 2;
    const double scores = per_pair * tokens_of(inputs) * static_cast<double>(inputs.sequence) *
                          static_cast<double>(inputs.model.heads) / static_cast<double>(inputs.tp);
    const double factor = inputs.activation_factor;
    return {factor * bytes_of(inputs, kept.whole), factor * scores,
            factor * bytes_of(inputs, kept.weights_only)};
}

MemoryUse memory_use(const MemoryInputs& inputs) {
    check_inputs(inputs);
    MemoryUse use;
    add_state(inputs, use);
    add_activations(inputs, use);
    const double nccl = static_cast<double>(inputs.nccl_channels) *
                        static_cast<double>(inputs.nccl_peers) *
                        static_cast<double>(inputs.nccl_bytes_per_channel);
    use.buffers += inputs.bucket_bytes;
    const double allocated = static_cast<double>(use.total() + inputs.workspace_bytes);
    use.fragmentation = whole_bytes(allocated * inputs.fragmentation);
    use.buffers += whole_bytes(nccl);
    use.fixed = inputs.context_bytes + inputs.workspace_bytes;
    return use;
}

std::int64_t MemoryUse::total() const {
    std::int64_t sum = 0;
    for (const auto& [name, bytes] : parts()) sum += bytes;
    return sum;
}

std::vector<std::pair<const char*, std::int64_t>> MemoryUse::parts() const {
    return {{"weights", weights},
            {"gradients", gradients},
            {"optimizer state", optimizer},
            {"activations", activations},
            {"recomputed layer", recomputed},
            {"embedding", embedding},
            {"logits", logits},
            {"buffers", buffers},
            {"context and workspace", fixed},
            {"fragmentation", fragmentation}};
}

bool is_out_of_memory(const MemoryUse& use, std::int64_t capacity_bytes) {
    return static_cast<double>(use.total()) > kUsableMemory * static_cast<double>(capacity_bytes);
}

}  // namespace sluice
