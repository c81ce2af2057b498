// SPDX-License-Identifier: Apache-2.0
/// Sizes of the messages of a training job, in bytes. Sizes of collectives are those of the whole
/// tensor over the group (Collective::bytes): the output of
/// an all-gather, the input of a reduce-scatter or an all-reduce, one rank's buffer of an
/// all-to-all. b sequences of s tokens in a micro-batch, h hidden, t = tp, c = cp:
///   tensor parallelism         2 b (s / c) h     all-reduce, or all-gather and reduce-scatter (SP)
///   pipeline boundary          2 b (s / c) h     divided by t with sequence parallelism
///   expert dispatch, combine   2 b (s / c) h k / t
///   router counts              2 ep E t          all-gather, before a dispatch (AICB)
///   keys and values            2 x 2 b (s / c) g d / t   one block of a ring (context parallelism);
///                              latent attention: 2 b (s / c) (c_kv + d_r), not divided
///   gradients, parameters      4 and 2 per parameter of the rank
///   cross-entropy              4 b (s / c)       three all-reduces over the tensor-parallel group
///   tied embeddings            4 V h / t         all-reduce between first and last stage
/// (2 bytes per activation, 4 per gradient, 2 per parameter: settable.) Divisions round up.
#pragma once

#include <cstdint>

#include "workloads/model/model.h"

namespace sluice {

struct MessageShape {
    std::int64_t sequences = 1;  ///< b, of a micro-batch
    std::int64_t tokens = 2048;  ///< s, of a whole sequence
    std::int64_t tp = 1;
    std::int64_t cp = 1;
    std::int64_t ep = 1;  ///< replicas that share the experts
    bool sequence_parallel = true;
    std::int64_t activation_bytes = 2;
    std::int64_t gradient_bytes = 4;
    std::int64_t parameter_bytes = 2;
    /// Of dispatched tokens against activation_bytes, forward only. DeepSeek's 8-bit dispatch, one
    /// 4-byte scale per 128 values: (1 + 4 / 128) / 2.
    double dispatch_factor = 1;
};
inline constexpr double kEightBitDispatch = (1 + 4.0 / 128) / 2;

std::int64_t tensor_parallel_bytes(const ModelShape& model, const MessageShape& shape);
std::int64_t pipeline_bytes(const ModelShape& model, const MessageShape& shape);
/// Forward dispatch, with dispatch_factor.
std::int64_t dispatch_bytes(const ModelShape& model, const MessageShape& shape);
/// Combine, and the gradients of both.
std::int64_t combine_bytes(const ModelShape& model, const MessageShape& shape);
std::int64_t router_count_bytes(const ModelShape& model, const MessageShape& shape);
std::int64_t context_block_bytes(const ModelShape& model, const MessageShape& shape);
std::int64_t cross_entropy_bytes(const MessageShape& shape);
std::int64_t tied_embedding_bytes(const ModelShape& model, const MessageShape& shape);

/// Of a rank's data-parallel collectives, once per iteration.
struct GradientBytes {
    std::int64_t dense_reduce_scatter = 0;
    std::int64_t dense_all_gather = 0;
    std::int64_t expert_reduce_scatter = 0;
    std::int64_t expert_all_gather = 0;
};

GradientBytes gradient_bytes(const RankParameters& parameters, const MessageShape& shape);
/// The whole model's parameters evenly over tp x pp ranks, experts over tp x pp x ep: the
/// convention of tables that give one figure per model.
RankParameters even_parameters(const ModelShape& model, std::int64_t tp, std::int64_t pp,
                               std::int64_t ep);

}  // namespace sluice
