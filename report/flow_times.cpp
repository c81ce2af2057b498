// SPDX-License-Identifier: Apache-2.0
#include "report/flow_times.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "report/steps.h"

namespace sluice::report {

namespace {

// Flows that a page lists, of each kind of slowness.
constexpr std::size_t kListed = 60;
constexpr std::size_t kListedOfClass = 20;
constexpr std::size_t kListedClasses = 16;

/// By nearest rank, as summary.json.
double at_share(const std::vector<double>& sorted, double share) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size()) - 1e-9));
    return sorted[rank == 0 ? 0 : rank - 1];
}

/// Where a distribution is read: evenly, and closer and closer to the whole in the tail.
std::vector<double> shares_of(std::size_t count) {
    std::vector<double> shares;
    for (int i = 0; i <= 60; ++i) shares.push_back(i / 60.0);
    for (double rest = 0.5; rest * static_cast<double>(count) >= 1; rest /= 1.3) {
        shares.push_back(1 - rest);
    }
    for (const double share : {0.01, 0.05, 0.95, 0.99, 0.999}) shares.push_back(share);
    std::sort(shares.begin(), shares.end());
    return shares;
}

Json distribution(std::vector<double> values) {
    if (values.empty()) return nullptr;
    std::sort(values.begin(), values.end());
    double sum = 0;
    for (const double value : values) sum += value;
    Json quantiles = Json::array();
    double last = -1;
    for (const double share : shares_of(values.size())) {
        if (share - last < 1e-7) continue;
        last = share;
        quantiles.push_back({share, at_share(values, share)});
    }
    return {{"mean", sum / static_cast<double>(values.size())},
            {"p50", at_share(values, 0.5)},
            {"p95", at_share(values, 0.95)},
            {"p99", at_share(values, 0.99)},
            {"max", values.back()},
            {"quantiles", std::move(quantiles)}};
}

Json tail_figures(std::vector<double> values) {
    if (values.empty()) return nullptr;
    std::sort(values.begin(), values.end());
    return {{"p50", at_share(values, 0.5)},
            {"p95", at_share(values, 0.95)},
            {"p99", at_share(values, 0.99)}};
}

Json by_size(const std::vector<const FinishedFlow*>& flows) {
    std::map<int, std::vector<const FinishedFlow*>> bins;
    for (const FinishedFlow* flow : flows) {
        bins[static_cast<int>(
                 std::log2(static_cast<double>(std::max<std::int64_t>(1, flow->size))))]
            .push_back(flow);
    }
    Json sizes = Json::array();
    for (const auto& [power, members] : bins) {
        std::vector<double> times;
        std::vector<double> slowdowns;
        for (const FinishedFlow* flow : members) {
            times.push_back(to_seconds(flow->fct));
            if (flow->ideal > 0) slowdowns.push_back(flow->slowdown());
        }
        sizes.push_back({{"low", std::exp2(power)},
                         {"high", std::exp2(power + 1)},
                         {"flows", members.size()},
                         {"fct", tail_figures(std::move(times))},
                         {"slowdown", tail_figures(std::move(slowdowns))}});
    }
    return sizes;
}

Json one_class(const std::string& name, const std::vector<const FinishedFlow*>& flows) {
    std::vector<double> times;
    std::vector<double> slowdowns;
    std::int64_t bytes = 0;
    for (const FinishedFlow* flow : flows) {
        times.push_back(to_seconds(flow->fct));
        if (flow->ideal > 0) slowdowns.push_back(flow->slowdown());
        bytes += flow->size;
    }
    return {{"name", name},
            {"flows", flows.size()},
            {"bytes", bytes},
            {"fct", distribution(std::move(times))},
            {"slowdown", distribution(std::move(slowdowns))},
            {"sizes", by_size(flows)}};
}

