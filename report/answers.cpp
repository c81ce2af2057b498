// SPDX-License-Identifier: Apache-2.0
#include "report/answers.h"

#include <algorithm>

#include <fmt/core.h>

#include "core/text/human.h"
#include "core/topology/link_class.h"
#include "report/time_parts.h"
#include "report/words.h"

namespace sluice::report {

namespace {

/// "DP (381 ms, 16%)": the causes of communication that matter, the longest first, with their shares of the whole.
std::string largest_causes(const std::vector<TimePart>& parts) {
    std::vector<TimePart> causes;
    for (const TimePart& part : parts) {
        if (part.kind == PartKind::compute) continue;
        const auto same = std::find_if(causes.begin(), causes.end(), [&](const TimePart& one) {
            return one.cause == part.cause;
        });
        if (same == causes.end()) {
            causes.push_back(part);
        } else {
            same->seconds += part.seconds;
            same->share += part.share;
        }
    }
    std::stable_sort(causes.begin(), causes.end(),
                     [](const TimePart& a, const TimePart& b) { return a.seconds > b.seconds; });
    std::vector<std::string> named;
    for (const TimePart& one : causes) {
        if (one.seconds * 3 < causes.front().seconds) continue;
        named.push_back(fmt::format("{} ({}, {})", one.cause, human_seconds(one.seconds),
                                    shown_share(one.share)));
    }
    return listing(named);
}

std::string job_bound(const RunFiles& run, const Json& job) {
    const std::vector<TimePart> parts = time_parts(run, job);
    double sum = 0;
    for (const TimePart& part : parts) sum += part.seconds;
    if (sum <= 0) return "Nothing ran long enough to bound the run.";
    const double compute = share_of(parts, PartKind::compute);
    const double rest = 1 - compute;
    const bool several = run.summary.at("jobs").size() > 1;
    const std::string whole = several ? "job " + job.value("name", std::string()) : "the iteration";
    if (compute >= rest) {
        std::string text =
            fmt::format("Computation bounds {}: {} of its {}, {} of the critical path.", whole,
                        human_seconds(compute * sum), human_seconds(sum), shown_share(compute));
        if (parts.size() > 1) {
            text += fmt::format(" Communication is the other {}: mainly {}.", shown_share(rest),
                                largest_causes(parts));
        }
        return text;
    }
    std::string text = fmt::format(
        "Communication bounds {}: {} of its {}, {} of the critical path; mainly {}.", whole,
        human_seconds(rest * sum), human_seconds(sum), shown_share(rest), largest_causes(parts));
    if (compute > 0) text += fmt::format(" Computation is the other {}.", shown_share(compute));
    return text;
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
        text += fmt::format(" The busiest link on its path is {}, {} busy over the run.",
                            link_name(run, busiest), shown_share(run.ports[busiest].utilization));
    }
    return text;
}

/// ", 96% in the busiest 14.7 ms (estimated)"; empty where its load over time is not known.
std::string peak_text(const Json& series, PortId port) {
    const std::string name = std::to_string(port);
    if (!series.is_object() || !series.at("ports").contains(name)) return {};
    const Json& peak = series.at("ports").at(name).at("peak");
    if (peak.is_null()) return {};
    return fmt::format(", {} in the busiest {}{}", shown_share(peak.get<double>()),
                       human_seconds(number(series, "step")),
                       series.at("measured").get<bool>() ? "" : " (estimated)");
}

/// Each class of links: the sum of its ports' loads, and how many links have one within 5% of `most`.
struct ClassLoad {
    std::string name;
    double sum = 0;
    std::size_t ports = 0;
    std::size_t hot_ports = 0;
    std::size_t hot_links = 0;

