// SPDX-License-Identifier: Apache-2.0
/// What belongs to a fold, as it begins and as flows come and go: ports, hosts and flows of the representative, and
/// copies.
#pragma once

#include <memory>

#include "core/fold/flow_prints.h"
#include "core/fold/fold_table.h"
#include "core/fold/random_marks.h"

namespace sluice::step {

class FoldMembers {
  public:
    /// All must outlive this.
    FoldMembers(WorldStore& store, FoldTable& folds, const FlowPrints& prints, RandomMarks& marks)
        : store_(store), world_(store.world()), folds_(folds), prints_(prints), marks_(marks) {}

    // The representative's. What is in a fold already stays as it is.
    void lead_port(std::uint32_t id, PortId port);
    void lead_host(std::uint32_t id, NodeId host);
    /// Makes a part the representative of a new fold, whose number it returns.
    std::uint32_t lead(const FlowGroup& part);
    /// Returns the flow's index in the fold.
    std::uint32_t add_flow(std::uint32_t id, FlowSlot flow);
    /// The flow's packets are in the network from here on.
    void use(std::uint32_t id, std::uint32_t index);
    void drop_flow(std::uint32_t id, std::uint32_t index);
    /// The flow goes its own way again. Of a fold of several sheets.
    void restore_way(Fold& fold, std::uint32_t index);
    /// Whether all that a flow of the representative's touches is in the fold, and the copies' flows touch their copies.
    bool stays_inside(std::uint32_t id, FlowSlot flow) const;

    // Copies.
    void add_copy(std::uint32_t id, std::unique_ptr<Image> image);
    /// All copies that are listed are ones from here on.
    void begin_copies(std::uint32_t id);
    /// The representative's hosts wake for their copies' own timers. Once, after all copies have been added: it looks at
    /// those of all of them.
    void wake_for_copies(std::uint32_t id);
    /// Copies so far.
    std::uint64_t copies() const { return copies_; }

  private:
    const FlowPrint& print_in(const Fold& fold, std::uint32_t index) const;
    void change_uses(std::uint32_t id, const FlowPrint& print, std::uint32_t more);
    void count_anew(const Fold& fold);
    void begin_copy(Fold& fold, const Image& image);
    bool meets_by_cable(PortId port, std::uint32_t id, std::uint32_t number) const;
    bool copy_stays_inside(std::uint32_t id, std::uint32_t number, const FlowPrint& print,
                           const FlowPrint& other) const;

    WorldStore& store_;
    World& world_;
    FoldTable& folds_;
    const FlowPrints& prints_;
    RandomMarks& marks_;
    std::uint64_t copies_ = 0;
};

}  // namespace sluice::step
