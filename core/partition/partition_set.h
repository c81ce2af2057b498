// SPDX-License-Identifier: Apache-2.0
/// Partitions of a network: flows that share a resource (a port, a cable, a host) belong together
/// (Wormhole, Definition 1, Algorithms 1 and 2). Kept incrementally: a flow that enters merges what
/// it touches, the smaller into the larger; a flow that leaves re-examines only its own partition,
/// searching from all sides at once, so that splitting costs the smaller parts. It knows nothing of
/// the engines: what a resource is, is the caller's choice.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace sluice {

using ResourceId = std::uint32_t;
using PartitionId = std::uint32_t;

class PartitionSet {
  public:
    /// Resources are 0 .. resources-1, flow ids 0 .. flows-1 (both grow on demand).
    explicit PartitionSet(std::size_t resources, std::size_t flows = 0);

    /// `flow` (not a member) uses `resources` (at least one; repetitions are ignored). Returns its
    /// partition; `absorbed` are the partitions that no longer exist because they were merged into
    /// it. The largest one keeps its id (of equals the lowest id); a new id is the lowest free one.
    struct Entry {
        PartitionId partition = kNone;
        std::vector<PartitionId> absorbed;
    };
    Entry enter(FlowId flow, const std::vector<ResourceId>& resources);

    /// `flow` (a member) leaves. `partition` is where it was, which keeps its largest part (by
    /// flows, of equals the one with the lowest flow id), or kNone if it was the last one; the
    /// other parts get new ids, in order of their lowest flow.
    struct Exit {
        PartitionId partition = kNone;
        std::vector<PartitionId> split_off;
    };
    Exit leave(FlowId flow);

    bool contains(FlowId flow) const;
    PartitionId partition_of(FlowId flow) const;             ///< kNone if not a member
    PartitionId partition_of_resource(ResourceId r) const;   ///< kNone if nobody uses it
    const std::vector<FlowId>& flows(PartitionId id) const;  ///< in no particular order
    /// Resources in use, in no particular order.
    const std::vector<ResourceId>& resources(PartitionId id) const;
    const std::vector<ResourceId>& resources_of(FlowId flow) const;
    std::vector<PartitionId> partitions() const;  ///< ascending
    std::size_t count() const;
    std::size_t largest() const;  ///< flows in the largest one, 0: none
};

}  // namespace sluice
