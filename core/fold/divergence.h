// SPDX-License-Identifier: Apache-2.0
/// Hosts of copies that do something else than the representative's host. Such a host is materialized at that instant
/// and executed by itself until the window is over: what it sends meanwhile reaches nobody before. Then the rest of its
/// copy is, too.
#pragma once

#include <utility>
#include <vector>

#include "core/fold/materializer.h"

namespace sluice::step {

class Divergence {
  public:
    /// All must outlive this.
    Divergence(WorldStore& store, FoldTable& folds, Materializer& materializer)
        : store_(store), world_(store.world()), folds_(folds), materializer_(materializer) {}

    /// Host `host` (its index) of a copy goes its own way from this instant of a window on.
    void begin(std::uint32_t id, std::uint32_t number, std::uint32_t host);
    /// The window is over at `now`. Parts whose copies have ended, and that may be copies of each other all the same, are
    /// added to `left`.
    void finish_window(Tick now, FlowGroups& left);
    /// The same of a host that has diverged between windows: its copy ends at once, and the
    /// fold if it has no other.
    void end_at_once(std::uint32_t id, std::uint32_t number, FlowGroups& left);
    /// Copies have diverged in the window under way.
    bool pending() const { return !of_window_.empty(); }
    /// Copies that have diverged, so far.
    std::uint64_t count() const { return count_; }

  private:
    void finish(std::uint32_t id, std::uint32_t number, Tick now, FlowGroups& left);
    std::vector<NodeId> write_hosts(const Fold& fold, const std::vector<std::uint32_t>& numbers);
    void write_ports(const Fold& fold, const Image& image);
    void write_links(const CopyWriter& writer, const HostFork& fork);

    WorldStore& store_;
    World& world_;
    FoldTable& folds_;
    Materializer& materializer_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> of_window_;  ///< folds and copies
    std::uint64_t count_ = 0;
};

}  // namespace sluice::step