    double mean() const { return ports > 0 ? sum / static_cast<double>(ports) : 0; }
};

std::vector<ClassLoad> class_loads(const RunFiles& run, const LinkClasses& classes, double most) {
    std::vector<ClassLoad> loads;
    for (const LinkClass& one : classes.classes()) loads.push_back({one.name, 0, 0, 0, 0});
    std::vector<bool> seen(run.topology.links().size(), false);
    for (PortId port = 0; port < run.ports.size(); ++port) {
        const LinkId link = run.topology.link_of(port);
        ClassLoad& load = loads[classes.class_of(link)];
        load.sum += run.ports[port].utilization;
        ++load.ports;
        if (run.ports[port].utilization < 0.95 * most) continue;
        ++load.hot_ports;
        if (!seen[link]) ++load.hot_links;
        seen[link] = true;
    }
    return loads;
}

std::string queue_text(const RunFiles& run, PortId port) {
    return human_count(static_cast<double>(run.ports[port].max_queue_bytes)) + "B";
}

/// The hottest link and what it is among its class: one of many that are alike, or by how much it stands out.
std::string hottest_text(const RunFiles& run, const HotPorts& hot, const std::string& peak) {
    const LinkClasses classes(run.topology);
    const PortId hottest = hot.busiest;
    const double most = run.ports[hottest].utilization;
    const std::vector<ClassLoad> loads = class_loads(run, classes, most);
    const ClassLoad& own = loads[classes.class_of(run.topology.link_of(hottest))];
    const std::size_t links = own.ports / 2;
    const std::string busy = fmt::format("{} busy over the run{}.", shown_share(most), peak);
    std::string text;
    if (own.hot_links == links && links > 1) {
        text = fmt::format(
            "The hottest links are all {} {} links, alike in {} (within 5%): {}",
            with_commas(links), own.name,
            own.hot_ports == own.ports ? "both directions" : "their busier direction", busy);
    } else {
        text = fmt::format(
            "The hottest link is {}: {} That is {:.1f} times the mean of {} links, {}",
            link_name(run, hottest), busy, most / own.mean(), own.name, shown_share(own.mean()));
        text += own.hot_links > 1 ? fmt::format("; {} of {} such links are within 5% of it.",
                                                with_commas(own.hot_links), with_commas(links))
                                  : ".";
        // What is busy need not be congested.
        if (hot.deepest != kNone && hot.deepest != hottest) {
            text += fmt::format(" At most {} waited for it.", queue_text(run, hottest));
        }
    }
    const ClassLoad& busiest = *std::max_element(
        loads.begin(), loads.end(),
        [](const ClassLoad& a, const ClassLoad& b) { return a.mean() < b.mean(); });
    if (shown_share(busiest.mean()) != shown_share(own.mean())) {
        text += fmt::format(" On average {} links are busier: {}.", busiest.name,
                            shown_share(busiest.mean()));
    }
    return text;
}

}  // namespace

std::string bound_answer(const RunFiles& run, const FlowPaths& paths) {
    const Json* const job = longest_job(run.summary);
    if (job != nullptr) return job_bound(run, *job);
    return flow_bound(run, paths);
}

std::string hot_answer(const RunFiles& run, const Json& picture) {
    const HotPorts hot = hot_ports(run);
    if (hot.busiest == kNone) return "No link carried anything.";
    std::string text = hottest_text(run, hot, peak_text(picture.at("series"), hot.busiest));
    if (hot.deepest != kNone) {
        text += fmt::format(" The longest queue was {}, at {}.", queue_text(run, hot.deepest),
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
                    with_commas(run.flows.size()), human_seconds(number(fct, "p50")),
                    human_seconds(number(fct, "p99")), human_seconds(number(fct, "max")));
    const Json& all = times.at("classes").at(0);
    if (all.at("slowdown").is_object()) {
        text += fmt::format(
            " Against an idle network they take {:.2f} times as long on average, {:.2f} times at "
            "p99.",
            number(all.at("slowdown"), "mean"), number(all.at("slowdown"), "p99"));
    }
    const double left = number(run.summary, "flows") - number(run.summary, "flows_completed");
    if (left > 0) {
        text +=
            fmt::format(" {} flows did not finish.", with_commas(static_cast<std::size_t>(left)));
    }
    return text;
}

}  // namespace sluice::report
