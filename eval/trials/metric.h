// SPDX-License-Identifier: Apache-2.0
/// What is asked of trials, and what one trial has to say to it. A quantity is a line of the table in metric.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "eval/trials/trial.h"

namespace sluice::eval {

/// Docs/evaluation.md, "Estimands".
enum class Estimand : std::uint8_t {
    per_trial,  ///< the mean over trials of each trial's figure
    pooled,     ///< the figure of all values of all trials
};

struct Metric {
    std::string name;      ///< unlike any other metric's
    std::string quantity;  ///< of quantities(), or a column of somebody else's trials
    bool column = false;   ///< a column, even if it is called like a quantity
    /// Of a trial's values; empty: their mean. A trial with one value (a job's time) has itself.
    std::optional<double> quantile;
    Estimand estimand = Estimand::per_trial;
    // Which values count:
    std::int64_t larger_than = -1;  ///< bytes, of flows
    std::int64_t up_to = std::numeric_limits<std::int64_t>::max();
    std::string of_class;  ///< of traffic, or kind of collectives; empty: all
    std::size_t port = 0;  ///< an index into TrialRecord::ports
    bool smaller_is_better = true;
};

/// How a figure is shown.
enum class Unit : std::uint8_t { seconds, none, bytes, bits_per_second };

/// A part of a trial, seconds: flows that start in [begin, end) count.
struct CountedWindow {
    double begin = 0;
    double end = std::numeric_limits<double>::infinity();
};

struct QuantityType {
    const char* name;
    Unit unit;
    bool one_value;  ///< a trial has one: a statistic of it means nothing
    bool of_port;
    /// Appends what counts of a trial.
    void (*gather)(const TrialRecord& trial, const Metric& metric, const CountedWindow& window,
                   std::vector<double>& values);
};

/// "fct", "slowdown", "jct", "collective", "queue", "largest-queue", "throughput".
const std::vector<QuantityType>& quantities();
/// Null: a column.
const QuantityType* find_quantity(const std::string& name);
Unit unit_of(const Metric& metric);

/// What a trial has to say to a metric.
struct Observation {
    /// The trial's figure; pooled, of a mean: the sum of its values. Infinite where a flow that was cut off decides it.
    double value = 0;
    double count = 0;            ///< of values behind it; 0: the trial has none
    std::vector<double> values;  ///< pooled, of a quantile: themselves
};

Observation observe(const Metric& metric, const TrialRecord& trial, const CountedWindow& window);

/// "p99 of fct, 0 B to 100 kB, per trial".
std::string describe(const Metric& metric);
/// "73.4 us", "1.23", "4.56 kB", "98.7 Gb/s".
std::string shown_value(double value, Unit unit);

}  // namespace sluice::eval
