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
#include <utility>
#include <vector>

#include "core/calibration/group_kind.h"
#include "core/calibration/near_facts.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice::hybrid {

/// Groups of more flows are *large*: all-to-alls. They are named by their canonical form, as there are too many orders of so
/// many flows.
inline constexpr std::size_t kFewFlows = 6;
constexpr bool is_large(std::size_t flows) { return flows > kFewFlows; }

/// In place of a kind: of a trajectory that only its own group follows.
inline constexpr std::uint32_t kOfNoKind = kNone - 1;

/// How a large group, or a flow alone, settles (docs/models/phases.md, Trajectories).
struct Settling {
    /// Ticks in which differences between its flows' rates shrink to a part of 1/e; 0: they stay.
    double convergence = 0;
    /// It may have settled after so many; 0: it never has before it is full.
    Tick steps = 0;
};

/// What the flows of one group did, in steps of equal length, by their place in the kind. A flow's *advance* at an age is what
/// of it was acknowledged a base round trip later, without what was under way as the group formed. It counts in ticks: bytes
/// over the rate that the flow's law aimed at. So groups can follow each other whatever part of their links ACKs take.
class Trajectory {
  public:
    /// `step` in ticks, positive.
    Trajectory(std::size_t flows, Tick step, const Settling& settling = {})
        : advance_(flows, std::vector<float>{0}),
          law_(flows),
          stage_(flows),
          keeps_rate_(flows, false),
          step_(step),
          settling_(settling) {}

    std::size_t flows() const { return advance_.size(); }
    Tick step() const { return step_; }
    /// The age up to which it is recorded.
    Tick reach() const;
    /// Nothing more needs to be recorded; or, of a large group that does not settle, halve() comes first.
    bool is_complete() const;
    bool settles() const { return settling_.steps > 0; }
    const Settling& settling() const { return settling_; }
    /// The flow's rate does not converge to the others'. Once the group has settled, it stays as it is.
    void keep_rate(std::size_t flow) { keeps_rate_[flow] = true; }
    bool keeps_rate(std::size_t flow) const { return keeps_rate_[flow]; }
    /// Keeps every second step: steps are twice as long from now on.
    void halve();
    /// Of a flow alone that has settled (kSettled): from here on it has done what `other` did, which is complete.
    void go_on_as(const Trajectory& other);
    /// The age up to which others may follow: messages differ in length. What is complete goes on as it has settled: a flow
    /// alone as it is, those that share ports ever more alike.
    Tick extended_reach() const;

    /// At the end of the flow's next step, ticks.
    void add_advance(std::size_t flow, double advance) {
        advance_[flow].push_back(static_cast<float>(advance));
    }
    /// The same: its law's rate over what the law aims at, and the law's congestion::increase_stage().
    void add_law(std::size_t flow, double law, std::int64_t stage = 0) {
        law_[flow].push_back(static_cast<float>(law));
        stage_[flow].push_back(static_cast<std::uint8_t>(std::min<std::int64_t>(stage, 255)));
    }
    /// Steps that have been added.
    std::size_t advances(std::size_t flow) const { return advance_[flow].size() - 1; }
    std::size_t laws(std::size_t flow) const { return law_[flow].size(); }

    double advance(std::size_t flow, double age) const;
    double law(std::size_t flow, double age) const;
    std::int64_t stage(std::size_t flow, double age) const;
    /// The age at which the flow has come to `advance`; infinite: never.
    double age_at(std::size_t flow, double advance) const;

  private:
    bool has_settled() const;
    bool moves_little(double part) const;
    std::size_t law_at(std::size_t flow, double age) const;
    double last_slope(std::size_t flow) const;
    double slope(std::size_t flow, std::size_t first, std::size_t last) const;
    double mean_law(std::size_t flow, std::size_t first, std::size_t last) const;
    double mean_slope(std::size_t first, std::size_t last) const;
    std::size_t converging() const;
    double settled_slope() const;
    double advance_beyond(std::size_t flow, double time) const;
    double time_beyond(std::size_t flow, double more) const;

    std::vector<std::vector<float>> advance_;       ///< by flow, from age 0 on
    std::vector<std::vector<float>> law_;           ///< by flow, from the first step's end on
    std::vector<std::vector<std::uint8_t>> stage_;  ///< the same
    std::vector<bool> keeps_rate_;
    Tick step_;
    Settling settling_;
    mutable double settled_ = 0;  ///< settled_slope(), when there were so many steps
    mutable std::pair<std::size_t, std::size_t> settled_at_;
};

/// What a law has come down from does not show in a flow alone any more after so many steps.
inline constexpr Tick kSettled = 32;

/// A group is being recorded as long as this exists.
struct Recording {
    Recording(std::size_t flows, Tick step, const Settling& settling = {})
        : trajectory(std::make_shared<Trajectory>(flows, step, settling)) {}
    std::shared_ptr<Trajectory> trajectory;
};

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
