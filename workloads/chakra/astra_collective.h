// SPDX-License-Identifier: Apache-2.0
/// Collectives as ASTRA-sim's system layer runs them, as operations of a JobGraph.
/// What is modelled (its classes Sys, Ring, AllToAll, HalvingDoubling, DoubleBinaryTreeAllReduce and
/// PacketBundle). A collective of S bytes is cut into chunks of S / preferred-dataset-splits. Each
/// chunk goes through phases, one per dimension that takes part: all-gather from the last dimension
/// to the first, the others the other way; with localBWAware an all-reduce of several dimensions is
/// reduce-scatters up, an all-reduce in the last, all-gathers down. At most active-chunks phases are
/// in progress on a dimension's queues of a rank. A phase is an exchange of `count` messages per
/// rank, `window` of them under way: before each of the first `window` messages, and after each
/// message received, the rank spends endpoint-delay, and for a message that is reduced three
/// accesses to local memory besides (it is written once and read twice); that permits the next send.
/// bytes: the tensor for all-reduce, reduce-scatter and all-to-all, a rank's share for all-gather.
/// Where several messages are under way they are dealt with as they come. So are chunks that wait for
/// a place in a queue, as in the original, where ranks whose chunks overtake each other can block
/// each other; or in a fixed order, the same on all ranks. Deviations: docs/models/chakra.md.
/// Files: astra_collective (dimensions, chunks, queues), astra_exchange (what the ranks of one phase
/// do), astra_custom (collectives that have traces of their own).
/// Errors: ConfigError if the algorithm cannot serve the group (a tree of 6 ranks).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/job/job_graph.h"
#include "workloads/chakra/astra_config.h"

namespace sluice::chakra {

enum class ChunkOrder : std::uint8_t {
    arrival,  ///< as they come to a queue, as the original: ranks can block each other for ever
    fixed,    ///< the same on all ranks, which blocks nobody
};

struct ExpansionOptions {
    std::vector<std::uint32_t> dims;  ///< NPUs per logical dimension, innermost first
    std::uint32_t queues_per_dim = 1;
    double injection_scale = 1;  ///< of endpoint-delay
    bool rendezvous = false;     ///< a message waits for 8192 bytes from its receiver
    ChunkOrder chunk_order = ChunkOrder::fixed;
};

/// One collective: every member's part begins after starts[i], and ends[i] waits for its end.
struct CollectiveCall {
    Simulated kind = Simulated::all_reduce;
    std::int64_t bytes = 0;
    std::vector<RankId> members;
    bool world = true;  ///< all ranks in their order; else the members form one ring
    bool dims_given = false;
    std::uint64_t dims = 0;  ///< dimensions that take part, if given
    std::uint64_t node = 0;  ///< of the first member, for per-node-custom-implementation
    std::vector<OpId> starts;
    std::vector<OpId> ends;
    Label label;
};

inline bool power_of_two(std::uint32_t n) { return n > 0 && (n & (n - 1)) == 0; }
const char* name_of(Simulated kind);

class CollectiveExpander {
  public:
    /// Most messages of all collectives of a job together.
    static constexpr std::uint64_t kMostMessages = 50'000'000;

    /// All must outlive the expander. A rank's resources from `first_resource` on are its.
    CollectiveExpander(JobGraph& graph, const AstraSystem& system, const ExpansionOptions& options,
                       RankResourceId first_resource);

    void expand(const CollectiveCall& call);

    /// A message that is sent after `sent_after` and can be received after `received_after`.
    JobGraph::Pair add_message(RankId src, RankId dst, std::int64_t bytes, Label label,
                               OpId sent_after, OpId received_after);

