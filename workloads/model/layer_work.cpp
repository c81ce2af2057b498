// SPDX-License-Identifier: Apache-2.0
/// Arithmetic and memory traffic of a layer's parts on one rank.
#include <algorithm>

#include "workloads/model/model.h"

namespace sluice {

namespace {

/// Sizes of a pass, as factors of FLOPs and bytes.
struct Sizes {
    double tokens = 0;   ///< that the rank's matrices see
    double own = 0;      ///< of them, those that parts outside tensor parallelism see
    double context = 0;  ///< that each attends to
    double sequences = 0;
    double tp = 1;
    double value = 2;  ///< bytes
    double h = 0;
};

Sizes sizes_of(const ModelShape& model, const Pass& pass) {
    Sizes sizes;
    sizes.sequences = static_cast<double>(pass.sequences);
    sizes.tokens = sizes.sequences * static_cast<double>(pass.tokens);
    sizes.tp = static_cast<double>(pass.tp);
    sizes.own = pass.sequence_parallel ? sizes.tokens / sizes.tp : sizes.tokens;
    sizes.context = static_cast<double>(pass.context > 0 ? pass.context : pass.tokens);
    sizes.value = static_cast<double>(pass.value_bytes);
    sizes.h = static_cast<double>(model.hidden);
    return sizes;
}

/// A product with an `in` x `out` matrix: the matrix and `tokens` inputs are read, outputs written.
Work product(double tokens, double in, double out, double value) {
    return {2 * tokens * in * out, value * (in * out + tokens * (in + out))};
}

/// A function of each value: `reads` values are read for each of the `values` written.
Work elementwise(double values, double reads, double flops, double value) {
    return {values * flops, value * values * (reads + 1)};
}

/// Mean and scale of a token's values: about 5 operations on each.
Work norm(double tokens, double width, double value) {
    return elementwise(tokens * width, 1, 5, value);
}

/// An MLP of `width` for `tokens`, with the weights of `copies` of it read.
Work mlp(const ModelShape& model, const Sizes& sizes, double tokens, double width, double copies) {
    const double inputs = model.gated ? 2 : 1;
    Work work = product(tokens, sizes.h, inputs * width, sizes.value);
    work += elementwise(tokens * width, inputs, model.gated ? 9 : 8, sizes.value);
    work += product(tokens, width, sizes.h, sizes.value);
    work.bytes += (copies - 1) * sizes.value * (inputs + 1) * sizes.h * width;
    return work;
}

Work latent_projections(const ModelShape& model, const Sizes& sizes) {
    const LatentAttention& mla = model.latent;
    const double heads = static_cast<double>(model.heads) / sizes.tp;
    const auto query_rank = static_cast<double>(mla.query_rank);
    const auto kv_rank = static_cast<double>(mla.kv_rank);
    const double query = heads * static_cast<double>(mla.nope_width + mla.rope_width);
    const double key_value = heads * static_cast<double>(mla.nope_width + mla.value_width);
    Work work;
    if (mla.query_rank > 0) {
        work += product(sizes.own, sizes.h, query_rank, sizes.value);
        work += norm(sizes.own, query_rank, sizes.value);
    }
    work += product(sizes.tokens, mla.query_rank > 0 ? query_rank : sizes.h, query, sizes.value);
    work += product(sizes.own, sizes.h, kv_rank + static_cast<double>(mla.rope_width), sizes.value);
    work += norm(sizes.own, kv_rank, sizes.value);
    work += product(sizes.tokens, kv_rank, key_value, sizes.value);
    work +=
        product(sizes.tokens, heads * static_cast<double>(mla.value_width), sizes.h, sizes.value);
    return work;
}

/// Widths of a head, and heads of keys and values on a rank.
struct Heads {
    double queries = 0;
    double keys = 0;
    double key_width = 0;
    double value_width = 0;
};

Heads heads_of(const ModelShape& model, const Sizes& sizes) {
    const LatentAttention& mla = model.latent;
    Heads heads;
    heads.queries = static_cast<double>(model.heads) / sizes.tp;
    if (mla.kv_rank > 0) {
        heads.keys = heads.queries;
        heads.key_width = static_cast<double>(mla.nope_width + mla.rope_width);
        heads.value_width = static_cast<double>(mla.value_width);
        return heads;
    }
    heads.keys = std::max(1.0, static_cast<double>(model.kv_heads) / sizes.tp);
    heads.key_width =
        static_cast<double>(model.head_dim > 0 ? model.head_dim : model.hidden / model.heads);
    heads.value_width = heads.key_width;
    return heads;
}

Work projections(const ModelShape& model, const Sizes& sizes) {
    if (model.latent.kv_rank > 0) return latent_projections(model, sizes);
    const Heads heads = heads_of(model, sizes);
    Work work = product(sizes.tokens, sizes.h, (heads.queries + 2 * heads.keys) * heads.key_width,
                        sizes.value);
    work += product(sizes.tokens, heads.queries * heads.key_width, sizes.h, sizes.value);
    return work;
}

Work scores(const ModelShape& model, const Sizes& sizes, const Pass& pass) {
    const Heads heads = heads_of(model, sizes);
    const double width = heads.key_width + heads.value_width;
    const double pairs = sizes.tokens * sizes.context * heads.queries;
    Work work;
    work.flops = 2 * pairs * width * (pass.causal ? 0.5 : 1);
    work.bytes = sizes.value * width *
                 (sizes.tokens * heads.queries + sizes.sequences * sizes.context * heads.keys);
    if (!pass.flash) work.bytes += 4 * sizes.value * pairs;
    return work;
}

}  // namespace

Work LayerWork::attention_total() const {
    Work total = projections;
    total += scores;
    return total;
}

Work LayerWork::mlp_total() const {
    Work total = mlp;
    for (const Work& part : {router, shared, experts}) total += part;
    return total;
}

LayerWork forward_work(const ModelShape& model, std::int64_t layer, const Pass& pass) {
    const Sizes sizes = sizes_of(model, pass);
    LayerWork work;
    for (int i = 0; i < 2; ++i) {
        work.norms += norm(sizes.own, sizes.h, sizes.value);
        work.norms += elementwise(sizes.own * sizes.h, 2, 1, sizes.value);
    }
    work.projections = projections(model, sizes);
    work.scores = scores(model, sizes, pass);
    if (!is_mixture_layer(model, layer)) {
        work.mlp = mlp(model, sizes, sizes.tokens, static_cast<double>(model.ffn) / sizes.tp, 1);
        return work;
    }
    const auto experts = static_cast<double>(model.experts);
    const auto width = static_cast<double>(model.expert_ffn > 0 ? model.expert_ffn : model.ffn);
    work.router = product(sizes.own, sizes.h, experts, sizes.value);
    if (model.shared_experts > 0) {
        work.shared = mlp(model, sizes, sizes.tokens,
                          static_cast<double>(model.shared_experts) * width / sizes.tp, 1);
    }
    const double copies = sizes.tokens * static_cast<double>(model.top_k) / sizes.tp;
    const double held = experts / (sizes.tp * static_cast<double>(pass.ep));
    work.experts = mlp(model, sizes, copies, width, held);
    return work;
}

Work embedding_work(const ModelShape& model, const Pass& pass) {
    const Sizes sizes = sizes_of(model, pass);
    return elementwise(sizes.tokens * sizes.h, model.positions > 0 ? 2 : 1,
                       model.positions > 0 ? 1 : 0, sizes.value);
}

Work head_work(const ModelShape& model, const Pass& pass) {
    const Sizes sizes = sizes_of(model, pass);
    Work work = norm(sizes.own, sizes.h, sizes.value);
    work += product(sizes.tokens, sizes.h, static_cast<double>(model.vocabulary) / sizes.tp,
                    sizes.value);
    return work;
}

Work optimizer_work(std::int64_t parameters, std::int64_t value_bytes) {
    const auto count = static_cast<double>(parameters);
    return {12 * count, count * (4 + 12 + 12 + static_cast<double>(value_bytes))};
}

}  // namespace sluice
