// SPDX-License-Identifier: Apache-2.0
#include "core/topology/node_names.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "core/topology/forwarding_hosts.h"
#include "core/topology/link_class.h"

namespace sluice {

namespace {

constexpr const char* kHost = "host";
constexpr const char* kGpu = "gpu";

/// The number that `name` has behind `prefix`: digits only, without zeros before them.
std::optional<std::size_t> number_behind(const std::string& prefix, const std::string& name) {
    if (name.compare(0, prefix.size(), prefix) != 0 || name.size() == prefix.size()) {
        return std::nullopt;
    }
    const char* const begin = name.data() + prefix.size();
    const char* const end = name.data() + name.size();
    if (*begin == '0' && end - begin > 1) return std::nullopt;
    std::size_t number = 0;
    const auto [stop, error] = std::from_chars(begin, end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    return number;
}

}  // namespace

std::string tier_name(std::uint32_t tier) {
    constexpr const char* kNames[] = {"", "leaf", "spine", "core"};
    return tier <= 3 ? kNames[tier] : "tier" + std::to_string(tier);
}

NodeNames::NodeNames(const Topology& topology) : group_of_(topology.node_count()) {
    const std::vector<std::uint32_t> tiers = switch_tiers(topology);
    // Hosts, their ports, NVSwitches, tiers from 1 on, and what has none.
    std::map<std::pair<int, std::uint32_t>, std::vector<NodeId>> nodes;
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        const bool port = owner_of(topology, node) != node;
        const bool packets = !port && topology.kind(node) == NodeKind::ethernet;
        const int order = topology.is_host(node) ? 0
                          : port                 ? 1
                          : !packets             ? 2
                          : tiers[node] > 0      ? 3
                                                 : 4;
        nodes[{order, packets ? tiers[node] : 0}].push_back(node);
    }
    for (auto& [key, members] : nodes) {
        const auto [order, tier] = key;
        std::string prefix = order == 0   ? kHost
                             : order == 1 ? "port"
                             : order == 2 ? "nvswitch"
                             : order == 3 ? tier_name(tier)
                                          : "switch";
        if (tier > 3) prefix += '-';
        for (const NodeId node : members) {
            group_of_[node] = static_cast<std::uint32_t>(groups_.size());
        }
        groups_.push_back({std::move(prefix), std::move(members)});
    }
}

std::string NodeNames::operator[](NodeId node) const {
    const Group& group = groups_[group_of_[node]];
    const auto place = std::lower_bound(group.nodes.begin(), group.nodes.end(), node);
    return group.prefix + std::to_string(place - group.nodes.begin());
}

std::optional<NodeId> NodeNames::find(const std::string& name) const {
    for (const Group& group : groups_) {
        std::optional<std::size_t> number = number_behind(group.prefix, name);
        if (!number && group.prefix == kHost) number = number_behind(kGpu, name);
        if (number) {
            return *number < group.nodes.size() ? std::optional(group.nodes[*number])
                                                : std::nullopt;
        }
    }
    return std::nullopt;
}

std::string NodeNames::known() const {
    std::string text;
    for (const Group& group : groups_) {
        text += (text.empty() ? "" : ", ") + group.prefix + "0";
        if (group.nodes.size() > 1) {
            text += " to " + group.prefix + std::to_string(group.nodes.size() - 1);
        }
    }
    return text;
}

std::string id_ranges(const std::vector<NodeId>& ids, std::size_t most) {
    std::string text;
    std::size_t ranges = 0;
    for (std::size_t begin = 0; begin < ids.size();) {
        std::size_t end = begin + 1;
        while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
        if (ranges++ == most) return text + ", ...";
        text += (text.empty() ? "" : ", ") + std::to_string(ids[begin]);
        if (end - begin > 1) text += " to " + std::to_string(ids[end - 1]);
        begin = end;
    }
    return text;
}

}  // namespace sluice
