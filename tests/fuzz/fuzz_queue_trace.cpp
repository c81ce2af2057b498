// SPDX-License-Identifier: Apache-2.0
/// Any bytes, with their checksum made right, are a record of queues or a ConfigError of one line. What is a
/// record has cases of which each predictor says depths that can be, and their errors are numbers.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "restore/dataset.h"
#include "restore/evaluation.h"
#include "restore/predictors.h"
#include "restore/queue_trace.h"
#include "tests/support/restore_support.h"
#include "tests/support/sealed.h"

namespace {

using namespace sluice;
using namespace sluice::restore;

void require(bool holds) {
    if (!holds) std::abort();
}

void use(const QueueTrace& trace) {
    static const QueueModel kModel = [] {
        QueueModel model = random_model(small_shape(), 1);
        const auto inputs = static_cast<std::size_t>(model.shape.steps + context_size(model) + 1);
        for (auto& weights : model.linear.weights) weights.assign(inputs, 1e5);
        return model;
    }();
    const std::vector<Case> cases = draw_cases(trace, kModel.shape, 8, 1);
    for (const Case& one : cases) {
        const PortContext& context = one.query.context;
        require(!one.query.depths.empty() && one.query.depths.size() <= 16);
        require(one.depth >= 0 && context.skip > 0 && context.flows >= 0);
        require(context.utilization >= 0 && std::isfinite(context.utilization));
    }
    const auto linear = make_predictor(PredictorKind::linear, &kModel);
    for (const Case& one : cases) require(linear->predict({one.query})[0].front() >= 0);
    for (const ErrorRow& row : evaluate(kModel, cases)) {
        require(row.cases == cases.size() && std::isfinite(row.absolute) && row.absolute >= 0);
        require(std::isfinite(row.pinball) && row.within <= 1 && row.moved <= 1);
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    for (const std::string& input : {std::string(bytes), sealed(bytes)}) {
        try {
            use(parse_queue_trace(input, "input"));
        } catch (const ConfigError& error) {
            require(std::string(error.what()).find('\n') == std::string::npos);
        }
    }
    return 0;
}
