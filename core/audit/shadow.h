// SPDX-License-Identifier: Apache-2.0
/// Runs a part of a network alone with packets, from a snapshot, in a store of its own: what a skip would have
/// been. The run's world is not touched. One store for all, as large as the run's without its flows; it is built
/// for the first.
#pragma once

#include <memory>
#include <vector>

#include "core/clocks/cell_step.h"
#include "core/routing/routing.h"
#include "core/world/snapshot.h"

namespace sluice::audit {

/// A flow's bytes acknowledged over time, as its sender learned of them: straight between points.
class Course {
  public:
    struct Point {
        Tick at = 0;  ///< since the start
        std::int64_t bytes = 0;
    };

    void add(Tick at, std::int64_t bytes);
    /// Bytes at `at`, the last ones after the last point.
    double bytes_at(Tick at) const;
    /// When so many were; beyond the last point at the mean rate of its last third.
    double time_of(double bytes) const;
    std::int64_t most() const { return points_.back().bytes; }
    Tick last() const { return points_.back().at; }
    /// The flow was complete at last().
    bool ended() const { return ended_; }
    void end(Tick at, std::int64_t bytes);

  private:
    std::vector<Point> points_;
    bool ended_ = false;
};

/// What a part did.
struct ShadowRun {
    std::vector<Course> courses;  ///< by flow of the part
    std::uint64_t hops = 0;       ///< packets sent, by any port
};

/// A flow of a part whose end is told (core/world/told_flows.h).
struct ToldFlow {
    std::size_t place = 0;    ///< in the part
    std::vector<PortId> way;  ///< ports of its data
    Tick finish = 0;
};

class Shadow {
  public:
    /// Of a store on one clock, which must outlive it.
    explicit Shadow(const step::WorldStore& of) : of_(of) {}

    /// Runs `snapshot`, of `part`, for `duration`; on to twice as long until every flow has `bytes`
    /// acknowledged, where there are any. What is left of `told` flows is told from the beginning.
    ShadowRun run(const step::Snapshot& snapshot, const step::NetworkPart& part, Tick duration,
                  const std::vector<double>& bytes = {}, const std::vector<ToldFlow>& told = {});
    std::size_t memory_bytes() const { return copy_ == nullptr ? 0 : copy_->store.memory_bytes(); }

  private:
    struct Copy {
        explicit Copy(const step::WorldStore& of);

        std::vector<FlowSpec> no_flows;
        std::vector<FlowPath> no_paths;
        Routing routing;
        step::WorldStore store;
        step::CellStep step_cell;
    };

    void watch(const step::NetworkPart& part, Tick begin, std::vector<Course>& courses) const;
    std::uint64_t sent(const step::NetworkPart& part) const;
    void clear(const step::NetworkPart& part);

    const step::WorldStore& of_;
    std::unique_ptr<Copy> copy_;
};

}  // namespace sluice::audit
