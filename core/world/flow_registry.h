// SPDX-License-Identifier: Apache-2.0
/// Flows by their ids, slot or not: those of the list that a network is built with, and those that hosts open
/// while it runs. It knows which have been started, what opened ones wait for their start, and how those ended
/// that have no slot any more.
///
/// What concerns a host is called by the worker that steps it; different workers may do so at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "core/flow/flow.h"
#include "core/packet/state.h"
#include "core/recycled_map.h"

namespace sluice::step {

class FlowRegistry {
  public:
    /// `list` must outlive the registry.
    FlowRegistry(const std::vector<FlowSpec>& list, std::size_t nodes)
        : list_(list), scheduled_(list.size(), 0), results_(list.size()), opened_(nodes) {}

    const std::vector<FlowSpec>& list() const { return list_; }
    bool is_listed(FlowId id) const { return id < list_.size(); }

    /// From here on every flow of the list has the slot of its number.
    void pin() { pinned_ = true; }
    /// The slot of a listed flow that has not started; kNone: it gets one at its start.
    FlowSlot pinned_slot(FlowId id) const { return pinned_ ? static_cast<FlowSlot>(id) : kNone; }

    /// A timer of its host is set for its start.
    bool is_scheduled(FlowId listed) const { return scheduled_[listed] != 0; }
    void schedule(FlowId listed) { scheduled_[listed] = 1; }

    /// Gives an opened flow without an id its host's next one.
    void number(FlowSpec& spec);
    /// An opened flow waits for its start.
    void add(const FlowSpec& spec) { opened_[spec.src].waiting.add(spec.id, spec); }
    /// A flow whose start has come at `host`: of the list, or one that waits.
    const FlowSpec& starting(NodeId host, FlowId id) const;
    /// It has started.
    void forget_waiting(NodeId host, FlowId id);

    /// What has become of the flow in `slot`, if it is listed.
    void keep_result(const World& world, FlowSlot slot) const;
    /// Of the list, by id; costs the slots 0 .. slots-1.
    const std::vector<FlowResult>& results(const World& world, std::size_t slots) const;

  private:
    /// Flows of no list that a host has opened.
    struct Opened {
        std::uint32_t numbered = 0;             ///< by number()
        RecycledMap<FlowId, FlowSpec> waiting;  ///< for their start
    };

    const std::vector<FlowSpec>& list_;
    std::vector<std::uint8_t> scheduled_;  ///< by id in the list
    mutable std::vector<FlowResult>
        results_;                 ///< by id in the list; of flows in slots as last asked
    std::vector<Opened> opened_;  ///< by host
    bool pinned_ = false;
};

}  // namespace sluice::step
