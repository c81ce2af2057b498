// SPDX-License-Identifier: Apache-2.0
/// What an episode's flows share, and how they would fare if they shared it equally. That decides most of how long flows
/// of episodes take which differ only in when they started; samples say how much longer it takes.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "core/episodes/episode.h"

namespace sluice::hybrid {

/// Of its rate: a port with that load may be full.
inline constexpr double kFullLoad = 0.95;

/// Ports that the flows may fill, each with its part of the rate of its NICs, and of each flow the end that may be in
/// its way. The others cost them time, which their base round trips tell, and hardly anything else.
std::set<PortId> full_ports(const std::vector<EpisodeFlow>& flows,
                            const EpisodeMemory::Describe& describe);

/// An episode's flows as its equals have them, by canonical place: what they share and how much they send.
struct Shape {
    std::vector<double> size;                       ///< by flow, bytes
    std::vector<std::vector<std::uint32_t>> ports;  ///< by flow: indices of full ports
    std::vector<double> rate;                       ///< by port, bytes per tick
};

/// `order`: places of `flows` by canonical place.
Shape shape_of(const std::vector<EpisodeFlow>& flows, const std::vector<std::uint32_t>& order,
               const EpisodeMemory::Describe& describe);

/// When flows that start at `starts` would end if each had the least of its equal parts of its ports, ticks.
std::vector<double> shared_ends(const Shape& shape, const std::vector<double>& starts);

/// How much each would have sent by an instant of its own, bytes.
std::vector<double> shared_bytes(const Shape& shape, const std::vector<double>& starts,
                                 const std::vector<double>& at);

/// Bytes that each flow of an episode whose ends are told has probably sent by `now`, after it began.
std::vector<double> told_bytes(const Episode& episode, const EpisodeMemory::Describe& describe,
                               Tick now);

}  // namespace sluice::hybrid
