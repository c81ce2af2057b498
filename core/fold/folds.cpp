// SPDX-License-Identifier: Apache-2.0
#include "core/fold/folds.h"

#include <algorithm>
#include <iterator>

#include "core/packet/nic.h"
#include "core/sorted.h"

namespace sluice::step {

Folds::Folds(WorldStore& store, Supervisor* supervisor)
    : store_(store),
      world_(store.world()),
      supervisor_(supervisor),
      original_(world_.callbacks),
      leases_(store),
      followed_(world_.node_count, kUnfollowed),
      unit_uses_(store.topology().port_count(), 0),
      host_uses_(world_.node_count, 0),
      waits_at_(store.topology().port_count() + world_.node_count, kNone),
      owner_(store.topology().port_count() + world_.node_count, kNone) {
    places_.unit.resize(store.topology().port_count());
    places_.host.resize(world_.node_count);
    empty_calm_for_ = calm_if_empty();
    calm_for_ = empty_calm_for_;
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

void Folds::place_unit(PortId port, const FoldPlace& place) {
    places_.unit[port] = place;
    entrances_listed_ = false;
    ++generation_;
}

// Flows come and go.

void Folds::use(const FlowPrint& print, bool enter) {
    entrances_listed_ = false;
    ++generation_;
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

void Folds::reconsider(std::vector<FlowSlot> flows) {
    flows.erase(std::remove_if(flows.begin(), flows.end(),
                               [&](FlowSlot flow) { return places_.flow[flow].folded(); }),
                flows.end());
    if (!flows.empty()) {
        left_.push_back(std::move(flows));
    }
}

void Folds::leaving(FlowSlot flow) {
    const FoldPlace place = places_.flow[flow];
    if (place.leads()) {
        drop_flow(place.fold, place.index);
        thinned_.push_back(place.fold);
    }
    places_.flow[flow] = FoldPlace{};
    for (std::vector<FlowSlot>& flows : left_) {
        flows.erase(std::remove(flows.begin(), flows.end(), flow), flows.end());
    }
    FlowPrint& print = prints_[flow];
    if (print.src != kNone) {
        use(print, false);
        leases_.remove(flow, footprint(print));
        strange_ -= print.whole ? 0 : 1;
        note_leaving(print);
        print = FlowPrint{};
    }
}

/// The window has been executed; images whose hosts have gone their own way are executed from here on.
void Folds::after_window(Tick now) {
    for (const auto& [fold, image] : forks_) {
        if (folds_[fold] != nullptr && folds_[fold]->image[image] != nullptr) {
            finish_fork(fold, image, now);  // else with another sheet of its part
        }
    }
    forks_.clear();
    if (fold_count_ == 0) {
        return;
    }
    end_marking();
    end_crowded(now);
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
    if (supervisor_ != nullptr) {
        end_disturbed();
    }
}

void Folds::after_cut(Tick now) {
    end_marking();
    calm_until_ = 0;
    end_crowded(now);
}

/// A supervisor hears of flows one by one: before it does, folds end that others come to.
void Folds::end_disturbed() {
    std::set<std::uint32_t> disturbed;
    for (std::uint32_t i = 0; i < world_.changed.count; ++i) {
        const FlowSlot flow = world_.changed[i];
        if (prints_[flow].src != kNone) {
            continue;  // in service already
        }
        const FoldPlace place = places_.flow[flow];
        const FlowPrint print = print_of(flow);
        if (!print.whole) {
            unfold();
            return;
        }
        if (!place.folded()) {
            disturb(print, disturbed);
        } else if (place.leads() && !inside(place.fold, flow)) {
            disturb_with(flow, disturbed);
        }
    }
    for (const std::uint32_t fold : disturbed) {
        reconsider(take_apart(fold));
    }
}

/// Of a fold that ends: what can be folded again is, at the next settle().
void Folds::reconsider(std::vector<std::vector<FlowSlot>> members) {
    std::move(members.begin(), members.end(), std::back_inserter(left_));
}

/// Of folds that flows have come to: images that are not to the supervisor what the leader is. Those that are no partition of
/// their own any more may be folded again.
void Folds::end_unlike(std::vector<std::vector<FlowSlot>>& joined) {
    for (const std::uint32_t id : grown_) {
        if (folds_[id] == nullptr) {
            continue;
        }
        Fold& fold = *folds_[id];
        if (fold.turned() && !holds_together(fold)) {
            std::vector<std::vector<FlowSlot>> members = take_apart(id);
            std::move(members.begin(), members.end(), std::back_inserter(joined));
            continue;
        }
        for (std::uint32_t number = 0; number < fold.image.size(); ++number) {
            if (fold.image[number] == nullptr || is_own(fold, number) ||
                part_alike(id, number, false)) {
                continue;
            }
            const std::vector<std::uint32_t> numbers = part_of(fold, number);
            write_part(id, numbers);
            end_part(id, numbers);
        }
        if (fold.images == 0) {
            dissolve(id);
        }
    }
    grown_.clear();
}

/// Of all flows in service of the image's part, with those of the leader's.
std::vector<FlowPair> Folds::pairs_of(const Fold& fold, const Image& image) const {
    std::vector<FlowPair> pairs;
    const std::size_t sheets = fold.turned() ? image.part->size() : 1;
    for (std::size_t i = 0; i < fold.flow.size(); ++i) {
        if (fold.flow[i] == kNone || prints_[fold.flow[i]].src == kNone) {
            continue;
        }
        for (std::size_t sheet = 0; sheet < sheets; ++sheet) {
            pairs.push_back(fold.turned() ? FlowPair{(*fold.self->part)[sheet]->flow[i],
                                                     (*image.part)[sheet]->flow[i]}
                                          : FlowPair{fold.flow[i], image.flow[i]});
        }
    }
    std::sort(pairs.begin(), pairs.end(), [&](const FlowPair& a, const FlowPair& b) {
        return world_.id[a.leader] < world_.id[b.leader];
    });
    return pairs;
}

FlowSlot Folds::leader_of(FlowSlot flow) const {
    if (flow >= places_.flow.size()) {
        return flow;
    }
    const FoldPlace& place = places_.flow[flow];
    return place.folded() && !place.leads() ? folds_[place.fold]->flow[place.index] : flow;
}

void Folds::list_followers(FlowSlot flow, std::vector<FlowSlot>& followers) const {
    const FoldPlace place = flow < places_.flow.size() ? places_.flow[flow] : FoldPlace{};
    if (!place.leads()) {
        return;
    }
    for (const auto& image : folds_[place.fold]->image) {
        if (image != nullptr) {
            followers.push_back(image->flow[place.index]);
        }
    }
}

PortId Folds::leader_of_port(PortId port) const {
    const FoldPlace& place = places_.unit[port];
    return place.folded() && !place.leads() ? folds_[place.fold]->unit[place.index] : port;
}

void Folds::settle(Tick now, bool may_fold) {
    if (!may_fold || strange_ > 0) {
        unfold();
        entered_.clear();
        thinned_.clear();
        left_.clear();
        stop_waiting();
        return;
    }
    std::set<std::uint32_t> disturbed;
    std::vector<std::vector<FlowSlot>> joined = std::move(left_);
    left_.clear();
    for (const FlowSlot flow : entered_) {
        take_up(flow, disturbed, joined);
    }
    if (fold_count_ > 0) {
        find_loud(disturbed, now);
    }
    const bool came = !entered_.empty();
    entered_.clear();
    for (const std::uint32_t fold : disturbed) {
        for (std::vector<FlowSlot>& member : take_apart(fold)) {
            joined.push_back(std::move(member));
        }
    }
    for (const std::uint32_t fold : thinned_) {
        if (folds_[fold] == nullptr) {
            continue;
        }
        drop_unused(fold);
        if (folds_[fold] != nullptr && folds_[fold]->turned() && !holds_together(*folds_[fold])) {
            for (std::vector<FlowSlot>& member : take_apart(fold)) {
                joined.push_back(std::move(member));
            }
        }
    }
    thinned_.clear();
    if (supervisor_ != nullptr) {
        end_unlike(joined);
        end_marking();  // skips that ended may have left other queues
        calm_until_ = came ? 0 : calm_until_;
    }
    const std::size_t newcomers = joined.size();
    const std::uint64_t images = counters_.images;
    look_again(joined);
    if (joined.size() > 1) {
        std::vector<Part> found = parts(joined);
        fold_alike(found, now);
        calm_until_ = 0;
    }
    won_by_waiting_ += joined.size() > newcomers ? counters_.images - images : 0;
    end_crowded(now);
}

/// A flow in service since the last window: one of a fold's, or a new one, which may meet folds.
void Folds::take_up(FlowSlot flow, std::set<std::uint32_t>& disturbed,
                    std::vector<std::vector<FlowSlot>>& joined) {
    const FoldPlace place = places_.flow[flow];
    if (place.leads()) {
        Fold& fold = *folds_[place.fold];
        if (fold.turned() ? turn_up(place.fold, flow) : all_inside(place.fold, flow)) {
            use_in_fold(fold, place.index);
        } else {
            disturb_with(flow, disturbed);
        }
        if (may_mark(fold)) {
            disturbed.insert(place.fold);
        }
        grown_.insert(place.fold);
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

/// A leader's flow reaches beyond its fold, or its images' flows do.
void Folds::disturb_with(FlowSlot flow, std::set<std::uint32_t>& disturbed) const {
    const FoldPlace& place = places_.flow[flow];
    disturb(print_of(flow), disturbed);
    for (const auto& image : folds_[place.fold]->image) {
        if (image != nullptr) {
            disturb(print_of(image->flow[place.index]), disturbed);
        }
    }
}

/// Folds that a flow meets which is not of theirs.
void Folds::disturb(const FlowPrint& print, std::set<std::uint32_t>& disturbed) const {
    const auto add = [&](const FoldPlace& place) {
        if (place.folded()) {
            disturbed.insert(place.fold);
        }
    };
    std::for_each(print.port, print.port + print.units, [&](PortId port) {
        add(places_.unit[port]);
        if (supervisor_ != nullptr) {
            add(places_.unit[world_.egress[port].peer]);
        }
    });
    add(places_.host[print.src]);
    add(places_.host[print.dst]);
}

/// Folds at switches whose decisions may depend on their buffers from now on.
void Folds::find_loud(std::set<std::uint32_t>& disturbed, Tick now) {
    std::vector<NodeId> nodes;
    for (const FlowSlot flow : entered_) {
        const FlowPrint& print = prints_[flow];
        for (std::uint32_t i = 0; i < print.units; ++i) {
            const NodeId node = store_.topology().node_of(print.port[i]);
            if (world_.is_host[node] == 0 && (nodes.empty() || nodes.back() != node)) {
                nodes.push_back(node);
            }
        }
    }
    sort_unique(nodes);
    for (const NodeId node : nodes) {
        if (!stays_calm(node, now)) {
            add_folds_at(node, disturbed);
        }
    }
}

void Folds::unfold() {
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

}  // namespace sluice::step
