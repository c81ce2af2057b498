// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/partition_tracker.h"

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

void PartitionTracker::enter(FlowSlot flow, Tick now) {
    Footprint print = partitions_.footprint(flow);
    supervisor_.before_entry(flow, partitions_.touched(print.resources), now);
    const PartitionSet::Entry entry = partitions_.enter(flow, std::move(print));
    supervisor_.after_entry(flow, entry, now);
}

void PartitionTracker::leave(FlowSlot flow, Tick now) {
    const PartitionId from = partitions_.set().partition_of(flow);
    const PartitionSet::Exit exit = partitions_.leave(flow);
    supervisor_.after_exit(flow, from, exit, now);
}

void PartitionTracker::update() {
    PlainVector<FlowSlot>& listed = store_.world().changed;
    if (listed.count == 0) {
        return;
    }
    changes_.clear();
    std::sort(listed.data, listed.data + listed.count);
    FlowSlot* const end = std::unique(listed.data, listed.data + listed.count);
    for (const FlowSlot* flow = listed.data; flow != end; ++flow) {
        const FlowResult& result = store_.results()[*flow];
        if (!partitions_.set().contains(*flow)) {
            changes_.push_back(Change{result.start, false, *flow});
        }
        if (result.finish != kNever) {
            changes_.push_back(Change{result.finish, true, *flow});
        }
    }
    listed.count = 0;
    std::sort(changes_.begin(), changes_.end());
    for (const auto& [at, exit, flow] : changes_) {
        exit ? leave(flow, at) : enter(flow, at);
    }
}

void PartitionTracker::reroute(Tick now) {
    std::vector<FlowSlot> members;
    for (const PartitionId id : partitions_.set().partitions()) {
        const std::vector<FlowSlot>& flows = partitions_.set().flows(id);
        members.insert(members.end(), flows.begin(), flows.end());
    }
    std::sort(members.begin(), members.end());
    for (const FlowSlot flow : members) {
        if (partitions_.footprint(flow).resources != partitions_.footprint_of(flow).resources) {
            leave(flow, now);
            enter(flow, now);
        }
    }
}

}  // namespace sluice::step
