// SPDX-License-Identifier: Apache-2.0
/// What is known of a group of flows: how it is observed, and the skip that it is in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/calibration/calibration.h"
#include "core/clocks/copy_notes.h"
#include "core/cloned.h"
#include "core/hybrid/network_view.h"
#include "core/hybrid/stages/port_loads.h"
#include "core/hybrid/stages/trajectory_record.h"
#include "core/hybrid/stages/watched_queues.h"
#include "core/results/phase_record.h"
#include "core/steady/detectors.h"
#include "core/steady/law_courses.h"

namespace sluice::hybrid {

/// The least multiple of `period` after `at`: groups are looked at together, so that windows are
/// cut less often.
inline Tick next_on_grid(Tick at, Tick period) { return (at / period + 1) * period; }

struct GroupState : step::PartitionPhase {
    explicit GroupState(const steady::DetectorSettings& settings)
        : detector(steady::make_detector(settings)) {}

    std::uint32_t id = 0;
    bool has_extent = false;  ///< ports, hosts and switches are listed
    Tick period = 0;
    bool parted = false;  ///< what changed it last are flows that were told, between windows

    /// Groups that are copies of this one, as of these generations of folds and of partitions.
    std::vector<std::uint32_t> copies;
    std::pair<std::uint64_t, std::uint64_t> copies_of;

    Group group;
    Cloned<steady::Detector> detector;
    std::vector<PortId> queue_ports;
    std::vector<steady::FlowReading> readings;
    std::vector<std::int64_t> queues;
    WatchedQueues watched;  ///< that may be restored
    Tick skipped = 0;       ///< since the detector was reset
    Tick rtt = 0;
    std::size_t sharing = 1;  ///< most flows whose data leaves by one port
    Tick last_progress = 0;   ///< of any flow, as of the last look
    DataPorts data_ports;
    CalibrationRecord record;
    TrajectoryRecord trajectory;

    // The present skip, or the next one.
    Tick until = 0;
    PhaseEnd planned_end = PhaseEnd::cap;
    std::vector<double> rate;   ///< by flow of the group: packets per tick
    std::vector<double> carry;  ///< fractions of packets from earlier skips
    std::vector<std::int64_t> packets;
    std::vector<double> marked;  ///< by flow of the group: share of its ACKs with a mark
    steady::LawCourses by_law;

    std::int64_t advance_by(std::size_t flow, Tick dt) const {
        return static_cast<std::int64_t>(rate[flow] * static_cast<double>(dt) + carry[flow]);
    }
};

}  // namespace sluice::hybrid
