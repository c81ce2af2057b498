// SPDX-License-Identifier: Apache-2.0
#include "experiment/comparison/comparison.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/results/percentile.h"

namespace sluice {

namespace {

/// Links with no more than this share of the busiest one's bytes are left out: a few packets more
/// or less on an idle link would be the largest error of all.
constexpr double kCarriesEnough = 0.01;

double relative_error(double value, double reference) {
    return std::abs(value - reference) / reference;
}

void compare_flows(const RunFigures& reference, const RunFigures& run, RunErrors& errors) {
    ErrorGathering all;
    std::vector<ErrorGathering> by_class(reference.classes.size());
    auto theirs = run.flows.begin();
    for (const FinishedFlow& flow : reference.flows) {
        while (theirs != run.flows.end() && theirs->flow < flow.flow) {
            ++errors.extra;
            ++theirs;
        }
        if (theirs == run.flows.end() || theirs->flow != flow.flow) {
            ++errors.missing;
            continue;
        }
        if (theirs->size != flow.size || flow.fct <= 0) {
            throw InternalError("compare: flow " + std::to_string(flow.flow) +
                                " is not the same in two runs of one experiment");
        }
        const double error =
            relative_error(static_cast<double>(theirs->fct), static_cast<double>(flow.fct));
        all.add(error, flow.size);
        by_class[flow.flow_class].add(error, flow.size);
        ++theirs;
    }
    errors.extra += static_cast<std::size_t>(run.flows.end() - theirs);
    errors.fct = all.finish();
    for (std::size_t c = 0; c < by_class.size(); ++c) {
        errors.by_class.push_back({reference.classes[c], by_class[c].finish()});
    }
}

LinkErrors compare_links(const RunFigures& reference, const RunFigures& run) {
    if (reference.port_bytes.size() != run.port_bytes.size()) {
        throw InternalError("compare: two runs of one experiment have different links");
    }
    LinkErrors result;
    if (reference.port_bytes.empty() || reference.simulated_s <= 0 || run.simulated_s <= 0) {
        return result;
    }
    const auto busiest = static_cast<double>(
        *std::max_element(reference.port_bytes.begin(), reference.port_bytes.end()));
    for (std::size_t port = 0; port < reference.port_bytes.size(); ++port) {
        const auto bytes = static_cast<double>(reference.port_bytes[port]);
        if (bytes <= kCarriesEnough * busiest) continue;
        const double error =
            relative_error(static_cast<double>(run.port_bytes[port]) / run.simulated_s,
                           bytes / reference.simulated_s);
        ++result.links;
        result.mean += error;
        result.max = std::max(result.max, error);
    }
    if (result.links > 0) result.mean /= static_cast<double>(result.links);
    return result;
}

}  // namespace

void ErrorGathering::add(double error, std::int64_t size) {
    errors_.push_back(error);
    weighted_ += error * static_cast<double>(size);
    weight_ += static_cast<double>(size);
}

FctErrors ErrorGathering::finish() {
    FctErrors result;
    result.flows = errors_.size();
    if (errors_.empty()) return result;
    std::sort(errors_.begin(), errors_.end());
    for (const double error : errors_) result.mean += error;
    result.mean /= static_cast<double>(errors_.size());
    result.p50 = percentile(errors_, 50);
    result.p99 = percentile(errors_, 99);
    result.max = errors_.back();
    result.byte_weighted = weighted_ / weight_;
    return result;
}

RunErrors run_errors(const RunFigures& reference, const RunFigures& run) {
    RunErrors errors;
    compare_flows(reference, run, errors);
    if (reference.jct_s && run.jct_s && *reference.jct_s > 0) {
        errors.jct = relative_error(*run.jct_s, *reference.jct_s);
    }
    errors.throughput = compare_links(reference, run);
    return errors;
}

double median(std::vector<double> values) {
    if (values.empty()) throw InternalError("median of nothing");
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

RunCosts median_costs(const std::vector<RunCosts>& runs) {
    const auto of = [&](double RunCosts::*figure) {
        std::vector<double> values;
        values.reserve(runs.size());
        for (const RunCosts& run : runs) values.push_back(run.*figure);
        return median(std::move(values));
    };
    return {of(&RunCosts::wall_s), of(&RunCosts::user_s), of(&RunCosts::peak_rss_bytes)};
}

}  // namespace sluice
