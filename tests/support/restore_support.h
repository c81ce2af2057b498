// SPDX-License-Identifier: Apache-2.0
/// Models, questions and traces for tests of restore/.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/random.h"
#include "restore/bytes.h"
#include "restore/dataset.h"
#include "restore/encoder.h"
#include "restore/model_file.h"
#include "restore/queue_model.h"

namespace sluice::restore {

/// A model of random weights, the last block's included, so that answers differ.
inline QueueModel random_model(const ModelShape& shape, std::uint64_t seed) {
    QueueModel model;
    model.shape = shape;
    model.laws = {"hpcc", "dcqcn", "timely", "dctcp", "none"};
    model.weights = initial_weights(shape, context_size(model), seed);
    for (std::size_t i = 0; i < model.weights.size(); ++i) {
        if (model.weights[i] == 0 || model.weights[i] == 1) {
            model.weights[i] += static_cast<float>(0.2 * uniform(seed, 77, i) - 0.1);
        }
    }
    model.linear.weights.resize(model.laws.size());
    return model;
}

inline ModelShape small_shape() {
    ModelShape shape;
    shape.steps = 16;
    shape.width = 8;
    shape.heads = 2;
    shape.hidden = 12;
    return shape;
}

/// A port of 100 Gb/s and 8 us with marks at 400 kB, whose queue wanders about `level` bytes.
inline PortQuery random_query(std::uint64_t seed, int samples = 64, double level = 200'000) {
    PortQuery query;
    for (int i = 0; i < samples; ++i) {
        const double u = uniform(seed, 78, static_cast<std::uint64_t>(i));
        query.depths.push_back(static_cast<std::int64_t>(level * (1 + 0.5 * u)));
    }
    PortContext& port = query.context;
    port.law = congestion::Law::dcqcn;
    port.line_rate = 100'000'000'000;
    port.mark_bytes = 400'000;
    port.base_rtt = 8 * kMicrosecond;
    port.step = 2 * kMicrosecond;
    port.skip = 200 * kMicrosecond;
    port.flows = 3;
    port.utilization = 0.97;
    port.to_host = true;
    return query;
}

/// Queues that return to 100 kB, half of the way in 40 us: what a model should find.
inline std::vector<Case> returning_cases(std::size_t count, std::uint64_t seed) {
    std::vector<Case> cases;
    for (std::size_t n = 0; n < count; ++n) {
        Case one;
        one.query = random_query(seed + n, 1);
        const double start = 800'000 * uniform(seed, 79, n);
        const auto depth = [&](double us) {
            return static_cast<std::int64_t>(100'000 + (start - 100'000) * std::exp2(-us / 40));
        };
        one.query.depths.clear();
        for (int i = 0; i < 32; ++i) one.query.depths.push_back(depth(2.0 * i));
        one.query.context.skip = (8 + static_cast<Tick>(100 * uniform(seed, 80, n))) * kMicrosecond;
        one.depth = depth(62 + static_cast<double>(one.query.context.skip) / kMicrosecond);
        cases.push_back(one);
    }
    return cases;
}

}  // namespace sluice::restore
