// SPDX-License-Identifier: Apache-2.0
/// What one group of flows has done since it formed (trajectories.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/units.h"

namespace sluice::hybrid {

/// Groups of more flows are *large*: all-to-alls. They are named by their canonical form, as there are too many orders of so
/// many flows.
inline constexpr std::size_t kFewFlows = 6;
constexpr bool is_large(std::size_t flows) { return flows > kFewFlows; }

/// How a large group, or a flow alone, settles (docs/models/phases.md, Trajectories).
struct Settling {
    /// Ticks in which differences between its flows' rates shrink to a part of 1/e; 0: they stay.
    double convergence = 0;
    /// It may have settled after so many; 0: it never has before it is full.
    Tick steps = 0;
};

/// What flows alone have done since their laws came down, summed over their recordings.
struct LateSteps {
    double steps = 0;
    double advance = 0;      ///< in these, ticks
    double first_steps = 0;  ///< the first half of each recording's
    double first_advance = 0;

    /// Ticks per step; `steps` are above 0.
    double slope() const { return advance / steps; }
    /// They are as many as a quarter of `settles`, and both halves say the same.
    bool have_settled(Tick settles) const;
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
    /// The same, where nobody is complete: it goes on by `slope` ticks a step, and its law as in the last quarter.
    void go_on_by(double slope);
    /// Adds nothing before kSettled.
    void add_to(LateSteps& late) const;
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
    std::size_t cut_to_steps();
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

}  // namespace sluice::hybrid
