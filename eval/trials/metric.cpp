// SPDX-License-Identifier: Apache-2.0
#include "eval/trials/metric.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "core/random.h"
#include "core/text/human.h"
#include "eval/intervals/quantile.h"

namespace sluice::eval {

namespace {

/// The index of a name; as many as there are if it is none of them, so that nothing matches.
std::size_t index_of(const std::vector<std::string>& names, const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// The flows that a metric counts.
template <typename Take>
void for_flows(const TrialRecord& trial, const Metric& metric, const CountedWindow& window,
               const Take& take) {
    const std::size_t wanted = index_of(trial.classes, metric.of_class);
    for (const TrialFlow& flow : trial.flows) {
        const bool of_class = metric.of_class.empty() || flow.traffic_class == wanted;
        const bool of_size = flow.size > metric.larger_than && flow.size <= metric.up_to;
        if (of_class && of_size && flow.start_s >= window.begin && flow.start_s < window.end) {
            take(flow);
        }
    }
}

void gather_fct(const TrialRecord& trial, const Metric& metric, const CountedWindow& window,
                std::vector<double>& values) {
    for_flows(trial, metric, window, [&](const TrialFlow& flow) { values.push_back(flow.time_s); });
}

void gather_slowdown(const TrialRecord& trial, const Metric& metric, const CountedWindow& window,
                     std::vector<double>& values) {
    for_flows(trial, metric, window, [&](const TrialFlow& flow) {
        if (flow.ideal_s > 0) values.push_back(flow.time_s / flow.ideal_s);
    });
}

void gather_jct(const TrialRecord& trial, const Metric& /*metric*/, const CountedWindow& /*window*/,
                std::vector<double>& values) {
    if (trial.jct_s) values.push_back(*trial.jct_s);
}

void gather_collective(const TrialRecord& trial, const Metric& metric,
                       const CountedWindow& /*window*/, std::vector<double>& values) {
    const std::size_t wanted = index_of(trial.kinds, metric.of_class);
    for (const TrialCollective& collective : trial.collectives) {
        if (metric.of_class.empty() || collective.kind == wanted)
            values.push_back(collective.time_s);
    }
}

void gather_queue(const TrialRecord& trial, const Metric& metric, const CountedWindow& /*window*/,
                  std::vector<double>& values) {
    const std::vector<double>& queues = trial.ports.at(metric.port).queues;
    values.insert(values.end(), queues.begin(), queues.end());
}

void gather_largest_queue(const TrialRecord& trial, const Metric& metric,
                          const CountedWindow& /*window*/, std::vector<double>& values) {
    values.push_back(static_cast<double>(trial.ports.at(metric.port).largest_queue));
}

void gather_throughput(const TrialRecord& trial, const Metric& metric,
                       const CountedWindow& /*window*/, std::vector<double>& values) {
    values.push_back(trial.ports.at(metric.port).throughput);
}

double sum_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum;
}

/// Null: a column.
const QuantityType* type_of(const Metric& metric) {
    return metric.column ? nullptr : find_quantity(metric.quantity);
}

std::string shown_bytes(std::int64_t bytes) {
    return human_count(static_cast<double>(bytes)) + "B";
}

}  // namespace

std::uint64_t trial_seed(std::uint64_t seed, std::size_t number) {
    constexpr std::uint64_t kTrials = 0x747269616c73ULL;
    return random_bits(seed, kTrials, number) >> 2;
}

const std::vector<QuantityType>& quantities() {
    static const std::vector<QuantityType> all = {
        {"fct", Unit::seconds, false, false, gather_fct},
        {"slowdown", Unit::none, false, false, gather_slowdown},
        {"jct", Unit::seconds, true, false, gather_jct},
        {"collective", Unit::seconds, false, false, gather_collective},
        {"queue", Unit::bytes, false, true, gather_queue},
        {"largest-queue", Unit::bytes, true, true, gather_largest_queue},
        {"throughput", Unit::bits_per_second, true, true, gather_throughput},
    };
    return all;
}

const QuantityType* find_quantity(const std::string& name) {
    for (const QuantityType& type : quantities()) {
        if (name == type.name) return &type;
    }
    return nullptr;
}

Unit unit_of(const Metric& metric) {
    const QuantityType* const type = type_of(metric);
    return type == nullptr ? Unit::none : type->unit;
}

Observation observe(const Metric& metric, const TrialRecord& trial, const CountedWindow& window) {
    Observation observation;
    std::vector<double> values;
    const QuantityType* const type = type_of(metric);
    if (type != nullptr) type->gather(trial, metric, window, values);
    // A table without a unit in its column's name: its numbers as they are.
    const auto column = trial.columns.find(metric.quantity);
    if (values.empty() && column != trial.columns.end()) values = column->second;
    observation.count = static_cast<double>(values.size());
    if (values.empty()) return observation;
    const bool pooled = metric.estimand == Estimand::pooled;
    if (metric.quantile && pooled) {
        observation.values = std::move(values);
    } else if (metric.quantile) {
        observation.value = quantile_of(std::move(values), *metric.quantile);
    } else {
        observation.value = sum_of(values) / (pooled ? 1 : observation.count);
    }
    return observation;
}

std::string describe(const Metric& metric) {
    const QuantityType* const type = type_of(metric);
    std::string text;
    if (type == nullptr || !type->one_value) {
        text = metric.quantile ? fmt::format("p{:g} of ", 100 * *metric.quantile) : "mean of ";
    }
    text += metric.quantity;
    if (!metric.of_class.empty()) text += " of " + metric.of_class;
    if (metric.larger_than >= 0) text += ", flows above " + shown_bytes(metric.larger_than);
    if (metric.up_to < std::numeric_limits<std::int64_t>::max()) {
        text += std::string(metric.larger_than >= 0 ? " up to " : ", flows up to ") +
                shown_bytes(metric.up_to);
    }
    return text + (metric.estimand == Estimand::pooled ? ", pooled" : ", per trial");
}

std::string shown_value(double value, Unit unit) {
    if (std::isinf(value)) return value > 0 ? "unbounded" : "-unbounded";
    if (value == 0) return "0";
    struct Step {
        double from;
        const char* prefix;
    };
    static const Step kSteps[] = {{1e12, "T"}, {1e9, "G"},  {1e6, "M"},  {1e3, "k"},
                                  {1, ""},     {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}};
    const char* const name = unit == Unit::seconds ? "s" : unit == Unit::bytes ? "B" : "b/s";
    if (unit == Unit::none) return fmt::format("{:.4g}", value);
    for (const Step& step : kSteps) {
        // Times go by seconds, however many.
        const bool fits = unit == Unit::seconds ? step.from <= 1 : step.from >= 1;
        if (fits && std::fabs(value) >= step.from * 0.99995) {
            return fmt::format("{:.4g} {}{}", value / step.from, step.prefix, name);
        }
    }
    return fmt::format("{:.4g} {}", value, name);
}

}  // namespace sluice::eval
