// SPDX-License-Identifier: Apache-2.0
/// Parallel aggregated trees, NCCL's PAT: each part goes along a binomial tree of its own, from or to the member that it
/// is for, and what goes to the same member in a step goes as one message. The farthest distances, over which the
/// fewest parts go, come first in an all-gather and last in a reduce-scatter; any number of members will do (Jeaugey,
/// "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", 2025).
#include "workloads/collective/algorithms.h"

namespace sluice {

namespace {

/// One channel's copy.
class AggregatedTrees {
  public:
    AggregatedTrees(Schedule& schedule, Slice slice) : schedule_(schedule), slice_(slice) {
        for (Member member = 0; member < size(); ++member) held_.push_back(schedule.start(member));
    }

    std::vector<OpId> gather() {
        for (Member distance = farthest(); distance >= 1; distance /= 2) step(distance, false);
        return held_;
    }

    std::vector<OpId> scatter() {
        for (Member distance = 1; distance < size(); distance *= 2) step(distance, true);
        return held_;
    }

  private:
    Member size() const { return schedule_.size(); }

    Member farthest() const {
        Member distance = 1;
        while (distance * 2 < size()) distance *= 2;
        return distance;
    }

    /// In an all-gather a member sends the parts of those that are a multiple of 2 x distance before it, itself
    /// included, to the one `distance` further on; in a reduce-scatter the sums go the other way.
    void step(Member distance, bool reduce) {
        const Member n = size();
        std::vector<OpId> received(n);
        for (Member near = 0; near < n; ++near) {
            std::vector<Slice> parts;
            for (Member before = 0; before + distance < n; before += 2 * distance) {
                parts.push_back(part_of(slice_, n, (near + n - before) % n));
            }
            const Member far = (near + distance) % n;
            const Member from = reduce ? far : near;
            const Member to = reduce ? near : far;
            const Hop hop = schedule_.transfer(from, to, parts, reduce);
            schedule_.depend(hop.first, held_[from]);
            schedule_.depend(hop.received, held_[to]);
            received[to] = hop.received;
        }
        held_ = std::move(received);
    }

    Schedule& schedule_;
    Slice slice_;
    std::vector<OpId> held_;  ///< by member, when it has what it passes on next
};

std::vector<OpId> add_pat(Schedule& schedule, CollectiveKind kind) {
    return add_channels(schedule, [&](std::size_t, Slice slice) {
        AggregatedTrees trees(schedule, slice);
        return kind == CollectiveKind::all_gather ? trees.gather() : trees.scatter();
    });
}

}  // namespace

extern const AlgorithmType kPatAlgorithm{
    "pat",
    "a binomial tree for each part, in log2 n steps",
    {CollectiveKind::reduce_scatter, CollectiveKind::all_gather},
    add_pat};

}  // namespace sluice
