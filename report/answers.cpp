// SPDX-License-Identifier: Apache-2.0
#include "report/answers.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "core/results/student_t.h"
#include "core/text/human.h"

namespace sluice::report {

namespace {

/// The job that ends last.
const Json* longest_job(const Json& summary) {
    const Json* longest = nullptr;
    if (!summary.contains("jobs")) return nullptr;
    for (const Json& job : summary.at("jobs")) {
        if (!job.contains("critical_path_s") || job.at("critical_path_s").empty()) continue;
        if (longest == nullptr || number(job, "jct_s") > number(*longest, "jct_s")) longest = &job;
    }
    return longest;
}

std::string shown_cause(const std::string& name) {
    return name == "software" ? "software around collectives" : name;
}

/// The largest share of a kind: of communication, or of all.
struct Cause {
    std::string name;
    double seconds = 0;
};

Cause largest(const Json& path, bool communication) {
    Cause most;
    for (const auto& [name, seconds] : path.items()) {
        if (communication && name == "compute") continue;
        if (seconds.get<double>() > most.seconds) most = {name, seconds.get<double>()};
    }
    return most;
}

std::string job_bound(const Json& job, bool several) {
    const Json& path = job.at("critical_path_s");
    double sum = 0;
    for (const auto& [name, seconds] : path.items()) sum += seconds.get<double>();
    if (sum <= 0) return "Nothing ran long enough to bound the run.";
    const double compute = number(path, "compute");
    const double rest = sum - compute;
    const std::string whole = several ? "job " + job.value("name", std::string()) : "the iteration";
    const Cause cause = largest(path, true);
    const std::string by =
        fmt::format("most of it {} ({}, {})", shown_cause(cause.name), human_seconds(cause.seconds),
                    shown_share(cause.seconds / sum));
    if (compute >= rest) {
        std::string text =
            fmt::format("Computation bounds {}: {} of its {}, {} of the critical path.", whole,
                        human_seconds(compute), human_seconds(sum), shown_share(compute / sum));
        if (rest > 0) {
            text += fmt::format(" Communication is the other {}, {}.", shown_share(rest / sum), by);
        }
        return text;
    }
    return fmt::format(
        "Communication bounds {}: {} of its {}, {} of the critical path, {}. Computation is the "
        "other {}.",
        whole, human_seconds(rest), human_seconds(sum), shown_share(rest / sum), by,
        shown_share(compute / sum));
}

std::string flow_bound(const RunFiles& run, const FlowPaths& paths) {
    if (run.flows.empty()) return "No flow finished, so that nothing can be said to bound the run.";
    const FinishedFlow& last = run.flows.back();
    std::string text =
        fmt::format("The last flow bounds the run: flow {} from host {} to host {} ends at {}",
                    last.flow, last.key.src, last.key.dst, human_time(last.finish));
    if (last.ideal > 0) {
        text += fmt::format(", {:.1f} times its time in an idle network", last.slowdown());
    }
    text += ".";
    const std::size_t at = run.flows.size() - 1;
    if (at < paths.ports.size() && !paths.ports[at].empty()) {
        const std::vector<PortId>& ports = paths.ports[at];
        const PortId busiest =
            *std::max_element(ports.begin(), ports.end(), [&](PortId a, PortId b) {
                return run.ports[a].utilization < run.ports[b].utilization;
            });
        text += fmt::format(" The busiest link on its way is {}, {} busy over the run.",
                            link_name(run, busiest), shown_share(run.ports[busiest].utilization));
    }
    return text;
}

std::string nothing_skipped(const Json& summary) {
    const std::string mode = summary.value("mode", std::string());
    if (mode == "flow") {
        return "No packet was simulated: mode flow shares links by max-min fairness, without "
               "queues, "
               "so that its error is unknown until a run in mode packet is beside it.";
    }
    return "Every packet was simulated, or copied from a part that does exactly the same: nothing "
           "was replaced by equations.";
}

/// Of a column of replicas.csv.
std::string replica_name(const std::string& column) {
    if (column == "mean_flow_s") return "the mean flow";
    if (column == "p99_flow_s") return "the p99 flow";
    return "the completion time";
}

std::string replica_text(const Json& replicas) {
    for (const auto& [name, values] : replicas.items()) {
        if (values.size() < 2) continue;
        double mean = 0;
        for (const Json& value : values) mean += value.get<double>();
        const auto n = static_cast<double>(values.size());
        mean /= n;
        double squares = 0;
        for (const Json& value : values) squares += std::pow(value.get<double>() - mean, 2);
        const double half =
            student_t_quantile(0.975, values.size() - 1) * std::sqrt(squares / (n - 1) / n);
        return fmt::format(" {} replicas put {} at {} +-{} (95%).", values.size(),
                           replica_name(name), human_seconds(mean), shown_share(half / mean));
    }
    return {};
}

}  // namespace

std::string shown_share(double share) {
    const double percent = std::abs(share) * 100;
    const char* const sign = share < 0 ? "-" : "";
    // What is nearly all is not all.
    if (percent >= 99.5 && percent < 100) return fmt::format("{}{:.2f}%", sign, percent);
    if (percent >= 9.95) return fmt::format("{}{:.0f}%", sign, percent);
    if (percent >= 0.095) return fmt::format("{}{:.1f}%", sign, percent);
    return fmt::format("{}{:.2g}%", sign, percent);
}

std::string bound_answer(const RunFiles& run, const FlowPaths& paths) {
    const Json* const job = longest_job(run.summary);
    if (job != nullptr) return job_bound(*job, run.summary.at("jobs").size() > 1);
    return flow_bound(run, paths);
}

std::string hot_answer(const RunFiles& run) {
    const HotPorts hot = hot_ports(run);
    if (hot.busiest == kNone) return "No link carried anything.";
    std::string text =
        fmt::format("The hottest link is {}: {} busy over the run", link_name(run, hot.busiest),
                    shown_share(run.ports[hot.busiest].utilization));
    const double most = run.ports[hot.busiest].utilization;
    const auto close =
        std::count_if(run.ports.begin(), run.ports.end(),
                      [&](const PortFigures& port) { return port.utilization >= 0.95 * most; });
    if (close > 1) {
        text += fmt::format(", with {} within a twentieth of that",
                            counted(static_cast<std::size_t>(close - 1), "other", "others"));
    }
    const Json* hottest_class = nullptr;
    const Json classes = run.summary.value("link_classes", Json::array());
    for (const Json& link_class : classes) {
        if (hottest_class == nullptr ||
            number(link_class, "mean_utilization") > number(*hottest_class, "mean_utilization")) {
            hottest_class = &link_class;
        }
    }
    if (hottest_class != nullptr) {
        text += fmt::format("; the busiest class is {}, {} on average",
                            hottest_class->value("name", std::string()),
                            shown_share(number(*hottest_class, "mean_utilization")));
    }
    text += ".";
    if (hot.deepest != kNone) {
        text +=
            fmt::format(" The longest queue was {}B, at {}.",
                        human_count(static_cast<double>(run.ports[hot.deepest].max_queue_bytes)),
                        link_name(run, hot.deepest));
    }
    if (hot.paused != kNone) {
        text += fmt::format(" The longest paused was {}, {}.", link_name(run, hot.paused),
                            human_time(run.ports[hot.paused].paused));
    }
    return text;
}

std::string flows_answer(const RunFiles& run, const Json& times) {
    if (run.flows.empty()) return "No flow finished.";
    const Json& fct = run.summary.at("fct_s");
    std::string text =
        fmt::format("Half of the {} flows finish within {}, 99% within {}; the longest takes {}.",
                    run.flows.size(), human_seconds(number(fct, "p50")),
                    human_seconds(number(fct, "p99")), human_seconds(number(fct, "max")));
    const Json& all = times.at("classes").at(0);
    if (all.at("slowdown").is_object()) {
        text += fmt::format(
            " Against an idle network they take {:.2f} times as long on average, {:.2f} times at "
            "p99.",
            number(all.at("slowdown"), "mean"), number(all.at("slowdown"), "p99"));
    }
    const auto left = static_cast<std::int64_t>(number(run.summary, "flows") -
                                                number(run.summary, "flows_completed"));
    if (left > 0) text += fmt::format(" {} flows did not finish.", left);
    return text;
}

std::string trust_answer(const RunFiles& run, const Json& trust) {
    const Json& summary = run.summary;
    const double skipped = number(summary, "hops_saved");
    std::string text;
    if (summary.value("interrupted", false)) text = "The run was interrupted. ";
    if (skipped > 0) {
        const double all = skipped + number(summary, "packet_hops");
        text +=
            fmt::format("Equations replaced {} of the packet-hops.", shown_share(skipped / all));
        const Json audit = trust.at("audit");
        if (audit.is_object() && audit.at("jct").is_object()) {
            const Json& jct = audit.at("jct");
            text += fmt::format(
                " The audit puts the error of the completion time, {}, at {} +-{} (95%).",
                human_seconds(number(jct, "value")), shown_share(number(jct, "error")),
                shown_share(number(jct, "half_width")));
        } else if (audit.is_object() && audit.at("fct").is_object()) {
            const Json& fct = audit.at("fct");
            text += fmt::format(" The audit puts the error of the mean flow at {} +-{} (95%).",
                                shown_share(number(fct, "error")),
                                shown_share(number(fct, "half_width")));
        } else {
            text += " No audit says how far that is off.";
        }
    } else {
        text += nothing_skipped(summary);
    }
    if (trust.at("replicas").is_object()) return text + replica_text(trust.at("replicas"));
    if (summary.value("mode", std::string()) != "flow") {
        text += " It is one run: --replicas 8 shows how much chance there is in it.";
    }
    return text;
}

}  // namespace sluice::report
