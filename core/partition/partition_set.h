// SPDX-License-Identifier: Apache-2.0
/// Partitions of a network: flows that share a resource (a port, a cable, a host) belong together
/// (Wormhole, Definition 1, Algorithms 1 and 2). Kept incrementally: a flow that enters merges what
/// it touches, the smaller into the larger; a flow that leaves re-examines only its own partition,
/// searching from all sides at once, so that splitting costs the smaller parts. It knows nothing of
/// the engines: what a resource is, is the caller's choice.
/// Invariants: a resource in use and its users are in one partition; two flows are in one partition
/// if and only if a chain of shared resources joins them. Ids and the order of every list depend
/// only on the sequence of calls. Misuse (a flow that enters twice, an id that names nothing) is an
/// InternalError that changes nothing. References handed out are good until the next enter or leave.
/// Algorithm and costs: docs/models/partitions.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace sluice {

using ResourceId = std::uint32_t;
using PartitionId = std::uint32_t;

class PartitionSet {
  public:
    /// Resources are 0 .. resources-1, slots of flows 0 .. flows-1 (both grow on demand; kNone is none
    /// of either).
    explicit PartitionSet(std::size_t resources, std::size_t flows = 0);

    /// `flow` (not a member) uses `resources` (at least one; repetitions are ignored). Returns its
    /// partition; `absorbed` are the partitions that no longer exist because they were merged into
    /// it, ascending. The largest one (by flows) keeps its id (of equals the lowest id); a new id is
    /// the lowest free one. `name` decides where flows are compared: unlike a slot, it must not depend
    /// on what happened before. Cost: its resources, and the flows and resources of what is absorbed.
    struct Entry {
        PartitionId partition = kNone;
        std::vector<PartitionId> absorbed;
    };
    Entry enter(FlowSlot flow, FlowId name, const std::vector<ResourceId>& resources);
    Entry enter(FlowSlot flow, const std::vector<ResourceId>& resources) {
        return enter(flow, flow, resources);
    }

    /// `flow` (a member) leaves. `partition` is where it was, which keeps its largest part (by
    /// flows, of equals the one with the lowest name of a flow), or kNone if it was the last one; the
    /// other parts get new ids, in order of their lowest flow. Cost: its resources, then what is
    /// searched until the ways from them have met, or until all parts but one are known.
    struct Exit {
        PartitionId partition = kNone;
        std::vector<PartitionId> split_off;
    };
    Exit leave(FlowSlot flow);

    bool contains(FlowSlot flow) const;
    PartitionId partition_of(FlowSlot flow) const;             ///< kNone if not a member
    PartitionId partition_of_resource(ResourceId r) const;     ///< kNone if nobody uses it
    const std::vector<FlowSlot>& flows(PartitionId id) const;  ///< in no particular order
    /// Resources in use, in no particular order.
    const std::vector<ResourceId>& resources(PartitionId id) const;
    /// In the order in which they were given, without repetitions.
    const std::vector<ResourceId>& resources_of(FlowSlot flow) const;
    std::vector<PartitionId> partitions() const;  ///< ascending
    std::size_t count() const { return count_; }
    std::size_t largest() const { return largest_; }  ///< flows in the largest one, 0: none

    /// Uses (a flow with one of its resources) looked at by searches, and moved by merges and
    /// splits, since construction: the cost, free of clocks.
    std::uint64_t examined() const { return examined_; }
    std::size_t memory_bytes() const;

  private:
    /// members_[member].resources[use] is the resource in whose list this entry is.
    struct User {
        std::uint32_t member;
        std::uint32_t use;
    };
    /// A flow that has entered. Records are reused, so memory follows concurrent flows, not ids.
    struct Member {
        std::vector<ResourceId> resources;
        std::uint64_t mark = 0;
        std::uint32_t next = kNone;  ///< of the flows that its search has found
        FlowSlot flow = kNone;
        FlowId name = kNoFlow;
        PartitionId partition = kNone;
        std::uint32_t position = 0;        ///< in its partition's list of flows
        std::vector<std::uint32_t> place;  ///< of each use, in its resource's list of users
    };
    struct Resource {
        std::vector<User> users;
        std::uint64_t mark = 0;
        PartitionId partition = kNone;
        std::uint32_t position = 0;  ///< in its partition's list of resources
        std::uint32_t next = kNone;  ///< in its search's frontier
        std::uint32_t cursor = 0;    ///< users already looked at by its search
    };
    struct Partition {
        std::vector<FlowSlot> flows;
        std::vector<ResourceId> resources;
    };
    /// One of the searches after a flow has left; what has met another one counts with it.
    struct Search {
        std::uint32_t parent = 0;  ///< itself: not joined to another
        ResourceId frontier_first = kNone;
        ResourceId frontier_last = kNone;
        std::uint32_t found_first = kNone;  ///< members
        std::uint32_t found_last = kNone;
        std::uint32_t found = 0;
        FlowId lowest = kNoFlow;
        bool finished = false;
        std::uint64_t work = 0;  ///< uses examined
    };
    struct Part {
        std::uint32_t flows = 0;
        FlowId lowest = kNoFlow;
        std::uint32_t first = kNone;  ///< member, linked by `next`
    };

    const Member& member(FlowSlot flow) const;
    const Partition& partition(PartitionId id) const;
    std::uint32_t take_member(FlowSlot flow);
    PartitionId take_id();
    void release_id(PartitionId id);
    PartitionId largest_of(const std::vector<PartitionId>& ids) const;
    void count_size(std::size_t before, std::size_t after);
    void add_flow(PartitionId id, std::uint32_t slot);
    void remove_flow(PartitionId id, std::uint32_t slot);
    void add_resource(PartitionId id, ResourceId r);
    void remove_resource(PartitionId id, ResourceId r);
    void absorb(PartitionId into, PartitionId id);
    void remove_uses(PartitionId id, std::uint32_t slot);

    void search();
    void advance(std::uint32_t s);
    void push_frontier(std::uint32_t s, ResourceId r);
    std::uint32_t root(std::uint32_t s);
    void join(std::uint32_t into, std::uint32_t s);
    void split(PartitionId id, std::vector<PartitionId>& split_off);
    Part rest_of(PartitionId id);
    void move(const Part& part, PartitionId from, PartitionId to);

    std::vector<Resource> resources_;
    std::vector<std::uint32_t> slot_of_;  ///< index into members_ by flow, kNone: not a member
    std::vector<Member> members_;
    std::vector<std::uint32_t> free_members_;
    std::vector<Partition> partitions_;   ///< without flows: a free id
    std::vector<PartitionId> free_ids_;   ///< heap, lowest first
    std::vector<std::uint32_t> of_size_;  ///< partitions by number of flows
    std::size_t count_ = 0;
    std::size_t largest_ = 0;
    std::uint64_t examined_ = 0;

    /// Marks only grow, so none is ever cleared: search i of the current leave marks with
    /// first_mark_ + i, and what is below first_mark_ is not found yet.
    std::uint64_t next_mark_ = 1;
    std::uint64_t first_mark_ = 1;

    // Scratch of one call, kept so that calls need not allocate.
    std::vector<ResourceId> uses_;
    std::vector<PartitionId> touched_;
    std::vector<ResourceId> seeds_;
    std::vector<Search> searches_;
    std::vector<std::uint32_t> active_;
    std::vector<std::uint32_t> finished_;
    std::vector<Part> parts_;
};

}  // namespace sluice
