// SPDX-License-Identifier: Apache-2.0
/// How groups of flows have gone on from the instant at which they formed (docs/models/phases.md, Trajectories). Groups whose
/// flows share ports diverge, and nobody can say what one of them will do. But it will do as others of its kind have done. So
/// some groups of a kind are recorded, and each later one follows one of these, drawn at random. Sums over groups are then
/// right in the mean, however much groups differ. A trajectory is followed while it is still growing, too: groups that form
/// together go on as far as those that are executed beside them have come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/calibration/group_kind.h"
#include "core/calibration/near_facts.h"
#include "core/calibration/trajectory.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice::hybrid {

/// In place of a kind: of a trajectory that only its own group follows.
inline constexpr std::uint32_t kOfNoKind = kNone - 1;

class TrajectoryMemory;

/// The trajectories of a run.
class Trajectories {
  public:
    /// Also follows those of earlier runs. Call before the first window; `memory` must outlive this.
    void use_memory(TrajectoryMemory& memory);
    /// After the run: saves what it has recorded.
    void save(Tick now) const;
    /// The round trips and the like that kinds are made of.
    NearFacts& facts() { return facts_; }
    /// The number of a kind.
    std::uint32_t kind_of(const GroupKey& key);
    /// Calls visit(key, kind) for the kinds whose keys are `begin` and more.
    template <class Visit>
    void each_like(const GroupKey& begin, Visit&& visit) const {
        for (auto at = index_.lower_bound(begin);
             at != index_.end() && at->first.size() >= begin.size() &&
             std::equal(begin.begin(), begin.end(), at->first.begin());
             ++at) {
            visit(at->first, at->second);
        }
    }
    /// Of flows alone: what `find(kind)` has of the kind whose distance(key) is least, and below `beyond`, of those whose keys are
    /// `begin` and more. Null: none of these has anything.
    template <class Distance, class Find>
    std::shared_ptr<const Trajectory> nearest(const GroupKey& begin, std::int64_t beyond,
                                              Distance&& distance, Find&& find) const {
        std::shared_ptr<const Trajectory> found;
        each_like(begin, [&](const GroupKey& key, std::uint32_t kind) {
            if (const std::int64_t far = distance(key); far < beyond) {
                if (auto trajectory = find(kind)) {
                    found = std::move(trajectory);
                    beyond = far;
                }
            }
        });
        return found;
    }
    /// A group of this kind has formed.
    void count(std::uint32_t kind) { ++kinds_[kind].formed; }
    /// True if too few are known to a group of so many flows, the first of which ends at the age `need`: it should be recorded.
    bool wants(std::uint32_t kind, std::size_t flows, Tick need) const;
    /// True for one group at a time: it is to find out what is wanted, until then.
    bool claim(std::uint32_t kind, Tick now, Tick until);
    void keep(std::uint32_t kind, const std::shared_ptr<Recording>& recording);
    /// One that goes on beyond `age`; null: none does, or too few are known. `draw`: a random number.
    std::shared_ptr<const Trajectory> draw(std::uint32_t kind, std::size_t flows, Tick age,
                                           Tick need, std::uint64_t draw) const;
    /// Of a flow alone: one that is complete; null: none is.
    std::shared_ptr<const Trajectory> complete(std::uint32_t kind) const;
    /// The same: what all have done.
    void add_to(LateSteps& late, std::uint32_t kind) const;
    /// It is still being recorded.
    bool grows(std::uint32_t kind, const Trajectory& trajectory) const;
    /// One of this kind is being recorded, and will soon be worth following.
    bool begins(std::uint32_t kind) const;
    /// It is worth following further, from `age` on.
    bool goes_on(std::uint32_t kind, const Trajectory& trajectory, Tick age) const;

  private:
    std::shared_ptr<const Trajectory> draw_large(std::uint32_t kind, Tick age, Tick need,
                                                 std::uint64_t draw) const;

    struct Kept {
        std::shared_ptr<Trajectory> trajectory;
        std::weak_ptr<Recording> recording;  ///< expired: it is complete
        bool recalled = false;               ///< of an earlier run
    };
    struct Kind {
        std::vector<Kept> kept;
        std::uint64_t formed = 0;    ///< groups
        std::uint64_t recorded = 0;  ///< of these
        Tick claimed = -1;           ///< until then
    };

    TrajectoryMemory* memory_ = nullptr;
    NearFacts facts_;
    std::map<GroupKey, std::uint32_t> index_;
    std::vector<Kind> kinds_;
};

}  // namespace sluice::hybrid
