// SPDX-License-Identifier: Apache-2.0
/// Lets copies go: their state is written from the representative's, and what they name is executed by itself again.
#pragma once

#include "core/fold/copy_writer.h"
#include "core/fold/fold_members.h"
#include "core/fold/supervision.h"

namespace sluice::step {

class Materializer {
  public:
    /// All must outlive this.
    Materializer(WorldStore& store, FoldTable& folds, FoldMembers& members,
                 const Supervision& supervision)
        : store_(store),
          world_(store.world()),
          folds_(folds),
          members_(members),
          supervision_(supervision) {}

    CopyWriter writer_of(const Fold& fold, const Image& image) const {
        return CopyWriter(store_, folds_.places(), fold, image);
    }

    /// Everything of a fold is executed by itself again. Returns its members.
    FlowGroups take_apart(std::uint32_t id);
    /// The same of a copy, with all sheets of its part.
    void let_go(std::uint32_t id, std::uint32_t number);
    /// Ports and hosts that no flow of the fold needs any more are their copies' own again.
    void drop_unused(std::uint32_t id);
    /// Copies that are all sheets of one part are in no fold any more; their state has been written.
    void end_part(std::uint32_t id, const std::vector<std::uint32_t>& numbers);
    /// The representative has no copies any more.
    void dissolve(std::uint32_t id);

    /// Packets that copies have sent and that were not executed, so far.
    std::uint64_t hops() const;
    /// So many were found when a copy's port was written.
    void add_hops(std::uint64_t hops) { hops_ += hops; }

  private:
    void write_part(std::uint32_t id, const std::vector<std::uint32_t>& numbers);
    void end_copy(std::uint32_t id, std::uint32_t number);
    void drop_port(std::uint32_t id, std::uint32_t index);
    void drop_host(std::uint32_t id, std::uint32_t index);
    void forget_port(Fold& fold, std::uint32_t index);
    void forget_host(Fold& fold, std::uint32_t index);

    WorldStore& store_;
    World& world_;
    FoldTable& folds_;
    FoldMembers& members_;
    const Supervision& supervision_;
    std::uint64_t hops_ = 0;  ///< of ports that have been written
};

}  // namespace sluice::step
