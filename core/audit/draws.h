// SPDX-License-Identifier: Apache-2.0
/// Which of what can be audited is: draws with known probabilities, within a budget.
///
/// What costs c packet-hops to audit and weighs x (how much of its flows' times it is, summed over them) is drawn with a
/// probability in proportion to x / sqrt(c), at most 1, which makes the error of a ratio least for what is spent
/// (Cochran, Sampling Techniques, 5.5). So of like weight what is long and large is drawn less often. The factor is such
/// that had all so far been drawn with it, what is due by now would have been spent: kAim of `share` of the packet-hops
/// that the run has simulated, and at least an advance: kFirstAdvance at once, as runs begin with short flows, which count as much
/// as long ones, and the rest with the run's progress. It follows what was spent, in expectation and in fact, and nothing takes
/// more than a small part of what is due.
///
/// Among what is alike (a stratum) the draw is systematic: probabilities are added up from a random start, and whatever
/// takes the sum across a whole number is drawn; the first few of each are drawn with a probability of up to a half. What
/// can be drawn comes in an order that depends on the scenario alone, and so do the draws, on it and the seed.
#pragma once

#include <cstdint>
#include <map>

#include "core/packet/state.h"

namespace sluice::audit {

struct Candidate {
    int stratum = 0;
    double weight = 0;
    double cost = 0;    ///< packet-hops
    double copies = 1;  ///< of it, sheets among them; an audit is of all
    bool certain = false;
};

class Draws {
  public:
    /// `share` of the packet-hops of `world`, above 0, which must outlive it; `advance` in packet-hops.
    Draws(const step::World& world, double share, double advance, std::uint64_t seed)
        : world_(world), share_(share), advance_(advance), seed_(seed) {}

    /// The probability with which it was drawn; 0: it was not.
    double draw(const Candidate& candidate);
    /// Packet-hops that audits may have taken by now.
    double due() const;
    /// So much of the run is over.
    void progress(double share) { progress_ = share; }
    void spend(double hops) { spent_ += hops; }
    double spent() const { return spent_; }

  private:
    double probability_of(const Candidate& candidate);
    bool draws(int stratum, double probability);

    const step::World& world_;
    double share_;
    double advance_;
    double progress_ = 0;
    std::uint64_t seed_;
    double spent_ = 0;    ///< hops
    double planned_ = 0;  ///< hops, in expectation
    std::uint64_t candidates_ = 0;
    double weights_ = 0;  ///< sums over candidates
    double worth_of_cost_ = 0;
    std::map<int, int> seen_;  ///< candidates, by stratum
    std::map<int, double>
        passed_;  ///< by stratum: probabilities that have gone by, from a random start
};

}  // namespace sluice::audit
