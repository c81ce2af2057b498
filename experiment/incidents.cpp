// SPDX-License-Identifier: Apache-2.0
#include "experiment/incidents.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "core/text/human.h"
#include "core/topology/node_names.h"

namespace sluice {

namespace {

constexpr std::size_t kShown = 4;
constexpr std::size_t kMarkedPorts = 64;

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

/// Why packets are lost at a port, as far as it can be known.
const char* reason_of(const Experiment& experiment, const std::set<LinkId>& failed, PortId port) {
    const LinkId link = experiment.topology.link_of(port);
    if (failed.count(link) > 0) return "its link was down";
    if (experiment.topology.links()[link].loss > 0) return "its cable loses packets";
    if (experiment.topology.is_host(experiment.topology.node_of(port))) {
        return "more ACKs than its paused host can hold";
    }
    return "no room in the buffer";
}

void tell_drops(const Experiment& experiment, const NodeNames& names, RunOutcome& outcome) {
    std::vector<PortId> ports;
    for (PortId port = 0; port < outcome.ports.size(); ++port) {
        if (outcome.ports[port].drops > 0) ports.push_back(port);
    }
    std::stable_sort(ports.begin(), ports.end(), [&](PortId a, PortId b) {
        return outcome.ports[a].drops > outcome.ports[b].drops;
    });
    std::set<LinkId> failed;
    for (const LinkEvent& event : experiment.link_events) {
        if (!event.up && event.at <= outcome.simulated) failed.insert(event.link);
    }
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const PortId port = ports[i];
        const std::string where = port_name(experiment.topology, names, port);
        const std::int64_t drops = outcome.ports[port].drops;
        if (i < kMarkedPorts) {
            outcome.marks.push_back(
                {outcome.simulated, fmt::format("{} drops until here: {}", drops, where)});
        }
        if (i < kShown) {
            outcome.incidents.push_back(fmt::format("drops            {} from {}: {}", drops, where,
                                                    reason_of(experiment, failed, port)));
        } else if (i == kShown) {
            outcome.incidents.push_back(fmt::format("drops            at {} more ports (ports.csv)",
                                                    ports.size() - kShown));
        }
    }
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
