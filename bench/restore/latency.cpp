// SPDX-License-Identifier: Apache-2.0
/// What asking a model costs: reading its file, 1 and 64 ports by the plain evaluation, and by libtorch where
/// there is one. usage: restore_latency MODEL. Prints the median of 21 calls each, and fails if the two
/// differ by more than docs/restoration.md allows.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "core/random.h"
#include "restore/encoder.h"
#include "restore/model_file.h"
#include "restore/predictors.h"
#include "restore/torch_engine.h"

namespace {

using namespace sluice;
using namespace sluice::restore;

constexpr int kCalls = 21;
constexpr float kTolerance = 1e-3F;

double microseconds(const std::function<void()>& call) {
    std::vector<double> times;
    for (int i = 0; i < kCalls; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        call();
        const std::chrono::duration<double, std::micro> time =
            std::chrono::steady_clock::now() - begin;
        times.push_back(time.count());
    }
    std::nth_element(times.begin(), times.begin() + kCalls / 2, times.end());
    return times[kCalls / 2];
}

std::vector<PortQuery> queries(std::size_t count) {
    std::vector<PortQuery> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::uint64_t t = 0; t < 64; ++t) {
            all[i].depths.push_back(uniform_below(1, i, t, 500'000));
        }
        all[i].context.law = congestion::Law::dcqcn;
        all[i].context.line_rate = 100'000'000'000;
        all[i].context.mark_bytes = 400'000;
        all[i].context.base_rtt = 8 * kMicrosecond;
        all[i].context.step = 2 * kMicrosecond;
        all[i].context.skip = 400 * kMicrosecond;
        all[i].context.flows = 2;
    }
    return all;
}

/// The largest difference between the engines' answers, in scales from the offset.
float difference(const QueueModel& model, const std::vector<PortQuery>& ports) {
    std::vector<Features> features;
    std::vector<const Features*> batch;
    for (const PortQuery& port : ports) features.push_back(features_of(model, port));
    for (const Features& one : features) batch.push_back(&one);
    const std::vector<float> torch = torch_engine(model, Device::cpu)->raw(batch);
    const Encoder plain(model);
    float most = 0;
    for (std::size_t i = 0; i < features.size(); ++i) {
        const std::vector<float> own = plain(features[i]);
        for (std::size_t q = 0; q < own.size(); ++q) {
            most = std::max(most, std::abs(own[q] - torch[i * own.size() + q]));
        }
    }
    return most;
}

void time_engine(const char* name, const QueuePredictor& predictor) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{64}}) {
        const std::vector<PortQuery> ports = queries(count);
        const double time = microseconds([&] { predictor.predict(ports); });
        std::printf("%s: %zu ports %.1f us, %.1f us each\n", name, count, time,
                    time / static_cast<double>(count));
    }
}

int measure(const char* path) {
    QueueModel model;
    const double reading = microseconds([&] { model = load_model(path); });
    std::printf("reading the model: %.1f us\n", reading);
    time_engine("plain", *make_predictor(PredictorKind::transformer, &model));
    std::string why;
    if (!torch_available(why)) {
        std::printf("libtorch: %s\n", why.c_str());
        return 0;
    }
    time_engine("libtorch", *make_predictor(PredictorKind::transformer, &model,
                                            torch_engine(model, Device::cpu)));
    const float most = difference(model, queries(64));
    std::printf("largest difference: %.2g\n", static_cast<double>(most));
    return most < kTolerance ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: restore_latency MODEL\n");
        return 2;
    }
    try {
        return measure(argv[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "restore_latency: %s\n", error.what());
        return 2;
    }
}
