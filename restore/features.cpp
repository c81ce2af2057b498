// SPDX-License-Identifier: Apache-2.0
#include "restore/features.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "restore/fixed_math.h"

namespace sluice::restore {

namespace {

constexpr double kLeastScale = 1.0 / 64;
constexpr double kMostScales = 8;
constexpr double kGrain = 4096;
/// Units: far beyond any buffer, and exact in bytes.
constexpr double kDeepest = 1e6;
/// The same in bytes, where a recorded port's rate and round trip make a unit of petabytes.
constexpr double kMostBytes = 1e18;

/// 0 to 1, the steeper the smaller: what a depth is to a network.
double squeezed(double x) { return x / (1 + x); }

double mean_of(const std::vector<float>& values, std::size_t from, std::size_t to) {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += static_cast<double>(values[i]);
    return sum / static_cast<double>(to - from);
}

std::vector<float> depths_in_units(const QueueModel& model, const PortQuery& query, double unit) {
    const auto steps = static_cast<std::size_t>(model.shape.steps);
    const std::size_t known = std::min(steps, query.depths.size());
    const auto first = query.depths.end() - static_cast<std::ptrdiff_t>(known);
    std::vector<float> depths(steps - known,
                              static_cast<float>(static_cast<double>(*first) / unit));
    for (auto depth = first; depth != query.depths.end(); ++depth) {
        depths.push_back(static_cast<float>(static_cast<double>(*depth) / unit));
    }
    return depths;
}

void add_tokens(Features& features) {
    for (const float depth : features.depths) {
        const double x = static_cast<double>(depth);
        const double away = (x - features.offset) / features.scale;
        features.tokens.push_back(static_cast<float>(std::clamp(away, -kMostScales, kMostScales)));
        features.tokens.push_back(static_cast<float>(squeezed(x)));
    }
}

void add_context(Features& features, const QueueModel& model, const PortQuery& query, double unit) {
    const PortContext& port = query.context;
    const std::vector<float>& depths = features.depths;
    const std::size_t quarter = depths.size() / 4;
    const double last = static_cast<double>(depths.back());
    const double early = mean_of(depths, 0, quarter);
    const double late = mean_of(depths, depths.size() - quarter, depths.size());
    const auto base_rtt = static_cast<double>(port.base_rtt);
    const double bdp = static_cast<double>(port.line_rate) * base_rtt / kSecond / 8;
    const auto idle = std::count(depths.begin(), depths.end(), 0.0F);
    const double facts[kContextFacts] = {
        fixed_log2(1 + static_cast<double>(port.skip) / base_rtt) / 8,
        fixed_log2(1 + static_cast<double>(std::max<std::int64_t>(port.flows, 0))) / 4,
        std::clamp(port.utilization, 0.0, 2.0),
        squeezed(features.offset),
        squeezed(last),
        (last - features.offset) / features.scale,
        (late - early) / features.scale,
        fixed_log2(features.scale) / 8,
        fixed_log2(static_cast<double>(port.line_rate) / 1e11) / 4,
        fixed_log2(base_rtt / (10.0 * kMicrosecond)) / 4,
        fixed_log2(kSamplesPerBaseRtt * static_cast<double>(port.step) / base_rtt) / 4,
        fixed_log2(std::max(bdp, 1.0) / unit) / 4,
        static_cast<double>(idle) / static_cast<double>(depths.size()),
        port.to_host ? 1.0 : 0.0,
        static_cast<double>(std::min(query.depths.size(), depths.size())) /
            static_cast<double>(depths.size()),
    };
    for (const double fact : facts) features.context.push_back(static_cast<float>(fact));
    features.context.resize(static_cast<std::size_t>(context_size(model)), 0.0F);
    const int place = model.place_of(port.law);
    if (place >= 0) features.context[static_cast<std::size_t>(kContextFacts + place)] = 1.0F;
}

}  // namespace

int context_size(const QueueModel& model) {
    return kContextFacts + static_cast<int>(model.laws.size());
}

Features features_of(const QueueModel& model, const PortQuery& query) {
    const PortContext& port = query.context;
    if (query.depths.empty() || port.line_rate <= 0 || port.base_rtt <= 0 || port.step <= 0) {
        throw InternalError("a port without depths, rate, base RTT or step asks for its queue");
    }
    const auto unit = static_cast<double>(depth_unit(port));
    Features features;
    features.depths = depths_in_units(model, query, unit);
    features.offset = mean_of(features.depths, 0, features.depths.size());
    double squares = 0;
    for (const float depth : features.depths) {
        const double away = static_cast<double>(depth) - features.offset;
        squares += away * away;
    }
    const double last = static_cast<double>(features.depths.back());
    features.scale = std::sqrt(squares / static_cast<double>(features.depths.size())) +
                     std::abs(last - features.offset) + kLeastScale;
    add_tokens(features);
    add_context(features, model, query, unit);
    return features;
}

DepthQuantiles depths_of(const Features& features, const float* raw, const PortContext& context) {
    const auto unit = static_cast<double>(depth_unit(context));
    DepthQuantiles bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const double depth = features.offset + features.scale * static_cast<double>(raw[i]);
        if (std::isnan(depth)) throw ConfigError("the model's answer is not a number");
        const double grains = std::floor(std::clamp(depth, 0.0, kDeepest) * kGrain + 0.5);
        bytes[i] = static_cast<std::int64_t>(std::min(grains * unit / kGrain + 0.5, kMostBytes));
    }
    std::sort(bytes.begin(), bytes.end());
    return bytes;
}

}  // namespace sluice::restore
