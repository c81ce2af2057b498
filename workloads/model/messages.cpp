// SPDX-License-Identifier: Apache-2.0
#include "workloads/model/messages.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace sluice {

namespace {

/// Tokens of a micro-batch on a rank. Refuses what would overflow later.
std::int64_t tokens_of(const MessageShape& shape) {
    constexpr double kMostTokens = 1e9;
    const double tokens = static_cast<double>(shape.sequences) * static_cast<double>(shape.tokens);
    if (!(tokens >= 1 && tokens <= kMostTokens)) {
        throw ConfigError("a micro-batch has " + std::to_string(std::llround(tokens)) +
                          " tokens, allowed are 1 to 1000000000: check sequence and micro_batch");
    }
    return divide_up(shape.sequences * shape.tokens, shape.cp);
}

}  // namespace

std::int64_t tensor_parallel_bytes(const ModelShape& model, const MessageShape& shape) {
    return shape.activation_bytes * tokens_of(shape) * model.hidden;
}

std::int64_t pipeline_bytes(const ModelShape& model, const MessageShape& shape) {
    const std::int64_t whole = tensor_parallel_bytes(model, shape);
    return shape.sequence_parallel ? divide_up(whole, shape.tp) : whole;
}

std::int64_t combine_bytes(const ModelShape& model, const MessageShape& shape) {
    // Each factor is far below 2^31, their product is not bounded.
    const double bytes =
        static_cast<double>(tensor_parallel_bytes(model, shape)) * static_cast<double>(model.top_k);
    if (bytes > 1e18) {
        throw ConfigError(
            "the tokens sent to experts exceed 1e18 bytes: check sequence, "
            "micro_batch and top_k");
    }
    return divide_up(tensor_parallel_bytes(model, shape) * model.top_k, shape.tp);
}

std::int64_t dispatch_bytes(const ModelShape& model, const MessageShape& shape) {
    const std::int64_t whole = combine_bytes(model, shape);
    if (shape.dispatch_factor == 1) return whole;
    return std::llround(static_cast<double>(whole) * shape.dispatch_factor);
}

std::int64_t router_count_bytes(const ModelShape& model, const MessageShape& shape) {
    return shape.activation_bytes * shape.ep * model.experts * shape.tp;
}

std::int64_t context_block_bytes(const ModelShape& model, const MessageShape& shape) {
    const std::int64_t values = shape.activation_bytes * tokens_of(shape);
    if (model.latent.kv_rank > 0) {
        return values * (model.latent.kv_rank + model.latent.rope_width);
    }
    const std::int64_t width = model.head_dim > 0 ? model.head_dim : model.hidden / model.heads;
    return 2 * values * divide_up(model.kv_heads, shape.tp) * width;
}

std::int64_t cross_entropy_bytes(const MessageShape& shape) { return 4 * tokens_of(shape); }

std::int64_t tied_embedding_bytes(const ModelShape& model, const MessageShape& shape) {
    if (model.untied_head) return 0;
    return shape.gradient_bytes * divide_up(model.vocabulary * model.hidden, shape.tp);
}

GradientBytes gradient_bytes(const RankParameters& parameters, const MessageShape& shape) {
    return {parameters.dense * shape.gradient_bytes, parameters.dense * shape.parameter_bytes,
            parameters.experts * shape.gradient_bytes, parameters.experts * shape.parameter_bytes};
}

RankParameters even_parameters(const ModelShape& model, std::int64_t tp, std::int64_t pp,
                               std::int64_t ep) {
    const ParameterCount count = count_parameters(model);
    return {divide_up(count.dense, tp * pp), divide_up(count.experts, tp * pp * ep)};
}

}  // namespace sluice
