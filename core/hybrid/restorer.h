// SPDX-License-Identifier: Apache-2.0
/// What is in the queues when a steady phase ends: the seam between the phase controller and what knows
/// how queues move (restore/restorers.h lists them). Queues stand still while a group is skipped; real
/// ones would have moved (HyGra V-C).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "core/units.h"

namespace sluice::hybrid {

/// A switch port whose queue may be restored, as its group was before the skip.
struct PortPast {
    PortId port = kNone;
    /// Bytes queued at the last looks before the skip, oldest first: at least one, at most
    /// Restorer::looks(), no more than the group has been looked at.
    std::vector<double> depth;
    Tick step = 0;                ///< between two looks
    Tick skipped = 0;             ///< length of the skip
    Tick base_rtt = 0;            ///< the longest of the group's flows
    std::int64_t rate = 0;        ///< of the link, bits/s
    double load = 0;              ///< of it, by the group's data in the skip: 1 is all
    std::uint32_t flows = 0;      ///< of the group, whose data leave by it
    std::int64_t mark_bytes = 0;  ///< where it begins to mark; 0: it never does
    bool to_host = false;         ///< a host is at the link's other end
};

class Restorer {
  public:
    virtual ~Restorer() = default;
    /// Looks that it wants of every port.
    virtual std::size_t looks() const = 0;
    /// The bytes to be queued when packets go on, one for each port: by anything but time or order of
    /// calls, so that a run repeats itself. As near as packets allow, they will be; a number that is
    /// none ends the run (InternalError).
    virtual std::vector<double> depths(const std::vector<PortPast>& ports) = 0;
};

}  // namespace sluice::hybrid
