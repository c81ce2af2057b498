// SPDX-License-Identifier: Apache-2.0
#include "core/fold/lockstep.h"

#include "core/fold/likeness.h"
#include "core/packet/nic.h"

namespace sluice::step {

Lockstep::Lockstep(WorldStore& store, FoldTable& folds, FoldMembers& members,
                   Divergence& divergence, const Supervision& supervision, FlowGroups& left)
    : store_(store),
      world_(store.world()),
      folds_(folds),
      members_(members),
      divergence_(divergence),
      supervision_(supervision),
      left_(left),
      original_(world_.callbacks) {
    Callbacks& callbacks = world_.callbacks;
    callbacks.folds = this;
    callbacks.meet = &Lockstep::meet;
    callbacks.meet_paused = &Lockstep::meet_paused;
    callbacks.go_on_together = &Lockstep::go_on_together;
    if (original_.received != nullptr) {
        callbacks.received = &Lockstep::received;
        callbacks.sent = &Lockstep::sent;
    }
}

Lockstep::~Lockstep() { world_.callbacks = original_; }

void Lockstep::received(World& world, NodeId host, FlowSlot flow, Tick now) {
    Lockstep& self = *static_cast<Lockstep*>(world.callbacks.folds);
    self.repeat(self.original_.received, world, host, flow, now);
}

void Lockstep::sent(World& world, NodeId host, FlowSlot flow, Tick now) {
    Lockstep& self = *static_cast<Lockstep*>(world.callbacks.folds);
    self.repeat(self.original_.sent, world, host, flow, now);
}

void Lockstep::meet(World& world, NodeId host, Tick at, bool own) {
    static_cast<Lockstep*>(world.callbacks.folds)->meet(host, at, own);
}

void Lockstep::meet_paused(World& world, NodeId host, Tick at, bool own) {
    static_cast<Lockstep*>(world.callbacks.folds)->meet_paused(host, at, own);
}

void Lockstep::go_on_together(World& world, NodeId host, Tick at) {
    Lockstep& self = *static_cast<Lockstep*>(world.callbacks.folds);
    self.go_on_together(self.folds_.of_host(host), at, world.host[host].timers[0]);
    self.folds_.update_due(host);
}

/// What has happened to `flow` at a host happens at its copies.
void Lockstep::repeat(FlowCall call, World& world, NodeId host, FlowSlot flow, Tick now) {
    const FoldPlace place = folds_.of_host(host);
    if (!place.leads()) {
        call(world, host, flow, now);
        return;
    }
    const Fold& fold = folds_[place.fold];
    const bool received = call == original_.received;
    call(world, host, fold.turned() ? named_at(fold, *fold.self, flow, received) : flow, now);
    for (const auto& image : fold.image) {
        if (image != nullptr && !image->forked(place.index)) {
            call(world_, image->host[place.index], named_at(fold, *image, flow, received), now);
        }
    }
}

/// The flow that the copy's host has sent, or received, when the representative's has `flow`.
FlowSlot Lockstep::named_at(const Fold& fold, const Image& image, FlowSlot flow,
                            bool received) const {
    const Renaming renaming(store_, folds_.places(), fold, image);
    return received && fold.turned()
               ? renaming.flow_at(flow, fold.turn[folds_.of_flow(flow).index].print.units)
               : renaming.flow(flow);
}

/// What a representative's host is about to do, with the flow that it starts if that is it; null unless `own`.
const Timer* Lockstep::first_timer(NodeId host, bool own) {
    PlainVector<Timer>& timers = world_.host[host].timers;
    if (own && timers[0].kind == TimerKind::flow_start && timers[0].slot == kNone) {
        timers[0].slot = original_.take_slot(world_, host, timers[0].id);
    }
    folds_.reserve_slots();
    return own ? &timers[0] : nullptr;
}

void Lockstep::meet(NodeId host, Tick at, bool own) {
    const FoldPlace place = folds_.of_host(host);
    const Timer* const first = first_timer(host, own);
    const Fold& fold = folds_[place.fold];
    for (std::uint32_t number = 0; number < fold.image.size(); ++number) {
        const Image* const image = fold.image[number].get();
        if (image != nullptr && !image->forked(place.index) &&
            !follows(fold, *image, host, at, first)) {
            divergence_.begin(place.fold, number, place.index);
        }
    }
    if (own) {
        go_on_together(place, at, *first);
    }
    folds_.update_due(host);
}

void Lockstep::meet_paused(NodeId host, Tick at, bool own) {
    supervision_.take_released(folds_, left_);
    const FoldPlace place = folds_.of_host(host);
    const Timer* const first = first_timer(host, own);
    const Fold& fold = folds_[place.fold];
    for (std::uint32_t number = 0; number < fold.image.size(); ++number) {
        const Image* const image = fold.image[number].get();
        if (image != nullptr && !follows(fold, *image, host, at, first)) {
            divergence_.end_at_once(place.fold, number, left_);
            if (!folds_.has(place.fold)) {
                return;
            }
        }
    }
    folds_.update_due(host);
}

/// Whether what a copy's host has in its timers for `at` is what the representative's has, `own`, or nothing as well.
bool Lockstep::follows(const Fold& fold, const Image& image, NodeId host, Tick at,
                       const Timer* own) {
    const std::uint32_t index = folds_.of_host(host).index;
    const NodeId other = image.host[index];
    PlainVector<Timer>& timers = world_.host[other].timers;
    const bool due = timers.count > 0 && timers[0].time <= at;
    if (own == nullptr) {
        return !due;
    }
    if (own->kind == TimerKind::flow_start && folds_.of_flow(own->slot).leads()) {
        // The next message of a connection; the copy's is not in its timers.
        Timer next = *own;
        next.id = world_.id[image.flow[folds_.of_flow(own->slot).index]];
        return !due || !timers[0].before(next);
    }
    if (!due || timers[0].kind != own->kind) {
        return false;
    }
    if (own->kind == TimerKind::application) {
        return true;
    }
    if (timers[0].slot == kNone) {
        timers[0].slot = original_.take_slot(world_, other, timers[0].id);
    }
    return agrees(fold, image, index, own->slot, timers[0].slot);
}

/// Whether `other` is to the flows that a host of the copy sends what `flow` is to the representative's.
bool Lockstep::agrees(const Fold& fold, const Image& image, std::uint32_t host, FlowSlot flow,
                      FlowSlot other) const {
    if (!specs_alike(world_, flow, other)) {
        return false;
    }
    const NodeId leader = fold.host[host];
    const NodeId follower = image.host[host];
    if (departure_port(world_, leader, flow) - world_.first_port[leader] !=
        departure_port(world_, follower, other) - world_.first_port[follower]) {
        return false;  // beyond that port nothing of it is seen within the window
    }
    const FlowSpec& spec = world_.spec[flow];
    const FlowSpec& other_spec = world_.spec[other];
    for (const std::uint32_t index : fold.source[host]) {
        const FlowSlot sent = fold.flow[index];
        const FlowSlot image_sent = image.flow[index];
        const bool same_queue = world_.spec[sent].queue() == spec.queue();
        const bool same_port = world_.spec[sent].sport == spec.sport;
        if ((world_.id[sent] < world_.id[flow]) != (world_.id[image_sent] < world_.id[other]) ||
            same_queue != (world_.spec[image_sent].queue() == other_spec.queue()) ||
            same_port != (world_.spec[image_sent].sport == other_spec.sport)) {
            return false;
        }
    }
    return true;
}

/// Copies that are still in step do what the representative's host is about to do.
void Lockstep::go_on_together(const FoldPlace& place, Tick at, const Timer& own) {
    const bool starts = own.kind == TimerKind::flow_start;
    if (starts && folds_.of_flow(own.slot).leads()) {
        return;
    }
    const std::uint32_t index = starts ? members_.add_flow(place.fold, own.slot) : 0;
    Fold& fold = folds_[place.fold];
    for (std::uint32_t number = 0; number < fold.image.size(); ++number) {
        Image* const image = fold.image[number].get();
        if (image == nullptr || image->forked(place.index)) {
            continue;
        }
        const NodeId other = image->host[place.index];
        const Timer timer = pop_timer(world_.host[other]);
        if (starts) {
            image->flow[index] = timer.slot;
            folds_.place_flow(timer.slot, FoldPlace{place.fold, number, index});
        } else {
            original_.timer(world_, other, timer.id, at);
        }
    }
}

}  // namespace sluice::step
