// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/horizon.h"

#include <algorithm>
#include <functional>

namespace sluice::step {

namespace {

/// A flow that may complete within so many lookaheads is not bounded any more.
constexpr Tick kNearLookaheads = 4;

}  // namespace

Horizon::Horizon(WorldStore& store) : world_(store.world()) {
    for (NodeId n = 0; n < world_.node_count; ++n) {
        const PlainVector<Timer>& timers = world_.host[n].timers;
        for (std::uint32_t i = 0; i < timers.count; ++i) {
            if (timers[i].kind != TimerKind::sender) {
                announced_.push_back(timers[i].time);
            }
        }
    }
    std::make_heap(announced_.begin(), announced_.end(), std::greater<>());
}

void Horizon::look_at(Bound bound, Tick now) {
    if (world_.id[bound.flow] != bound.id || world_.sender_at[bound.flow] == kNone) {
        return;
    }
    const Sender& sender = sender_of(world_, bound.flow);
    const std::int64_t unsent = std::int64_t{sender.packets} - sender.high - 1;
    bound.at = now + bound.latency + std::max<std::int64_t>(unsent, 0) * bound.gap;
    if (sender.high == sender.packets || bound.at < now + kNearLookaheads * world_.lookahead) {
        if (bound.flow >= near_.size()) {
            near_.resize(std::size_t{bound.flow} + 1, 0);
        }
        near_[bound.flow] = 1;
        ++near_flows_;
        return;
    }
    bounds_.push_back(bound);
    std::push_heap(bounds_.begin(), bounds_.end());
}

void Horizon::opened(FlowSlot flow, const Footprint& footprint, Tick now) {
    const bool followed = world_.spec[flow].queue() != kNone;
    if (world_.callbacks.received == nullptr && !followed) {
        return;  // nobody acts on completions
    }
    Bound bound;
    bound.flow = flow;
    bound.id = world_.id[flow];
    const auto frame = static_cast<std::uint32_t>(world_.payload + world_.data_overhead);
    if (footprint.data.empty() || followed) {
        bound.gap = world_.sender_at[flow] == kNone
                        ? 0
                        : world_.egress[sender_of(world_, flow).port].serialization[frame];
    } else {
        for (const PortId port : footprint.data) {
            const Egress& egress = world_.egress[port];
            bound.gap = std::max<Tick>(bound.gap, egress.serialization[frame]);
            bound.latency += egress.delay;
        }
    }
    look_at(bound, now);
}

void Horizon::closed(FlowSlot flow) {
    if (flow < near_.size()) {
        near_flows_ -= near_[flow];
        near_[flow] = 0;
    }
}

void Horizon::forget_flows() {
    bounds_.clear();
    std::fill(near_.begin(), near_.end(), std::uint8_t{0});
    near_flows_ = 0;
    first_timeout_ = 0;
}

void Horizon::take_up_announced(Tick now) {
    for (std::uint32_t i = 0; i < world_.announced.count; ++i) {
        announced_.push_back(world_.announced[i]);
        std::push_heap(announced_.begin(), announced_.end(), std::greater<>());
    }
    world_.announced.count = 0;
    while (!announced_.empty() && announced_.front() < now) {
        std::pop_heap(announced_.begin(), announced_.end(), std::greater<>());
        announced_.pop_back();
    }
}

Tick Horizon::until(Tick now) {
    take_up_announced(now);
    const Tick known = announced_.empty() ? kNever : announced_.front();
    if (near_flows_ > 0) {
        return std::min(known, now);
    }
    while (!bounds_.empty() && bounds_.front().at <= now) {
        const Bound reached = bounds_.front();
        std::pop_heap(bounds_.begin(), bounds_.end());
        bounds_.pop_back();
        look_at(reached, now);
    }
    if (near_flows_ > 0) {
        return std::min(known, now);
    }
    if (bounds_.empty()) {
        return known;
    }
    return std::min(known, bounds_.front().at + world_.lookahead);
}

Tick Horizon::first_timeout(Tick now) {
    const Tick timeout = world_.config->nic.retransmit_timeout;
    if (timeout <= 0) {
        return kNever;
    }
    if (first_timeout_ <= now) {
        // Flows that open later time out later still.
        Tick oldest = now;
        for (NodeId n = 0; n < world_.node_count; ++n) {
            const PlainVector<Sender>& senders = world_.host[n].senders;
            for (std::uint32_t i = 0; i < senders.count; ++i) {
                if (senders[i].flow != kNone && senders[i].next > senders[i].una) {
                    oldest = std::min(oldest, senders[i].last_progress);
                }
            }
        }
        first_timeout_ = oldest + timeout;
    }
    return first_timeout_;
}

}  // namespace sluice::step
