// SPDX-License-Identifier: Apache-2.0
#include "core/engine/flow_changes.h"

#include <algorithm>

#include "core/fold/folds.h"
#include "core/hybrid/phase_controller.h"
#include "core/sorted.h"

namespace sluice::engine {

FlowChanges::FlowChanges(step::WorldStore& store) : store_(store), membership_(store) {}

FlowChanges::FlowChanges(step::WorldStore& store, step::FlowPartitions& partitions,
                         hybrid::PhaseController* controller, step::Domains* domains)
    : store_(store),
      partitions_(&partitions),
      controller_(controller),
      domains_(domains),
      membership_(store, domains != nullptr) {
    if (controller_ != nullptr) {
        step::Callbacks& callbacks = store_.world().callbacks;
        callbacks.call_set_context = controller_;
        callbacks.call_set = [](void* context, NodeId host, Tick at) {
            static_cast<hybrid::PhaseController*>(context)->call_set(host, at);
        };
        controller_->part_by([this](FlowSlot flow, Tick at) { part(flow, at); });
    }
}

void FlowChanges::take_up(Tick now) {
    for (const step::Membership::Change& change : membership_.list_changes()) {
        switch (change.kind) {
            case step::Membership::ChangeKind::disturbed:
                controller_->disturbed(change.place, change.at);
                break;
            case step::Membership::ChangeKind::opened:
                if (membership_.presence(change.place) == Presence::absent) {
                    enter(change.place, change.at);
                }
                break;
            case step::Membership::ChangeKind::closed: close(change.place, change.at, now); break;
        }
    }
    step::World& world = store_.world();
    for (std::uint32_t i = 0; i < world.went_back.count; ++i) {
        const FlowSlot flow = world.went_back[i];
        if (domains_ != nullptr && membership_.presence(flow) != Presence::absent) {
            domains_->unbind(flow);
        }
    }
    world.went_back.count = 0;
}

void FlowChanges::search(Tick now) {
    for (const FlowSlot flow : membership_.search(now)) {
        leave(flow, now);
    }
}

// Flows come and go.

void FlowChanges::enter(FlowSlot flow, Tick at) {
    membership_.open(flow);
    if (folds_ != nullptr) {
        folds_->entered(flow);
    }
    if (partitions_ != nullptr) {
        partitions_->footprint(flow, print_);
        membership_.statistics().merges += enter_partition(flow, print_, at, true).absorbed.size();
    }
}

/// `steady_route`: links have not changed under the flow.
PartitionSet::Entry FlowChanges::enter_partition(FlowSlot flow, const step::Footprint& print,
                                                 Tick at, bool steady_route) {
    if (controller_ != nullptr) {
        controller_->before_entry(flow, partitions_->touched(print.resources), at);
    }
    PartitionSet::Entry entry = partitions_->enter(flow, print);
    if (domains_ != nullptr) {
        domains_->after_entry(flow, entry, steady_route);
    }
    if (controller_ != nullptr) {
        controller_->after_entry(flow, entry, at);
    }
    return entry;
}

void FlowChanges::close(FlowSlot flow, Tick at, Tick now) {
    const bool gone = membership_.close(flow, now);
    if (domains_ != nullptr) {
        domains_->after_close(flow);
    }
    if (gone) {
        leave(flow, at);
    } else if (domains_ == nullptr) {
        leave_partition(flow, at);
    }
}

void FlowChanges::leave(FlowSlot flow, Tick at) {
    if (flow == holder_) {
        pass_hold_on(flow, at);
    }
    if (domains_ != nullptr) {
        domains_->before_exit(flow);
    }
    if (domains_ != nullptr || membership_.presence(flow) == Presence::open) {
        leave_partition(flow, at);
    }
    if (folds_ != nullptr) {
        folds_->leaving(flow);
    }
    membership_.leave(flow);
}

PartitionSet::Exit FlowChanges::exit_partition(FlowSlot flow) {
    PartitionSet::Exit exit = partitions_->leave(flow);
    membership_.statistics().splits += exit.split_off.size();
    return exit;
}

/// Nothing of the flow is executed any more, though it has not closed.
void FlowChanges::part(FlowSlot flow, Tick at) {
    const PartitionId from = partitions_->set().partition_of(flow);
    const PartitionSet::Exit exit = exit_partition(flow);
    controller_->after_parting(flow, from, exit, at);
}

void FlowChanges::leave_partition(FlowSlot flow, Tick at) {
    if (partitions_ == nullptr) {
        return;
    }
    if (!partitions_->contains(flow)) {
        controller_->after_told(flow, at);
        return;
    }
    const PartitionId from = partitions_->set().partition_of(flow);
    const PartitionSet::Exit exit = exit_partition(flow);
    if (domains_ != nullptr) {
        domains_->after_exit(from, exit);
    }
    if (controller_ != nullptr) {
        controller_->after_exit(flow, from, exit, at);
    }
}

// Links change.

void FlowChanges::before_links_change(Tick now) {
    if (controller_ != nullptr) {
        controller_->before_link_event(now);
    }
    if (domains_ != nullptr) {
        domains_->before_links_change();
    }
}

void FlowChanges::reroute(Tick now) {
    const std::vector<FlowSlot> living = membership_.stray_all();
    if (domains_ != nullptr) {
        domains_->after_links_change();
        reroute_apart(now, living);
    } else if (partitions_ != nullptr) {
        reroute_together(now, living);
    }
}

/// Packets may be on ways that no footprint tells, and clocks must not be apart meanwhile.
void FlowChanges::reroute_apart(Tick now, const std::vector<FlowSlot>& living) {
    for (const FlowSlot flow : living) {
        domains_->unbind(flow);
        if (flow == holder_ || holder_ == kNone) {
            hold_everything(flow, now);
        } else {
            change_route(flow, now);
        }
    }
}

/// With one clock, flows that go other ways now change partitions, and that is all.
void FlowChanges::reroute_together(Tick now, const std::vector<FlowSlot>& living) {
    for (const FlowSlot flow : living) {
        const bool settled = !partitions_->contains(flow) ||
                             (controller_ != nullptr && controller_->is_settled(flow));
        if (membership_.presence(flow) == Presence::open && !settled) {
            change_route(flow, now);
        }
    }
}

void FlowChanges::change_route(FlowSlot flow, Tick now) {
    const step::Footprint print = partitions_->footprint(flow);
    if (print.resources != partitions_->footprint_of(flow).resources) {
        change_footprint(flow, print, now);
    }
}

/// As long as packets may be on ways that no footprint tells, one flow stands for all of them.
void FlowChanges::hold_everything(FlowSlot flow, Tick now) {
    holder_ = flow;
    const Topology& topology = store_.topology();
    step::Footprint print = partitions_->footprint(flow);
    print.resources.assign(topology.hosts().begin(), topology.hosts().end());
    for (LinkId link = 0; link < topology.links().size(); ++link) {
        print.resources.push_back(cable_resource(topology, link));
    }
    change_footprint(flow, print, now);
}

/// The flow that stood for all strays leaves: the next one does.
void FlowChanges::pass_hold_on(FlowSlot flow, Tick now) {
    holder_ = kNone;
    for (const FlowSlot other : store_.network_flows().living()) {
        if (membership_.is_stray(other) && other != flow) {
            hold_everything(other, now);
            return;
        }
    }
}

void FlowChanges::change_footprint(FlowSlot flow, const step::Footprint& print, Tick now) {
    if (domains_ != nullptr) {
        domains_->before_exit(flow);
    }
    const PartitionId from = partitions_->set().partition_of(flow);
    const PartitionSet::Exit exit = partitions_->leave(flow);
    if (controller_ != nullptr) {
        controller_->after_exit(flow, from, exit, now);
    }
    enter_partition(flow, print, now, false);
}

// Packets come from outside.

/// A packet of `flow` has been led to where its tables do not lead it: it belongs to whoever is there, too.
void FlowChanges::follow_astray(FlowSlot flow, Tick now) {
    controller_->before_link_event(now);
    step::Footprint print = partitions_->footprint_of(flow);
    print.resources.insert(print.resources.end(), way_.begin(), way_.end());
    sort_unique(print.resources);
    change_footprint(flow, print, now);
}

void FlowChanges::before_packet_from_outside(const step::Packet& packet, PortId port, Tick now) {
    const bool of_flow = packet.packet_kind() < step::PacketKind::pause;
    if (of_flow && membership_.presence(packet.flow) == Presence::absent) {
        enter(packet.flow, now);  // of a sender that is not ours
    }
    if (controller_ == nullptr) {
        return;
    }
    partitions_->way_on(packet, port, way_);
    if (of_flow && membership_.presence(packet.flow) == Presence::open) {
        const std::vector<ResourceId>& own = partitions_->footprint_of(packet.flow).resources;
        if (!std::includes(own.begin(), own.end(), way_.begin(), way_.end())) {
            follow_astray(packet.flow, now);
        }
    }
    controller_->interrupted(partitions_->touched(way_), now);
}

}  // namespace sluice::engine
