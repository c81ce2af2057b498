// SPDX-License-Identifier: Apache-2.0
/// The one file that includes libtorch. Compiles with 1.13 (Debian 12) and 2.x.
#include "restore/torch/plugin.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "restore/encoder.h"

namespace {

namespace restore = sluice::restore;
using torch::Tensor;

constexpr double kNormEpsilon = 1e-5;
constexpr double kWeightDecay = 0.01;
constexpr double kLongestGradient = 1.0;

class Model {
  public:
    Model(const SluiceTorchShape& shape, const float* weights, bool cuda)
        : shape_(shape), device_(cuda ? torch::kCUDA : torch::kCPU) {
        if (cuda && !torch::cuda::is_available()) {
            throw std::runtime_error("this libtorch sees no CUDA device");
        }
        restore::ModelShape sizes;
        sizes.steps = shape.steps;
        sizes.width = shape.width;
        sizes.layers = shape.layers;
        sizes.heads = shape.heads;
        sizes.hidden = shape.hidden;
        for (const restore::WeightBlock& block : restore::weight_blocks(sizes, shape.context)) {
            const auto rows = static_cast<std::int64_t>(block.rows);
            const auto columns = static_cast<std::int64_t>(block.columns);
            const std::vector<std::int64_t> form = block.rows == 1
                                                       ? std::vector<std::int64_t>{columns}
                                                       : std::vector<std::int64_t>{rows, columns};
            blocks_.push_back(given(weights, form).clone().to(device_).requires_grad_(true));
            weights += block.rows * block.columns;
        }
        levels_ = torch::empty({shape.quantiles});
        for (int i = 0; i < shape.quantiles; ++i) {
            levels_[i] = static_cast<float>(shape.levels[i]);
        }
        levels_ = levels_.to(device_);
    }

    Tensor forward(const SluiceTorchBatch& batch) const {
        const Tensor tokens = input(batch.tokens, {batch.count, shape_.steps, shape_.token});
        const Tensor context = input(batch.context, {batch.count, shape_.context});
        Tensor x = linear(tokens, at(restore::kToken)) + *at(restore::kPosition) +
                   linear(context, at(restore::kContext)).unsqueeze(1);
        for (int i = 0; i < shape_.layers; ++i) x = layer(x, i, i + 1 == shape_.layers);
        const Tensor newest = norm(x.select(1, -1), last(restore::kNormGain));
        const Tensor read = torch::cat({newest, context}, 1);
        return linear(linear(read, last(restore::kHeadUp)).relu(), last(restore::kHeadDown));
    }

    double train(const SluiceTorchBatch& batch, double learning_rate) {
        if (optimizer_ == nullptr) {
            optimizer_ = std::make_unique<torch::optim::AdamW>(
                tensors(), torch::optim::AdamWOptions(learning_rate).weight_decay(kWeightDecay));
        }
        for (auto& group : optimizer_->param_groups()) {
            static_cast<torch::optim::AdamWOptions&>(group.options()).lr(learning_rate);
        }
        const Tensor offset = input(batch.offset, {batch.count, 1});
        const Tensor scale = input(batch.scale, {batch.count, 1});
        const Tensor above =
            input(batch.target, {batch.count, 1}) - (offset + scale * forward(batch));
        const Tensor pinball = torch::max(levels_ * above, (levels_ - 1) * above).mean(1);
        const Tensor loss = (pinball * input(batch.weight, {batch.count})).mean();
        optimizer_->zero_grad();
        loss.backward();
        torch::nn::utils::clip_grad_norm_(tensors(), kLongestGradient);
        optimizer_->step();
        return loss.item<double>();
    }

    void write_weights(float* out) const {
        for (const Tensor& block : tensors()) out = write(block, out);
    }

    static float* write(const Tensor& tensor, float* out) {
        const Tensor flat = tensor.detach().to(torch::kCPU).contiguous();
        std::memcpy(out, flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel()) * 4);
        return out + flat.numel();
    }

  private:
    using Blocks = const Tensor*;  ///< a block and those behind it

    Blocks at(restore::FirstBlock block) const { return blocks_.data() + block; }
    Blocks at(int index, restore::LayerBlock block) const {
        return blocks_.data() + restore::kFirstBlocks +
               static_cast<std::size_t>(index) * restore::kLayerBlocks + block;
    }
    Blocks last(restore::LastBlock block) const {
        return blocks_.data() + blocks_.size() - restore::kLastBlocks + block;
    }

