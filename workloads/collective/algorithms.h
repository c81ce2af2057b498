// SPDX-License-Identifier: Apache-2.0
/// What an algorithm says of itself, and what algorithms share. Internal to this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "workloads/collective/schedule.h"

namespace sluice {

class AllToAllSizes;

/// How many channels an algorithm has where nobody says.
enum class UsualChannels : std::uint8_t {
    one,
    per_member_of_server,  ///< NCCL's: each channel leaves the server by a NIC of its own (usual_channels())
    per_member_in_order,  ///< the same; in the given order only members that stand together count
};

/// An algorithm. Builders append a whole collective of two members or more, and return per member the operation that is
/// complete when the member is done. They refuse members that do not fit by Schedule::fail().
struct AlgorithmType {
    const char* name;  ///< in scenarios, options and messages
    const char* help;  ///< one line for people: what members send, and what it needs
    std::vector<CollectiveKind> kinds;  ///< what `add` does
    std::vector<OpId> (*add)(Schedule& schedule, CollectiveKind kind) = nullptr;
    std::vector<OpId> (*add_all_to_all)(Schedule& schedule, const AllToAllSizes& sizes) = nullptr;
    UsualChannels channels = UsualChannels::one;
    /// Null: what forwards a whole tensor (broadcast, reduce) by 512 KiB, all else in whole steps.
    std::int64_t (*usual_chunk)(std::int64_t bytes, std::uint32_t depth) = nullptr;
    /// Whether the time of this one contains its software, which is not added then. Null: never.
    bool (*includes_software)(const Schedule& schedule) = nullptr;

    bool can_do(CollectiveKind kind) const;
};

/// NCCL's chunk of what is forwarded (usual_chunk()).
inline constexpr std::int64_t kForwardedChunk = 512 * 1024;

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

/// An all-reduce up and down the two trees over these members, half of the slice by each. `held`, and the result, by
/// place among them.
std::vector<OpId> tree_all_reduce_phase(Schedule& schedule, const std::vector<Member>& members,
                                        Slice slice, const std::vector<OpId>& held);

/// How rails go across servers.
enum class AcrossServers : std::uint8_t {
    ring,
    /// An all-reduce by two trees, in one kernel: the latency inside servers is the first piece's only.
    tree,
};

/// Inside servers, then by rail across them, and back. `in_server`: what the parts inside servers
/// cost where they are computed. The first `rails` members of each server go across: all of them, or
/// fewer in an all-reduce.
std::vector<OpId> add_two_level(Schedule& schedule, CollectiveKind kind, const Servers& servers,
                                std::size_t rails, const IntraNode& in_server,
                                AcrossServers across);

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
