// SPDX-License-Identifier: Apache-2.0
#include "experiment/explain.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/core.h>

#include "core/job/critical_path.h"
#include "core/text/human.h"
#include "core/topology/link_class.h"

namespace sluice {

namespace {

constexpr std::size_t kShownKeys = 6;

double share(Tick part, Tick whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// How a step of the critical path is called: its group, and the links that its message takes.
std::string step_name(const BuiltExperiment& built, const BuiltJob& job, const CriticalStep& step,
                      const LinkClasses& classes) {
    const JobGraph& graph = job.application->graph();
    const OpClass cls = graph.label(step.op).cls;
    if (cls == OpClass::compute && step.message == kNone) return "compute";
    std::string name = to_string(cls);
    if (step.message != kNone) {
        const FlowId flow = job.application->first_flow() + step.message;
        return name + " over " + classes.classes()[built.estimate.link_class[flow]].name;
    }
    const OpKind kind = graph.kind(step.op);
    // A collective's delays are software: before it sends, between its steps.
    if (kind == OpKind::delay && graph.label(step.op).collective != kNone) {
        return name + " software";
    }
    // What members meet for, what passes a server's links, a whole stage's tensor parallelism.
    const bool in_server = kind == OpKind::meet || kind == OpKind::await || kind == OpKind::task ||
                           kind == OpKind::delay;
    return in_server && cls != OpClass::other ? name + " inside servers" : name;
}

/// `messages`: the part of the path that waits for some.
std::vector<TimeShare> path_shares(const BuiltExperiment& built, const BuiltJob& job,
                                   const JobTiming& timing, Tick& messages) {
    const LinkClasses classes(built.experiment.topology);
    std::map<std::string, Tick> times;
    for (const CriticalStep& step : timing.critical_path()) {
        times[step_name(built, job, step, classes)] += step.end - step.start;
        messages += step.message == kNone ? 0 : step.end - step.start;
    }
    std::vector<TimeShare> shares;
    for (const auto& [name, time] : times) shares.push_back({name, time});
    std::stable_sort(shares.begin(), shares.end(),
                     [](const TimeShare& a, const TimeShare& b) { return a.time > b.time; });
    return shares;
}

/// Mean and most over ranks of each share of their time; shares that are 0 everywhere are left out.
class RankShares {
  public:
    void add(const std::string& name, RankId rank, Tick time) {
        auto found = std::find_if(shares_.begin(), shares_.end(),
                                  [&](const Sum& sum) { return sum.share.name == name; });
        if (found == shares_.end()) {
            shares_.push_back({{name, 0, 0, 0}, 0});
            found = shares_.end() - 1;
        }
        found->total += static_cast<double>(time);
        if (time > found->share.most) {
            found->share.most = time;
            found->share.most_rank = rank;
        }
    }

    std::vector<RankTimeShare> means(RankId ranks) const {
        std::vector<RankTimeShare> means;
        for (const Sum& sum : shares_) {
            if (sum.share.most == 0) continue;
            means.push_back(sum.share);
            means.back().mean = static_cast<Tick>(sum.total / ranks);
        }
        return means;
    }

  private:
    struct Sum {
        RankTimeShare share;
        double total = 0;
    };
    std::vector<Sum> shares_;
};

}  // namespace

void explain_job(const BuiltExperiment& built, const BuiltJob& job, JobRecord& record) {
    if (job.application->completed_count() == 0) return;
    const JobTiming timing(*job.application, job.start);
    record.critical_path = path_shares(built, job, timing, record.messages);
    RankShares shares;
    const RankId ranks = job.application->graph().rank_count();
    for (RankId rank = 0; rank < ranks; ++rank) {
        const RankTimes times = timing.rank_times(rank);
        shares.add("compute", rank, times.compute);
        for (std::size_t cls = 0; cls < kOpClasses; ++cls) {
            const std::string name = to_string(static_cast<OpClass>(cls));
            shares.add(name == "compute" ? "resources" : name, rank, times.exposed[cls]);
        }
        shares.add("waiting", rank, times.waiting);
        shares.add("idle", rank, times.idle);
    }
    record.rank_time = shares.means(ranks);
}

std::vector<LinkClassRecord> explain_links(const Topology& topology,
                                           const std::vector<PortStatistics>& ports,
                                           Tick simulated) {
    const LinkClasses classes(topology);
    std::vector<LinkClassRecord> records;
    for (const LinkClass& cls : classes.classes())
        records.push_back({cls.name, cls.links, 0, 0, 0});
    const double seconds = to_seconds(simulated);
    for (PortId port = 0; port < ports.size(); ++port) {
        LinkClassRecord& record = records[classes.class_of(topology.link_of(port))];
        const std::int64_t bytes = ports[port].tx_bytes;
        record.bytes += bytes;
        if (seconds <= 0) continue;
        const double used = 8 * static_cast<double>(bytes) /
                            (static_cast<double>(topology.rate(port).bits_per_second) * seconds);
        record.mean_utilization += used / (2 * static_cast<double>(record.links));
        record.most_utilization = std::max(record.most_utilization, used);
    }
    return records;
}

std::vector<std::string> explain_warnings(const std::vector<LinkClassRecord>& links,
                                          const std::vector<JobRecord>& jobs) {
    std::vector<std::string> warnings;
    const auto outside = [](const LinkClassRecord& record) { return record.name != "nvlink"; };
    const bool crosses = std::any_of(links.begin(), links.end(), [&](const LinkClassRecord& r) {
        return outside(r) && r.bytes > 0;
    });
    if (!crosses && !jobs.empty()) {
        warnings.emplace_back(
            "no traffic crosses a NIC: the result does not depend on the network between servers");
    }
    for (const JobRecord& job : jobs) {
        for (const RankTimeShare& part : job.rank_time) {
            if (part.name != "compute" || job.jct == kNever || job.jct == 0) continue;
            if (share(part.mean, job.jct) > 0.99) {
                warnings.push_back("the job \"" + job.name +
                                   "\" computes more than 99% of its time: the network hardly "
                                   "matters to it");
            }
        }
    }
    return warnings;
}

std::vector<std::string> explanation(const RunOutcome& outcome) {
    std::vector<std::string> lines;
    for (const JobRecord& job : outcome.jobs) {
        const std::string whose = outcome.jobs.size() > 1 ? job.name + ": " : "";
        Tick whole = 0;
        for (const TimeShare& part : job.critical_path) whole += part.time;
        std::string text;
        for (const TimeShare& part : job.critical_path) {
            if (share(part.time, whole) < 0.001) continue;
            text += fmt::format("{}{} {:.1f}%", text.empty() ? "" : ", ", part.name,
                                100 * share(part.time, whole));
        }
        if (!text.empty()) lines.push_back("bound by         " + whose + text);
        text.clear();
        for (const RankTimeShare& part : job.rank_time) {
            if (share(part.most, whole) < 0.001) continue;
            text += fmt::format("{}{} {:.1f}%", text.empty() ? "" : ", ", part.name,
                                100 * share(part.mean, whole));
            if (share(part.most - part.mean, whole) > 0.01) {
                text += fmt::format(" (rank {}: {:.1f}%)", part.most_rank,
                                    100 * share(part.most, whole));
            }
        }
        if (!text.empty()) lines.push_back("ranks' time      " + whose + text);
    }
    std::string text;
    for (const LinkClassRecord& links : outcome.link_classes) {
        text += fmt::format("{}{} {}B", text.empty() ? "" : ", ", links.name,
                            human_count(static_cast<double>(links.bytes)));
        if (links.bytes > 0) {
            text += fmt::format(" ({:.1f}% busy, at most {:.1f}%)", 100 * links.mean_utilization,
                                100 * links.most_utilization);
        }
    }
    if (!text.empty()) lines.push_back("links carried    " + text);
    lines.insert(lines.end(), outcome.incidents.begin(), outcome.incidents.end());
    for (std::size_t i = 0; i < outcome.keys_without_effect.size(); ++i) {
        if (i == kShownKeys) {
            lines.push_back(fmt::format("no effect        {} more keys (summary.json)",
                                        outcome.keys_without_effect.size() - i));
            break;
        }
        lines.push_back("no effect        " + outcome.keys_without_effect[i]);
    }
    for (const std::string& warning : outcome.warnings)
        lines.push_back("warning          " + warning);
    return lines;
}

}  // namespace sluice
