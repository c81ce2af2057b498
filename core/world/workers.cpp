// SPDX-License-Identifier: Apache-2.0
/// Windows whose cells several workers step.
#include <algorithm>

#include "core/packet/timers.h"
#include "core/world/world_store.h"

namespace sluice::step {

namespace {

/// Slots that a worker has at the start of a shared window, at least: flows that start in it beyond
/// them wait until the window's other cells are done.
constexpr std::uint32_t kSlotStock = 32;

template <class T>
void hand_over(Memory& memory, PlainVector<T>& to, PlainVector<T>& from) {
    for (std::uint32_t i = 0; i < from.count; ++i) {
        to.push(memory, from[i]);
    }
    from.count = 0;
}

/// What has happened at `from` is `to`'s.
void hand_over(World& to, World& from) {
    to.events += from.events;
    to.drops += from.drops;
    to.retransmitted += from.retransmitted;
    to.checksum += from.checksum;
    to.active_senders += from.active_senders;
    to.memory.ring_bytes += from.memory.ring_bytes;
    to.memory.other_bytes += from.memory.other_bytes;
    to.memory.overflow = to.memory.overflow || from.memory.overflow;
    to.misrouted = to.misrouted || from.misrouted;
    from.events = from.drops = from.retransmitted = from.checksum = 0;
    from.active_senders = 0;
    from.memory.ring_bytes = from.memory.other_bytes = 0;
    hand_over(to.memory, to.changed, from.changed);
    hand_over(to.memory, to.pauses, from.pauses);
    hand_over(to.memory, to.went_back, from.went_back);
    hand_over(to.memory, to.announced, from.announced);
}

}  // namespace

World& WorldStore::add_worker() {
    workers_.push_back(std::make_unique<World>());
    return *workers_.back();
}

template <class Visit>
void WorldStore::each_worker(Visit&& visit) {
    visit(world_);
    for (const std::unique_ptr<World>& worker : workers_) {
        visit(*worker);
    }
}

std::size_t WorldStore::stocked_slots() const {
    std::size_t count = world_.free_slots.count;
    for (const std::unique_ptr<World>& worker : workers_) {
        count += worker->free_slots.count;
    }
    return count;
}

void WorldStore::begin_shared() {
    each_worker([&](World& worker) {
        while (worker.free_slots.count < kSlotStock) {
            if (free_slots_.empty()) {
                free_slots_.push_back(static_cast<FlowSlot>(id_.size()));
                grow_slots(id_.size() + 1);
            }
            worker.free_slots.push(worker.memory, free_slots_.back());
            free_slots_.pop_back();
        }
    });
    share_columns();
}

/// The columns are where they are now for every worker.
void WorldStore::share_columns() {
    each_worker([&](World& worker) {
        static_cast<Columns&>(worker) = world_;
        worker.shared = true;
    });
}

void WorldStore::serve_stalled(NodeId host) {
    world_.shared = false;
    Timer& start = host_[host].timers[0];
    start.slot = take_start(world_, host, start.id);
    share_columns();
}

void WorldStore::end_shared() {
    each_worker([](World& worker) { worker.shared = false; });
    each_worker([&](World& worker) {
        for (std::uint32_t i = 0; i < worker.spilled.count; ++i) {
            push_at_once(world_.memory, link_[worker.spilled[i].port], worker.spilled[i].packet);
        }
        for (std::uint32_t i = 0; i < worker.sent_to.count; ++i) {
            const PortId port = worker.sent_to[i];
            link_[port].limit = link_[port].tail;
            if (arrival_[port] == kNever) {
                arrival_[port] = next_arrival(link_[port]);
                wake_cell(world_, cell_of(world_, port), arrival_[port]);
            }
        }
        for (std::uint32_t i = 0; i < worker.calls.count; ++i) {
            call(world_, worker.calls[i].host, worker.calls[i].timer);
        }
        worker.spilled.count = worker.sent_to.count = worker.calls.count = 0;
        if (&worker != &world_) {
            hand_over(world_, worker);
        }
    });
}

}  // namespace sluice::step
