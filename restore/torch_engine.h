// SPDX-License-Identifier: Apache-2.0
/// libtorch, opened on first use (restore/torch/plugin.h). It is looked for in $SLUICE_TORCH_PLUGIN (the
/// module's file), beside the installed program, and where the program was built.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "restore/features.h"
#include "restore/predictors.h"
#include "restore/queue_model.h"

namespace sluice::restore {

enum class Device : std::uint8_t { cpu, cuda };

/// Whether the module can be opened; if not, `why` says what is missing.
bool torch_available(std::string& why);
/// "libtorch 1.13.1". ConfigError if it cannot be opened.
std::string torch_version();

/// A case for training: its features, what came of it in units, and what its loss counts for.
struct WeighedCase {
    const Features* features = nullptr;
    double depth = 0;
    double weight = 1;
};

/// A model in libtorch's hands. ConfigError with libtorch's reason where it fails.
class TorchModel {
  public:
    /// Takes shape and weights from `model`, which need not outlive it.
    TorchModel(const QueueModel& model, Device device);
    ~TorchModel();
    TorchModel(const TorchModel&) = delete;
    TorchModel& operator=(const TorchModel&) = delete;

    /// One row of kQuantiles.size() numbers per sequence, as Encoder's.
    std::vector<float> forward(const std::vector<const Features*>& batch) const;
    /// One step; returns the batch's mean loss before it.
    double train(const std::vector<WeighedCase>& batch, double learning_rate);
    std::vector<float> weights() const;

  private:
    struct Batch;

    void* model_ = nullptr;
    std::size_t weight_count_ = 0;
};

/// For make_predictor(): the encoder in libtorch.
std::unique_ptr<EncoderEngine> torch_engine(const QueueModel& model, Device device);

}  // namespace sluice::restore
