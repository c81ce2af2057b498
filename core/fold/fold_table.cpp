// SPDX-License-Identifier: Apache-2.0
#include "core/fold/fold_table.h"

namespace sluice::step {

FoldTable::FoldTable(WorldStore& store)
    : store_(store), world_(store.world()), followed_(world_.node_count, kUnfollowed) {
    places_.unit.resize(store.topology().port_count());
    places_.host.resize(world_.node_count);
    world_.followed = followed_.data();
    reserve_slots();
}

FoldTable::~FoldTable() { world_.followed = nullptr; }

FlowSlot FoldTable::leader_of(FlowSlot flow) const {
    if (flow >= places_.flow.size()) {
        return flow;
    }
    const FoldPlace& place = places_.flow[flow];
    return place.folded() && !place.leads() ? folds_[place.fold]->flow[place.index] : flow;
}

PortId FoldTable::leader_of_port(PortId port) const {
    const FoldPlace& place = places_.unit[port];
    return place.folded() && !place.leads() ? folds_[place.fold]->unit[place.index] : port;
}

void FoldTable::list_followers(FlowSlot flow, std::vector<FlowSlot>& followers) const {
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

std::uint32_t FoldTable::create() {
    std::uint32_t id = size();
    if (free_.empty()) {
        folds_.emplace_back();
    } else {
        id = free_.back();
        free_.pop_back();
    }
    folds_[id] = std::make_unique<Fold>();
    ++count_;
    return id;
}

void FoldTable::erase(std::uint32_t id) {
    folds_[id] = nullptr;
    free_.push_back(id);
    --count_;
}

void FoldTable::place_port(PortId port, const FoldPlace& place) {
    places_.unit[port] = place;
    ++generation_;
}

void FoldTable::reserve_slots() {
    if (places_.flow.size() < store_.slot_count()) {
        places_.flow.resize(store_.slot_count());
    }
}

void FoldTable::place_copy(std::uint32_t id, std::uint32_t number) {
    const Image& image = *folds_[id]->image[number];
    for (std::uint32_t i = 0; i < image.unit.size(); ++i) {
        place_port(image.unit[i], FoldPlace{id, number, i});
    }
    for (std::uint32_t i = 0; i < image.host.size(); ++i) {
        place_host(image.host[i], FoldPlace{id, number, i});
    }
    for (std::uint32_t i = 0; i < image.flow.size(); ++i) {
        place_flow(image.flow[i], FoldPlace{id, number, i});
    }
}

void FoldTable::displace_copy(const Fold& fold, const Image& image) {
    for (std::uint32_t i = 0; i < image.unit.size(); ++i) {
        if (fold.unit[i] != kNone) {
            place_port(image.unit[i], FoldPlace{});
        }
    }
    for (std::uint32_t i = 0; i < image.host.size(); ++i) {
        if (fold.host[i] != kNone) {
            place_host(image.host[i], FoldPlace{});
        }
    }
    for (const FlowSlot flow : image.flow) {
        if (flow != kNone) {
            place_flow(flow, FoldPlace{});
        }
    }
}

void FoldTable::update_due(NodeId host) {
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

}  // namespace sluice::step
