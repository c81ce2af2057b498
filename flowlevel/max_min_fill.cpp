// SPDX-License-Identifier: Apache-2.0
/// Progressive filling of the whole network.
#include <algorithm>
#include <utility>

#include "flowlevel/max_min.h"

namespace sluice::flowlevel {

/// Where the link's load meets its capacity if the flows not yet `fixed` rise together.
double MaxMin::filling_level(std::uint32_t index, const std::vector<bool>& fixed, bool& any) const {
    double left = links_[index].capacity;
    double weight = 0;
    double minimum = 0;
    for (const Member& member : members_[index]) {
        const State& flow = flows_[member.flow];
        if (fixed[member.flow]) {
            left -= member.coefficient * flow.rate;
        } else {
            weight += member.coefficient * flow.weight;
            minimum += member.coefficient * flow.minimum;
        }
    }
    any = weight > 0;
    left = std::max(left, 0.0);
    return left < minimum ? left / minimum - 1 : (left - minimum) / weight;
}

/// Links that may fill, as heap in `waiting_`; none has a level yet.
void MaxMin::start_filling(const std::vector<bool>& fixed) {
    waiting_.clear();
    bool any = false;
    for (std::uint32_t index = 0; index < links_.size(); ++index) {
        links_[index].level = kUnlimited;
        links_[index].dirty = false;
        const double level = filling_level(index, fixed, any);
        if (any) {
            waiting_.push_back({level, index});
        }
    }
    std::make_heap(waiting_.begin(), waiting_.end());
}

/// Flows with a cap, the lowest level first.
std::vector<MaxMin::Flow> MaxMin::capped_flows() const {
    std::vector<Flow> capped;
    for (Flow handle = 0; handle < flows_.size(); ++handle) {
        if (flows_[handle].weight > 0 && flows_[handle].cap_level != kUnlimited) {
            capped.push_back(handle);
        }
    }
    std::sort(capped.begin(), capped.end(), [&](Flow a, Flow b) {
        return std::make_pair(flows_[a].cap_level, a) < std::make_pair(flows_[b].cap_level, b);
    });
    return capped;
}

void MaxMin::fix(Flow handle, double level, std::vector<bool>& fixed) {
    if (!fixed[handle]) {
        fixed[handle] = true;
        flows_[handle].rate = rate_at(flows_[handle], level);
    }
}

/// Fills link after link, the lowest level first, and fixes the flows of each.
void MaxMin::fill(std::vector<bool>& fixed) {
    const std::vector<Flow> capped = capped_flows();
    auto next_cap = capped.begin();
    bool any = false;
    while (!waiting_.empty()) {
        const Waiting lowest = waiting_.front();
        std::pop_heap(waiting_.begin(), waiting_.end());
        // What was fixed since this level was computed can only have raised it.
        waiting_.back().level = filling_level(lowest.link, fixed, any);
        const double level = waiting_.back().level;
        if (!any) {
            waiting_.pop_back();
            continue;
        }
        const bool cap_first = next_cap != capped.end() && flows_[*next_cap].cap_level <= level;
        if (level > lowest.level || cap_first) {
            std::push_heap(waiting_.begin(), waiting_.end());
            if (cap_first && flows_[*next_cap].cap_level <= lowest.level) {
                fix(*next_cap, flows_[*next_cap].cap_level, fixed);
                ++next_cap;
            }
            continue;
        }
        waiting_.pop_back();
        links_[lowest.link].level = level;
        for (const Member& member : members_[lowest.link]) {
            fix(member.flow, level, fixed);
        }
    }
}

void MaxMin::solve_all() {
    open_changes();
    ++fillings_;
    std::vector<double> old_rate(flows_.size());
    std::vector<bool> fixed(flows_.size());
    for (Flow handle = 0; handle < flows_.size(); ++handle) {
        old_rate[handle] = flows_[handle].rate;
        fixed[handle] = flows_[handle].weight == 0;
    }
    start_filling(fixed);
    fill(fixed);
    for (Flow handle = 0; handle < flows_.size(); ++handle) {
        State& flow = flows_[handle];
        if (flow.weight > 0) {
            scan_levels(flow);
            flow.rate = rate_at(flow, flow.level);
            if (flow.rate != old_rate[handle]) {
                list_change(handle);
            }
        }
    }
    for (std::uint32_t index = 0; index < links_.size(); ++index) {
        links_[index].load = load(index);
    }
    close_changes();
}

}  // namespace sluice::flowlevel
