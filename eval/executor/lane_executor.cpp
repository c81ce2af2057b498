// SPDX-License-Identifier: Apache-2.0
#include "eval/executor/lane_executor.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "core/error.h"
#include "core/job/job_report.h"
#include "core/text/shell.h"
#include "experiment/build_experiment.h"
#include "experiment/run_to_folder.h"
#include "scenario/node_reader.h"
#include "scenario/scenario.h"

namespace sluice::eval {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

Scenario scenario_of(const Batch& candidates, std::size_t candidate,
                     const std::vector<std::string>& settings) {
    std::string path;
    ConfigValue values = candidates.scenario(candidate, &path);
    for (const std::string& setting : settings) override_config(values, setting, "a trial");
    return make_scenario(std::move(values), path);
}

std::vector<std::string> settings_of(const Variation& variation, const TrialRequest& request) {
    std::vector<std::string> settings;
    if (variation.seed) settings.push_back(fmt::format("seed={}", request.seed));
    // Number 0 changes nothing.
    if (variation.perturbation)
        settings.push_back(fmt::format("perturbation={}", request.trial + 1));
    return settings;
}

/// The egress port from one node to another.
PortId port_between(const Topology& topology, const std::pair<ConfigValue, ConfigValue>& nodes) {
    NodeReader reader(topology);
    const NodeId from = reader.node(nodes.first, "'port'");
    const NodeId to = reader.node(nodes.second, "'port'");
    for (PortId port = 0; port < topology.port_count(); ++port) {
        if (topology.node_of(port) == from && topology.node_of(topology.peer_of(port)) == to) {
            return port;
        }
    }
    throw ConfigError(nodes.second.at.text() + ": 'port' names two nodes without a cable");
}

/// One trial from its scenario to its record.
class Lane {
  public:
    Lane(BuiltExperiment built, const LaneSettings& settings, const Executor::GoOn& go_on)
        : built_(std::move(built)), settings_(settings), go_on_(go_on) {
        for (const auto& nodes : settings.ports) {
            ports_.push_back(port_between(built_.experiment.topology, nodes));
        }
        record_.ports.resize(ports_.size());
        record_.classes = built_.class_names;
        stream_class_ = static_cast<std::uint16_t>(record_.classes.size());
        record_.classes.push_back(built_.stream_class);
    }

    /// Without a memo given it remembers what it has seen itself: others run beside it, in no order.
    TrialResult run(Mode mode, const RunMaker& maker) {
        RunPlan plan;
        plan.mode = mode;
        plan.caller = Caller::loop;
        plan.maker = maker;
        plan.go_on = [this](const RunPosition&) { return go_on_(); };
        plan.watchers.push_back(hooks());
        const FinishedRun done = run_experiment(built_.experiment, plan);
        TrialResult result;
        if (done.outcome.interrupted) {
            result.status = TrialResult::Status::interrupted;
            return result;
        }
        if (!done.run->cut_off()) {
            const std::vector<std::string> left = work_left(built_, done.run->results());
            if (!left.empty()) {
                result.status = TrialResult::Status::failed;
                result.reason = left.front();
                return result;
            }
        }
        take_unfinished(*done.run);
        take_jobs();
        take_ports(done);
        record_.length_s = to_seconds(done.run->now());
        record_.packet_hops = static_cast<std::int64_t>(done.outcome.counters.packet_hops);
        record_.cpu_s = done.outcome.user_s + done.outcome.elaboration_user_s;
        const RunCounters& counters = done.outcome.counters;
        met_.packets = moves_packets(mode);
        met_.queued_ports = contended_ports(built_.experiment, done.outcome.ports);
        met_.events = counters.ecn_marks + counters.pfc_pauses + counters.drops;
        result.record = std::move(record_);
        return result;
    }

    const QueuesMet& met() const { return met_; }

  private:
    RunHooks hooks() {
        RunHooks hooks;
        hooks.on_finish = [this](const FlowRecord& flow) {
            add(flow, to_seconds(flow.result.finish - flow.result.start));
            finished_ += flow.id < built_.experiment.flows.size() ? 1 : 0;
        };
        if (settings_.queue_step > 0) {
            hooks.sample_every = hooks.sample_from = settings_.queue_step;
            hooks.sample_to = kNever - 1;
            hooks.on_sample = [this](Tick, const std::vector<std::int64_t>& queues) {
                for (std::size_t i = 0; i < ports_.size(); ++i) {
                    record_.ports[i].queues.push_back(static_cast<double>(queues[ports_[i]]));
                }
            };
            // Samples alone would keep the run going.
            hooks.on_progress = [this](Tick) { return !all_done(); };
        }
        return hooks;
    }

    bool all_done() const {
        return finished_ == built_.experiment.flows.size() &&
               (built_.stream == nullptr || built_.stream->complete()) &&
               std::all_of(built_.jobs.begin(), built_.jobs.end(),
                           [](const BuiltJob& job) { return job.application->complete(); });
    }

    void add(const FlowRecord& flow, double time_s) {
        const bool listed = flow.id < built_.flow_class.size();
        TrialFlow kept;
        kept.start_s = to_seconds(flow.result.start);
        kept.time_s = time_s;
        kept.ideal_s =
            flow.id < built_.estimate.ideal.size() ? to_seconds(built_.estimate.ideal[flow.id]) : 0;
        kept.size = flow.spec.size;
        kept.traffic_class = listed ? built_.flow_class[flow.id] : stream_class_;
        record_.flows.push_back(kept);
    }

    /// Flows that were under way when the scenario's stop time came: longer than any that is known.
    void take_unfinished(const ModeRun& run) {
        const std::vector<FlowResult>& results = run.results();
        for (std::size_t i = 0; i < built_.experiment.flows.size() && i < results.size(); ++i) {
            if (results[i].start != kNever && results[i].finish == kNever) {
                add({i, built_.experiment.flows[i], results[i]}, kInfinite);
            }
        }
    }

