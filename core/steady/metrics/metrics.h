// SPDX-License-Identifier: Apache-2.0
/// The list of metrics: what a detector holds against a range. A metric is a header that defines a
/// struct (MetricRule); it joins by the two lines below. Its name is also the word by which scenarios
/// choose it (phases.detector).
#pragma once

#include <utility>
#include <vector>

#include "core/steady/metrics/hygra.h"
#include "core/steady/metrics/inflight.h"
#include "core/steady/metrics/queue.h"
#include "core/steady/metrics/rate.h"

// clang-format off
#define SLUICE_METRICS(METRIC)       \
    METRIC(rate, RateMetric)         \
    METRIC(hygra, HygraMetric)       \
    METRIC(inflight, InflightMetric) \
    METRIC(queue, QueueMetric)
// clang-format on

namespace sluice::steady {

#define SLUICE_METRIC(name, Rule) name,
enum class Metric : std::uint8_t { SLUICE_METRICS(SLUICE_METRIC) };
#undef SLUICE_METRIC

/// Every metric by its word.
inline std::vector<std::pair<const char*, Metric>> metric_words() {
#define SLUICE_METRIC(name, Rule) {#name, Metric::name},
    return {SLUICE_METRICS(SLUICE_METRIC)};
#undef SLUICE_METRIC
}

template <class Rule, class F>
auto call_with(F& f) {
    return f(Rule{});
}

/// Calls f(Rule{}) of a metric and returns what f returns.
template <class F>
auto visit_metric(Metric metric, F&& f) {
    switch (metric) {
#define SLUICE_METRIC(name, Rule) \
    case Metric::name: return call_with<Rule>(f);
        SLUICE_METRICS(SLUICE_METRIC)
#undef SLUICE_METRIC
    }
    return call_with<RateMetric>(f);
}

}  // namespace sluice::steady
