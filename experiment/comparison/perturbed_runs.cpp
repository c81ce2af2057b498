// SPDX-License-Identifier: Apache-2.0
#include "experiment/comparison/perturbed_runs.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/error.h"
#include "core/random.h"
#include "core/results/percentile.h"

namespace sluice {

namespace {

std::uint64_t identity_of(const FinishedFlow& flow) {
    const std::uint64_t ends = (std::uint64_t{flow.key.src} << 32U) | flow.key.dst;
    return mix_bits(mix_bits(ends) ^ static_cast<std::uint64_t>(flow.size));
}

/// What is known of a flow over several runs.
struct Seen {
    std::uint64_t identity = 0;
    Tick least = kNever;
    Tick most = 0;
    std::size_t runs = 0;
};

using SeenFlows = std::unordered_map<FlowId, Seen>;

/// False if a number means another flow than it did before.
bool look_at(const PerturbedRun& run, SeenFlows& seen) {
    for (const TimedFlow& flow : run.flows) {
        Seen& one = seen.try_emplace(flow.flow, Seen{flow.identity}).first->second;
        if (one.identity != flow.identity) return false;
        one.least = std::min(one.least, flow.fct);
        one.most = std::max(one.most, flow.fct);
        ++one.runs;
    }
    return true;
}

bool same_in(const PerturbedRuns& runs, const SeenFlows& seen) {
    return std::all_of(runs.begin(), runs.end(), [&](const PerturbedRun& run) {
        return std::all_of(run.flows.begin(), run.flows.end(), [&](const TimedFlow& flow) {
            const auto found = seen.find(flow.flow);
            return found == seen.end() || found->second.identity == flow.identity;
        });
    });
}

template <typename Wanted>
std::optional<FctFigures> figures_of(const PerturbedRun& run, const Wanted& wanted) {
    std::vector<Tick> times;
    double sum = 0;
    for (const TimedFlow& flow : run.flows) {
        if (!wanted(flow.flow)) continue;
        times.push_back(flow.fct);
        sum += to_seconds(flow.fct);
    }
    if (times.empty()) return std::nullopt;
    std::sort(times.begin(), times.end());
    return FctFigures{sum / static_cast<double>(times.size()), to_seconds(percentile(times, 99))};
}

}  // namespace

PerturbedRun perturbed_run(const RunFigures& figures) {
    PerturbedRun run;
    run.costs = figures.costs;
    run.packet_hops = figures.packet_hops;
    run.hops_saved = figures.hops_saved;
    run.jct_s = figures.jct_s;
    run.flows.reserve(figures.flows.size());
    for (const FinishedFlow& flow : figures.flows) {
        if (flow.fct <= 0) throw InternalError("a flow took no time");
        run.flows.push_back({flow.flow, flow.fct, flow.ideal, flow.size, identity_of(flow)});
    }
    return run;
}

bool FlowSplit::is_stable(FlowId flow) const {
    return std::binary_search(stable.begin(), stable.end(), flow);
}

FlowSplit split_flows(const PerturbedRuns& reference,
                      const std::vector<const PerturbedRuns*>& others) {
    FlowSplit split;
    SeenFlows seen;
    for (const PerturbedRun& run : reference) {
        if (!look_at(run, seen)) {
            split.same_flows = false;
            break;
        }
    }
    for (const PerturbedRuns* runs : others) {
        split.same_flows = split.same_flows && same_in(*runs, seen);
    }
    if (!split.same_flows) {
        for (const PerturbedRun& run : reference) {
            split.sensitive = std::max(split.sensitive, run.flows.size());
        }
        return split;
    }
    for (const auto& [flow, one] : seen) {
        const double spread =
            static_cast<double>(one.most - one.least) / static_cast<double>(one.least);
        if (one.runs == reference.size() && spread <= kStableSpread) split.stable.push_back(flow);
    }
    std::sort(split.stable.begin(), split.stable.end());
    split.sensitive = seen.size() - split.stable.size();
    return split;
}

std::optional<FctFigures> fct_figures(const PerturbedRun& run) {
    return figures_of(run, [](FlowId) { return true; });
}

std::optional<FctFigures> sensitive_fct_figures(const PerturbedRun& run, const FlowSplit& split) {
    return figures_of(run, [&](FlowId flow) { return !split.is_stable(flow); });
}

std::vector<double> sensitive_slowdowns(const PerturbedRun& run, const FlowSplit& split) {
    std::vector<double> values;
    for (const TimedFlow& flow : run.flows) {
        if (split.is_stable(flow.flow)) continue;
        const Tick ideal = flow.ideal > 0 ? flow.ideal : kSecond;
        values.push_back(std::log(static_cast<double>(flow.fct) / static_cast<double>(ideal)));
    }
    return values;
}

}  // namespace sluice
