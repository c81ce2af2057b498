// SPDX-License-Identifier: Apache-2.0
#include "core/topology/topology_report.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/topology/connectivity.h"
#include "core/topology/link_class.h"

namespace sluice {

namespace {

constexpr std::size_t kShownServers = 8;

/// The types that SimAI knows by name (its ns-3 path leaves H20 out).
constexpr const char* kGpuTypes[] = {"A100", "A800", "H100", "H800", "H20"};

bool known_gpu_type(const std::string& type) {
    return std::any_of(std::begin(kGpuTypes), std::end(kGpuTypes),
                       [&](const char* known) { return type == known; });
}

std::string count(std::size_t number, const char* one, const char* many) {
    return std::to_string(number) + " " + (number == 1 ? one : many);
}

/// Both directions of a pair of nodes under one key.
std::uint64_t pair_key(const Link& link) {
    const auto [low, high] = std::minmax(link.a, link.b);
    return static_cast<std::uint64_t>(low) << 32 | high;
}

}  // namespace

TopologyReporter::TopologyReporter(std::string file, ImportReport* report)
    : file_(std::move(file)), report_(report) {}

std::string TopologyReporter::at(int line) const { return file_ + ":" + std::to_string(line); }

void TopologyReporter::id_again(int line, NodeId id) {
    if (report_ == nullptr) return;
    report_->doubtful(at(line),
                      "switch id " + std::to_string(id) +
                          " is listed again: there are fewer switches than the header says");
}

void TopologyReporter::header(int line, TopologyHeader kind, const Topology& topology) {
    if (report_ == nullptr) return;
    header_line_ = line;
    std::size_t nvswitches = 0;
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        nvswitches += topology.kind(node) == NodeKind::nvswitch ? 1U : 0U;
    }
    const std::size_t hosts = topology.host_count();
    constexpr const char* kHeaders[] = {
        "HPCC header: ", "SimAI header: ", "PowerTCP header, its number of ToRs without effect: ",
        "Reverie header, its ToRs and capacities without effect: "};
    std::string text = kHeaders[static_cast<int>(kind)];
    const bool simai = kind == TopologyHeader::simai;
    text += simai ? count(hosts, "GPU", "GPUs") + ", " + std::to_string(topology.gpus_per_server) +
                        " a server, " + count(nvswitches, "NVSwitch", "NVSwitches")
                  : count(hosts, "host", "hosts");
    text += ", " + count(topology.node_count() - hosts - nvswitches, "switch", "switches");
    if (simai) text += ", GPU type " + (topology.gpu_type.empty() ? "NONE" : topology.gpu_type);
    report_->read(at(line), text);
    if (!topology.gpu_type.empty() && !known_gpu_type(topology.gpu_type)) {
        report_->skipped(at(line), "GPU type " + topology.gpu_type +
                                       " is none that SimAI knows (A100, A800, H100, H800, H20); "
                                       "it stays a name");
    }
}

void TopologyReporter::link(int line) {
    if (report_ != nullptr) line_of_link_.push_back(line);
}

void TopologyReporter::more_links(int line, std::size_t more, std::int64_t header_links) {
    if (report_ == nullptr) return;
    report_->doubtful(at(line), count(more, "more link follows", "more links follow") +
                                    " than the " + std::to_string(header_links) +
                                    " that the header says: not read");
}

void TopologyReporter::trailing_text(int line) {
    if (report_ != nullptr) report_->skipped(at(line), "text after the last link");
}

void TopologyReporter::finish(const Topology& topology) {
    if (report_ == nullptr) return;
    const LinkClasses classes(topology);
    std::string links = count(topology.links().size(), "link", "links");
    for (const LinkClass& c : classes.classes()) {
        links +=
            (&c == classes.classes().data() ? ": " : ", ") + std::to_string(c.links) + " " + c.name;
    }
    report_->read(file_, links);
    report_repeated(topology);
    report_servers(topology);
    report_lone_nodes(topology);
    if (const auto pair = find_unreachable_hosts(topology)) {
        report_->doubtful(
            file_, "not connected: no path from host " + std::to_string(pair->first) + " to host " +
                       std::to_string(pair->second) +
                       "; packets pass through no hosts but those of topology.forwarding_hosts");
    }
}

void TopologyReporter::report_repeated(const Topology& topology) {
    std::unordered_map<std::uint64_t, int> first_line;
    first_line.reserve(topology.links().size());
    for (std::size_t i = 0; i < topology.links().size(); ++i) {
        const Link& link = topology.links()[i];
        const auto [entry, is_new] = first_line.emplace(pair_key(link), line_of_link_[i]);
        if (!is_new) {
            report_->read(at(line_of_link_[i]),
                          "link " + std::to_string(link.a) + "-" + std::to_string(link.b) +
                              " is listed again after line " + std::to_string(entry->second) +
                              ": all are used, in parallel");
        }
    }
}

/// GPUs of a server are consecutive ids, by the header; an NVSwitch shows who really is one.
void TopologyReporter::report_servers(const Topology& topology) {
    const std::size_t size = topology.gpus_per_server;
    if (!topology.server_sizes.empty()) {
        std::string sizes;
        for (std::size_t i = 0; i < topology.server_sizes.size() && i < kShownServers; ++i) {
            sizes += (i == 0 ? "" : ", ") + std::to_string(topology.server_sizes[i]);
        }
        if (topology.server_sizes.size() > kShownServers) sizes += ", ...";
        report_->read(at(header_line_), "servers of " + sizes + " GPUs, as NVSwitches join them");
        return;
    }
    if (topology.host_count() % size != 0) {
        report_->doubtful(at(header_line_), std::to_string(size) + " GPUs a server do not divide " +
                                                std::to_string(topology.host_count()) +
                                                " GPUs: the last server has " +
                                                std::to_string(topology.host_count() % size));
    }
    std::vector<std::size_t> rank_of(topology.node_count(), 0);
    for (std::size_t rank = 0; rank < topology.host_count(); ++rank) {
        rank_of[topology.hosts()[rank]] = rank;
    }
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (topology.kind(node) != NodeKind::nvswitch) continue;
        std::map<std::size_t, std::size_t> gpus_of_server;
        std::vector<NodeId> gpus;
        const PortId first = topology.first_port(node);
        for (PortId port = first; port < first + topology.port_count(node); ++port) {
            if (topology.is_host(topology.neighbor(port))) gpus.push_back(topology.neighbor(port));
        }
        std::sort(gpus.begin(), gpus.end());
        gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
        for (const NodeId gpu : gpus) ++gpus_of_server[rank_of[gpu] / size];
        const std::string name = "NVSwitch " + std::to_string(node);
        if (gpus_of_server.size() > 1) {
            report_->doubtful(file_, name + " joins GPUs of " +
                                         std::to_string(gpus_of_server.size()) + " servers of " +
                                         std::to_string(size) +
                                         " GPUs: the header's servers are not the NVLink's");
        } else if (!gpus.empty() && gpus.size() != std::min(size, topology.host_count())) {
            report_->doubtful(file_, name + " joins " + count(gpus.size(), "GPU", "GPUs") +
                                         " of a server of " + std::to_string(size));
        }
    }
}

void TopologyReporter::report_lone_nodes(const Topology& topology) {
    constexpr const char* kKinds[] = {"host", "switch", "NVSwitch"};
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (topology.port_count(node) > 0) continue;
        report_->doubtful(file_, std::string(kKinds[static_cast<int>(topology.kind(node))]) + " " +
                                     std::to_string(node) + " has no link");
    }
}

}  // namespace sluice
