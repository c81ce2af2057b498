// SPDX-License-Identifier: Apache-2.0
/// Any bytes, with their checksum made right, are a model of queues or a ConfigError of one line. What is a
/// model is written as it was read, and says of any queue depths that can be, or that it has no answer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/error.h"
#include "restore/model_file.h"
#include "restore/predictors.h"
#include "tests/support/sealed.h"

namespace {

using namespace sluice;
using namespace sluice::restore;

void require(bool holds) {
    if (!holds) std::abort();
}

PortQuery some_query(std::size_t samples) {
    PortQuery query;
    for (std::size_t i = 0; i < samples; ++i) {
        query.depths.push_back(static_cast<std::int64_t>(i * i % 977) * 3000);
    }
    query.context.law = congestion::Law::dcqcn;
    query.context.line_rate = 100'000'000'000;
    query.context.mark_bytes = 400'000;
    query.context.base_rtt = 8 * kMicrosecond;
    query.context.step = 2 * kMicrosecond;
    query.context.skip = 300 * kMicrosecond;
    query.context.flows = 4;
    query.context.utilization = 0.9;
    return query;
}

template <typename Body>
void attempt(Body body) {
    try {
        body();
    } catch (const ConfigError& error) {
        require(std::string(error.what()).find('\n') == std::string::npos);
    }
}

void ask(const QueueModel& model) {
    for (const PredictorKind kind : {PredictorKind::linear, PredictorKind::transformer}) {
        attempt([&] {
            const auto predictor = make_predictor(kind, &model);
            for (const DepthQuantiles& said : predictor->predict({some_query(1), some_query(70)})) {
                require(said.front() >= 0 && std::is_sorted(said.begin(), said.end()));
            }
        });
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    attempt([&] { parse_model(bytes, "input"); });
    attempt([&] {
        const QueueModel model = parse_model(sealed(bytes), "input");
        const std::string written = model_bytes(model);
        require(model_bytes(parse_model(written, "again")) == written);
        ask(model);
    });
    return 0;
}
