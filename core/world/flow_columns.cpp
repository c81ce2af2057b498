// SPDX-License-Identifier: Apache-2.0
#include "core/world/flow_columns.h"

#include <algorithm>
#include <cstdlib>

#include "core/packet/sender.h"

namespace sluice::step {

namespace {

/// A column of slots, longer by what has come: where it lies now.
template <class T>
T* grown(std::vector<T>& column, std::size_t count, const T& value = T{}) {
    column.resize(count, value);
    return column.data();
}

}  // namespace

void sort_by_id(const World& world, std::vector<FlowSlot>& slots) {
    std::sort(slots.begin(), slots.end(),
              [&](FlowSlot a, FlowSlot b) { return world.id[a] < world.id[b]; });
}

FlowColumns::~FlowColumns() {
    for (FlowRoute& route : route_) {
        std::free(route.ints.words());
    }
    for (Wire& wire : answers_) {
        std::free(wire.slots);
    }
}

FlowSlot FlowColumns::take() {
    if (free_.empty()) {
        const auto slot = static_cast<FlowSlot>(id_.size());
        grow(id_.size() + 1);
        return slot;
    }
    const FlowSlot slot = free_.back();
    free_.pop_back();
    return slot;
}

void FlowColumns::grow(std::size_t count) {
    world_.id = grown(id_, count, kNoFlow);
    world_.spec = grown(spec_, count);
    world_.route = grown(route_, count);
    world_.receiver = grown(receiver_, count);
    world_.sender_at = grown(sender_at_, count, kNone);
    world_.result = grown(result_, count);
    world_.following = grown(following_, count, FlowSlot{kNone});
    if (repeats_selectively(world_)) {
        grow_windows(count);
    }
    if (world_.answers != nullptr) {
        world_.answers = grown(answers_, count);
        world_.answer_takes = grown(answer_takes_, count, kNever);
    }
    if (by_pair_) {
        world_.flow_window = grown(window_, count);
        world_.flow_base_rtt = grown(base_rtt_, count);
    }
}

void FlowColumns::grow_windows(std::size_t count) {
    const std::size_t words = world_.reorder_window / 64;
    world_.scoreboard = grown(selective_.scoreboard, count);
    world_.sacked = grown(selective_.sacked, count * words);
    world_.arrived = grown(selective_.arrived, count * words);
    if (world_.config->trim.threshold > 0) {
        world_.trimmed = grown(selective_.trimmed, count * words);
    }
    if (world_.has_entropy && world_.config->spray.entropy_recycle) {
        world_.recycled = grown(selective_.recycled, count);
    }
    if (world_.has_entropy && world_.config->spray.entropy_avoid) {
        world_.entropy_scores = grown(selective_.scores, count);
    }
    if (congestion::traits(world_.config->congestion.law).credits) {
        world_.credit = grown(selective_.credit, count);
    }
}

void FlowColumns::fill(FlowSlot slot, FlowId id, const FlowSpec& spec) {
    id_[slot] = id;
    spec_[slot] = spec;
    receiver_[slot] = Receiver{};
    receiver_[slot].packets =
        static_cast<std::uint32_t>((spec.size + world_.payload - 1) / world_.payload);
    sender_at_[slot] = kNone;
    result_[slot] = FlowResult{};
    following_[slot] = kNone;
    if (repeats_selectively(world_)) {
        const std::size_t words = world_.reorder_window / 64;
        selective_.scoreboard[slot] = Scoreboard{};
        if (world_.recycled != nullptr) {
            selective_.recycled[slot] = Recycled{};
        }
        if (world_.entropy_scores != nullptr) {
            selective_.scores[slot] = EntropyScores{};
        }
        if (world_.credit != nullptr) {
            selective_.credit[slot] = Credit{};
        }
        std::fill_n(selective_.sacked.begin() + slot * words, words, 0);
        std::fill_n(selective_.arrived.begin() + slot * words, words, 0);
        if (world_.trimmed != nullptr) {
            std::fill_n(selective_.trimmed.begin() + slot * words, words, 0);
        }
    }
}

void FlowColumns::set_pair(FlowSlot slot, Tick base_rtt, std::int64_t window) {
    base_rtt_[slot] = base_rtt;
    window_[slot] = window;
}

void FlowColumns::release(FlowSlot slot) {
    if (QueuePair* const pair = queue_pair_of(world_, slot);
        pair != nullptr && pair->current == slot) {
        *pair = QueuePair{};
    }
    return_int_slots(world_, world_.host[spec_[slot].src], slot);
    if (world_.answers != nullptr) {
        answers_[slot].head = answers_[slot].tail;
        answers_[slot].base = 0;
        answer_takes_[slot] = kNever;
    }
    id_[slot] = kNoFlow;
    free_.push_back(slot);
}

std::vector<FlowSlot> FlowColumns::living() const {
    std::vector<FlowSlot> slots;
    for (FlowSlot slot = 0; slot < id_.size(); ++slot) {
        if (id_[slot] != kNoFlow) {
            slots.push_back(slot);
        }
    }
    sort_by_id(world_, slots);
    return slots;
}

void FlowColumns::reserve_connections(ConnectionId count) {
    if (count > queue_pair_.size()) {
        queue_pair_.resize(std::max<std::size_t>(count, 2 * queue_pair_.size()));
        world_.queue_pair = queue_pair_.data();
    }
}

void FlowColumns::repeat_selectively(std::uint32_t window, std::uint32_t threshold) {
    world_.reorder_window = window;
    world_.reorder_threshold = threshold;
    // Not null, even where no flow has a slot yet.
    grow_windows(std::max<std::size_t>(id_.size(), 1));
}

void FlowColumns::leave_answers_out() {
    // Not null, even where no flow has a slot yet.
    const std::size_t count = std::max<std::size_t>(id_.size(), 1);
    world_.answers = grown(answers_, count);
    world_.answer_takes = grown(answer_takes_, count, kNever);
}

std::size_t FlowColumns::memory_bytes() const {
    return id_.capacity() *
               (sizeof(FlowId) + sizeof(FlowRoute) + sizeof(Receiver) + sizeof(FlowResult) +
                sizeof(FlowSpec) + sizeof(std::uint32_t) + 2 * sizeof(FlowSlot)) +
           queue_pair_.size() * sizeof(QueuePair) +
           selective_.scoreboard.capacity() * sizeof(Scoreboard) +
           selective_.recycled.capacity() * sizeof(Recycled) +
           selective_.scores.capacity() * sizeof(EntropyScores) +
           selective_.credit.capacity() * sizeof(Credit) +
           (selective_.sacked.capacity() + selective_.arrived.capacity() +
            selective_.trimmed.capacity()) *
               sizeof(std::uint64_t);
}

}  // namespace sluice::step
