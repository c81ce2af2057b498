// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/membership.h"

#include <algorithm>
#include <tuple>

namespace sluice::step {

namespace {

/// Where nothing waits for lingering flows but their slots, a search is due when there are so many, and
/// more than half as many as live.
constexpr std::size_t kWorthSearching = 64;

template <class Visit>
void visit_packets(Ring& ring, Visit&& visit) {
    for (std::uint32_t at = ring.head; at != ring.tail; ++at) {
        visit(ring.at(at));
    }
}

}  // namespace

void Membership::reserve_slots() {
    if (presence_.size() < store_.slot_count()) {
        presence_.resize(store_.slot_count(), Presence::absent);
        stray_.resize(store_.slot_count(), 0);
    }
}

const std::vector<Membership::Change>& Membership::list_changes() {
    changes_.clear();
    World& world = store_.world();
    PlainVector<FlowSlot>& listed = world.changed;
    if (listed.count == 0 && world.disturbed.count == 0) {
        return changes_;
    }
    std::sort(listed.data, listed.data + listed.count);
    FlowSlot* const end = std::unique(listed.data, listed.data + listed.count);
    for (const FlowSlot* flow = listed.data; flow != end; ++flow) {
        const FlowResult& result = world.result[*flow];
        if (presence(*flow) != Presence::open) {
            changes_.push_back({result.start, ChangeKind::opened, world.id[*flow], *flow});
        }
        if (result.finish != kNever) {
            changes_.push_back({result.finish, ChangeKind::closed, world.id[*flow], *flow});
        }
    }
    listed.count = 0;
    for (std::uint32_t i = 0; i < world.disturbed.count; ++i) {
        const Disturbance& disturbance = world.disturbed[i];
        changes_.push_back({disturbance.at, ChangeKind::disturbed, 0, disturbance.port});
    }
    world.disturbed.count = 0;
    std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
        return std::tie(a.at, a.kind, a.id, a.place) < std::tie(b.at, b.kind, b.id, b.place);
    });
    return changes_;
}

void Membership::open(FlowSlot flow) {
    reserve_slots();
    presence_[flow] = Presence::open;
    ++statistics_.entries;
}

/// None of the packets of a flow that has closed can be left: each was sent once, and they arrived
/// in the order in which they were sent.
bool Membership::kept_order(FlowSlot flow) const {
    return stray_[flow] == 0 && store_.world().result[flow].retransmitted == 0 &&
           !is_sprayed(store_.world(), flow);
}

bool Membership::close(FlowSlot flow, Tick now) {
    finished_.push_back(store_.network_flows().record(flow));
    if (kept_order(flow)) {
        return true;
    }
    presence_[flow] = Presence::lingering;
    lingering_.push_back(flow);
    next_search_ = std::min(next_search_, now + store_.world().base_rtt);
    return false;
}

void Membership::leave(FlowSlot flow) {
    ++statistics_.exits;
    presence_[flow] = Presence::absent;
    strays_ -= stray_[flow];
    stray_[flow] = 0;
    store_.release(flow);
}

bool Membership::time_to_search(Tick now) const {
    if (outside_ || now < next_search_) {
        return false;
    }
    return waited_for_ ||
           (lingering_.size() >= kWorthSearching && 2 * lingering_.size() >= store_.living_count());
}

std::vector<FlowSlot> Membership::search(Tick now) {
    if (!time_to_search(now)) {
        return {};
    }
    ++statistics_.searches;
    World& world = store_.world();
    std::vector<std::uint8_t> found(store_.slot_count(), 0);
    const auto visit = [&](const Packet& packet) {
        if (packet.packet_kind() < PacketKind::pause) {
            found[packet.flow] = 1;
        }
    };
    for (PortId p = 0; p < store_.topology().port_count(); ++p) {
        visit_packets(world.link[p], visit);
        for (Ring& queue : world.egress[p].queue) {
            visit_packets(queue, visit);
        }
    }
    const auto first_gone = std::stable_partition(lingering_.begin(), lingering_.end(),
                                                  [&](FlowSlot flow) { return found[flow] != 0; });
    std::vector<FlowSlot> gone(first_gone, lingering_.end());
    lingering_.erase(first_gone, lingering_.end());
    sort_by_id(world, gone);
    next_search_ = lingering_.empty() ? kNever : now + 8 * world.base_rtt;
    return gone;
}

std::vector<FlowSlot> Membership::stray_all() {
    reserve_slots();
    std::vector<FlowSlot> living = store_.network_flows().living();
    living.erase(std::remove_if(living.begin(), living.end(),
                                [&](FlowSlot flow) { return presence_[flow] == Presence::absent; }),
                 living.end());
    for (const FlowSlot flow : living) {
        strays_ += stray_[flow] == 0 ? 1 : 0;
        stray_[flow] = 1;
    }
    return living;
}

}  // namespace sluice::step
