// SPDX-License-Identifier: Apache-2.0
#include "flowlevel/class_shares.h"

#include <algorithm>
#include <cmath>

#include "core/packet/policies/scheduler.h"

namespace sluice::flowlevel {

namespace {

/// Of a link's capacity: what is no change.
constexpr double kUnmoved = 1e-9;
/// Ports that still chase each other from this round on go half-way, and are content sooner: two that answer each
/// other in turn would for ever.
constexpr int kFirstHalfway = 8;
constexpr double kNearEnough = 1e-4;

}  // namespace

ClassShares::ClassShares(const Topology& topology, const NetworkConfig& config, MaxMin& net)
    : topology_(topology),
      config_(config),
      net_(net),
      first_(topology.port_count(), 0),
      at_(topology.port_count(), kNone) {}

std::uint32_t ClassShares::link(PortId port, std::uint8_t priority) {
    if (topology_.is_host(topology_.node_of(port))) {
        return port;
    }
    if (first_[port] == 0) {
        first_[port] = priority;
    }
    if (first_[port] == priority) {
        return port;
    }
    if (at_[port] == kNone) {
        at_[port] = static_cast<std::uint32_t>(shared_.size());
        shared_.push_back({net_.capacity(port), {{first_[port], port}}});
    }
    Shared& shared = shared_[at_[port]];
    const auto place =
        std::find_if(shared.classes.begin(), shared.classes.end(),
                     [priority](const Class& known) { return known.priority >= priority; });
    if (place != shared.classes.end() && place->priority == priority) {
        return place->link;
    }
    const std::uint32_t link = net_.add_link(shared.capacity);
    shared.classes.insert(place, {priority, link});
    return link;
}

/// Classes before this one take what they do.
double ClassShares::strict_rest(const Shared& port, const Class& given) const {
    double rest = port.capacity;
    for (const Class& other : port.classes) {
        if (other.priority < given.priority) {
            rest -= net_.load(other.link);
        }
    }
    return rest;
}

/// If it wanted all: others have what they take, but no more than their weight's share of what is left for all that
/// want more than that.
double ClassShares::weighted_part(const Shared& port, const Class& given) const {
    struct Claim {
        double weight;
        double wants;
    };
    std::vector<Claim> others;
    const double own = config_.queues.weights[given.priority];
    double weights = own;
    for (const Class& other : port.classes) {
        if (other.priority != given.priority) {
            const bool limited = std::isfinite(net_.link_level(other.link));
            others.push_back({static_cast<double>(config_.queues.weights[other.priority]),
                              limited ? kUnlimited : net_.load(other.link)});
            weights += others.back().weight;
        }
    }
    // By what they want per weight: whoever is content leaves the others more.
    std::sort(others.begin(), others.end(), [](const Claim& a, const Claim& b) {
        return a.wants * b.weight < b.wants * a.weight;
    });
    double rest = port.capacity;
    for (const Claim& other : others) {
        if (other.wants * weights > rest * other.weight) {
            break;
        }
        rest -= other.wants;
        weights -= other.weight;
    }
    return rest * own / weights;
}

double ClassShares::left_for(const Shared& port, const Class& given) const {
    const double left = config_.queues.scheduler == Scheduler::strict_priority
                            ? strict_rest(port, given)
                            : weighted_part(port, given);
    return left > kUnmoved * port.capacity ? left : 0;
}

bool ClassShares::share(int round) {
    std::sort(dirty_.begin(), dirty_.end());
    dirty_.erase(std::unique(dirty_.begin(), dirty_.end()), dirty_.end());
    const bool halfway = round >= kFirstHalfway;
    const double unmoved = halfway ? kNearEnough : kUnmoved;
    std::vector<std::pair<std::uint32_t, double>> moves;
    for (const PortId port : dirty_) {
        const Shared& shared = shared_[at_[port]];
        for (const Class& one : shared.classes) {
            const double left = left_for(shared, one);
            const double old = net_.capacity(one.link);
            if (std::abs(left - old) > unmoved * shared.capacity) {
                moves.emplace_back(one.link, halfway ? (left + old) / 2 : left);
            }
        }
    }
    dirty_.clear();
    for (const auto& [link, capacity] : moves) {
        net_.set_capacity(link, capacity);
    }
    return !moves.empty();
}

std::size_t ClassShares::memory_bytes() const {
    std::size_t bytes = first_.capacity() + at_.capacity() * sizeof(std::uint32_t) +
                        shared_.capacity() * sizeof(Shared) + dirty_.capacity() * sizeof(PortId);
    for (const Shared& shared : shared_) {
        bytes += shared.classes.capacity() * sizeof(Class);
    }
    return bytes;
}

}  // namespace sluice::flowlevel
