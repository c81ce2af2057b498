// SPDX-License-Identifier: Apache-2.0
/// Which hosts the ranks of a job run on, where several jobs share a network.
/// Hosts are given out in units (servers, so that tensor parallelism stays inside one). Of the units
/// that no earlier job has, in order of their hosts' ids:
///   packed   the first ones
///   spread   evenly apart over all that are free
///   random   drawn without replacement, by seed and the job's number
///   listed   exactly the hosts that are named, in rank order
/// Errors: ConfigError saying how many hosts are wanted and how many are free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/topology/topology.h"

namespace sluice {

enum class Placement : std::uint8_t { packed, spread, random, listed };

struct PlacementRequest {
    Placement placement = Placement::packed;
    std::uint32_t ranks = 0;  ///< 0: every free host; with listed: as many as are listed
    std::uint32_t unit =
        0;  ///< hosts placed together; 0: a server if `ranks` fills them, else 1; where
            ///< servers are of unequal size: servers, the last one not whole
    std::vector<NodeId> hosts;  ///< of listed
    std::uint64_t seed = 1;
};

/// Gives hosts out, one job after the other.
class HostPool {
  public:
    explicit HostPool(const Topology& topology);

    /// The hosts of the next job's ranks, in rank order; nobody gets them again.
    std::vector<NodeId> take(const PlacementRequest& request);
    std::size_t free_count() const { return free_count_; }

  private:
    std::vector<NodeId> take_listed(const std::vector<NodeId>& hosts);
    /// Where servers are of unequal size and no unit is asked for.
    std::vector<NodeId> take_servers(const PlacementRequest& request, std::size_t ranks,
                                     std::uint64_t job);
    std::vector<std::size_t> free_units(std::uint32_t unit) const;

    std::vector<NodeId> hosts_;
    std::uint32_t gpus_per_server_;
    std::vector<std::size_t>
        server_begin_;  ///< where sizes are unequal: the first host of each, and the end
    std::vector<std::uint8_t> taken_;  ///< by index in hosts_
    std::size_t free_count_;
    std::uint64_t jobs_ = 0;  ///< served so far
};

}  // namespace sluice
