// SPDX-License-Identifier: Apache-2.0
/// Parts that have copies and could be folded, but for others at their ports or hosts as they came.
#include <algorithm>

#include "core/fold/folds.h"

namespace sluice::step {

namespace {

/// Parts that may have waited for nothing, beside one for each image that came of it: to wait costs, and where copies part
/// again at once nothing is won.
constexpr std::uint64_t kInVain = 64;

}  // namespace

/// Where a flow meets others: its ports, those of its cables' other ways, its hosts; by index into waits_at_.
template <class Visit>
void Folds::visit_places(const FlowPrint& print, Visit&& visit) const {
    const auto ports = static_cast<std::uint32_t>(store_.topology().port_count());
    for (std::uint32_t i = 0; i < print.units; ++i) {
        visit(print.port[i]);
        if (supervisor_ != nullptr) {
            visit(world_.egress[print.port[i]].peer);
        }
    }
    visit(ports + print.src);
    visit(ports + print.dst);
}

/// Who waited at its ports is among others anew, who will hardly leave before it does.
void Folds::wait(const Part& part) {
    if (waited_ >= kInVain + won_by_waiting_) {
        return;
    }
    const std::uint32_t number = waited_++;
    Waiting made;
    for (const FlowSlot flow : part.flows) {
        made.flows.push_back(flow);
        made.ids.push_back(world_.id[flow]);
        if (prints_[flow].src == kNone) {
            continue;  // its turn has not come
        }
        visit_places(prints_[flow], [&](std::uint32_t at) {
            if (waits_at_[at] != kNone && waits_at_[at] != number) {
                stop_waiting(waits_at_[at]);
            }
            waits_at_[at] = number;
        });
    }
    waiting_[number] = std::move(made);
}

void Folds::stop_waiting(std::uint32_t number) {
    thinner_.erase(number);
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) {
        return;
    }
    for (const FlowSlot flow : found->second.flows) {
        if (prints_[flow].src != kNone) {
            visit_places(prints_[flow], [&](std::uint32_t at) {
                waits_at_[at] = waits_at_[at] == number ? kNone : waits_at_[at];
            });
        }
    }
    waiting_.erase(found);
}

void Folds::stop_waiting() {
    waiting_.clear();
    thinner_.clear();
    std::fill(waits_at_.begin(), waits_at_.end(), kNone);
}

/// A flow with this print is leaving.
void Folds::note_leaving(const FlowPrint& print) {
    if (waiting_.empty()) {
        return;
    }
    visit_places(print, [&](std::uint32_t at) {
        if (waits_at_[at] != kNone) {
            thinner_.insert(waits_at_[at]);
        }
    });
}

/// Those among whom somebody has left since the last look are compared with each other again, if none of their own flows has.
void Folds::look_again(std::vector<std::vector<FlowSlot>>& joined) {
    const std::set<std::uint32_t> numbers = std::move(thinner_);
    thinner_.clear();
    for (const std::uint32_t number : numbers) {
        const auto found = waiting_.find(number);
        if (found == waiting_.end()) {
            continue;
        }
        std::vector<FlowSlot> flows = found->second.flows;
        const std::vector<FlowId>& ids = found->second.ids;
        bool whole = true;
        for (std::size_t i = 0; i < flows.size(); ++i) {
            whole = whole && world_.id[flows[i]] == ids[i] && prints_[flows[i]].src != kNone &&
                    !places_.flow[flows[i]].folded();
        }
        stop_waiting(number);
        if (whole) {
            joined.push_back(std::move(flows));
        }
    }
}

}  // namespace sluice::step
