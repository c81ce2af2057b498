// SPDX-License-Identifier: Apache-2.0
/// Whether a network of packets can be built, asked of what it is built from: whoever reads a configuration asks
/// before anything runs, and the building itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/packet/network_config.h"
#include "core/topology/topology.h"

namespace sluice::step {

struct NetworkFault {
    /// Whose fault it is, so that a reader of files can say where.
    enum class Of : unsigned char {
        topology,
        rate,
        payload,
        law,
        buffer,
        chunk,
        window,
        spray,
        trim
    };
    Of of = Of::topology;
    std::string text;
    Rate rate{};  ///< of `rate`
};

/// The first fault; nothing if there is none.
std::optional<NetworkFault> network_fault(const Topology& topology, const NetworkConfig& config);

/// What is wrong with a path of so many switches under the law; empty if nothing is.
std::string int_hops_fault(const NetworkConfig& config, int switches);

/// Bytes of the largest packet on the wire.
std::int64_t largest_packet(const NetworkConfig& config);

/// Packets of the longest train: NetworkConfig::train, or fewer where more would not fit a packet's count of bytes, or
/// a port's table of times.
std::uint32_t longest_train(const Topology& topology, const NetworkConfig& config);

/// What a switch's ports share of its buffer: not their PFC headroom and reserve. Not above 0: the buffer is
/// too small.
std::int64_t shared_buffer(const Topology& topology, const NetworkConfig& config, NodeId node);

}  // namespace sluice::step
