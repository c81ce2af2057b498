// SPDX-License-Identifier: Apache-2.0
/// The same network with cables that are longer by next to nothing and other draws of its own (ECN marks,
/// spraying, losses), by a number. Where packets are chaotic, or drawn, such a run is as good as the
/// unperturbed one, and differs from it; runs over several numbers say what of a result is the network's
/// and what is chance (docs/fidelity.md). What workloads draw stays as it is.
#pragma once

#include <cstdint>

#include "core/topology/topology.h"

namespace sluice {

/// The most by which a cable of that delay grows: 0.01% of it, which a fibre does when it gets about
/// 12 K warmer, a picosecond (0.2 mm) at least and a microsecond at most. A cable without delay keeps
/// none.
Tick longest_perturbation(Tick delay);

/// Every cable longer by a whole number of picoseconds from 0 to longest_perturbation(), uniformly:
/// a pure function of seed, number and the cable's index. Number 0 changes nothing.
Topology perturbed(const Topology& topology, std::uint64_t seed, std::uint64_t number);

/// The seed of the network's draws: a pure function of both. Number 0 leaves `seed`.
std::uint64_t perturbed_seed(std::uint64_t seed, std::uint64_t number);

}  // namespace sluice
