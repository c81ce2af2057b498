// SPDX-License-Identifier: Apache-2.0
/// Recursive halving (reduce-scatter) and doubling (all-gather): log2 n exchanges with ever nearer,
/// then ever farther partners. An all-reduce of any number of members first folds those above a
/// power of two into their neighbours (Thakur, Rabenseifner and Gropp, "Optimization of collective
/// communication operations in MPICH", 2005).
#include "workloads/collective/algorithms.h"

namespace sluice {

namespace {

class Exchange {
  public:
    /// Among `members`, a power of two of them, in parts of `slice`.
    Exchange(Schedule& schedule, std::vector<Member> members, Slice slice)
        : schedule_(schedule), members_(std::move(members)), slice_(slice) {
        for (const Member member : members_) held_.push_back(schedule.start(member));
    }

    std::vector<OpId>& held() { return held_; }

    void halve() {
        for (std::size_t distance = size() / 2; distance >= 1; distance /= 2) {
            step(distance, true);
        }
    }

    void double_up() {
        for (std::size_t distance = 1; distance < size(); distance *= 2) step(distance, false);
    }

  private:
    std::size_t size() const { return members_.size(); }

    /// The `count` parts from `first` on.
    Slice parts(std::size_t first, std::size_t count) const {
        const Slice begin = part_of(slice_, size(), first);
        const Slice last = part_of(slice_, size(), first + count - 1);
        return {begin.offset, last.offset + last.bytes - begin.offset};
    }

    /// Partners are `distance` apart; blocks of `distance` parts change hands. Halving sends the
    /// partner's block, doubling one's own.
    void step(std::size_t distance, bool reduce) {
        std::vector<OpId> received(size());
        for (std::size_t i = 0; i < size(); ++i) {
            const std::size_t partner = i ^ distance;
            const std::size_t owner = reduce ? partner : i;
            const Slice block = parts(owner / distance * distance, distance);
            const Hop hop = schedule_.transfer(members_[i], members_[partner], block, reduce);
            schedule_.depend(hop.first, held_[i]);
            schedule_.depend(hop.received, held_[partner]);
            received[partner] = hop.received;
        }
        held_ = std::move(received);
    }

    Schedule& schedule_;
    std::vector<Member> members_;
    Slice slice_;
    std::vector<OpId> held_;
};

/// Of the first 2 (n - p) members the even ones give their data to the next one, and get the
/// result from it.
std::vector<OpId> add_folded_all_reduce(Schedule& schedule, Slice slice) {
    const Member n = schedule.size();
    Member power = 1;
    while (power <= n / 2) power *= 2;
    const Member folded = n - power;
    std::vector<Member> members;
    for (Member member = 0; member < n; ++member) {
        if (member >= 2 * folded || member % 2 == 1) members.push_back(member);
    }
    Exchange exchange(schedule, members, slice);
    for (Member i = 0; i < folded; ++i) {
        const Hop hop = schedule.transfer(2 * i, 2 * i + 1, slice, true);
        schedule.depend(hop.first, schedule.start(2 * i));
        schedule.depend(hop.received, schedule.start(2 * i + 1));
        exchange.held()[i] = hop.received;
    }
    exchange.halve();
    exchange.double_up();
    std::vector<OpId> done(n);
    for (std::size_t i = 0; i < members.size(); ++i) done[members[i]] = exchange.held()[i];
    for (Member i = 0; i < folded; ++i) {
        const Hop hop = schedule.transfer(2 * i + 1, 2 * i, slice, false);
        schedule.depend(hop.first, done[2 * i + 1]);
        schedule.depend(hop.received, schedule.start(2 * i));
        done[2 * i] = hop.received;
    }
    return done;
}

std::vector<OpId> add_halving_doubling(Schedule& schedule, CollectiveKind kind) {
    const Member n = schedule.size();
    if (kind != CollectiveKind::all_reduce && (n & (n - 1)) != 0) {
        schedule.fail(std::string("algorithm halving-doubling does ") + to_string(kind) +
                      " for a power of two of members, not for " + std::to_string(n) +
                      "; ring does it for any number");
    }
    return add_channels(schedule, [&](std::size_t, Slice slice) {
        if (kind == CollectiveKind::all_reduce) return add_folded_all_reduce(schedule, slice);
        std::vector<Member> members(n);
        for (Member member = 0; member < n; ++member) members[member] = member;
        Exchange exchange(schedule, members, slice);
        if (kind == CollectiveKind::reduce_scatter) {
            exchange.halve();
        } else {
            exchange.double_up();
        }
        return exchange.held();
    });
}

}  // namespace

extern const AlgorithmType kHalvingDoublingAlgorithm{
    "halving-doubling",
    "log2 n exchanges; needs a power of two of members, but for all-reduce",
    {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather},
    add_halving_doubling};

}  // namespace sluice