    void take_jobs() {
        if (built_.jobs.empty()) return;
        Tick first = kNever;
        Tick last = 0;
        bool complete = true;
        for (const BuiltJob& job : built_.jobs) {
            complete = complete && job.application->complete();
            first = std::min(first, job.start);
            last = std::max(last, job.application->last_end());
            if (settings_.collectives) take_collectives(*job.application);
        }
        record_.jct_s = complete ? to_seconds(last - first) : kInfinite;
    }

    void take_collectives(const JobApplication& job) {
        const JobGraph& graph = job.graph();
        for (const CollectiveSpan& span : collective_spans(job)) {
            if (span.start == kNever) continue;
            const std::string kind(graph.name(graph.collectives()[span.collective].name));
            const auto [at, is_new] =
                kinds_.try_emplace(kind, static_cast<std::uint16_t>(kinds_.size()));
            if (is_new) record_.kinds.push_back(kind);
            const double time = span.end == kNever ? kInfinite : to_seconds(span.end - span.start);
            record_.collectives.push_back({at->second, time});
        }
    }

    void take_ports(const FinishedRun& done) {
        for (std::size_t i = 0; i < ports_.size(); ++i) {
            const PortStatistics& port = done.outcome.ports.at(ports_[i]);
            record_.ports[i].largest_queue = port.max_queue_bytes;
            const double time = to_seconds(done.run->now());
            if (time > 0)
                record_.ports[i].throughput = 8 * static_cast<double>(port.tx_bytes) / time;
        }
    }

    BuiltExperiment built_;
    const LaneSettings& settings_;
    const Executor::GoOn& go_on_;
    TrialRecord record_;
    QueuesMet met_;
    std::vector<PortId> ports_;
    std::map<std::string, std::uint16_t> kinds_;
    std::uint16_t stream_class_ = 0;
    std::size_t finished_ = 0;  ///< of the list's flows
};

/// None: the draw has no flow, which is a trial like any other.
std::optional<BuiltExperiment> built_or_nothing(Scenario& scenario) {
    try {
        return build_experiment(scenario);
    } catch (const NoFlowsError&) {
        return std::nullopt;
    }
}

bool same_flows(const std::vector<FlowSpec>& a, const std::vector<FlowSpec>& b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(), [](const FlowSpec& x, const FlowSpec& y) {
            return x.src == y.src && x.dst == y.dst && x.size == y.size && x.start == y.start;
        });
}

}  // namespace

LaneExecutor::LaneExecutor(const Batch& candidates, LaneSettings settings)
    : candidates_(candidates), settings_(std::move(settings)) {}

std::vector<std::string> LaneExecutor::settings_of(const TrialRequest& request) const {
    return eval::settings_of(settings_.variation, request);
}

std::string LaneExecutor::by_itself(const TrialRequest& request) const {
    std::string path;
    static_cast<void>(candidates_.scenario(request.candidate, &path));
    std::string text = "sluice run " + shell_word(path);
    const std::vector<std::string>& keys = candidates_.columns();
    const std::vector<std::string> values = candidates_.values(request.candidate);
    // The first column is the label.
    for (std::size_t i = 1; i < keys.size(); ++i) {
        if (!values[i].empty()) text += " --set " + shell_word(keys[i] + "=" + values[i]);
    }
    for (const std::string& setting : settings_of(request)) text += " --set " + setting;
    return text;
}

void LaneExecutor::check() const {
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        const TrialRequest first{c, 0, trial_seed(1, 0)};
        Scenario scenario = scenario_of(candidates_, c, settings_of(first));
        for (const auto& nodes : settings_.ports) {
            static_cast<void>(port_between(scenario.topology, nodes));
        }
        static_cast<void>(built_or_nothing(scenario));
    }
}

TrialResult LaneExecutor::run(const TrialRequest& request, const GoOn& go_on) {
    if (!settings_.maker || !settings_.fall_back) return run_on(settings_.maker, request, go_on);
    try {
        return run_on(settings_.maker, request, go_on);
    } catch (const ConfigError&) {
        return run_on({}, request, go_on);
    }
}

TrialResult LaneExecutor::run_on(const RunMaker& maker, const TrialRequest& request,
                                 const GoOn& go_on) const {
    Scenario scenario = scenario_of(candidates_, request.candidate, settings_of(request));
    const Mode mode = scenario.mode;
    std::optional<BuiltExperiment> built = built_or_nothing(scenario);
    if (!built) return {};
    built->experiment.threads = 1;
    Lane lane(std::move(*built), settings_, go_on);
    TrialResult result = lane.run(mode, maker);
    const std::lock_guard<std::mutex> lock(noting_);
    met_[request.candidate].add(lane.met());
    return result;
}

std::string LaneExecutor::why_same(const std::vector<std::size_t>& candidates) const {
    const std::lock_guard<std::mutex> lock(noting_);
    QueuesMet met;
    for (const std::size_t candidate : candidates) {
        const auto found = met_.find(candidate);
        if (found == met_.end()) return "";
        met.add(found->second);
    }
    return sluice::why_same(met);
}

Variation variation_of(const Batch& candidates, std::size_t candidate) {
    const auto flows_of = [&](std::size_t trial) {
        const TrialRequest request{candidate, trial, trial_seed(1, trial)};
        Scenario scenario = scenario_of(candidates, candidate, settings_of({}, request));
        const std::optional<BuiltExperiment> built = built_or_nothing(scenario);
        return built ? built->experiment.flows : std::vector<FlowSpec>();
    };
    return {true, same_flows(flows_of(0), flows_of(1))};
}

}  // namespace sluice::eval
