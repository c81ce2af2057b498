// SPDX-License-Identifier: Apache-2.0
#include "flowlevel/max_min.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace sluice::flowlevel {
namespace {

/// Differences of load below this part of a link's capacity are rounding, not changes.
constexpr double kRounding = 1e-13;
/// A link without a level is looked at again when its running load comes this near to capacity;
/// more than the running sum can have drifted since it was last made exact.
constexpr double kNearlyFull = 1e-9;
/// From this part of all flows (and more than a few) changed at once, filling the whole network is
/// cheaper: new levels would be sought among links that have none yet.
constexpr std::size_t kBulkDivisor = 8;
constexpr std::size_t kFewChanges = 64;
/// An update() fills the whole network once it has solved as many links as that would cost: a
/// fraction of the flows' hops, measured.
constexpr std::size_t kHopsPerSolution = 16;

unsigned size_class(std::uint32_t count) {
    unsigned bits = 0;
    while ((1U << bits) < count) {
        ++bits;
    }
    return bits;
}

}  // namespace

MaxMin::MaxMin(const std::vector<double>& capacities)
    : links_(capacities.size()), members_(capacities.size()), free_hops_(32) {
    for (std::uint32_t link = 0; link < capacities.size(); ++link) {
        set_capacity(link, capacities[link]);
    }
}

std::uint32_t MaxMin::take_hops(std::uint32_t count) {
    std::vector<std::uint32_t>& spare = free_hops_[size_class(count)];
    if (!spare.empty()) {
        const std::uint32_t first = spare.back();
        spare.pop_back();
        return first;
    }
    const std::size_t first = hops_.size();
    hops_.resize(first + (std::size_t{1} << size_class(count)));
    return static_cast<std::uint32_t>(first);
}

void MaxMin::give_hops_back(std::uint32_t first, std::uint32_t count) {
    free_hops_[size_class(count)].push_back(first);
}

void MaxMin::mark(std::uint32_t link, double level) {
    if (!links_[link].dirty) {
        links_[link].dirty = true;
        waiting_.push_back({level, link});
        std::push_heap(waiting_.begin(), waiting_.end());
    }
}

/// The first call after an update() starts a new list of changes.
void MaxMin::open_changes() {
    if (!changes_open_) {
        changes_open_ = true;
        changed_.clear();
        ++update_count_;
    }
}

void MaxMin::close_changes() {
    changes_open_ = false;
    calls_since_update_ = 0;
}

void MaxMin::list_change(Flow flow) {
    if (flows_[flow].changed_in != update_count_) {
        flows_[flow].changed_in = update_count_;
        changed_.push_back(flow);
    }
}

/// Sets level, bottleneck and second from the links' levels and the cap.
void MaxMin::scan_levels(State& flow) const {
    flow.level = flow.cap_level;
    flow.second = kUnlimited;
    flow.bottleneck = kNoLink;
    const Hop* const first = hops_.data() + flow.first_hop;
    for (const Hop* hop = first; hop != first + flow.hop_count; ++hop) {
        const double level = links_[hop->link].level;
        if (level < flow.level) {
            flow.second = flow.level;
            flow.level = level;
            flow.bottleneck = hop->link;
        } else if (level < flow.second) {
            flow.second = level;
        }
    }
}

