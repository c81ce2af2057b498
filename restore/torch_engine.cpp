// SPDX-License-Identifier: Apache-2.0
#include "restore/torch_engine.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <dlfcn.h>

#include "core/error.h"
#include "restore/torch/plugin.h"

namespace sluice::restore {

namespace {

namespace fs = std::filesystem;

/// Of one call into libtorch: enough to keep its products busy, and little memory.
constexpr std::size_t kChunk = 128;

std::vector<std::string> places() {
    if (const char* given = std::getenv("SLUICE_TORCH_PLUGIN")) return {given};
    std::vector<std::string> files;
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
        const fs::path prefix = program.parent_path().parent_path();
        files.push_back((prefix / SLUICE_LIBDIR / "sluice/libsluice_torch.so").string());
    }
    files.emplace_back(SLUICE_TORCH_MODULE);
    return files;
}

struct Opened {
    const SluiceTorchApi* api = nullptr;
    std::string why;  ///< it is null
};

Opened open_module() {
    Opened opened;
    std::error_code error;
    for (const std::string& file : places()) {
        if (!fs::exists(file, error)) continue;
        void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (module == nullptr) {
            opened.why = std::string("libtorch cannot be loaded: ") + dlerror();
            return opened;
        }
        using Entry = const SluiceTorchApi* (*)();
        const auto entry = reinterpret_cast<Entry>(dlsym(module, "sluice_torch_api"));
        const SluiceTorchApi* api = entry == nullptr ? nullptr : entry();
        if (api == nullptr || api->version != SLUICE_TORCH_VERSION) {
            opened.why = file + " is of another version of this program";
            return opened;
        }
        opened.api = api;
        return opened;
    }
    opened.why =
        "this build has no libtorch, which training needs: ./quickstart --train installs and "
        "builds it (of another libtorch: CMAKE_PREFIX_PATH, target sluice_torch)";
    return opened;
}

const Opened& module() {
    static const Opened opened = open_module();
    return opened;
}

const SluiceTorchApi& api() {
    if (module().api == nullptr) throw ConfigError(module().why);
    return *module().api;
}

using Message = std::array<char, 512>;

[[noreturn]] void fail(const Message& message) {
    throw ConfigError(std::string("libtorch: ") + message.data());
}

}  // namespace

bool torch_available(std::string& why) {
    why = module().why;
    return module().api != nullptr;
}

std::string torch_version() { return api().describe(); }

/// Features side by side, as the module takes them.
struct TorchModel::Batch {
    void add(const Features& features) {
        tokens.insert(tokens.end(), features.tokens.begin(), features.tokens.end());
        context.insert(context.end(), features.context.begin(), features.context.end());
        ++count;
    }
    SluiceTorchBatch given() const {
        return {static_cast<std::int64_t>(count),
                tokens.data(),
                context.data(),
                offset.data(),
                scale.data(),
                target.data(),
                weight.data()};
    }

    std::size_t count = 0;
    std::vector<float> tokens, context, offset, scale, target, weight;
};

TorchModel::TorchModel(const QueueModel& model, Device device)
    : weight_count_(model.weights.size()) {
    const ModelShape& sizes = model.shape;
    const SluiceTorchShape shape{sizes.steps,         kTokenSize,
                                 context_size(model), sizes.width,
                                 sizes.layers,        sizes.heads,
                                 sizes.hidden,        static_cast<std::int32_t>(kQuantiles.size()),
                                 kQuantiles.data()};
    Message message{};
    // One thread: the same bits again, and other runs keep their cores.
    model_ = api().open(&shape, model.weights.data(), device == Device::cuda ? 1 : 0, 1,
                        message.data(), message.size());
    if (model_ == nullptr) fail(message);
}

TorchModel::~TorchModel() { api().close(model_); }

std::vector<float> TorchModel::forward(const std::vector<const Features*>& batch) const {
    std::vector<float> out(batch.size() * kQuantiles.size());
    for (std::size_t begin = 0; begin < batch.size(); begin += kChunk) {
        Batch chunk;
        for (std::size_t i = begin; i < batch.size() && i < begin + kChunk; ++i) {
            chunk.add(*batch[i]);
        }
        const SluiceTorchBatch given = chunk.given();
        Message message{};
        if (api().forward(model_, &given, out.data() + begin * kQuantiles.size(), message.data(),
                          message.size()) != 0) {
            fail(message);
        }
    }
    return out;
}

double TorchModel::train(const std::vector<WeighedCase>& batch, double learning_rate) {
    Batch all;
    for (const WeighedCase& one : batch) {
        all.add(*one.features);
        all.offset.push_back(static_cast<float>(one.features->offset));
        all.scale.push_back(static_cast<float>(one.features->scale));
        all.target.push_back(static_cast<float>(one.depth));
        all.weight.push_back(static_cast<float>(one.weight));
    }
    const SluiceTorchBatch given = all.given();
    Message message{};
    double loss = 0;
    if (api().train(model_, &given, learning_rate, &loss, message.data(), message.size()) != 0) {
        fail(message);
    }
    return loss;
}

std::vector<float> TorchModel::weights() const {
    std::vector<float> out(weight_count_);
    Message message{};
    if (api().weights(model_, out.data(), message.data(), message.size()) != 0) fail(message);
    return out;
}

namespace {

class TorchEngine : public EncoderEngine {
  public:
    TorchEngine(const QueueModel& model, Device device) : model_(model, device) {}
    std::vector<float> raw(const std::vector<const Features*>& batch) const override {
        return model_.forward(batch);
    }

  private:
    TorchModel model_;
};

}  // namespace

std::unique_ptr<EncoderEngine> torch_engine(const QueueModel& model, Device device) {
    return std::make_unique<TorchEngine>(model, device);
}

}  // namespace sluice::restore
