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
/// Chunks take a queue's places in a fixed order, the same on all ranks, so that ranks whose chunks
/// overtake each other cannot block each other; where nothing is overtaken the order is the
/// original's. Deviations: docs/models/chakra.md.
/// Errors: ConfigError if the algorithm cannot serve the group (a tree of 6 ranks).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "workloads/chakra/astra_config.h"
#include "workloads/job/job_graph.h"

namespace sluice::chakra {

struct ExpansionOptions {
    std::vector<std::uint32_t> dims;  ///< NPUs per logical dimension, innermost first
    std::uint32_t queues_per_dim = 1;
    double injection_scale = 1;  ///< of endpoint-delay
    bool rendezvous = false;     ///< a message waits for 8192 bytes from its receiver
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

class CollectiveExpander {
  public:
    /// Most messages of all collectives of a job together.
    static constexpr std::uint64_t kMostMessages = 50'000'000;

    /// All must outlive the expander.
    CollectiveExpander(JobGraph& graph, const AstraSystem& system, const ExpansionOptions& options);

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
    /// What every rank of a phase does: message k goes to the member `to[k]` places on and comes
    /// from the one `from[k]` places on; after receiving it the rank is busy for cost[k].
    struct Plan {
        std::uint32_t window = 1;
        bool pairwise = false;  ///< places are exchanged between pairs: index XOR to[k]
        std::vector<std::uint32_t> to;
        std::vector<std::uint32_t> from;
        std::vector<std::int64_t> bytes;
        std::vector<Tick> cost;
        std::size_t gate = 0;  ///< > 0: sends from here on also wait for receive gate - 1
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
                     bool anticlockwise) const;
    Plan halving_plan(Simulated kind, std::uint32_t n, std::int64_t bytes) const;
    void add_costs(Plan& plan, Simulated kind, std::uint32_t refill) const;
    void exchange(const CollectiveCall& call, const Plan& plan, const Slice& slice,
                  const std::vector<std::vector<OpId>>& after, std::vector<OpId>& ends);
    void tree(const CollectiveCall& call, std::int64_t bytes, bool root_last, const Slice& slice,
              const std::vector<std::vector<OpId>>& after, std::vector<OpId>& ends);
    std::uint32_t queue_of(const Phase& phase, std::uint32_t c) const;
    Plan plan_of(const Phase& phase, const DimensionAlgorithm& algorithm, std::uint32_t n,
                 std::uint32_t queue) const;
    std::vector<OpId> run_phase(const CollectiveCall& call, const Layout& layout,
                                const Phase& phase, std::uint32_t queue,
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
    Tick endpoint_ = 0;  ///< of the collective that is expanded
    std::uint64_t messages_ = 0;
    std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> trees_;  ///< by kind, dimension
    std::map<std::string, std::vector<Trace>> custom_;                    ///< by prefix
};

}  // namespace sluice::chakra