MaxMin::Flow MaxMin::add(const std::vector<LinkUse>& links, const Demand& demand) {
    if (!(demand.weight > 0 && demand.weight < kUnlimited && demand.minimum >= 0 &&
          demand.minimum < kUnlimited && demand.cap >= demand.minimum) ||
        (links.empty() && demand.cap == kUnlimited)) {
        throw InternalError("max-min: impossible demand of a flow");
    }
    open_changes();
    Flow handle = 0;
    if (free_flows_.empty()) {
        handle = static_cast<Flow>(flows_.size());
        flows_.emplace_back();
    } else {
        handle = free_flows_.back();
        free_flows_.pop_back();
    }
    State& flow = flows_[handle];
    flow = State{};
    flow.weight = demand.weight;
    flow.minimum = demand.minimum;
    flow.cap_level = (demand.cap - demand.minimum) / demand.weight;
    flow.hop_count = static_cast<std::uint32_t>(links.size());
    if (!links.empty()) {
        flow.first_hop = take_hops(flow.hop_count);
    }
    for (std::uint32_t i = 0; i < flow.hop_count; ++i) {
        const LinkUse& use = links[i];
        if (use.link >= links_.size() || !(use.coefficient > 0)) {
            throw InternalError("max-min: a flow uses an unknown link, or nothing of a link");
        }
        std::vector<Member>& members = members_[use.link];
        hops_[flow.first_hop + i] = {use.link, static_cast<std::uint32_t>(members.size()),
                                     use.coefficient};
        members.push_back({handle, flow.first_hop + i, use.coefficient});
    }
    scan_levels(flow);
    flow.rate = flow.level == kUnlimited ? 0 : rate_at(flow, flow.level);
    for (const LinkUse& use : links) {
        links_[use.link].load += use.coefficient * flow.rate;
        mark(use.link, std::min(links_[use.link].level, flow.level));
    }
    list_change(handle);
    ++flow_count_;
    ++calls_since_update_;
    return handle;
}

void MaxMin::remove(Flow handle) {
    open_changes();
    State& flow = flows_[handle];
    for (std::uint32_t i = 0; i < flow.hop_count; ++i) {
        const Hop& hop = hops_[flow.first_hop + i];
        std::vector<Member>& members = members_[hop.link];
        members[hop.position] = members.back();
        hops_[members[hop.position].hop].position = hop.position;
        members.pop_back();
        Link& link = links_[hop.link];
        link.load = members.empty() ? 0 : link.load - hop.coefficient * flow.rate;
        if (link.level != kUnlimited) {
            mark(hop.link, link.level);
        }
    }
    if (flow.hop_count > 0) {
        give_hops_back(flow.first_hop, flow.hop_count);
    }
    if (flow.changed_in == update_count_) {
        changed_.erase(std::find(changed_.begin(), changed_.end(), handle));
    }
    flow = State{};
    free_flows_.push_back(handle);
    --flow_count_;
    ++calls_since_update_;
}

void MaxMin::set_capacity(std::uint32_t link, double capacity) {
    if (!(capacity >= 0 && capacity < kUnlimited)) {
        throw InternalError("max-min: impossible capacity of a link");
    }
    open_changes();
    links_[link].capacity = capacity;
    if (!members_[link].empty()) {
        mark(link, links_[link].level);
    }
}

std::uint32_t MaxMin::add_link(double capacity) {
    const auto link = static_cast<std::uint32_t>(links_.size());
    links_.emplace_back();
    members_.emplace_back();
    set_capacity(link, capacity);
    return link;
}

double MaxMin::load(std::uint32_t link) const {
    double sum = 0;
    for (const Member& member : members_[link]) {
        sum += member.coefficient * flows_[member.flow].rate;
    }
    return sum;
}

/// The level at which shares_ load the link to `capacity`, which they exceed without it; `slope`
/// becomes the load per level there. The load is concave in the level on either side of 0, so
/// Newton's steps come from below after the first and end when they leave no further share behind.
double MaxMin::solve_shares(double capacity, double guess, double& slope) const {
    double at_zero = 0;
    for (const Share& share : shares_) {
        at_zero += share.limit < 0 ? share.at_limit : share.minimum;
    }
    const bool scarce = at_zero > capacity;  // not enough even for the minimums
    const double floor = scarce ? -1.0 : 0.0;
    double level = scarce ? std::min(guess, 0.0) : std::max(guess, 0.0);
    if (!(level < kUnlimited)) {
        level = floor;
    }
    for (bool first = true;; first = false) {
        double fixed = 0;
        double step = 0;
        for (const Share& share : shares_) {
            const bool limited = share.limit <= level;
            fixed += limited ? share.at_limit : share.minimum;
            step += limited ? 0 : scarce ? share.minimum : share.weight;
        }
        // Without a slope the guess was beyond the last share that could still move.
        const double next = step > 0 ? std::max(floor, (capacity - fixed) / step) : floor;
        slope = step > 0 ? step : slope;
        if (!first && next <= level) {
            return level;
        }
        level = next;
    }
}

