// SPDX-License-Identifier: Apache-2.0
#include "core/fold/waiting_parts.h"

#include <algorithm>
#include <utility>

namespace sluice::step {

namespace {

/// Parts that may have waited for nothing, beside one for each copy that came of it: to wait costs, and where copies
/// part again at once nothing is won.
constexpr std::uint64_t kInVain = 64;

}  // namespace

WaitingParts::WaitingParts(const WorldStore& store, const FoldTable& folds,
                           const FlowPrints& prints)
    : world_(store.world()),
      folds_(folds),
      prints_(prints),
      ports_(static_cast<std::uint32_t>(store.topology().port_count())),
      waits_at_(ports_ + world_.node_count, kNone) {}

/// Where a flow meets others, by index into waits_at_.
template <class Visit>
void WaitingParts::visit_places(const FlowPrint& print, Visit&& visit) const {
    prints_.visit_ports(print, visit);
    visit(ports_ + print.src);
    visit(ports_ + print.dst);
}

/// Who waited at its ports is among others anew, who will hardly leave before it does.
void WaitingParts::wait(const FlowGroup& part) {
    if (count_ >= kInVain + won_) {
        return;
    }
    const std::uint32_t number = count_++;
    Waiting made;
    for (const FlowSlot flow : part) {
        made.flows.push_back(flow);
        made.ids.push_back(world_.id[flow]);
        if (!prints_.in_service(flow)) {
            continue;  // the message before it on its connection is not over
        }
        visit_places(prints_.of(flow), [&](std::uint32_t at) {
            if (waits_at_[at] != kNone && waits_at_[at] != number) {
                stop(waits_at_[at]);
            }
            waits_at_[at] = number;
        });
    }
    waiting_[number] = std::move(made);
}

void WaitingParts::stop(std::uint32_t number) {
    thinner_.erase(number);
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) {
        return;
    }
    for (const FlowSlot flow : found->second.flows) {
        if (prints_.in_service(flow)) {
            visit_places(prints_.of(flow), [&](std::uint32_t at) {
                waits_at_[at] = waits_at_[at] == number ? kNone : waits_at_[at];
            });
        }
    }
    waiting_.erase(found);
}

void WaitingParts::clear() {
    waiting_.clear();
    thinner_.clear();
    std::fill(waits_at_.begin(), waits_at_.end(), kNone);
}

void WaitingParts::note_leaving(const FlowPrint& print) {
    if (waiting_.empty()) {
        return;
    }
    visit_places(print, [&](std::uint32_t at) {
        if (waits_at_[at] != kNone) {
            thinner_.insert(waits_at_[at]);
        }
    });
}

void WaitingParts::take_ready(FlowGroups& ready) {
    const std::set<std::uint32_t> numbers = std::move(thinner_);
    thinner_.clear();
    for (const std::uint32_t number : numbers) {
        const auto found = waiting_.find(number);
        if (found == waiting_.end()) {
            continue;
        }
        FlowGroup flows = found->second.flows;
        const std::vector<FlowId>& ids = found->second.ids;
        bool whole = true;
        for (std::size_t i = 0; i < flows.size(); ++i) {
            whole = whole && world_.id[flows[i]] == ids[i] && prints_.in_service(flows[i]) &&
                    !folds_.of_flow(flows[i]).folded();
        }
        stop(number);
        if (whole) {
            ready.push_back(std::move(flows));
        }
    }
}

}  // namespace sluice::step
