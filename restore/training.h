// SPDX-License-Identifier: Apache-2.0
/// Training of the encoder by libtorch, and of the linear model beside it: HyGra, Algorithm 2, phase 1.
/// Reproducible by the seed: initial weights, order of cases and libtorch's arithmetic (one thread) are
/// functions of it, on one machine with one libtorch.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "restore/dataset.h"
#include "restore/queue_model.h"
#include "restore/torch_engine.h"

namespace sluice::restore {

struct TrainingConfig {
    ModelShape shape;
    int epochs = 40;
    int batch = 256;
    double learning_rate = 2e-3;  ///< at first; falls along a half cosine to a fiftieth
    int patience = 8;             ///< epochs without a better loss of validation, then it ends
    Device device = Device::cpu;
    std::uint64_t seed = 1;
};

/// The losses of an epoch: pinball, divided by the geometric mean of what `hold` is off on average under the
/// case's law and in its scenario, so that shallow queues count beside deep ones.
struct Epoch {
    int number = 0;  ///< from 1
    double training = 0;
    double validation = 0;
    bool best = false;  ///< of those so far
};

struct TrainedModel {
    QueueModel model;  ///< with the weights of the best epoch; provenance is the caller's
    std::vector<Epoch> epochs;
    int best_epoch = 0;
    bool interrupted = false;
};

/// Called between batches with the share of all epochs that is done, and the epochs so far; false ends
/// training with what there is.
using TrainingWatch = std::function<bool(double done, const std::vector<Epoch>& epochs)>;

/// The model knows the laws of the training set; cases of others are left out of validation.
/// ConfigError if one of the sets is empty, or libtorch is missing or fails.
TrainedModel train(const std::vector<Case>& training, const std::vector<Case>& validation,
                   const TrainingConfig& config, const TrainingWatch& watch);

}  // namespace sluice::restore
