// SPDX-License-Identifier: Apache-2.0
/// What a leader's host and those that follow it go through together in a window, and where they part.
#include "core/fold/folds.h"
#include "core/fold/likeness.h"
#include "core/fold/quotient_names.h"
#include "core/packet/nic.h"
#include "core/world/skip.h"

namespace sluice::step {

void Folds::received(World& world, NodeId host, FlowSlot flow, Tick now) {
    Folds& self = *static_cast<Folds*>(world.callbacks.folds);
    self.repeat(self.original_.received, world, host, flow, now);
}

void Folds::sent(World& world, NodeId host, FlowSlot flow, Tick now) {
    Folds& self = *static_cast<Folds*>(world.callbacks.folds);
    self.repeat(self.original_.sent, world, host, flow, now);
}

void Folds::meet(World& world, NodeId host, Tick at, bool own) {
    static_cast<Folds*>(world.callbacks.folds)->meet(host, at, own);
}

/// What has happened to `flow` at a host happens at those that follow it.
void Folds::repeat(FlowCall call, World& world, NodeId host, FlowSlot flow, Tick now) {
    const FoldPlace place = places_.host[host];
    if (!place.leads()) {
        call(world, host, flow, now);
        return;
    }
    const Fold& fold = *folds_[place.fold];
    const bool received = call == original_.received;
    call(world, host, fold.turned() ? named_at(fold, *fold.self, flow, received) : flow, now);
    for (const auto& image : fold.image) {
        if (image != nullptr && !image->forked(place.index)) {
            call(world_, image->host[place.index], named_at(fold, *image, flow, received), now);
        }
    }
}

/// The flow that the image's host has sent, or received, when the leader's has `flow`.
FlowSlot Folds::named_at(const Fold& fold, const Image& image, FlowSlot flow, bool received) const {
    const Renaming renaming(store_, places_, fold, image);
    return received && fold.turned()
               ? renaming.flow_at(flow, fold.turn[places_.flow[flow].index].print.units)
               : renaming.flow(flow);
}

/// The first of the followers' own timers.
void Folds::update_due(NodeId host) {
    const FoldPlace place = places_.host[host];
    Tick due = kNever;
    for (const auto& image : folds_[place.fold]->image) {
        if (image != nullptr && !image->forked(place.index)) {
            const PlainVector<Timer>& timers = world_.host[image->host[place.index]].timers;
            due = timers.count > 0 && timers.data[0].time < due ? timers.data[0].time : due;
        }
    }
    followed_[host] = due;
}

void Folds::meet(NodeId host, Tick at, bool own) {
    const FoldPlace place = places_.host[host];
    PlainVector<Timer>& timers = world_.host[host].timers;
    if (own && timers[0].kind == TimerKind::flow_start && timers[0].slot == kNone) {
        timers[0].slot = original_.take_slot(world_, host, timers[0].id);
    }
    reserve_slots();
    const Timer* const first = own ? &timers[0] : nullptr;
    Fold& fold = *folds_[place.fold];
    for (std::uint32_t number = 0; number < fold.image.size(); ++number) {
        const Image* const image = fold.image[number].get();
        if (image != nullptr && !image->forked(place.index) &&
            !follows(fold, *image, host, at, first)) {
            fork(place.fold, number, place.index);
        }
    }
    if (own) {
        go_on_together(place, at, timers[0]);
    }
    update_due(host);
}

void Folds::meet_paused(NodeId host, Tick at, bool own) {
    const FoldPlace place = places_.host[host];
    PlainVector<Timer>& timers = world_.host[host].timers;
    if (own && timers[0].kind == TimerKind::flow_start && timers[0].slot == kNone) {
        timers[0].slot = original_.take_slot(world_, host, timers[0].id);
    }
    reserve_slots();
    Fold& fold = *folds_[place.fold];
    for (std::uint32_t number = 0; number < fold.image.size(); ++number) {
        const Image* const image = fold.image[number].get();
        if (image == nullptr || follows(fold, *image, host, at, own ? &timers[0] : nullptr)) {
            continue;
        }
        ++counters_.forks;
        if (is_own(fold, number)) {
            reconsider(take_apart(place.fold));
            return;
        }
        const std::vector<std::uint32_t> numbers = part_of(fold, number);
        write_part(place.fold, numbers);
        end_part(place.fold, numbers);
    }
    if (fold.images == 0) {
        dissolve(place.fold);
    } else {
        update_due(host);
    }
}

void Folds::go_on_together(NodeId host, Tick at) {
    go_on_together(places_.host[host], at, world_.host[host].timers[0]);
    update_due(host);
}

/// Whether what a follower has in its timers for `at` is what the leader has, `own`, or nothing as well.
bool Folds::follows(const Fold& fold, const Image& image, NodeId host, Tick at, const Timer* own) {
    const std::uint32_t index = places_.host[host].index;
    const NodeId other = image.host[index];
    PlainVector<Timer>& timers = world_.host[other].timers;
    const bool due = timers.count > 0 && timers[0].time <= at;
    if (own == nullptr) {
        return !due;
    }
    if (own->kind == TimerKind::flow_start && places_.flow[own->slot].leads()) {
        // A message whose turn has come; the follower's is not in its timers.
        Timer turn = *own;
        turn.id = world_.id[image.flow[places_.flow[own->slot].index]];
        return !due || !timers[0].before(turn);
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

/// Whether `other` is to the flows that a host of the image sends what `flow` is to the leader's.
bool Folds::agrees(const Fold& fold, const Image& image, std::uint32_t host, FlowSlot flow,
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

/// Those that still follow do what the leader is about to do.
void Folds::go_on_together(const FoldPlace& place, Tick at, const Timer& own) {
    const bool starts = own.kind == TimerKind::flow_start;
    if (starts && places_.flow[own.slot].leads()) {
        return;
    }
    const std::uint32_t index = starts ? add_flow(place.fold, own.slot) : 0;
    Fold& fold = *folds_[place.fold];
    for (std::uint32_t number = 0; number < fold.image.size(); ++number) {
        Image* const image = fold.image[number].get();
        if (image == nullptr || image->forked(place.index)) {
            continue;
        }
        const NodeId other = image->host[place.index];
        const Timer timer = pop_timer(world_.host[other]);
        if (starts) {
            image->flow[index] = timer.slot;
            places_.flow[timer.slot] = FoldPlace{place.fold, number, index};
        } else {
            original_.timer(world_, other, timer.id, at);
        }
    }
}

/// A host of an image is what its leader's is at this instant, and goes on by itself when the window is
/// over: what it sends meanwhile reaches nobody before.
void Folds::fork(std::uint32_t id, std::uint32_t number, std::uint32_t host) {
    Fold& fold = *folds_[id];
    Image& image = *fold.image[number];
    if (image.forks.empty()) {
        forks_.emplace_back(id, number);
        ++counters_.forks;
    }
    const NodeId leader = fold.host[host];
    const CopyWriter writer(store_, places_, fold, image);
    HostFork fork;
    fork.host = host;
    writer.copy_host(leader);
    for (PortId p = world_.first_port[leader]; p < world_.first_port[leader + 1]; ++p) {
        counters_.hops += writer.copy_egress(p);
        const PortId peer = world_.egress[p].peer;
        HostFork::Nic nic;
        nic.port = p;
        nic.sent = world_.egress[p].tx_packets;
        nic.received = world_.egress[peer].tx_packets;
        Wire& link = world_.link[peer];
        for (std::uint32_t at = link.head; at != link.tail; ++at) {
            nic.waiting.push_back(link.at(at));
        }
        if (writer.names().has(peer)) {
            writer.complete_link(peer, world_.link[p].size());
        }
        fork.nics.push_back(std::move(nic));
    }
    if (fold.turned()) {
        for (const FlowSlot flow : writer.names().received_by(leader)) {
            fork.receipts.push_back({flow, world_.receiver[flow], world_.result[flow].received});
        }
    }
    world_.wake[image.host[host]] = kNever;
    image.forks.push_back(std::move(fork));
}

/// The links of a host that forked: what its switch has taken of them since, and sent.
void Folds::finish_host(const CopyWriter& writer, const HostFork& fork) {
    for (const HostFork::Nic& nic : fork.nics) {
        Wire& link = world_.link[world_.egress[nic.port].peer];
        const auto sent = static_cast<std::size_t>(world_.egress[nic.port].tx_packets - nic.sent);
        const std::size_t taken = nic.waiting.size() + sent - link.size();
        writer.restore_link(nic.port, nic.waiting, taken);
        writer.copy_ingress(nic.port);
        const PortId peer = world_.egress[nic.port].peer;
        if (writer.names().has(peer)) {
            counters_.hops += writer.copy_egress(peer);
            writer.complete_link(
                peer, static_cast<std::uint32_t>(world_.egress[peer].tx_packets - nic.received));
            writer.copy_ingress(peer);
        }
    }
}

/// Ports of an image whose hosts have gone their own way.
void Folds::finish_units(std::uint32_t id, std::uint32_t number) {
    const Fold& fold = *folds_[id];
    const Image& image = *fold.image[number];
    const CopyWriter writer(store_, places_, fold, image);
    std::vector<std::uint8_t> done(fold.unit.size(), 0);
    for (const HostFork& fork : image.forks) {
        finish_host(writer, fork);
        for (const HostFork::Nic& nic : fork.nics) {
            for (const PortId port : {nic.port, world_.egress[nic.port].peer}) {
                if (writer.names().has(port)) {
                    done[places_.unit[port].index] = 1;
                }
            }
        }
    }
    for (std::uint32_t i = 0; i < fold.unit.size(); ++i) {
        if (fold.unit[i] != kNone && done[i] == 0) {
            counters_.hops += writer.copy_egress(fold.unit[i]);
            writer.copy_link(fold.unit[i]);
        }
    }
}

/// A host of an image has gone its own way: the image ends, with all sheets of its part, and if that is the
/// leader's own, the fold. Its parts may still be copies of each other.
void Folds::finish_fork(std::uint32_t id, std::uint32_t number, Tick now) {
    Fold& fold = *folds_[id];
    const bool own = is_own(fold, number);
    if (own) {
        reconsider(members(fold));
    }
    for (std::uint32_t other = 0; own && other < fold.image.size(); ++other) {
        if (fold.image[other] != nullptr && !is_own(fold, other)) {
            finish_fork(id, other, now);
        }
    }
    const std::vector<std::uint32_t> numbers = part_of(fold, number);
    std::vector<NodeId> alone;
    // Hosts first: what they know of ports' counters is told by these.
    for (const std::uint32_t sheet : numbers) {
        const Image& image = *fold.image[sheet];
        const CopyWriter writer(store_, places_, fold, image);
        for (const HostFork& fork : image.forks) {
            writer.complete_records(fold.host[fork.host]);
            alone.push_back(image.host[fork.host]);
        }
        for (std::uint32_t i = 0; i < fold.host.size(); ++i) {
            if (fold.host[i] != kNone && !image.forked(i)) {
                writer.copy_host(fold.host[i]);
            }
        }
    }
    if (own) {
        QuotientNames(store_, places_, fold).restore_hosts();
    }
    for (const std::uint32_t sheet : numbers) {
        finish_units(id, sheet);
    }
    if (own) {
        QuotientNames(store_, places_, fold).restore_units();
    }
    for (const std::uint32_t sheet : numbers) {
        for (const HostFork& fork : fold.image[sheet]->forks) {
            for (const HostFork::Receipt& receipt : fork.receipts) {
                world_.receiver[receipt.flow] = receipt.receiver;
                world_.result[receipt.flow].received = receipt.received;
            }
        }
    }
    if (!own && fold.turned()) {
        for (const std::uint32_t sheet : numbers) {
            left_.push_back(
                members_of(fold.image[sheet]->flow));  // all sheets may have parted alike
        }
    }
    end_part(id, numbers);
    if (fold.images == 0) {
        dissolve(id);
    }
    for (const NodeId host : alone) {
        refresh_wake(world_, host);
        host_step(world_, whole_node(host), now);
    }
}

}  // namespace sluice::step