void MaxMin::solve_link(std::uint32_t index) {
    Link& link = links_[index];
    shares_.clear();
    double wanted = 0;
    for (const Member& member : members_[index]) {
        const State& flow = flows_[member.flow];
        const double limit = limit_without(flow, index);
        const double at_limit = member.coefficient * rate_at(flow, limit);
        shares_.push_back(
            {limit, at_limit, member.coefficient * flow.weight, member.coefficient * flow.minimum});
        wanted += at_limit;
    }
    if (wanted <= link.capacity * (1 + kRounding)) {
        link.load = wanted;
        if (link.level != kUnlimited) {
            set_level(index, kUnlimited);
            link.load = wanted;
        }
        return;
    }
    double slope = 0;
    const double level = solve_shares(link.capacity, link.level, slope);
    if (link.level != kUnlimited &&
        std::abs(level - link.level) * slope <= kRounding * link.capacity) {
        return;
    }
    set_level(index, level);
}

/// Gives the link a new level and its flows what follows from it.
void MaxMin::set_level(std::uint32_t index, double level) {
    const double old = links_[index].level;
    links_[index].level = level;
    const std::vector<Member>& members = members_[index];
    for (const Member& member : members) {
        State& flow = flows_[member.flow];
        const Standing before = flow.standing();
        if (flow.bottleneck == index) {
            if (level <= flow.second) {
                flow.level = level;
            } else {
                scan_levels(flow);
            }
        } else if (level < flow.level) {
            flow.second = flow.level;
            flow.level = level;
            flow.bottleneck = index;
        } else if (level < flow.second) {
            flow.second = level;
        } else if (old == flow.second) {
            scan_levels(flow);
        }
        if (flow.level != before.level) {
            move_flow(member.flow, before, index);
        }
    }
}

/// Tells the flow's links other than `except` that its level has changed.
void MaxMin::move_flow(Flow handle, const Standing& before, std::uint32_t except) {
    State& flow = flows_[handle];
    const double rate = flow.level == kUnlimited ? 0 : rate_at(flow, flow.level);
    const double change = rate - flow.rate;
    flow.rate = rate;
    list_change(handle);
    const Hop* const first = hops_.data() + flow.first_hop;
    for (const Hop* hop = first; hop != first + flow.hop_count; ++hop) {
        if (hop->link == except) {
            continue;
        }
        Link& link = links_[hop->link];
        if (link.level == kUnlimited) {
            link.load += hop->coefficient * change;
            if (link.load > link.capacity * (1 - kNearlyFull) || flow.level == kUnlimited) {
                mark(hop->link, flow.level);
            }
        } else if (std::min(limit_without(before, hop->link), link.level) !=
                   std::min(limit_without(flow, hop->link), link.level)) {
            mark(hop->link, link.level);
        }
    }
}

void MaxMin::update() {
    open_changes();
    std::size_t budget = kFewChanges + hops_.size() / kHopsPerSolution;
    if (calls_since_update_ > kFewChanges + flow_count_ / kBulkDivisor) {
        budget = 0;
    }
    while (!waiting_.empty()) {
        if (budget-- == 0) {
            solve_all();
            break;
        }
        std::pop_heap(waiting_.begin(), waiting_.end());
        const std::uint32_t link = waiting_.back().link;
        waiting_.pop_back();
        links_[link].dirty = false;
        solve_link(link);
    }
    close_changes();
}

std::size_t MaxMin::memory_bytes() const {
    std::size_t bytes = links_.capacity() * (sizeof(Link) + sizeof(members_[0])) +
                        flows_.capacity() * sizeof(State) + hops_.capacity() * sizeof(Hop) +
                        waiting_.capacity() * sizeof(Waiting) + shares_.capacity() * sizeof(Share) +
                        (changed_.capacity() + free_flows_.capacity()) * sizeof(Flow);
    for (const std::vector<Member>& members : members_) {
        bytes += members.capacity() * sizeof(Member);
    }
    for (const std::vector<std::uint32_t>& spare : free_hops_) {
        bytes += spare.capacity() * sizeof(std::uint32_t);
    }
    return bytes;
}

}  // namespace sluice::flowlevel
