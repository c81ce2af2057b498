// SPDX-License-Identifier: Apache-2.0
/// What the program asks of libtorch: the encoder of restore/encoder.h, forward and trained. It is built as a
/// module of its own (sluice_torch) that the program opens when it needs one: linking libtorch costs 370 ms
/// of every start. A C interface, so that module and program share no C++ library's types and either may be
/// built with another compiler.
/// Functions return 0, or 1 with a line in `error` (error_size bytes, terminated). One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

enum { SLUICE_TORCH_VERSION = 1 };

struct SluiceTorchShape {
    std::int32_t steps, token, context, width, layers, heads, hidden, quantiles;
    const double* levels;  ///< of the quantiles
};

/// `count` sequences. offset, scale, target and weight only matter to training: the loss of a case is
/// weight x the mean over quantiles of the pinball loss of target against offset + scale x answer.
struct SluiceTorchBatch {
    std::int64_t count;
    const float* tokens;   ///< count x steps x token
    const float* context;  ///< count x context
    const float* offset;
    const float* scale;
    const float* target;
    const float* weight;
};

struct SluiceTorchApi {
    std::int32_t version;  ///< SLUICE_TORCH_VERSION
    /// libtorch's version, for people and for a model's provenance. Stays valid.
    const char* (*describe)(void);
    /// A model with these weights, in the order of weight_blocks(); null with `error` set if that fails.
    /// `cuda`: on the first GPU. `threads`: of libtorch on the CPU; one gives the same bits again.
    void* (*open)(const SluiceTorchShape* shape, const float* weights, int cuda, int threads,
                  char* error, std::size_t error_size);
    void (*close)(void* model);
    /// count x quantiles answers.
    int (*forward)(void* model, const SluiceTorchBatch* batch, float* out, char* error,
                   std::size_t error_size);
    /// One step of AdamW. `loss`: the mean over the batch before it.
    int (*train)(void* model, const SluiceTorchBatch* batch, double learning_rate, double* loss,
                 char* error, std::size_t error_size);
    int (*weights)(void* model, float* out, char* error, std::size_t error_size);
};

/// The one symbol that the module shows.
const SluiceTorchApi* sluice_torch_api(void);

}  // extern "C"
