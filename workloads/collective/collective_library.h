// SPDX-License-Identifier: Apache-2.0
/// Collectives by kind, algorithm and placement, as operations of a job's graph: what NCCL is to a
/// training framework. What each algorithm sends, and what that costs: docs/models/collectives.md.
/// Every message is a flow. Between members of one server it is instead, where that is computed, a
/// task on the sender's links (bytes / bandwidth of send, one after the other) and a signal that
/// arrives `server_hop` after it; a collective of one server is a meet.
/// A member is done when its last receive is complete, or where it only sends, when its sends are.
/// Errors: ConfigError for a group, size or algorithm that does not fit, naming the collective.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workloads/collective/algorithm_list.h"
#include "workloads/collective/collectives.h"
#include "workloads/collective/transfer.h"
#include "workloads/model/intra_node.h"
#include "workloads/model/nccl_plan.h"

namespace sluice {

/// The order of members around rings and chains, and so who sends from server to server.
enum class RingOrder : std::uint8_t {
    given,  ///< the members' own; further channels begin further on inside each server
    /// Servers one after the other; from one to the next by a rail that both have, as every second one is gone through
    /// backwards.
    rail,
};

inline constexpr std::uint32_t kUsualChannels = 0;
inline constexpr std::int64_t kUsualChunk = -1;

/// What NCCL's choice between servers goes by.
struct NcclHardware {
    NcclLink link;                      ///< between GPUs of a server
    std::function<double(RankId)> nic;  ///< B/s of a rank's ports of the network
    NcclLimits limits;
};

/// Where ranks are and how collectives run; the same for a whole job.
struct CollectiveOptions {
    std::vector<CollectiveAlgorithm> algorithms;  ///< by CollectiveKind; missing: automatic
    /// The server of a rank, and its index (rail) in it. Null: each rank has a server of its own;
    /// the rail is the member's place among those of its server.
    std::function<std::uint32_t(RankId)> server;
    std::function<std::uint32_t(RankId)> rail;
    /// Whether the network joins two ranks' hosts. Where it does not, rings, chains and trees reach the other server through a
    /// member of their own server that it joins to it. Null: it joins all.
    std::function<bool(RankId, RankId)> joined;
    /// Over how many queue pairs messages go (JobGraph::set_queue_pairs()). Null: one.
    JobGraph::QueuePairs queue_pairs;
    bool computed_in_server = true;  ///< false: the network carries traffic inside servers
    /// Includes software: `overhead` is not added to what is computed as a whole.
    IntraNode intra_node;
    std::optional<IntraNode> nvls;  ///< the same by reduction in the switch, where GPUs have it
    /// Of one message of an algorithm inside a server, where it is computed (NCCL's tuning tables: one
    /// NVLink step of the Simple protocol). The linear model's latency is that of a whole operation.
    Tick server_hop = 3'400 * kNanosecond;
    std::optional<NcclHardware> nccl;  ///< without it algorithm nccl is refused
    /// The tensor is split over so many copies of the algorithm; kUsualChannels: usual_channels().
    std::uint32_t channels = kUsualChannels;
    RingOrder ring_order = RingOrder::given;
    /// Bytes that are pipelined at a time; 0: whole steps; kUsualChunk: as NCCL, usual_chunk().
    std::int64_t chunk = 0;
    /// Trees of algorithm nccl between servers have NCCL's chunks, whatever `chunk` is. Its rings take about as long in whole
    /// steps, which are fewer.
    bool plans_chunk = false;
    Tick overhead = 0;       ///< software, once per collective and member, before it sends
    Tick step_overhead = 0;  ///< of each message on top of the network's
    /// The same where both ends are in one server, and where an NVSwitch is one; unset: the same.
    std::optional<Tick> server_step_overhead;
    std::optional<Tick> nvswitch_step_overhead;
    /// A message is received when its sender has the last acknowledgement and has told the receiver,
    /// which takes so long (at least the network's lookahead); unset: with its last byte.
    std::optional<Tick> receipt_notice;
    /// A ring's member takes so long over each receipt, one after the other, before it passes on.
    Tick forwarding = 0;
    /// How long a message takes to leave its sender. Set: a member of a ring is done only when its
    /// messages have left it; null: when it has received what it is to have.
    std::function<Tick(RankId from, RankId to, std::int64_t bytes)> departure;
    /// Kinds whose rings go from server to server on one rail: who would leave on another hands over
    /// to the member of its server on the rail on which the ring enters the next one (PXN).
    std::vector<CollectiveKind> ring_pxn;
    /// kUsualChannels: rings inside one server, too, run once per member.
    bool channels_in_server = false;
    /// What a member has ready at one instant starts in reverse order: the last channel's message
    /// first, and of all pairs at once the one to the last member; else channels in order, and the
    /// next member first.
    bool last_first = false;
    /// The rank that stands for the NVSwitches of a server, which then reduce and multicast in an
    /// all-reduce by `nvls` over a network. Null: none does.
    std::function<RankId(std::uint32_t server)> nvswitch;
    /// deepep-dispatch and -combine: to how many members of another server a token goes, where it goes there at all (the mean).
    /// It crosses once.
    double server_copies = 1;
    std::uint32_t window = 0;  ///< all pairs at once: unfinished sends of a member; 0: all
    /// The resource of a rank that stands for its links inside the server.
    RankResourceId server_links = 0;
};

/// Messages that one graph may hold; a message is about 100 bytes of columns here and in an engine.
inline constexpr std::size_t kMostMessages = 50'000'000;

/// As NCCL (graph/search.cc): a ring, chain or tree of a group that has several members in each of
/// several servers runs once per member of a server, so that each copy leaves the server by a NIC of
/// its own; as often as the server with the fewest has members. All else: 1.
/// `servers`: how many members each has, at rings in the given order those that stand together.
std::uint32_t usual_channels(CollectiveAlgorithm algorithm,
                             const std::vector<std::size_t>& servers);

/// NCCL's chunk (Simple protocol; enqueue.cc): 512 KiB, an eighth of a channel's buffer, where an
/// algorithm forwards what it receives: broadcast, reduce, tree. A tree's chunk is halved down to
/// 128, 64, 32 KiB while there are fewer than 8, 4, 1 per level of the tree. All else: whole steps.
/// `bytes` of one tree or chain; `depth` in hops.
std::int64_t usual_chunk(CollectiveKind kind, CollectiveAlgorithm algorithm, std::int64_t bytes,
                         std::uint32_t depth);

/// Appends collectives to one graph. Results are those of collectives.h: per member the operation
/// that is complete when the member is done, `after` itself where there is one member.
/// After a reduce-scatter, and before an all-gather, part i of n of each channel's share is at
/// member i; at the algorithms hierarchical and nvls the parts are numbered by (rail, server).
class CollectiveLibrary {
  public:
    CollectiveLibrary(JobGraph& graph, CollectiveOptions options);

