// SPDX-License-Identifier: Apache-2.0
/// The folds of a network, and where every port, host and flow stands in them: which is a representative, which the
/// copy of one.
#pragma once

#include <memory>
#include <vector>

#include "core/fold/fold.h"

namespace sluice::step {

class FoldTable {
  public:
    /// World::followed is the table's. `store` must outlive this.
    explicit FoldTable(WorldStore& store);
    ~FoldTable();
    FoldTable(const FoldTable&) = delete;
    FoldTable& operator=(const FoldTable&) = delete;

    /// The flow that is executed in place of `flow`: itself, unless it is a copy.
    FlowSlot leader_of(FlowSlot flow) const;
    /// The same for a port.
    PortId leader_of_port(PortId port) const;
    /// Adds the copies of `flow`.
    void list_followers(FlowSlot flow, std::vector<FlowSlot>& followers) const;
    /// Another number than before if a port's place has changed since.
    std::uint64_t generation() const { return generation_; }

    bool empty() const { return count_ == 0; }
    /// Numbers of folds are below this. That of a fold that has ended is used again.
    std::uint32_t size() const { return static_cast<std::uint32_t>(folds_.size()); }
    bool has(std::uint32_t id) const { return folds_[id] != nullptr; }
    bool has(std::uint32_t id, std::uint32_t number) const {
        return has(id) && folds_[id]->image[number] != nullptr;
    }
    Fold& operator[](std::uint32_t id) { return *folds_[id]; }
    const Fold& operator[](std::uint32_t id) const { return *folds_[id]; }
    std::uint32_t create();
    void erase(std::uint32_t id);

    const FoldPlaces& places() const { return places_; }
    const FoldPlace& of_port(PortId port) const { return places_.unit[port]; }
    const FoldPlace& of_host(NodeId host) const { return places_.host[host]; }
    /// reserve_slots() must have been called since the slot was first used.
    const FoldPlace& of_flow(FlowSlot flow) const { return places_.flow[flow]; }
    void place_port(PortId port, const FoldPlace& place);
    void place_host(NodeId host, const FoldPlace& place) { places_.host[host] = place; }
    void place_flow(FlowSlot flow, const FoldPlace& place) { places_.flow[flow] = place; }
    void reserve_slots();
    /// Everything that copy `number` names gets its place.
    void place_copy(std::uint32_t id, std::uint32_t number);
    /// What the fold still has of a copy has no place any more.
    void displace_copy(const Fold& fold, const Image& image);

    /// A representative's host stops at the first of its copies' own timers (World::followed).
    void update_due(NodeId host);
    /// The host has no copies any more.
    void end_due(NodeId host) { followed_[host] = kUnfollowed; }

  private:
    WorldStore& store_;
    World& world_;
    FoldPlaces places_;
    std::vector<std::unique_ptr<Fold>> folds_;  ///< null: the number is free
    std::vector<std::uint32_t> free_;
    std::vector<Tick> followed_;  ///< by node: World::followed
    std::uint32_t count_ = 0;
    std::uint64_t generation_ = 0;
};

}  // namespace sluice::step