    static Tensor given(const float* values, const std::vector<std::int64_t>& form) {
        return torch::from_blob(const_cast<float*>(values), form, torch::kFloat32);
    }
    Tensor input(const float* values, const std::vector<std::int64_t>& form) const {
        return given(values, form).to(device_);
    }
    static Tensor linear(const Tensor& in, Blocks weights) {
        return torch::matmul(in, weights[0]) + weights[1];
    }
    Tensor norm(const Tensor& in, Blocks gain) const {
        return torch::layer_norm(in, {shape_.width}, gain[0], gain[1], kNormEpsilon);
    }
    Tensor by_head(const Tensor& rows) const {
        return rows.reshape({rows.size(0), rows.size(1), shape_.heads, -1}).transpose(1, 2);
    }

    /// In the last layer only the newest row asks, and is all that is returned.
    Tensor layer(Tensor x, int index, bool newest_only) const {
        const Tensor normed = norm(x, at(index, restore::kNorm1Gain));
        const std::int64_t from = newest_only ? shape_.steps - 1 : 0;
        x = x.slice(1, from);
        const Tensor query = by_head(linear(normed.slice(1, from), at(index, restore::kQuery)));
        const Tensor key = by_head(linear(normed, at(index, restore::kKey)));
        const Tensor value = by_head(linear(normed, at(index, restore::kValue)));
        const double factor = 1 / std::sqrt(static_cast<double>(shape_.width / shape_.heads));
        const Tensor shares =
            torch::softmax(torch::matmul(query * factor, key.transpose(2, 3)), -1);
        const Tensor mixed = torch::matmul(shares, value).transpose(1, 2).reshape_as(x);
        x = x + linear(mixed, at(index, restore::kOut));
        const Tensor up =
            linear(norm(x, at(index, restore::kNorm2Gain)), at(index, restore::kUp)).relu();
        return x + linear(up, at(index, restore::kDown));
    }

    const std::vector<Tensor>& tensors() const { return blocks_; }

    SluiceTorchShape shape_;
    torch::Device device_;
    std::vector<Tensor> blocks_;  ///< by block
    Tensor levels_;
    std::unique_ptr<torch::optim::AdamW> optimizer_;
};

/// No exception may leave the module.
template <typename Action>
int guarded(char* error, std::size_t size, Action&& action) {
    std::string what;
    try {
        action();
        return 0;
    } catch (const std::exception& failure) {
        what = failure.what();
    } catch (...) {
        what = "libtorch failed for no reason that it gives";
    }
    what = what.substr(0, what.find('\n'));  // the rest is a stack
    if (size > 0) {
        const std::size_t length = std::min(what.size(), size - 1);
        std::memcpy(error, what.data(), length);
        error[length] = '\0';
    }
    return 1;
}

const char* describe() { return "libtorch " TORCH_VERSION; }

void* open_model(const SluiceTorchShape* shape, const float* weights, int cuda, int threads,
                 char* error, std::size_t size) {
    void* model = nullptr;
    guarded(error, size, [&] {
        at::set_num_threads(std::max(threads, 1));
        at::globalContext().setDeterministicAlgorithms(true, true);
        model = new Model(*shape, weights, cuda != 0);
    });
    return model;
}

void close_model(void* model) { delete static_cast<Model*>(model); }

int forward(void* model, const SluiceTorchBatch* batch, float* out, char* error, std::size_t size) {
    return guarded(error, size, [&] {
        const torch::NoGradGuard no_gradients;
        Model::write(static_cast<Model*>(model)->forward(*batch), out);
    });
}

int train(void* model, const SluiceTorchBatch* batch, double learning_rate, double* loss,
          char* error, std::size_t size) {
    return guarded(error, size,
                   [&] { *loss = static_cast<Model*>(model)->train(*batch, learning_rate); });
}

int write_weights(void* model, float* out, char* error, std::size_t size) {
    return guarded(error, size, [&] { static_cast<Model*>(model)->write_weights(out); });
}

}  // namespace

extern "C" const SluiceTorchApi* sluice_torch_api(void) {
    static const SluiceTorchApi api{
        SLUICE_TORCH_VERSION, describe, open_model, close_model, forward, train, write_weights};
    return &api;
}
