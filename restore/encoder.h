// SPDX-License-Identifier: Apache-2.0
/// The transformer encoder of queue depths, evaluated in plain C++: HyGra eq. 10 and 11. Operations come
/// in one order, whatever the batch, the machine's vectors or its libraries: the same bits everywhere.
///
///     x_t = token_t W + position_t + context W_c                       one row per sample
///     x  <- x + softmax(Q K^T / sqrt(width / heads)) V W_o              on the normed x, each layer
///     x  <- x + relu(norm(x) W_1) W_2
///     out = relu([norm(x of the newest sample), context] H_1) H_2       one number per quantile
///
/// Only the newest sample's row is read in the end, so in the last layer only it asks (the others are asked
/// all the same): what the whole encoder would compute of it, in half the time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "restore/features.h"
#include "restore/queue_model.h"

namespace sluice::restore {

/// A matrix (rows x columns, inputs by outputs) or a vector (1 row) of a model.
struct WeightBlock {
    std::string name;
    std::size_t rows = 0;
    std::size_t columns = 0;
};

/// A layer's blocks, in their order.
enum LayerBlock : std::size_t {
    kNorm1Gain,
    kNorm1Bias,
    kQuery,
    kQueryBias,
    kKey,
    kKeyBias,
    kValue,
    kValueBias,
    kOut,
    kOutBias,
    kNorm2Gain,
    kNorm2Bias,
    kUp,
    kUpBias,
    kDown,
    kDownBias,
    kLayerBlocks,
};
/// Those before the layers, and those after.
enum FirstBlock : std::size_t {
    kToken,
    kTokenBias,
    kPosition,
    kContext,
    kContextBias,
    kFirstBlocks,
};
enum LastBlock : std::size_t {
    kNormGain,
    kNormBias,
    kHeadUp,
    kHeadUpBias,
    kHeadDown,
    kHeadDownBias,
    kLastBlocks,
};

/// All of a shape, in the order in which a model's weights lie: both engines' and the file's.
std::vector<WeightBlock> weight_blocks(const ModelShape& shape, int context);
std::size_t weight_count(const ModelShape& shape, int context);

/// Weights to begin training with, by counter from the seed: small, and such that the answer is the mean
/// of the sequence.
std::vector<float> initial_weights(const ModelShape& shape, int context, std::uint64_t seed);

class Encoder {
  public:
    /// The model must outlive this, and have weight_count() weights.
    explicit Encoder(const QueueModel& model);

    /// One number per quantile, in scales from the offset (features.h). Any number of threads may ask.
    std::vector<float> operator()(const Features& features) const;

  private:
    struct Rows;

    const float* first(FirstBlock block) const { return blocks_[block]; }
    const float* layer(int index, LayerBlock block) const {
        return blocks_[kFirstBlocks + static_cast<std::size_t>(index) * kLayerBlocks + block];
    }
    const float* last(LastBlock block) const {
        return blocks_[blocks_.size() - kLastBlocks + block];
    }
    void embed(const Features& features, Rows& rows) const;
    void attend(int index, std::size_t from, Rows& rows) const;
    void feed_forward(int index, std::size_t from, Rows& rows) const;

    const QueueModel& model_;
    std::size_t context_;
    std::vector<const float*> blocks_;  ///< by block
};

}  // namespace sluice::restore
