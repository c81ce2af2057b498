// SPDX-License-Identifier: Apache-2.0
#include "eval/trials/metric.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace sluice::eval;

namespace {

/// Five flows of two classes, the last one cut off.
TrialRecord five_flows() {
    TrialRecord trial;
    trial.classes = {"small", "large"};
    for (int i = 0; i < 5; ++i) {
        TrialFlow flow;
        flow.start_s = i;
        flow.time_s = 10.0 * (i + 1);
        flow.ideal_s = i == 3 ? 0 : 10;
        flow.size = 1000 * (i + 1);
        flow.traffic_class = i < 2 ? 0 : 1;
        trial.flows.push_back(flow);
    }
    trial.flows[4].time_s = std::numeric_limits<double>::infinity();
    return trial;
}

Metric metric_of(const char* quantity, std::optional<double> quantile = std::nullopt) {
    Metric metric;
    metric.quantity = quantity;
    metric.quantile = quantile;
    return metric;
}

}  // namespace

TEST_CASE("unit.metric.a cut-off flow decides means and high quantiles only") {
    const TrialRecord trial = five_flows();
    CHECK(std::isinf(observe(metric_of("fct"), trial, {}).value));
    CHECK(observe(metric_of("fct", 0.5), trial, {}).value == 30);
    CHECK(observe(metric_of("fct", 0.8), trial, {}).value == 40);
    CHECK(std::isinf(observe(metric_of("fct", 0.81), trial, {}).value));
}

TEST_CASE("unit.metric.sizes are (larger_than, up_to], windows [begin, end)") {
    const TrialRecord trial = five_flows();
    Metric metric = metric_of("fct");
    metric.larger_than = 1000;
    metric.up_to = 3000;
    CHECK(observe(metric, trial, {}).value == 25);
    CHECK(observe(metric, trial, {}).count == 2);
    metric = metric_of("fct");
    CHECK(observe(metric, trial, {1, 3}).value == 25);
    CHECK(observe(metric, trial, {7, 9}).count == 0);
}

TEST_CASE("unit.metric.classes, slowdowns and jobs") {
    TrialRecord trial = five_flows();
    Metric metric = metric_of("fct");
    metric.of_class = "small";
    CHECK(observe(metric, trial, {}).value == 15);
    metric.of_class = "none of these";
    CHECK(observe(metric, trial, {}).count == 0);
    trial.flows.pop_back();
    // The fourth has no ideal time.
    CHECK(observe(metric_of("slowdown"), trial, {}).value == doctest::Approx(2));
    CHECK(observe(metric_of("jct"), trial, {}).count == 0);
    trial.jct_s = 3.5;
    CHECK(observe(metric_of("jct"), trial, {}).value == 3.5);
}

TEST_CASE("unit.metric.pooled: sums for means, values for quantiles") {
    TrialRecord trial = five_flows();
    trial.flows.pop_back();
    Metric metric = metric_of("fct");
    metric.estimand = Estimand::pooled;
    CHECK(observe(metric, trial, {}).value == 100);
    CHECK(observe(metric, trial, {}).count == 4);
    metric.quantile = 0.9;
    CHECK(observe(metric, trial, {}).values == std::vector<double>{10, 20, 30, 40});
}

TEST_CASE("unit.metric.columns and ports") {
    TrialRecord trial;
    trial.columns["latency"] = {1, 2, 6};
    CHECK(observe(metric_of("latency"), trial, {}).value == 3);
    CHECK(observe(metric_of("absent"), trial, {}).count == 0);
    trial.ports.resize(2);
    trial.ports[1].largest_queue = 77;
    trial.ports[1].queues = {0, 4};
    Metric metric = metric_of("largest-queue");
    metric.port = 1;
    CHECK(observe(metric, trial, {}).value == 77);
    metric.quantity = "queue";
    CHECK(observe(metric, trial, {}).value == 2);
}

TEST_CASE("unit.metric.values for people") {
    CHECK(shown_value(73.42e-6, Unit::seconds) == "73.42 us");
    CHECK(shown_value(1.0, Unit::seconds) == "1 s");
    CHECK(shown_value(12345, Unit::seconds) == "1.234e+04 s");
    CHECK(shown_value(-2e-3, Unit::seconds) == "-2 ms");
    CHECK(shown_value(98.7e9, Unit::bits_per_second) == "98.7 Gb/s");
    CHECK(shown_value(0, Unit::bytes) == "0");
    CHECK(shown_value(1.25, Unit::none) == "1.25");
    CHECK(shown_value(std::numeric_limits<double>::infinity(), Unit::none) == "unbounded");
}

TEST_CASE("unit.metric.seeds of trials differ, and are a scenario's") {
    CHECK(trial_seed(1, 0) != trial_seed(1, 1));
    CHECK(trial_seed(1, 0) != trial_seed(2, 0));
    CHECK(trial_seed(7, 12) == trial_seed(7, 12));
    for (std::size_t n = 0; n < 100; ++n) CHECK(trial_seed(3, n) <= (std::uint64_t{1} << 62));
}