/// Of `of`, the `count` slowest by slowdown, then those by completion time.
std::vector<std::size_t> slowest(const RunFiles& run, std::vector<std::size_t> of,
                                 std::size_t count) {
    count = std::min(count, of.size());
    const auto end = of.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<std::size_t> chosen;
    const auto choose = [&](const auto& value) {
        std::partial_sort(of.begin(), end, of.end(), [&](std::size_t a, std::size_t b) {
            const auto left = value(run.flows[a]);
            const auto right = value(run.flows[b]);
            return left != right ? left > right : run.flows[a].flow < run.flows[b].flow;
        });
        chosen.insert(chosen.end(), of.begin(), end);
    };
    choose([](const FinishedFlow& flow) { return flow.slowdown(); });
    choose([](const FinishedFlow& flow) { return static_cast<double>(flow.fct); });
    return chosen;
}

/// The slowest ones, of all and of each class.
Json listed(const RunFiles& run, const FlowPaths& paths) {
    std::vector<std::size_t> all(run.flows.size());
    std::vector<std::vector<std::size_t>> classes(run.classes.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = i;
        classes[run.flows[i].flow_class].push_back(i);
    }
    std::vector<std::size_t> chosen = slowest(run, std::move(all), kListed);
    for (std::size_t c = 0; c < std::min(classes.size(), kListedClasses); ++c) {
        const std::vector<std::size_t> own = slowest(run, std::move(classes[c]), kListedOfClass);
        chosen.insert(chosen.end(), own.begin(), own.end());
    }
    std::vector<std::size_t> unique;
    std::set<std::size_t> known;
    for (const std::size_t i : chosen) {
        if (known.insert(i).second) unique.push_back(i);
    }
    Json list = Json::array();
    for (const std::size_t i : unique) {
        const FinishedFlow& flow = run.flows[i];
        list.push_back({{"flow", flow.flow},
                        {"src", flow.key.src},
                        {"dst", flow.key.dst},
                        {"class", run.classes[flow.flow_class]},
                        {"size", flow.size},
                        {"start", to_seconds(flow.start)},
                        {"fct", to_seconds(flow.fct)},
                        {"slowdown", flow.ideal > 0 ? Json(flow.slowdown()) : Json(nullptr)},
                        {"path", i < paths.ports.size() ? Json(paths.ports[i]) : Json(nullptr)}});
    }
    return list;
}

Json activity(const RunFiles& run) {
    Tick end = 1;
    for (const FinishedFlow& flow : run.flows) end = std::max(end, flow.finish);
    const double step = to_seconds(end) / static_cast<double>(kRunSteps);
    std::vector<double> under_way(kRunSteps, 0);
    std::vector<double> rate(kRunSteps, 0);
    for (const FinishedFlow& flow : run.flows) {
        const double from = to_seconds(flow.start);
        const double to = to_seconds(flow.finish);
        spread(under_way, step, from, to, 1);
        if (to > from) {
            spread(rate, step, from, to, static_cast<double>(flow.size) * 8 / (to - from));
        }
    }
    for (double& value : under_way) value = std::round(value * 100) / 100;
    for (double& value : rate) value = std::round(value);
    return {{"step", step}, {"flows", under_way}, {"rate", rate}};
}

}  // namespace

Json flow_times(const RunFiles& run, const FlowPaths& paths) {
    std::vector<const FinishedFlow*> all;
    std::vector<std::vector<const FinishedFlow*>> classes(run.classes.size());
    for (const FinishedFlow& flow : run.flows) {
        all.push_back(&flow);
        classes[flow.flow_class].push_back(&flow);
    }
    Json list = Json::array();
    if (!all.empty()) list.push_back(one_class("all flows", all));
    for (std::size_t c = 0; c < classes.size() && classes.size() > 1; ++c) {
        const std::string name = run.classes[c].empty() ? "(no class)" : run.classes[c];
        list.push_back(one_class(name, classes[c]));
    }
    return {
        {"classes", std::move(list)}, {"listed", listed(run, paths)}, {"activity", activity(run)}};
}

}  // namespace sluice::report
