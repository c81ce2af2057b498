// SPDX-License-Identifier: Apache-2.0
/// The columns by slot of a flow, and by connection (core/packet/state.h), and which slots are free. Columns
/// grow while no step holds a reference to them; in windows that several workers step, each fills slots of its own stock.
#pragma once

#include <cstdint>
#include <vector>

#include "core/flow/flow.h"
#include "core/packet/state.h"

namespace sluice::step {

/// Sorts slots by the ids of their flows: the order in which things happen to several flows at once,
/// whatever slots they have.
void sort_by_id(const World& world, std::vector<FlowSlot>& slots);

/// What flows have under selective repeat, by slot; bits (WindowBits) are as many words each as the window has.
struct SelectiveColumns {
    std::vector<Scoreboard> scoreboard;
    std::vector<std::uint64_t> sacked;
    std::vector<std::uint64_t> arrived;
    std::vector<std::uint64_t> trimmed;  ///< empty unless switches trim
    std::vector<Recycled> recycled;      ///< empty unless entropy values are used again
    std::vector<EntropyScores> scores;   ///< empty unless bad entropy values are passed over
    std::vector<Credit> credit;          ///< empty unless receivers grant credits
};

class FlowColumns {
  public:
    /// `by_pair`: flows have base RTTs and windows of their own.
    FlowColumns(World& world, bool by_pair) : world_(world), by_pair_(by_pair) {}
    ~FlowColumns();
    FlowColumns(const FlowColumns&) = delete;
    FlowColumns& operator=(const FlowColumns&) = delete;

    std::size_t slot_count() const { return id_.size(); }
    std::size_t free_count() const { return free_.size(); }
    /// A free slot; a new one where there is none.
    FlowSlot take();
    /// Flow `id` has a taken slot, and has not started; its route is the caller's to set.
    void fill(FlowSlot slot, FlowId id, const FlowSpec& spec);
    void set_pair(FlowSlot slot, Tick base_rtt, std::int64_t window);
    /// The slot is free. Nothing of the flow may be in the network or in a host's timers but what is
    /// known to be stale.
    void release(FlowSlot slot);

    /// Flows that have a slot, in order of their ids.
    std::vector<FlowSlot> living() const;
    FlowRecord record(FlowSlot slot) const { return {id_[slot], spec_[slot], result_[slot]}; }

    ConnectionId connection_count() const { return static_cast<ConnectionId>(queue_pair_.size()); }
    void reserve_connections(ConnectionId count);

    /// Flows repeat selectively, from the first one on.
    void repeat_selectively(std::uint32_t window, std::uint32_t threshold);
    /// From here on ACKs are no packets.
    void leave_answers_out();
    /// kNever: there is no way, they are lost.
    void set_answer_time(FlowSlot slot, Tick takes) { answer_takes_[slot] = takes; }

    std::size_t memory_bytes() const;

  private:
    void grow(std::size_t count);
    void grow_windows(std::size_t count);

    World& world_;
    const bool by_pair_;
    // By slot.
    std::vector<FlowId> id_;
    std::vector<FlowSpec> spec_;
    std::vector<FlowRoute> route_;
    std::vector<Receiver> receiver_;
    std::vector<std::uint32_t> sender_at_;
    std::vector<FlowResult> result_;
    std::vector<FlowSlot> following_;
    std::vector<std::int64_t> window_;  ///< by_pair_
    std::vector<Tick> base_rtt_;        ///< by_pair_
    SelectiveColumns selective_;
    std::vector<Wire> answers_;          ///< empty unless answers are left out
    std::vector<Tick> answer_takes_;     ///< likewise
    std::vector<QueuePair> queue_pair_;  ///< by connection
    std::vector<FlowSlot> free_;
};

}  // namespace sluice::step
