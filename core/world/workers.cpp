// SPDX-License-Identifier: Apache-2.0
#include "core/world/workers.h"

#include <algorithm>
#include <utility>

#include "core/packet/ack_load/answers.h"
#include "core/world/wakes.h"

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
    add_counts(to, from, [](auto& word, auto more) { word += more; });
    to.memory.ring_bytes += from.memory.ring_bytes;
    to.memory.other_bytes += from.memory.other_bytes;
    to.memory.overflow = to.memory.overflow || from.memory.overflow;
    to.misrouted = to.misrouted || from.misrouted;
    from.events = from.drops = from.retransmitted = from.resent_late = from.checksum = 0;
    from.active_senders = 0;
    from.memory.ring_bytes = from.memory.other_bytes = 0;
    hand_over(to.memory, to.changed, from.changed);
    hand_over(to.memory, to.pauses, from.pauses);
    hand_over(to.memory, to.went_back, from.went_back);
    hand_over(to.memory, to.announced, from.announced);
    hand_over(to.memory, to.disturbed, from.disturbed);
    to.last_answer = std::max(to.last_answer, from.last_answer);
}

void free_lists(World& world) {
    free_vector(world.changed);
    free_vector(world.pauses);
    free_vector(world.went_back);
    free_vector(world.announced);
    free_vector(world.outboxes);
    free_vector(world.calls);
    free_vector(world.stalled);
    free_vector(world.disturbed);
    free_vector(world.called);
    free_vector(world.answers_out);
    free_vector(world.free_slots);
}

}  // namespace

Workers::~Workers() {
    free_lists(world_);
    for (const std::unique_ptr<Worker>& worker : workers_) {
        free_lists(worker->world);
    }
}

Worker& Workers::add() {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->number = static_cast<std::uint16_t>(workers_.size() - 1);
    return *workers_.back();
}

std::size_t Workers::stocked_slots() const {
    std::size_t count = 0;
    for (const std::unique_ptr<Worker>& worker : workers_) {
        count += worker->world.free_slots.count;
    }
    return count;
}

void Workers::divide(const std::vector<std::uint16_t>& owner) {
    owner_ = owner;
    build_outboxes();
    build_blocks();
}

void Workers::unite() {
    owner_.clear();
    build_outboxes();
}

/// Sorted by the worker that sends, then by the one that receives: who writes the same lines writes them
/// by himself.
void Workers::build_outboxes() {
    std::vector<std::pair<std::uint32_t, PortId>> crossing;
    for (PortId p = 0; p < topology_.port_count(); ++p) {
        Egress& egress = world_.egress[p];
        egress.out = egress.peer;
        if (owner_.empty()) {
            continue;
        }
        const std::uint32_t from = owner_[topology_.node_of(p)];
        const std::uint32_t to = owner_[topology_.neighbor(p)];
        if (from != to) {
            crossing.emplace_back(from << 16 | to, p);
        }
    }
    std::sort(crossing.begin(), crossing.end());
    const auto ports = static_cast<PortId>(topology_.port_count());
    outbox_.resize(crossing.size());
    devices_.reserve_outboxes(outbox_.size());
    for (std::size_t i = 0; i < crossing.size(); ++i) {
        Egress& egress = world_.egress[crossing[i].second];
        outbox_[i] = {egress.peer, topology_.node_of(egress.peer)};
        egress.out = ports + static_cast<PortId>(i);
        world_.link[egress.out].base = world_.link[egress.peer].base;
    }
    world_.first_outbox = owner_.empty() ? kNone : ports;
}

void Workers::build_blocks() {
    const std::size_t blocks = (world_.cell_count + 63) / 64;
    for (const std::unique_ptr<Worker>& worker : workers_) {
        worker->mine.assign(blocks, 0);
        worker->block_wake.resize(blocks);
    }
    for (NodeId node = 0; node < owner_.size(); ++node) {
        workers_[owner_[node]]->mine[node >> 6] |= std::uint64_t{1} << (node & 63U);
    }
}

/// As early as for one worker that has them all, which looks too early where something was skipped: so that
/// windows are the same.
void Workers::find_wakes(Worker& worker) const {
    for (std::uint32_t block = 0; block < worker.mine.size(); ++block) {
        worker.block_wake[block] = worker.mine[block] != 0 ? world_.block_wake[block] : kNever;
    }
}

void Workers::begin_shared() {
    for (const std::unique_ptr<Worker>& worker : workers_) {
        World& world = worker->world;
        while (world.free_slots.count < kSlotStock) {
            world.free_slots.push(world.memory, flows_.take());
        }
    }
    share_columns();
}

/// The columns are where they are now for every worker.
void Workers::share_columns() {
    for (const std::unique_ptr<Worker>& worker : workers_) {
        static_cast<Columns&>(worker->world) = world_;
        worker->world.block_wake = worker->block_wake.data();
        worker->world.shared = true;
        worker->world.owner = owner_.data();
        worker->world.number = worker->number;
    }
}

void Workers::serve_stalled(NodeId host) {
    Timer& start = world_.host[host].timers[0];
    start.slot = world_.callbacks.take_slot(world_, host, start.id);
    share_columns();
}

void Workers::deliver(Worker& worker) {
    World& world = worker.world;
    for (const std::unique_ptr<Worker>& other : workers_) {
        const World& from = other->world;
        for (std::uint32_t i = 0; i < from.outboxes.count; ++i) {
            if (i + 2 < from.outboxes.count) {
                SLUICE_PREFETCH(world.link[from.outboxes.data[i + 2]].slots);
            }
            const PortId at = from.outboxes.data[i];
            const Outbox& outbox = outbox_[at - world.first_outbox];
            if (owner_[outbox.node] != worker.number) {
                continue;
            }
            Wire& box = world.link[at];
            Wire& link = world.link[outbox.port];
            for (; box.head != box.tail; box.pop()) {
                link.push(world.memory, box.front());
            }
            box.head = box.tail = 0;
            if (world.link[outbox.port].arrival == kNever) {
                world.link[outbox.port].arrival = next_arrival(link);
                wake_cell(world, outbox.node, world.link[outbox.port].arrival);
            }
        }
        for (std::uint32_t i = 0; i < from.calls.count; ++i) {
            const Call& call = from.calls.data[i];
            if (owner_[call.host] == worker.number) {
                schedule(world, call.host, call.timer);
                if (world.callbacks.call_set != nullptr) {
                    world.called.push(world.memory, call);
                }
            }
        }
        for (std::uint32_t i = 0; i < from.answers_out.count; ++i) {
            const Packet& answer = from.answers_out.data[i];
            if (owner_[world.spec[answer.flow].src] == worker.number) {
                put_answer(world, answer, answer.time);
            }
        }
    }
}

void Workers::end_shared() {
    for (const std::unique_ptr<Worker>& worker : workers_) {
        World& world = worker->world;
        world.shared = false;
        hand_over(world_, world);
        for (; world.called.count > 0; --world.called.count) {
            const Call& call = world.called[world.called.count - 1];
            world.callbacks.call_set(world.callbacks.call_set_context, call.host, call.timer.time);
        }
    }
    for (std::uint32_t block = 0; block < (world_.cell_count + 63) / 64; ++block) {
        Tick wake = kNever;
        for (const std::unique_ptr<Worker>& worker : workers_) {
            wake = std::min(wake, worker->block_wake[block]);
        }
        world_.block_wake[block] = wake;
    }
}

}  // namespace sluice::step
