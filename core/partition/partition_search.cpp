// SPDX-License-Identifier: Apache-2.0
/// Into what parts a partition falls when a flow has left it.
#include <algorithm>

#include "core/partition/partition_set.h"

namespace sluice {

/// Searches the graph of flows and resources from every seed, always the search that has examined
/// least; two that meet go on as one. Ends when at most one is unfinished: that one need not be
/// walked, whatever its size. A search that finished has found a whole part.
void PartitionSet::search() {
    first_mark_ = next_mark_;
    next_mark_ += seeds_.size();
    searches_.assign(seeds_.size(), Search{});
    active_.clear();
    finished_.clear();
    for (std::uint32_t s = 0; s < seeds_.size(); ++s) {
        searches_[s].parent = s;
        resources_[seeds_[s]].mark = first_mark_ + s;
        resources_[seeds_[s]].cursor = 0;
        push_frontier(s, seeds_[s]);
        active_.push_back(s);
    }
    while (active_.size() > 1) {
        const std::uint32_t s = *std::min_element(
            active_.begin(), active_.end(),
            [this](auto a, auto b) { return searches_[a].work < searches_[b].work; });
        advance(s);
        if (active_.size() > 1 && searches_[s].frontier_first == kNone) {
            searches_[s].finished = true;
            finished_.push_back(s);
            active_.erase(std::find(active_.begin(), active_.end(), s));
        }
    }
    for (const Search& search : searches_) {
        examined_ += search.work;
    }
}

/// One user of the resource at the front, which then goes to the back: a resource with thousands of
/// users is not walked before its users' other resources have been seen, where searches may meet.
void PartitionSet::advance(std::uint32_t s) {
    Search& search = searches_[s];
    const ResourceId r = search.frontier_first;
    Resource& resource = resources_[r];
    const std::uint32_t slot = resource.users[resource.cursor++].member;
    search.frontier_first = resource.next;
    if (resource.cursor < resource.users.size()) {
        push_frontier(s, r);
    }
    ++search.work;
    Member& member = members_[slot];
    if (member.mark >= first_mark_) {
        return;  // by this search: whoever finds a flow takes all of its resources
    }
    member.mark = first_mark_ + s;
    member.next = search.found_first;
    search.found_first = slot;
    if (search.found++ == 0) {
        search.found_last = slot;
    }
    search.lowest = std::min(search.lowest, member.name);
    search.work += member.resources.size();
    for (const ResourceId other : member.resources) {
        Resource& next = resources_[other];
        if (next.mark < first_mark_) {
            next.mark = first_mark_ + s;
            next.cursor = 0;
            if (next.users.size() > 1) {
                push_frontier(s, other);
            }
            continue;
        }
        const std::uint32_t met = root(static_cast<std::uint32_t>(next.mark - first_mark_));
        if (met != s) {
            join(s, met);
            if (active_.size() == 1) {
                return;
            }
        }
    }
}

void PartitionSet::push_frontier(std::uint32_t s, ResourceId r) {
    Search& search = searches_[s];
    resources_[r].next = kNone;
    if (search.frontier_first == kNone) {
        search.frontier_first = r;
    } else {
        resources_[search.frontier_last].next = r;
    }
    search.frontier_last = r;
}

std::uint32_t PartitionSet::root(std::uint32_t s) {
    while (searches_[s].parent != s) {
        searches_[s].parent = searches_[searches_[s].parent].parent;
        s = searches_[s].parent;
    }
    return s;
}

void PartitionSet::join(std::uint32_t into, std::uint32_t s) {
    Search& to = searches_[into];
    Search& from = searches_[s];
    from.parent = into;
    if (from.frontier_first != kNone) {
        if (to.frontier_first == kNone) {
            to.frontier_first = from.frontier_first;
        } else {
            resources_[to.frontier_last].next = from.frontier_first;
        }
        to.frontier_last = from.frontier_last;
    }
    if (from.found > 0) {
        members_[to.found_last].next = from.found_first;
        to.found_last = from.found_last;
        to.found += from.found;
        to.lowest = std::min(to.lowest, from.lowest);
    }
    to.work += from.work;
    from.work = 0;
    active_.erase(std::find(active_.begin(), active_.end(), s));
}

/// Gives the parts their ids. The unfinished part is only walked if it is no larger than a finished
/// one, so this too costs what was finished.
void PartitionSet::split(PartitionId id, std::vector<PartitionId>& split_off) {
    parts_.clear();
    std::size_t rest = partitions_[id].flows.size();
    std::size_t largest = 0;
    for (const std::uint32_t s : finished_) {
        const Search& search = searches_[s];
        parts_.push_back({search.found, search.lowest, search.found_first});
        rest -= search.found;
        largest = std::max<std::size_t>(largest, search.found);
    }
    if (rest <= largest) {
        parts_.push_back(rest_of(id));
        parts_.erase(
            std::max_element(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
                return a.flows != b.flows ? a.flows < b.flows : a.lowest > b.lowest;
            }));
    }
    std::sort(parts_.begin(), parts_.end(),
              [](const Part& a, const Part& b) { return a.lowest < b.lowest; });
    for (const Part& part : parts_) {
        const PartitionId fresh = take_id();
        move(part, id, fresh);
        count_size(0, part.flows);
        split_off.push_back(fresh);
    }
}

/// The flows that no finished search has found.
PartitionSet::Part PartitionSet::rest_of(PartitionId id) {
    Part rest;
    for (const FlowSlot flow : partitions_[id].flows) {
        Member& member = members_[slot_of_[flow]];
        if (member.mark >= first_mark_ &&
            searches_[root(static_cast<std::uint32_t>(member.mark - first_mark_))].finished) {
            continue;
        }
        member.next = rest.first;
        rest.first = slot_of_[flow];
        rest.lowest = std::min(rest.lowest, member.name);
        ++rest.flows;
    }
    examined_ += partitions_[id].flows.size();
    return rest;
}

}  // namespace sluice
