// SPDX-License-Identifier: Apache-2.0
/// Any text is a model, and a GPU type, or a ConfigError of one line; what follows from an accepted
/// one is computed without overflow and adds up.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "workloads/model/gpu.h"
#include "workloads/model/messages.h"
#include "workloads/model/model_file.h"
#include "workloads/model/roofline.h"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

void use(const sluice::ModelShape& model) {
    const std::int64_t total = sluice::count_parameters(model).total();
    require(total > 0);
    const std::int64_t tp = std::min<std::int64_t>(8, model.heads);
    std::int64_t ranks = 0;
    for (const sluice::LayerRange& range : sluice::split_layers(model, 4)) {
        ranks += tp * sluice::rank_parameters(model, range, tp, 1).total();
    }
    require(ranks >= total);
    for (const std::int64_t layer : {std::int64_t{0}, model.layers - 1}) {
        const sluice::LayerWork work = sluice::forward_work(model, layer, {});
        require(work.attention_total().flops > 0 && work.mlp_total().bytes > 0);
    }
    require(sluice::forward_flops(model, 1, model.sequence).head > 0);
    sluice::MessageShape shape;
    shape.tp = tp;
    require(sluice::pipeline_bytes(model, shape) > 0);
    require(sluice::dispatch_bytes(model, shape) >= 0);
    require(sluice::context_block_bytes(model, shape) > 0);
    const sluice::GradientBytes gradients =
        sluice::gradient_bytes(sluice::even_parameters(model, tp, 1, 1), shape);
    require(gradients.dense_reduce_scatter > 0 && gradients.expert_reduce_scatter >= 0);
}

void use(const sluice::Gpu& gpu) {
    require(sluice::roofline_time(sluice::roofline(gpu), {1, 1}) > 0);
    for (const sluice::Interconnect& interconnect : gpu.interconnects) {
        for (std::size_t kind = 0; kind < sluice::kCollectiveKinds; ++kind) {
            const auto operation = static_cast<sluice::CollectiveKind>(kind);
            require(interconnect.calibration.time(operation, 8, 1 << 20) >= 0);
        }
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        use(sluice::parse_model(text, "input"));
    } catch (const sluice::ConfigError& error) {
        require(std::string(error.what()).find('\n') == std::string::npos);
    }
    try {
        use(sluice::parse_gpu(text, "input"));
    } catch (const sluice::ConfigError& error) {
        require(std::string(error.what()).find('\n') == std::string::npos);
    }
    return 0;
}