    /// `algorithm` overrides the options'. ConfigError if the algorithm cannot do that: it says
    /// which can. Broadcast and reduce: the root is member 0. Send: two members, 0 to 1.
    std::vector<OpId> add(CollectiveKind kind, const CollectiveSpec& spec, const Members& members,
                          CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic);

    /// All-to-all where member i sends bytes[i * n + j] to member j (skewed experts); nothing is
    /// sent where that is 0. The collective's size is spec.bytes, for results only.
    std::vector<OpId> add_uneven_all_to_all(
        const CollectiveSpec& spec, const Members& members, const std::vector<std::int64_t>& bytes,
        CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic);

    /// One message: a flow, or the linear model's time where both are in one server and that is
    /// computed. `after` is the sender's, `ready` the receiver's (kNone: it
    /// may receive at once). The first of the pair completes when
    /// the sender is done.
    JobGraph::Pair add_point_to_point(const CollectiveSpec& spec, RankId from, RankId to,
                                      OpId after, OpId ready = kNone);

    const CollectiveOptions& options() const { return options_; }

    /// Tells `watcher` of every transfer that is added from now on; meets carry none.
    void watch(TransferWatcher watcher) { watcher_ = std::move(watcher); }

  private:
    /// The algorithm that the caller asks for, or that the options name where the caller leaves it to them.
    CollectiveAlgorithm requested(CollectiveKind kind, CollectiveAlgorithm algorithm) const;
    CollectiveAlgorithm choose(CollectiveKind kind, CollectiveAlgorithm wanted,
                               const Members& members) const;
    /// None where it is left to choose(): inside a server, or kinds that are not planned.
    std::optional<NcclPlan> plan_of(CollectiveKind kind, const CollectiveSpec& spec,
                                    const Members& members) const;
    bool one_server(const std::vector<RankId>& ranks) const;
    bool all_joined(const std::vector<RankId>& ranks) const;
    std::vector<OpId> add_planned(CollectiveKind kind, const CollectiveSpec& spec,
                                  const Members& members, const NcclPlan& plan);

    JobGraph& graph_;
    CollectiveOptions options_;
    TransferWatcher watcher_;
};

}  // namespace sluice