  private:
    using Slice = std::vector<std::uint32_t>;  ///< positions in members, in the ring's order
    struct Phase {
        Simulated kind = Simulated::all_reduce;
        std::size_t dim = 0;
        std::int64_t bytes = 0;
        enum class Half : std::uint8_t { any, first, last } half = Half::any;
    };
    /// Which of its dimension's queues and trees a chunk's phase has, and which way it goes.
    struct Turn {
        std::uint32_t queue = 0;
        bool anticlockwise = false;
        bool root_last = false;
        std::uint32_t chunk = 0;
    };
    /// Counted resources of a chunk's phase: messages received and not looked at, permits to send,
    /// and the beginning of the second half.
    struct Counted {
        RankResourceId received = 0;
        RankResourceId permits = 0;
        RankResourceId gate = 0;
    };
    /// What every rank of a phase does: message k goes to the member `to[k]` places on and comes
    /// from the one `from[k]` places on; after receiving it the rank is busy for cost[k].
    struct Plan {
        std::uint32_t window = 1;
        bool pairwise = false;  ///< places are exchanged between pairs: index XOR to[k]
        std::vector<std::uint32_t> to;
        std::vector<std::uint32_t> from;
        std::vector<std::int64_t> bytes;
        std::vector<Tick> cost;
        std::size_t gate = 0;  ///< > 0: sends from here on wait until so many were received
    };
    struct Layout {
        std::vector<std::uint32_t> sizes;  ///< of each dimension
        std::vector<DimensionAlgorithm> algorithms;
        bool one_ring = false;  ///< a group, or all ranks as one dimension
    };

    Layout layout_of(const CollectiveCall& call) const;
    std::vector<Phase> phases_of(const CollectiveCall& call, const Layout& layout,
                                 std::int64_t chunk) const;
    std::vector<Slice> slices_of(const CollectiveCall& call, const Layout& layout,
                                 std::size_t dim) const;
    Plan ring_plan(Simulated kind, std::uint32_t n, std::int64_t bytes, bool anticlockwise) const;
    Plan direct_plan(Simulated kind, std::uint32_t n, std::int64_t bytes, std::uint32_t window,
                     bool anticlockwise, bool world) const;
    Plan halving_plan(Simulated kind, std::uint32_t n, std::int64_t bytes) const;
    void add_costs(Plan& plan, Simulated kind, std::uint32_t refill) const;
    void exchange(const CollectiveCall& call, const Plan& plan, const Slice& slice,
                  const std::vector<std::vector<OpId>>& after, std::vector<OpId>& ends);
    void counted_exchange(const CollectiveCall& call, const Plan& plan, const Slice& slice,
                          std::uint32_t chunk, const std::vector<std::vector<OpId>>& after,
                          std::vector<OpId>& ends);
    const Counted& counted_of(std::uint32_t chunk);
    RankResourceId new_resource(std::uint32_t first, std::uint32_t most);
    void tree(const CollectiveCall& call, std::int64_t bytes, bool root_last, const Slice& slice,
              const std::vector<std::vector<OpId>>& after, std::vector<OpId>& ends);
    Turn next_turn(const CollectiveCall& call, const Layout& layout, const Phase& phase);
    Tick endpoint_delay() const;
    std::uint32_t places() const;
    RankResourceId resource_of(std::size_t dim, std::uint32_t queue);
    void run_in_queue(const CollectiveCall& call, const Layout& layout, const Phase& phase,
                      const Turn& turn, std::vector<OpId>& done);
    Plan plan_of(const Phase& phase, const DimensionAlgorithm& algorithm, std::uint32_t n,
                 bool anticlockwise, bool world) const;
    std::vector<OpId> run_phase(const CollectiveCall& call, const Layout& layout,
                                const Phase& phase, const Turn& turn,
                                const std::vector<std::vector<OpId>>& after);
    std::pair<std::int64_t, std::int64_t> chunks_of(const CollectiveCall& call) const;
    struct Custom;
    const std::vector<Trace>& custom_traces(const std::string& prefix, std::size_t members);
    void match_custom(const CollectiveCall& call, Custom& custom, std::size_t m,
                      std::uint32_t node);
    void run_custom(const CollectiveCall& call, const std::string& prefix);
    OpId busy(RankId rank, Tick duration, Label label, const std::vector<OpId>& after);
    Tick memory_time(std::int64_t bytes) const;
    void check_messages(std::uint64_t more) const;

    JobGraph& graph_;
    const AstraSystem& system_;
    const ExpansionOptions& options_;
    RankResourceId next_resource_;
    Tick endpoint_ = 0;  ///< of the collective that is expanded
    std::uint64_t messages_ = 0;
    std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> trees_;  ///< by kind, dimension
    std::map<std::pair<Phase::Half, std::size_t>, std::uint32_t>
        queue_turns_;                           ///< by half, dimension
    std::map<std::uint32_t, Counted> counted_;  ///< by chunk
    std::map<std::pair<std::size_t, std::uint32_t>, RankResourceId>
        queues_;                                        ///< by dimension, queue
    std::map<std::string, std::vector<Trace>> custom_;  ///< by prefix
};

}  // namespace sluice::chakra
