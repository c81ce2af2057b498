// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/membership.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/sorted.h"

namespace sluice::step {

namespace {

/// With one clock nothing waits for lingering flows but their slots: a search is due when there are so
/// many, and more than half as many as live.
constexpr std::size_t kWorthSearching = 64;

template <class Visit>
void visit_packets(Ring& ring, Visit&& visit) {
    for (std::uint32_t at = ring.head; at != ring.tail; ++at) {
        visit(ring.at(at));
    }
}

}  // namespace

Membership::Membership(WorldStore& store) : store_(store) {}

Membership::Membership(WorldStore& store, FlowPartitions& partitions, Supervisor* supervisor,
                       MembershipWatcher* watcher)
    : store_(store), partitions_(&partitions), supervisor_(supervisor), watcher_(watcher) {
    if (supervisor_ != nullptr) {
        Callbacks& callbacks = store_.world().callbacks;
        callbacks.call_set_context = supervisor_;
        callbacks.call_set = [](void* context, NodeId host, Tick at) {
            static_cast<Supervisor*>(context)->call_set(host, at);
        };
    }
}

void Membership::reserve_slots() {
    if (presence_.size() < store_.slot_count()) {
        presence_.resize(store_.slot_count(), Presence::absent);
        stray_.resize(store_.slot_count(), 0);
    }
}

void Membership::take_up_changes(Tick now) {
    World& world = store_.world();
    if (world.changed.count > 0 || world.disturbed.count > 0) {
        reserve_slots();
        list_changes();
        for (const Change& change : changes_) {
            if (change.kind == ChangeKind::disturbed) {
                supervisor_->disturbed(change.place, change.at);
            } else if (change.kind == ChangeKind::closed) {
                close(change.place, change.at, now);
            } else if (presence_[change.place] == Presence::absent) {
                enter(change.place, change.at);
            }
        }
    }
    for (std::uint32_t i = 0; i < world.went_back.count; ++i) {
        const FlowSlot flow = world.went_back[i];
        if (watcher_ != nullptr && presence_[flow] != Presence::absent) {
            watcher_->unbind(flow);
        }
    }
    world.went_back.count = 0;
}

/// What the world has listed, in the order in which it happened.
void Membership::list_changes() {
    World& world = store_.world();
    PlainVector<FlowSlot>& listed = world.changed;
    std::sort(listed.data, listed.data + listed.count);
    FlowSlot* const end = std::unique(listed.data, listed.data + listed.count);
    changes_.clear();
    for (const FlowSlot* flow = listed.data; flow != end; ++flow) {
        const FlowResult& result = world.result[*flow];
        if (presence_[*flow] != Presence::open) {
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
}

void Membership::enter(FlowSlot flow, Tick at) {
    presence_[flow] = Presence::open;
    ++statistics_.entries;
    if (folding_ != nullptr) {
        folding_->entered(flow);
    }
    if (partitions_ == nullptr) {
        return;
    }
    partitions_->footprint(flow, print_);
    if (supervisor_ != nullptr) {
        supervisor_->before_entry(flow, partitions_->touched(print_.resources), at);
    }
    if (watcher_ != nullptr) {
        watcher_->before_entry();
    }
    const PartitionSet::Entry entry = partitions_->enter(flow, print_);
    statistics_.merges += entry.absorbed.size();
    if (watcher_ != nullptr) {
        watcher_->after_entry(flow, entry, true);
    }
    if (supervisor_ != nullptr) {
        supervisor_->after_entry(flow, entry, at);
    }
}

/// None of the packets of a flow that has closed can be left: each was sent once, and they arrived
/// in the order in which they were sent.
bool Membership::kept_order(FlowSlot flow) const {
    return stray_[flow] == 0 && store_.world().result[flow].retransmitted == 0 &&
           !is_sprayed(store_.world(), flow);
}

void Membership::close(FlowSlot flow, Tick at, Tick now) {
    finished_.push_back(store_.network_flows().record(flow));
    if (watcher_ != nullptr) {
        watcher_->after_close(flow);
    }
    if (kept_order(flow)) {
        leave(flow, at);
        return;
    }
    presence_[flow] = Presence::lingering;
    lingering_.push_back(flow);
    if (!stays_until_gone()) {
        leave_partition(flow, at);
    } else if (supervisor_ != nullptr) {
        supervisor_->after_close(flow, partitions_->set().partition_of(flow), at);
    }
    next_search_ = std::min(next_search_, now + store_.world().base_rtt);
}

void Membership::leave_partition(FlowSlot flow, Tick at) {
    if (partitions_ == nullptr) {
        return;
    }
    const PartitionId from = partitions_->set().partition_of(flow);
    const PartitionSet::Exit exit = partitions_->leave(flow);
    statistics_.splits += exit.split_off.size();
    if (watcher_ != nullptr) {
        watcher_->after_exit(from, exit);
    }
    if (supervisor_ != nullptr) {
        supervisor_->after_exit(flow, from, exit, at);
    }
}

void Membership::leave(FlowSlot flow, Tick at) {
    if (flow == holder_) {
        pass_hold_on(flow, at);
    }
    if (watcher_ != nullptr) {
        watcher_->before_exit(flow);
    }
    ++statistics_.exits;
    if (stays_until_gone() || presence_[flow] == Presence::open) {
        leave_partition(flow, at);
    }
    presence_[flow] = Presence::absent;
    strays_ -= stray_[flow];
    stray_[flow] = 0;
    if (folding_ != nullptr) {
        folding_->leaving(flow);
    }
    store_.release(flow);
}

/// The flow that stood for all strays leaves: the next one does.
void Membership::pass_hold_on(FlowSlot flow, Tick now) {
    holder_ = kNone;
    for (const FlowSlot other : store_.network_flows().living()) {
        if (other < stray_.size() && stray_[other] != 0 && other != flow) {
            hold_everything(other, now);
            return;
        }
    }
}

bool Membership::time_to_search(Tick now) const {
    if (outside_ || now < next_search_) {
        return false;
    }
    return stays_until_gone() ||
           (lingering_.size() >= kWorthSearching && 2 * lingering_.size() >= store_.living_count());
}

void Membership::search(Tick now) {
    if (!time_to_search(now)) {
        return;
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
    std::for_each(gone.begin(), gone.end(), [&](FlowSlot flow) { leave(flow, now); });
    next_search_ = lingering_.empty() ? kNever : now + 8 * world.base_rtt;
}

void Membership::reroute(Tick now) {
    reserve_slots();
    if (watcher_ != nullptr) {
        watcher_->after_links_change();
    }
    std::vector<FlowSlot> living = store_.network_flows().living();
    living.erase(std::remove_if(living.begin(), living.end(),
                                [&](FlowSlot flow) { return presence_[flow] == Presence::absent; }),
                 living.end());
    for (const FlowSlot flow : living) {
        strays_ += stray_[flow] == 0 ? 1 : 0;
        stray_[flow] = 1;
    }
    if (partitions_ == nullptr) {
        return;
    }
    if (watcher_ != nullptr) {
        reroute_apart(now, living);
    } else {
        reroute_together(now, living);
    }
}

/// Packets may be on ways that no footprint tells, and clocks must not be apart meanwhile.
void Membership::reroute_apart(Tick now, const std::vector<FlowSlot>& living) {
    for (const FlowSlot flow : living) {
        watcher_->unbind(flow);
        if (flow == holder_ || holder_ == kNone) {
            hold_everything(flow, now);
            continue;
        }
        const Footprint print = partitions_->footprint(flow);
        if (print.resources != partitions_->footprint_of(flow).resources) {
            change_footprint(flow, print, now);
        }
    }
}

/// With one clock, flows that go other ways now change partitions, and that is all.
void Membership::reroute_together(Tick now, const std::vector<FlowSlot>& living) {
    for (const FlowSlot flow : living) {
        const bool settled = supervisor_ != nullptr && supervisor_->is_settled(flow);
        if (presence_[flow] != Presence::open || settled) {
            continue;
        }
        const Footprint print = partitions_->footprint(flow);
        if (print.resources != partitions_->footprint_of(flow).resources) {
            change_footprint(flow, print, now);
        }
    }
}

/// As long as packets may be on ways that no footprint tells, one flow stands for all of them.
void Membership::hold_everything(FlowSlot flow, Tick now) {
    holder_ = flow;
    const Topology& topology = store_.topology();
    Footprint print = partitions_->footprint(flow);
    print.resources.assign(topology.hosts().begin(), topology.hosts().end());
    for (LinkId link = 0; link < topology.links().size(); ++link) {
        print.resources.push_back(cable_resource(topology, link));
    }
    change_footprint(flow, print, now);
}

void Membership::change_footprint(FlowSlot flow, const Footprint& print, Tick now) {
    if (watcher_ != nullptr) {
        watcher_->before_exit(flow);
    }
    const PartitionId from = partitions_->set().partition_of(flow);
    const PartitionSet::Exit exit = partitions_->leave(flow);
    if (supervisor_ != nullptr) {
        supervisor_->after_exit(flow, from, exit, now);
        supervisor_->before_entry(flow, partitions_->touched(print.resources), now);
    }
    const PartitionSet::Entry entry = partitions_->enter(flow, print);
    if (watcher_ != nullptr) {
        watcher_->after_entry(flow, entry, false);
    }
    if (supervisor_ != nullptr) {
        supervisor_->after_entry(flow, entry, now);
    }
}

/// A packet of `flow` has been led to where its tables do not lead it: it belongs to whoever is there, too.
void Membership::follow_astray(FlowSlot flow, Tick now) {
    supervisor_->before_link_event(now);
    Footprint print = partitions_->footprint_of(flow);
    print.resources.insert(print.resources.end(), way_.begin(), way_.end());
    sort_unique(print.resources);
    change_footprint(flow, print, now);
}

void Membership::before_packet_from_outside(const Packet& packet, PortId port, Tick now) {
    reserve_slots();
    const bool of_flow = packet.packet_kind() < PacketKind::pause;
    if (of_flow && presence_[packet.flow] == Presence::absent) {
        enter(packet.flow, now);  // of a sender that is not ours
    }
    if (supervisor_ == nullptr) {
        return;
    }
    partitions_->way_on(packet, port, way_);
    if (of_flow && presence_[packet.flow] == Presence::open) {
        const std::vector<ResourceId>& own = partitions_->footprint_of(packet.flow).resources;
        if (!std::includes(own.begin(), own.end(), way_.begin(), way_.end())) {
            follow_astray(packet.flow, now);
        }
    }
    supervisor_->interrupted(partitions_->touched(way_), now);
}

}  // namespace sluice::step
