// SPDX-License-Identifier: Apache-2.0
/// How `hybrid` mode finds and uses steady phases: the scenario's [phases] table, validated.
#pragma once

#include <cstdint>
#include <string>

#include "core/steady/reading.h"
#include "core/units.h"

namespace sluice {

enum class PhaseScope : std::uint8_t {
    partition,  ///< every partition has phases of its own
    network,    ///< one phase for the whole network (HyGra)
};

/// The scope of invalidation: whose skips an event ends.
enum class Wake : std::uint8_t {
    partition,  ///< the partition; ACKs are packets
    data,       ///< flows that share its data ports
    automatic,  ///< not decided yet, by whoever builds the run (experiment/wake_choice.h): as `partition`
};

/// Where a flow's rate in a steady phase comes from: the list in flowlevel/rate_sources.h. The first
/// is the default.
enum class SteadyRates : std::uint8_t;

/// What packets are in the queues when a steady phase ends: the list in restore/restorers.h. The first is
/// the default.
enum class Restoration : std::uint8_t;

/// What evaluates a restorer's model.
enum class RestoreEngine : std::uint8_t {
    plain,     ///< our own, the same bits everywhere
    libtorch,  ///< opened on first use
};

struct PhaseConfig {
    bool skip = true;  ///< false: all else on, nothing is skipped
    PhaseScope scope = PhaseScope::partition;
    Wake wake = Wake::partition;
    SteadyRates rates{};
    Restoration restore{};
    std::string restore_model;  ///< its file; empty: the shipped one
    RestoreEngine restore_engine = RestoreEngine::plain;
    /// Rates from groups that were simulated long (core/calibration/calibration.h); of partitions, where rates are
    /// measured.
    bool calibrate = true;
    /// Calibration profiles outlive the run (core/calibration/profile_memory.h).
    bool memo = false;
    /// With `memo`: the ends of episodes like those that were simulated are predicted (core/episodes/episode.h), where the
    /// means of the predictions are known to within `memo_tolerance`.
    bool episodes = false;
    double memo_tolerance = 0.005;
    /// Also of episodes that could fill a port together with others. Their predictions leave the others out.
    bool memo_crowded = false;
    steady::DetectorSettings detector;
    Tick longest_skip = 0;  ///< cap of one skip; 0: none
    /// Packets of the longest train (core/packet/trains.h); 1: there are none.
    std::uint32_t train = 1;
    /// Packet-hops of what is audited (core/audit) by those of the run; 0: none. Once the mean of all flow
    /// completion times will surely be off by more than the tolerance, relative, everything is executed.
    double audit = 0;
    double audit_tolerance = 0.01;

    /// Groups are flows that share data ports, and ACKs are no packets.
    bool local() const { return skip && wake == Wake::data; }
};

}  // namespace sluice
