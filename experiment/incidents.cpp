// SPDX-License-Identifier: Apache-2.0
#include "experiment/incidents.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "core/text/human.h"
#include "core/text/quantity.h"
#include "core/topology/node_names.h"

namespace sluice {

namespace {

constexpr std::size_t kShown = 4;
constexpr std::size_t kMarkedPorts = 64;
constexpr double kToldResent = 0.01;  ///< of the payload, from which on a run warns

std::string port_name(const Topology& topology, const NodeNames& names, PortId port) {
    return names[topology.node_of(port)] + " to " + names[topology.neighbor(port)];
}

std::string link_name(const Topology& topology, const NodeNames& names, LinkId link) {
    const Link& cable = topology.links()[link];
    return names[cable.a] + "-" + names[cable.b];
}

/// "leaf0-spine1 down at 1 us, up at 5 us", by link.
void tell_links(const Experiment& experiment, const NodeNames& names, RunOutcome& outcome) {
    std::map<LinkId, std::string> by_link;
    for (const LinkEvent& event : experiment.link_events) {
        if (event.at > outcome.simulated) continue;
        const char* const what = event.up ? "up" : "down";
        const std::string link = link_name(experiment.topology, names, event.link);
        outcome.marks.push_back({event.at, link + " " + what});
        std::string& text = by_link[event.link];
        text += text.empty() ? link + " " : ", ";
        text += fmt::format("{} at {}", what, human_time(event.at));
    }
    std::size_t shown = 0;
    for (const auto& [link, text] : by_link) {
        if (shown++ == kShown) {
            outcome.incidents.push_back(
                fmt::format("links            {} more with events", by_link.size() - kShown));
            break;
        }
        outcome.incidents.push_back("link             " + text);
    }
}

/// Packets that a port lost for one cause.
struct PortDrops {
    PortId port = kNone;
    std::int64_t count = 0;
    std::string text;  ///< where, and why
};

/// Drops of a port by cause, as lines: those without a way, or lost on a cable, came by the port.
void add_drops(const Experiment& experiment, const NodeNames& names, PortId port,
               const DropCauses& by, std::vector<PortDrops>& all) {
    const Topology& topology = experiment.topology;
    const bool host = topology.is_host(topology.node_of(port));
    const std::string out = "from " + port_name(topology, names, port);
    const std::string in =
        "at " + names[topology.node_of(port)] + ", from " + names[topology.neighbor(port)];
    const std::string here = "at " + names[topology.node_of(port)];
    const auto add = [&](std::int64_t count, const std::string& text) {
        if (count > 0) all.push_back({port, count, text});
    };
    add(by.no_room,
        out + (host ? ": more ACKs than its paused host can hold" : ": no room in the buffer"));
    add(by.no_way, (host ? here : in) + ": no way to their destination");
    add(by.link_down, out + ": its link was down");
    add(by.cable, host ? in + ": its cable loses packets"
                       : out + ": a cable by which they came loses packets");
    add(by.outdated, out + ": of flows that were over");
}

void tell_drops(const Experiment& experiment, const NodeNames& names, RunOutcome& outcome) {
    std::vector<PortDrops> all;
    std::vector<PortId> ports;
    for (PortId port = 0; port < outcome.ports.size(); ++port) {
        if (outcome.ports[port].drops == 0) continue;
        ports.push_back(port);
        add_drops(experiment, names, port, outcome.ports[port].drops_by, all);
    }
    std::stable_sort(ports.begin(), ports.end(), [&](PortId a, PortId b) {
        return outcome.ports[a].drops > outcome.ports[b].drops;
    });
    std::stable_sort(all.begin(), all.end(),
                     [](const PortDrops& a, const PortDrops& b) { return a.count > b.count; });
    for (std::size_t i = 0; i < ports.size() && i < kMarkedPorts; ++i) {
        outcome.marks.push_back(
            {outcome.simulated,
             fmt::format("{} drops until here: {}", outcome.ports[ports[i]].drops,
                         port_name(experiment.topology, names, ports[i]))});
    }
    std::set<PortId> shown;
    for (std::size_t i = 0; i < all.size() && i < kShown; ++i) {
        outcome.incidents.push_back(
            fmt::format("drops            {} {}", all[i].count, all[i].text));
        shown.insert(all[i].port);
    }
    if (ports.size() > shown.size()) {
        outcome.incidents.push_back(fmt::format("drops            at {} more ports (ports.csv)",
                                                ports.size() - shown.size()));
    }
}

/// Why a receiver has told of a gap. A flow of one way keeps its order; where nothing was lost, order is all. Where switches
/// trim, headers tell more than gaps.
std::string gap_cause(const Experiment& experiment, const RunOutcome& outcome) {
    const RunCounters& counters = outcome.counters;
    if (std::any_of(outcome.ports.begin(), outcome.ports.end(),
                    [](const PortStatistics& port) { return port.trimmed > 0; })) {
        return counters.drops == 0 ? "trimmed" : "trimmed_or_lost";
    }
    if (counters.drops == 0) return "out_of_order";
    const bool ways = experiment.network.sprayed_classes() != 0 || !experiment.link_events.empty();
    return ways ? "loss_or_out_of_order" : "loss";
}

std::string cause_text(const std::string& cause) {
    if (cause == "out_of_order") return "packets came out of order";
    if (cause == "loss") return "packets were lost";
    if (cause == "trimmed") return "packets were trimmed";
    if (cause == "trimmed_or_lost") return "packets were trimmed or lost";
    if (cause == "timeout") return "a time-out ended before their ACK had come";
    return "packets were lost or came out of order";
}

}  // namespace

std::vector<std::string> host_roles(const BuiltExperiment& built) {
    std::vector<std::string> roles;
    if (built.jobs.empty()) return roles;
    roles.resize(built.experiment.topology.node_count());
    for (const BuiltJob& job : built.jobs) {
        const RankId ranks = job.application->graph().rank_count();
        for (RankId rank = 0; rank < ranks; ++rank) {
            roles[job.application->host(rank)] = fmt::format("{} rank {}", job.name, rank);
        }
    }
    return roles;
}

void tell_incidents(const Experiment& experiment, RunOutcome& outcome) {
    const bool drops = std::any_of(outcome.ports.begin(), outcome.ports.end(),
                                   [](const PortStatistics& port) { return port.drops > 0; });
    if (experiment.link_events.empty() && !drops) return;
    const NodeNames names(experiment.topology);
    tell_links(experiment, names, outcome);
    tell_drops(experiment, names, outcome);
}

void tell_resent(const Experiment& experiment, std::int64_t payload, RunOutcome& outcome) {
    const RunCounters& counters = outcome.counters;
    const auto all = static_cast<std::int64_t>(counters.retransmitted_bytes);
    const auto late = static_cast<std::int64_t>(counters.resent_late_bytes);
    if (all == 0) return;
    if (all > late) outcome.resent.push_back({gap_cause(experiment, outcome), all - late});
    if (late > 0) outcome.resent.push_back({"timeout", late});
    const double part =
        static_cast<double>(all) / static_cast<double>(std::max<std::int64_t>(payload, 1));
    const std::string how_much = part < 1 ? fmt::format("{:.3g}% of the payload", 100 * part)
                                          : fmt::format("{:.3g} times the payload", part);
    std::string why;
    for (const ResentBytes& resent : outcome.resent) {
        const double share = static_cast<double>(resent.bytes) / static_cast<double>(all);
        why += (why.empty() ? "" : "; ") +
               (outcome.resent.size() == 1 ? "" : fmt::format("{:.3g}% as ", 100 * share)) +
               cause_text(resent.cause);
    }
    outcome.incidents.push_back(fmt::format("sent again       {}B, {}: {}",
                                            human_count(static_cast<double>(all)), how_much, why));
    if (part < kToldResent) return;
    std::string advice;
    if (2 * late > all) {
        advice = fmt::format("; network.nic.retransmit_timeout is {}",
                             format_time(experiment.network.nic.retransmit_timeout));
    } else if (counters.drops == 0 && experiment.network.nic.transport == Transport::go_back_n) {
        advice = "; go-back-N sends all that follows a gap once more: spray suits it badly";
    }
    outcome.warnings.push_back(
        fmt::format("{} was sent more than once: {}{}", how_much, why, advice));
}

std::string node_list(const std::vector<NodeId>& nodes) {
    std::string text;
    for (std::size_t begin = 0; begin < nodes.size();) {
        std::size_t end = begin + 1;
        while (end < nodes.size() && nodes[end] == nodes[end - 1] + 1) ++end;
        text += (text.empty() ? "" : " ") + std::to_string(nodes[begin]);
        if (end - begin > 1) text += "-" + std::to_string(nodes[end - 1]);
        begin = end;
    }
    return text;
}

}  // namespace sluice
