// SPDX-License-Identifier: Apache-2.0
/// Whether switches of folds are buffer-independent: copies share no buffer with their representative, so that a fold
/// ends before any switch decision could depend on one.
///
/// Some switches are so whatever their flows have in the network (OccupancyBounds). Others, whose flows have no windows,
/// are as long as little waits in them: their queues are looked at between windows.
#pragma once

#include <set>
#include <vector>

#include "core/clocks/occupancy_bounds.h"
#include "core/fold/flow_prints.h"
#include "core/fold/fold_table.h"

namespace sluice::step {

class BufferWatch {
  public:
    /// All must outlive this.
    BufferWatch(const WorldStore& store, const FoldTable& folds, const FlowPrints& prints);

    /// A flow comes into service, or leaves the network.
    void enter(FlowSlot flow, const FlowPrint& print);
    void leave(FlowSlot flow, const FlowPrint& print);

    /// Whether nothing that happens at the switch in the window that begins now depends on its buffer.
    bool stays_independent(NodeId node, Tick now);
    /// The same, asked once of each switch since begin_comparison().
    bool is_independent(NodeId node, Tick now);
    void begin_comparison();
    /// Adds folds at switches of which that is not true any more, as `entered` have come into service.
    void add_dependent(const FlowGroup& entered, Tick now, std::set<std::uint32_t>& folds);
    /// Folds that must end, as their switches' buffers may matter in the window that begins now.
    std::set<std::uint32_t> crowded_folds(Tick now);
    /// Queues may have changed: crowded_folds() looks at them at the next call.
    void look_again() { independent_until_ = 0; }

  private:
    enum class Answer : std::uint8_t { unknown, independent, dependent };

    const Footprint& footprint(const FlowPrint& print);
    Tick independent_for(PortId in, std::int64_t bytes) const;
    Tick independent_for(PortId in) const;
    std::vector<Tick> times_if_empty() const;
    Tick independent_until(NodeId node, Tick now) const;
    void add_folds_at(NodeId node, std::set<std::uint32_t>& folds) const;
    void list_entrances();

    const Topology& topology_;
    const World& world_;
    const FoldTable& folds_;
    const FlowPrints& prints_;
    OccupancyBounds leases_;
    bool may_crowd_ = false;         ///< folds are at switches that are not divisible
    Tick independent_until_ = 0;     ///< those switches' buffers do not matter before
    std::vector<Tick> if_empty_;     ///< by node: times_if_empty()
    std::vector<Tick> times_;        ///< by node, scratch
    std::vector<Answer> answers_;    ///< by node, of is_independent()
    std::vector<NodeId> switches_;   ///< of folds, as list_entrances() found them
    std::vector<PortId> entrances_;  ///< the same
    std::uint64_t listed_ = ~0ULL;   ///< generation() of what was listed
    Footprint footprint_;            ///< scratch of footprint()
};

}  // namespace sluice::step
