// SPDX-License-Identifier: Apache-2.0
#include "core/job/placement.h"

#include <algorithm>

#include "core/error.h"
#include "core/random.h"

namespace sluice {

namespace {

/// A Fisher-Yates shuffle whose draws are keyed by (seed, stream, position).
void shuffle(std::vector<std::size_t>& items, std::uint64_t seed, std::uint64_t stream) {
    for (std::size_t i = items.size(); i > 1; --i) {
        const std::uint64_t other = uniform_below(seed, stream, i, static_cast<std::uint32_t>(i));
        std::swap(items[i - 1], items[other]);
    }
}

}  // namespace

HostPool::HostPool(const Topology& topology)
    : hosts_(topology.hosts()),
      gpus_per_server_(std::max<std::uint32_t>(1, topology.gpus_per_server)),
      taken_(hosts_.size(), 0),
      free_count_(hosts_.size()) {
    if (topology.server_sizes.empty()) return;
    server_begin_.push_back(0);
    for (const std::uint32_t size : topology.server_sizes) {
        server_begin_.push_back(server_begin_.back() + size);
    }
}

std::vector<NodeId> HostPool::take(const PlacementRequest& request) {
    const std::uint64_t job = jobs_++;
    if (request.placement == Placement::listed) return take_listed(request.hosts);
    const std::size_t ranks = request.ranks == 0 ? free_count_ : request.ranks;
    if (ranks == 0 || ranks > free_count_) {
        throw ConfigError("the job wants " + std::to_string(std::max<std::size_t>(ranks, 1)) +
                          " hosts, " + std::to_string(free_count_) + " of " +
                          std::to_string(hosts_.size()) +
                          " are free: give the jobs fewer ranks or the topology more hosts");
    }
    if (request.unit == 0 && !server_begin_.empty()) return take_servers(request, ranks, job);
    std::uint32_t unit = request.unit;
    if (unit == 0) unit = ranks % gpus_per_server_ == 0 ? gpus_per_server_ : 1;
    if (ranks % unit != 0) {
        throw ConfigError("the job's " + std::to_string(ranks) +
                          " ranks are no multiple of the unit of placement, " +
                          std::to_string(unit));
    }
    std::vector<std::size_t> units = free_units(unit);
    // A job that takes all there is may also use what others left of servers.
    if (units.size() < ranks / unit && request.unit == 0) {
        unit = 1;
        units = free_units(unit);
    }
    const std::size_t wanted = ranks / unit;
    if (wanted > units.size()) {
        throw ConfigError("the job wants " + std::to_string(wanted) + " units of " +
                          std::to_string(unit) + " neighbouring hosts, " +
                          std::to_string(units.size()) + " are free: try a smaller unit");
    }
    if (request.placement == Placement::random) {
        shuffle(units, request.seed, job);
    }
    std::vector<NodeId> hosts;
    hosts.reserve(ranks);
    for (std::size_t i = 0; i < wanted; ++i) {
        const std::size_t at =
            request.placement == Placement::spread ? i * units.size() / wanted : i;
        for (std::size_t host = units[at]; host < units[at] + unit; ++host) {
            taken_[host] = 1;
            --free_count_;
            hosts.push_back(hosts_[host]);
        }
    }
    return hosts;
}

std::vector<NodeId> HostPool::take_listed(const std::vector<NodeId>& hosts) {
    if (hosts.empty()) throw ConfigError("the job's list of hosts is empty");
    for (const NodeId host : hosts) {
        const auto found = std::lower_bound(hosts_.begin(), hosts_.end(), host);
        if (found == hosts_.end() || *found != host) {
            throw ConfigError("node " + std::to_string(host) + " of the job's list is no host");
        }
        std::uint8_t& taken = taken_[static_cast<std::size_t>(found - hosts_.begin())];
        if (taken != 0) {
            throw ConfigError("host " + std::to_string(host) +
                              " of the job's list is taken already, by this job or another one");
        }
        taken = 1;
        --free_count_;
    }
    return hosts;
}

std::vector<NodeId> HostPool::take_servers(const PlacementRequest& request, std::size_t ranks,
                                           std::uint64_t job) {
    std::vector<std::size_t> servers;
    std::vector<std::size_t> free;
    for (std::size_t s = 0; s + 1 < server_begin_.size(); ++s) {
        const auto begin = taken_.begin();
        const auto count = static_cast<std::size_t>(
            std::count(begin + static_cast<std::ptrdiff_t>(server_begin_[s]),
                       begin + static_cast<std::ptrdiff_t>(server_begin_[s + 1]), 0));
        if (count == 0) continue;
        servers.push_back(s);
        free.push_back(count);
    }
    if (request.placement == Placement::random) shuffle(servers, request.seed, job);
    if (request.placement == Placement::spread) {
        // As few as have the hosts, evenly among all.
        for (std::size_t wanted = 1; wanted <= servers.size(); ++wanted) {
            std::vector<std::size_t> chosen;
            std::size_t sum = 0;
            for (std::size_t i = 0; i < wanted; ++i) {
                chosen.push_back(servers[i * servers.size() / wanted]);
                sum += free[i * servers.size() / wanted];
            }
            if (sum < ranks) continue;
            servers = std::move(chosen);
            break;
        }
    }
    std::vector<NodeId> hosts;
    hosts.reserve(ranks);
    for (const std::size_t s : servers) {
        for (std::size_t at = server_begin_[s]; at < server_begin_[s + 1]; ++at) {
            if (taken_[at] != 0 || hosts.size() == ranks) continue;
            taken_[at] = 1;
            --free_count_;
            hosts.push_back(hosts_[at]);
        }
    }
    return hosts;
}

/// First hosts of the units of neighbours, aligned, that are wholly free. Where servers are of unequal size they
/// begin anew in each.
std::vector<std::size_t> HostPool::free_units(std::uint32_t unit) const {
    std::vector<std::size_t> bounds = server_begin_;
    if (bounds.empty()) bounds = {0, hosts_.size()};
    std::vector<std::size_t> units;
    for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
        for (std::size_t first = bounds[s]; first + unit <= bounds[s + 1]; first += unit) {
            const auto begin = taken_.begin() + static_cast<std::ptrdiff_t>(first);
            if (std::all_of(begin, begin + unit, [](std::uint8_t taken) { return taken == 0; })) {
                units.push_back(first);
            }
        }
    }
    return units;
}

}  // namespace sluice
