// SPDX-License-Identifier: Apache-2.0
#include "core/fold/folds.h"

#include <algorithm>
#include <iterator>

#include "core/packet/nic.h"

namespace sluice::step {

Folds::Folds(WorldStore& store)
    : store_(store),
      world_(store.world()),
      original_(world_.callbacks),
      leases_(store),
      followed_(world_.node_count, kUnfollowed),
      unit_uses_(store.topology().port_count(), 0),
      host_uses_(world_.node_count, 0),
      owner_(store.topology().port_count() + world_.node_count, kNone) {
    places_.unit.resize(store.topology().port_count());
    places_.host.resize(world_.node_count);
    world_.followed = followed_.data();
    Callbacks& callbacks = world_.callbacks;
    callbacks.folds = this;
    callbacks.meet = &Folds::meet;
    if (original_.received != nullptr) {
        callbacks.received = &Folds::received;
        callbacks.sent = &Folds::sent;
    }
    reserve_slots();
}

Folds::~Folds() {
    world_.callbacks = original_;
    world_.followed = nullptr;
}

void Folds::reserve_slots() {
    if (places_.flow.size() < store_.slot_count()) {
        places_.flow.resize(store_.slot_count());
        prints_.resize(store_.slot_count());
    }
}

// Flows come and go.

void Folds::use(const FlowPrint& print, bool enter) {
    const std::uint32_t more = enter ? 1U : ~0U;
    for (std::uint32_t i = 0; i < print.units; ++i) {
        unit_uses_[print.port[i]] += more;
    }
    host_uses_[print.src] += more;
    host_uses_[print.dst] += more;
}

void Folds::entered(FlowSlot flow) {
    reserve_slots();
    const FlowPrint print = print_of(flow);
    prints_[flow] = print;
    use(print, true);
    leases_.add(flow, footprint(print), print.whole);
    strange_ += print.whole ? 0 : 1;
    entered_.push_back(flow);
}

void Folds::leaving(FlowSlot flow) {
    const FoldPlace place = places_.flow[flow];
    if (place.leads()) {
        drop_flow(place.fold, place.index);
        thinned_.push_back(place.fold);
    }
    places_.flow[flow] = FoldPlace{};
    FlowPrint& print = prints_[flow];
    if (print.src != kNone) {
        use(print, false);
        leases_.remove(flow, footprint(print));
        strange_ -= print.whole ? 0 : 1;
        print = FlowPrint{};
    }
}

/// The window has been executed; images whose hosts have gone their own way are executed from here on.
void Folds::after_window(Tick now) {
    for (const auto& [fold, image] : forks_) {
        finish_fork(fold, image, now);
    }
    forks_.clear();
    if (fold_count_ == 0) {
        return;
    }
    for (std::uint32_t fold = 0; fold < folds_.size(); ++fold) {
        if (folds_[fold] != nullptr && may_mark(*folds_[fold])) {
            take_apart(fold);
        }
    }
    reserve_slots();
    for (std::uint32_t i = 0, count = world_.changed.count; i < count; ++i) {
        const FlowSlot slot = world_.changed[i];
        const FoldPlace place = places_.flow[slot];
        if (!place.leads()) {
            continue;
        }
        if (world_.result[slot].retransmitted > 0) {
            take_apart(place.fold);  // packets of it may be left when it is over
            continue;
        }
        for (const auto& image : folds_[place.fold]->image) {
            if (image != nullptr) {
                const FlowSlot other = image->flow[place.index];
                world_.result[other] = world_.result[slot];
                world_.changed.push(world_.memory, other);
            }
        }
    }
}

void Folds::settle(Tick now, bool may_fold) {
    if (!may_fold || strange_ > 0) {
        unfold(now);
        entered_.clear();
        thinned_.clear();
        return;
    }
    std::set<std::uint32_t> disturbed;
    std::vector<std::vector<FlowSlot>> joined;
    for (const FlowSlot flow : entered_) {
        take_up(flow, disturbed, joined);
    }
    if (fold_count_ > 0) {
        find_loud(disturbed);
    }
    entered_.clear();
    for (const std::uint32_t fold : disturbed) {
        for (std::vector<FlowSlot>& member : take_apart(fold)) {
            joined.push_back(std::move(member));
        }
    }
    for (const std::uint32_t fold : thinned_) {
        if (folds_[fold] != nullptr) {
            drop_unused(fold);
        }
    }
    thinned_.clear();
    if (joined.size() > 1) {
        std::vector<Part> found = parts(joined);
        fold_alike(found, now);
    }
}

bool Folds::may_mark(const Fold& fold) const {
    return std::any_of(fold.marking.begin(), fold.marking.end(), [&](const auto& entry) {
        return std::int64_t{world_.egress[entry.first].queued_bytes} >= entry.second;
    });
}

/// A flow in service since the last window: one of a fold's, or a new one, which may meet folds.
void Folds::take_up(FlowSlot flow, std::set<std::uint32_t>& disturbed,
                    std::vector<std::vector<FlowSlot>>& joined) {
    const FoldPlace place = places_.flow[flow];
    if (place.leads()) {
        const Fold& fold = *folds_[place.fold];
        use_in_fold(*folds_[place.fold], flow);
        if (!all_inside(place.fold, flow)) {
            disturb(prints_[flow], disturbed);
            for (const auto& image : fold.image) {
                if (image != nullptr) {
                    disturb(prints_[image->flow[place.index]], disturbed);
                }
            }
        }
    }
    if (place.folded()) {
        return;
    }
    disturb(prints_[flow], disturbed);
    std::vector<FlowSlot> flows;
    for (FlowSlot next = flow; next != kNone; next = world_.following[next]) {
        flows.push_back(next);
    }
    joined.push_back(std::move(flows));
}

/// Folds that a flow meets which is not of theirs.
void Folds::disturb(const FlowPrint& print, std::set<std::uint32_t>& disturbed) const {
    const auto add = [&](const FoldPlace& place) {
        if (place.folded()) {
            disturbed.insert(place.fold);
        }
    };
    std::for_each(print.port, print.port + print.units,
                  [&](PortId port) { add(places_.unit[port]); });
    add(places_.host[print.src]);
    add(places_.host[print.dst]);
}

/// Folds at switches whose decisions may depend on their buffers from now on.
void Folds::find_loud(std::set<std::uint32_t>& disturbed) {
    std::set<NodeId> nodes;
    for (const FlowSlot flow : entered_) {
        const FlowPrint& print = prints_[flow];
        for (std::uint32_t i = 0; i < print.units; ++i) {
            nodes.insert(store_.topology().node_of(print.port[i]));
        }
    }
    for (const NodeId node : nodes) {
        if (world_.is_host[node] != 0 || leases_.divisible(node)) {
            continue;
        }
        for (PortId p = world_.first_port[node]; p < world_.first_port[node + 1]; ++p) {
            for (const PortId port : {p, world_.egress[p].peer}) {
                if (places_.unit[port].folded()) {
                    disturbed.insert(places_.unit[port].fold);
                }
            }
        }
    }
}

void Folds::unfold(Tick) {
    for (std::uint32_t fold = 0; fold < folds_.size(); ++fold) {
        if (folds_[fold] != nullptr) {
            take_apart(fold);
        }
    }
}

FoldCounters Folds::counters() const {
    FoldCounters counters = counters_;
    for (const auto& fold : folds_) {
        for (std::size_t i = 0; fold != nullptr && i < fold->unit.size(); ++i) {
            if (fold->unit[i] != kNone) {
                counters.hops += fold->images * sent_since(*fold, static_cast<std::uint32_t>(i));
            }
        }
    }
    return counters;
}

// The parts of a fold.

std::uint64_t Folds::sent_since(const Fold& fold, std::uint32_t index) const {
    return static_cast<std::uint64_t>(world_.egress[fold.unit[index]].tx_packets -
                                      fold.base[index].tx_packets);
}

std::uint32_t Folds::add_flow(std::uint32_t id, FlowSlot flow) {
    reserve_slots();
    Fold& fold = *folds_[id];
    std::uint32_t index = 0;
    if (fold.free_flows.empty()) {
        index = static_cast<std::uint32_t>(fold.flow.size());
        fold.flow.push_back(flow);
        for (const auto& image : fold.image) {
            if (image != nullptr) {
                image->flow.push_back(kNone);
            }
        }
    } else {
        index = fold.free_flows.back();
        fold.free_flows.pop_back();
        fold.flow[index] = flow;
    }
    ++fold.flows;
    places_.flow[flow] = FoldPlace{id, FoldPlace::kLeader, index};
    const std::uint32_t host = places_.host[world_.spec[flow].src].index;
    ++fold.host_uses[host];
    fold.source[host].push_back(index);
    return index;
}

/// The flow's packets are in the network.
void Folds::use_in_fold(Fold& fold, FlowSlot flow) { change_uses(fold, prints_[flow], 1U); }

void Folds::change_uses(Fold& fold, const FlowPrint& print, std::uint32_t more) {
    const auto here = [&](const FoldPlace& place) {
        return place.leads() && folds_[place.fold].get() == &fold;
    };
    for (std::uint32_t i = 0; i < print.units; ++i) {
        if (const FoldPlace& place = places_.unit[print.port[i]]; here(place)) {
            fold.unit_uses[place.index] += more;
        }
    }
    if (const FoldPlace& place = places_.host[print.dst]; here(place)) {
        fold.host_uses[place.index] += more;
    }
}

void Folds::drop_flow(std::uint32_t id, std::uint32_t index) {
    Fold& fold = *folds_[id];
    const FlowSlot flow = fold.flow[index];
    for (const auto& image : fold.image) {
        if (image != nullptr) {
            places_.flow[image->flow[index]] = FoldPlace{};
            image->flow[index] = kNone;
        }
    }
    const std::uint32_t host = places_.host[world_.spec[flow].src].index;
    --fold.host_uses[host];
    std::vector<std::uint32_t>& source = fold.source[host];
    source.erase(std::find(source.begin(), source.end(), index));
    if (prints_[flow].src != kNone) {
        change_uses(fold, prints_[flow], ~0U);
    }
    fold.flow[index] = kNone;
    fold.free_flows.push_back(index);
    --fold.flows;
}

/// Ports and hosts that no flow of the fold needs any more are their images' own again.
void Folds::drop_unused(std::uint32_t id) {
    Fold& fold = *folds_[id];
    if (fold.flows == 0) {
        take_apart(id);
        return;
    }
    for (std::uint32_t i = 0; i < fold.host.size(); ++i) {
        if (fold.host[i] != kNone && fold.host_uses[i] == 0) {
            drop_host(id, i);
        }
    }
    for (std::uint32_t i = 0; i < fold.unit.size(); ++i) {
        if (fold.unit[i] != kNone && fold.unit_uses[i] == 0) {
            drop_unit(id, i);
        }
    }
}

void Folds::drop_unit(std::uint32_t id, std::uint32_t index) {
    Fold& fold = *folds_[id];
    const PortId leader = fold.unit[index];
    for (const auto& image : fold.image) {
        if (image != nullptr) {
            const Renaming renaming(store_, places_, fold, *image);
            renaming.copy_egress(leader);
            renaming.copy_link(leader);
            counters_.hops += sent_since(fold, index);
            places_.unit[image->unit[index]] = FoldPlace{};
        }
    }
    forget_unit(fold, index);
}

void Folds::drop_host(std::uint32_t id, std::uint32_t index) {
    Fold& fold = *folds_[id];
    const NodeId leader = fold.host[index];
    for (const auto& image : fold.image) {
        if (image != nullptr) {
            Renaming(store_, places_, fold, *image).copy_host(leader);
            places_.host[image->host[index]] = FoldPlace{};
        }
    }
    for (PortId p = world_.first_port[leader]; p < world_.first_port[leader + 1]; ++p) {
        --fold.unit_uses[places_.unit[p].index];
    }
    forget_host(fold, index);
}

void Folds::forget_unit(Fold& fold, std::uint32_t index) {
    Egress& egress = world_.egress[fold.unit[index]];
    egress.max_queued_bytes = std::max(egress.max_queued_bytes, fold.base[index].max_queued_bytes);
    places_.unit[fold.unit[index]] = FoldPlace{};
    fold.unit[index] = kNone;
}

void Folds::forget_host(Fold& fold, std::uint32_t index) {
    places_.host[fold.host[index]] = FoldPlace{};
    followed_[fold.host[index]] = kUnfollowed;
    fold.host[index] = kNone;
}

/// The image is in no fold any more; its columns are written.
void Folds::end_image(std::uint32_t id, std::uint32_t number) {
    Fold& fold = *folds_[id];
    const Image& image = *fold.image[number];
    for (std::uint32_t i = 0; i < image.unit.size(); ++i) {
        if (fold.unit[i] != kNone) {
            counters_.hops += sent_since(fold, i);
            places_.unit[image.unit[i]] = FoldPlace{};
        }
    }
    for (std::uint32_t i = 0; i < image.host.size(); ++i) {
        if (fold.host[i] != kNone) {
            places_.host[image.host[i]] = FoldPlace{};
        }
    }
    for (const FlowSlot flow : image.flow) {
        if (flow != kNone) {
            places_.flow[flow] = FoldPlace{};
        }
    }
    fold.image[number] = nullptr;
    --fold.images;
}

/// Everything is executed by itself again. Returns each part's flows.
std::vector<std::vector<FlowSlot>> Folds::take_apart(std::uint32_t id) {
    Fold& fold = *folds_[id];
    std::vector<std::vector<FlowSlot>> members;
    const auto list = [&](const std::vector<FlowSlot>& flows) {
        members.emplace_back();
        std::copy_if(flows.begin(), flows.end(), std::back_inserter(members.back()),
                     [](FlowSlot flow) { return flow != kNone; });
    };
    list(fold.flow);
    for (std::uint32_t number = 0; number < fold.image.size(); ++number) {
        if (fold.image[number] == nullptr) {
            continue;
        }
        list(fold.image[number]->flow);
        const Renaming renaming(store_, places_, fold, *fold.image[number]);
        for (const NodeId host : fold.host) {
            if (host != kNone) {
                renaming.copy_host(host);
            }
        }
        for (const PortId unit : fold.unit) {
            if (unit != kNone) {
                renaming.copy_egress(unit);
                renaming.copy_link(unit);
            }
        }
        end_image(id, number);
    }
    dissolve(id);
    return members;
}

/// The leader has no images any more.
void Folds::dissolve(std::uint32_t id) {
    Fold& fold = *folds_[id];
    for (std::uint32_t i = 0; i < fold.unit.size(); ++i) {
        if (fold.unit[i] != kNone) {
            forget_unit(fold, i);
        }
    }
    for (std::uint32_t i = 0; i < fold.host.size(); ++i) {
        if (fold.host[i] != kNone) {
            forget_host(fold, i);
        }
    }
    for (const FlowSlot flow : fold.flow) {
        if (flow != kNone) {
            places_.flow[flow] = FoldPlace{};
        }
    }
    folds_[id] = nullptr;
    free_folds_.push_back(id);
    --fold_count_;
}

}  // namespace sluice::step
