// SPDX-License-Identifier: Apache-2.0
/// The algorithms, one family per file. Each appends a whole collective and returns, per member,
/// the operation that is complete when the member is done. Internal to this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "workloads/collective/schedule.h"

namespace sluice {

/// The order of members around a ring (RingOrder). In the given order members of a server stay together where they are
/// together in it; by rail always.
std::vector<Member> ring_order(const Schedule& schedule, std::size_t channel);

/// Parts that travel around rings of their own members: position q of `order` has part(q). The
/// first send of a position starts after `held`, and so does its first receive.
struct RingPhase {
    std::vector<Member> order;
    std::function<Slice(std::size_t)> part;
    std::vector<OpId> held;
    bool pxn = false;  ///< CollectiveOptions::ring_pxn
};
/// n - 1 steps; position q ends with part q of the sum. Returns by position.
std::vector<OpId> ring_reduce_scatter_phase(Schedule& schedule, const RingPhase& phase);
/// n - 1 steps; position q begins with part q.
std::vector<OpId> ring_all_gather_phase(Schedule& schedule, const RingPhase& phase);
std::vector<OpId> ring_all_reduce_phase(Schedule& schedule, const RingPhase& phase);

/// All-reduce, reduce-scatter, all-gather, broadcast, reduce.
std::vector<OpId> add_ring(Schedule& schedule, CollectiveKind kind);
/// All-reduce, broadcast, reduce.
std::vector<OpId> add_tree(Schedule& schedule, CollectiveKind kind);
/// All-reduce, reduce-scatter, all-gather.
std::vector<OpId> add_halving_doubling(Schedule& schedule, CollectiveKind kind);
std::vector<OpId> add_direct(Schedule& schedule, CollectiveKind kind);
std::vector<OpId> add_hierarchical(Schedule& schedule, CollectiveKind kind);
std::vector<OpId> add_nvls(Schedule& schedule, CollectiveKind kind);

/// Inside servers, then by rail across them, and back. `in_server`: what the parts inside servers
/// cost where they are computed.
std::vector<OpId> add_two_level(Schedule& schedule, CollectiveKind kind, const Servers& servers,
                                const IntraNode& in_server);
/// Whether `kind` by nvls is computed as a whole.
bool nvls_is_computed(const Schedule& schedule);

/// What every member sends to every other: `bytes(from, to)`.
class AllToAllSizes {
  public:
    /// Parts of `bytes` per member that differ by at most one byte.
    AllToAllSizes(Member members, std::int64_t bytes);
    /// bytes[from * members + to]
    AllToAllSizes(Member members, const std::vector<std::int64_t>& bytes);

    Member members() const { return members_; }
    Slice block(Member from, Member to) const;
    /// Nothing is sent where there is nothing to send; parts of one tensor always notify.
    bool sent(Member from, Member to) const { return even_ || block(from, to).bytes > 0; }
    /// The most that one member sends to, or receives from, those that `counts` says.
    std::int64_t most(const std::function<bool(Member, Member)>& counts) const;

  private:
    Member members_;
    bool even_;
    std::int64_t each_ = 0;              ///< even: a member's buffer
    std::vector<std::int64_t> offsets_;  ///< uneven: of each block, and the end
};

std::vector<OpId> add_direct_all_to_all(Schedule& schedule, const AllToAllSizes& sizes);
std::vector<OpId> add_pairwise_all_to_all(Schedule& schedule, const AllToAllSizes& sizes);
std::vector<OpId> add_hierarchical_all_to_all(Schedule& schedule, const AllToAllSizes& sizes);
std::vector<OpId> add_pxn_all_to_all(Schedule& schedule, const AllToAllSizes& sizes);
std::vector<OpId> add_computed_all_to_all(Schedule& schedule, const AllToAllSizes& sizes);

/// How long the parts of one all-to-all inside a server take, by the linear model: those that leave
/// a member share its links, and so do those that reach it.
class ServerShares {
  public:
    ServerShares(const Schedule& schedule,
                 const std::function<std::int64_t(Member, Member)>& bytes);
    Tick time(Member from, Member to) const;

  private:
    const Schedule& schedule_;
    std::vector<std::int64_t> out_;
    std::vector<std::int64_t> in_;
    std::vector<std::uint32_t> mates_;  ///< members in the same server
};

}  // namespace sluice
