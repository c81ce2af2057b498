// SPDX-License-Identifier: Apache-2.0
/// How NCCL runs a collective of a group that spans servers: the algorithm and protocol for which its cost model gives
/// the least time, on how many channels, and what these send. Constants are NCCL's own (2.30: src/graph/tuning.cc;
/// search.cc for the channels and their rates; enqueue.cc for chunks). Nothing here is fitted.
/// Assumed, because a GPU type does not say it: Intel's processors on the hosts, one NIC per GPU and close to it, no
/// SHARP in the network's switches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "workloads/model/collective_kind.h"
#include "workloads/model/nccl_cost_model.h"
#include "workloads/model/nccl_table.h"

namespace sluice {

/// What NCCL calls an algorithm, of a group that spans servers. NcclAlgorithm has those inside a server.
enum class NcclNetworkAlgorithm : std::uint8_t {
    ring,
    tree,       ///< all-reduce: double binary tree of servers
    nvls_tree,  ///< all-reduce: the NVSwitches add and multicast inside servers, trees across
    pat,        ///< all-gather and reduce-scatter of one GPU per server
};

const char* to_string(NcclNetworkAlgorithm algorithm);  ///< "ring", "tree", "NVLS tree", "PAT"

struct NcclGroup {
    std::uint32_t members = 2;
    std::uint32_t servers = 2;           ///< at least 2
    std::uint32_t least_per_server = 1;  ///< members of the server that has the fewest
    NcclLink link;                       ///< inside servers
    double nic_bytes_per_second = 50e9;  ///< of a member
    bool nvls = false;                   ///< the servers' NVSwitches can add
};

/// What the user restricts NCCL to (its variables NCCL_ALGO, NCCL_PROTO); none: to nothing.
struct NcclLimits {
    std::optional<NcclNetworkAlgorithm> algorithm;
    std::optional<NcclProtocol> protocol;
};

struct NcclPlan {
    NcclNetworkAlgorithm algorithm = NcclNetworkAlgorithm::ring;
    NcclProtocol protocol = NcclProtocol::simple;
    double model_us = 0;  ///< its time by NCCL's cost model
    /// NCCL's, of which two may use the same NIC.
    std::uint32_t nccl_channels = 1;
    /// Those that leave a server by NICs of their own, and how many could.
    std::uint32_t channels = 1;
    std::uint32_t most_channels = 1;
    double base_us = 0;          ///< once, before anything is sent
    double server_step_us = 0;   ///< of a message inside a server
    double network_step_us = 0;  ///< of a message between servers, what the network takes included
    std::int64_t chunk = 0;      ///< bytes of the tensor that are passed on at a time
    std::size_t in_flight = 1;   ///< chunks in a channel's buffer

    std::string text() const;  ///< "ring LL128, 16 channels"
};

/// Whether NCCL's choice of this kind is modelled: not of all-to-all, broadcast, reduce, send.
bool is_planned(CollectiveKind kind);
/// Of a kind that is planned; none if the limits leave nothing.
std::optional<NcclPlan> plan_nccl(const NcclGroup& group, CollectiveKind kind, std::int64_t bytes,
                                  const NcclLimits& limits = {});

/// What of `payload` bytes travels: LL has a flag of 4 bytes for each 4, LL128 8 bytes in each 128.
std::int64_t wire_bytes(NcclProtocol protocol, std::int64_t payload);

}  // namespace sluice
