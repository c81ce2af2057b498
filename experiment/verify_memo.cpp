// SPDX-License-Identifier: Apache-2.0
#include "experiment/verify_memo.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/episodes/episode.h"
#include "core/random.h"
#include "core/routing/routing.h"
#include "core/routing/valiant.h"
#include "experiment/run.h"
#include "experiment/run_memo.h"

namespace sluice {

namespace {

constexpr std::uint64_t kVerifyDraws = 0x766572696679;
/// Every packet-hop of the run may be one of its audit.
constexpr double kEverything = 1e9;
/// Between an episode's longest sample and the next episode.
constexpr Tick kApart = kMillisecond;
constexpr std::uint32_t kMostMoved = 1000;  ///< ticks

bool is_drawn(const memo::Stored& stored, double share, std::uint64_t seed) {
    return stored.entry.kind == memo::Kind::episode &&
           uniform(seed, random_stream(kVerifyDraws, stored.digest.low), 0) < share;
}

Tick longest(const memo::Entry& entry) {
    Tick most = 0;
    for (const memo::SampleCount& seen : entry.samples) {
        for (const std::int64_t value : seen.sample->values) {
            most = std::max(most, value);
        }
    }
    return most;
}

bool has_hosts(const Topology& topology, const std::vector<FlowSpec>& flows) {
    return std::all_of(flows.begin(), flows.end(), [&](const FlowSpec& flow) {
        return flow.src < topology.node_count() && flow.dst < topology.node_count() &&
               topology.is_host(flow.src) && topology.is_host(flow.dst) && flow.src != flow.dst;
    });
}

/// As a run remembers them, but for earlier audits.
memo::Content without_audits(memo::Content content) {
    for (memo::Stored& stored : content) {
        stored.entry.audits.clear();
    }
    return content;
}

/// What is left of `content` is what is found of entries that were simulated again.
void compare(const memo::Content& content, memo::Memo& memo, VerifiedMemo& verified) {
    for (const memo::Stored& stored : content) {
        const memo::Entry* const entry = memo.find(stored.digest, kNever);
        if (entry == nullptr || entry->audits.empty()) {
            continue;
        }
        const std::vector<double>& found = entry->audits.front().values;
        verified.entries.push_back({stored.digest, static_cast<std::size_t>(found[1]),
                                    stored.entry.sample_count(), -found[0] / found[1],
                                    -found[2] / found[3]});
    }
}

/// Those that a run of these flows would give them.
void give_ways(Experiment& experiment) {
    if (experiment.topology.group_routing != GroupRouting::valiant) return;
    const Routing routing(experiment.topology);
    experiment.paths =
        valiant_paths(experiment.topology, routing, experiment.flows, experiment.network.seed);
}

}  // namespace

VerifiedMemo verify_memo(Experiment experiment, const std::string& config_json,
                         const memo::Content& content, double share, std::uint64_t seed) {
    VerifiedMemo verified;
    experiment.memo = std::make_shared<memo::Memo>(without_audits(content));
    experiment.memo_fingerprint = memo_fingerprint(config_json);
    experiment.phases.memo = true;
    experiment.phases.episodes = true;
    experiment.phases.skip = false;
    experiment.phases.wake = Wake::partition;
    experiment.phases.audit = kEverything;
    experiment.phases.audit_tolerance = kEverything;
    experiment.fold = false;
    experiment.stop = kNever;
    experiment.link_events.clear();
    Tick begin = 0;
    std::uint64_t moved = 0;
    for (const memo::Stored& stored : content) {
        if (!is_drawn(stored, share, seed)) {
            continue;
        }
        ++verified.drawn;
        std::vector<FlowSpec> flows = hybrid::flows_of(*stored.entry.facts, begin);
        if (flows.empty() || !has_hosts(experiment.topology, flows)) {
            ++verified.foreign;
            continue;
        }
        for (FlowSpec& flow : flows) {
            flow.start += uniform_below(seed, random_stream(kVerifyDraws, 0), moved++, kMostMoved);
            experiment.flows.push_back(flow);
        }
        begin += longest(stored.entry) + kApart;
    }
    if (!experiment.flows.empty()) {
        give_ways(experiment);
        RunPlan plan;
        plan.mode = Mode::wormhole;
        run_experiment(experiment, plan);
        compare(content, *experiment.memo, verified);
    }
    return verified;
}

}  // namespace sluice
