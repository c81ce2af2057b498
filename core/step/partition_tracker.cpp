// SPDX-License-Identifier: Apache-2.0
#include "core/step/partition_tracker.h"

#include <algorithm>
#include <utility>

namespace sluice::step {

PartitionTracker::PartitionTracker(WorldStore& store, FlowPartitions& partitions,
                                   Supervisor& supervisor)
    : store_(store), partitions_(partitions), supervisor_(supervisor) {
    World& world = store_.world();
    world.track_flows = true;
    world.callbacks.call_set_context = &supervisor_;
    world.callbacks.call_set = [](void* context, NodeId host, Tick at) {
        static_cast<Supervisor*>(context)->call_set(host, at);
    };
}

void PartitionTracker::enter(FlowId flow, Tick now) {
    Footprint print = partitions_.footprint(flow);
    supervisor_.before_entry(flow, partitions_.touched(print.resources), now);
    const PartitionSet::Entry entry = partitions_.enter(flow, std::move(print));
    supervisor_.after_entry(flow, entry, now);
}

void PartitionTracker::leave(FlowId flow, Tick now) {
    const PartitionId from = partitions_.set().partition_of(flow);
    const PartitionSet::Exit exit = partitions_.leave(flow);
    supervisor_.after_exit(flow, from, exit, now);
}

void PartitionTracker::update(Tick now) {
    World& world = store_.world();
    PlainVector<FlowId>& changed = world.changed;
    if (changed.count == 0) {
        return;
    }
    // By id, whatever order nodes were stepped in; entries first, so that a flow that follows
    // another on the same ports does not split their partition in between.
    std::sort(changed.data, changed.data + changed.count);
    FlowId* const end = std::unique(changed.data, changed.data + changed.count);
    for (const FlowId* flow = changed.data; flow != end; ++flow) {
        if (world.sender_of[*flow] != kNone && !partitions_.set().contains(*flow)) {
            enter(*flow, now);
        }
    }
    for (const FlowId* flow = changed.data; flow != end; ++flow) {
        if (world.sender_of[*flow] == kNone && partitions_.set().contains(*flow)) {
            leave(*flow, now);
        }
    }
    changed.count = 0;
}

void PartitionTracker::reroute(Tick now) {
    std::vector<FlowId> members;
    for (const PartitionId id : partitions_.set().partitions()) {
        const std::vector<FlowId>& flows = partitions_.set().flows(id);
        members.insert(members.end(), flows.begin(), flows.end());
    }
    std::sort(members.begin(), members.end());
    for (const FlowId flow : members) {
        if (partitions_.footprint(flow).resources != partitions_.footprint_of(flow).resources) {
            leave(flow, now);
            enter(flow, now);
        }
    }
}

}  // namespace sluice::step
