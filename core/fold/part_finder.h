// SPDX-License-Identifier: Apache-2.0
/// Parts of the network: flows that share ports or hosts, directly or by others. Whether such a part may be folded.
#pragma once

#include <vector>

#include "core/fold/buffer_watch.h"
#include "core/fold/flow_prints.h"
#include "core/fold/random_marks.h"
#include "core/fold/symmetry.h"

namespace sluice::step {

/// Whether a part can be folded.
enum class Standing : std::uint8_t {
    apart,         ///< nobody else is at its ports and hosts, and they may be folded
    among_others,  ///< others are there, who may leave before it does
    unfit,
};

class PartFinder {
  public:
    /// All must outlive this.
    PartFinder(const WorldStore& store, const FlowPrints& prints, const RandomMarks& marks,
               BufferWatch& buffers);

    /// Joins flows, in groups that belong together, to those with which they share a port or a host. By id.
    FlowGroups parts(const FlowGroups& joined);
    /// Of a part that parts() has returned between these windows: what is known of a switch is not asked for twice.
    Standing standing(const FlowGroup& part, Tick now);
    /// Equal for parts that are copies of each other.
    std::uint64_t signature(const FlowGroup& part) const;
    PartShape shape_of(const FlowGroup& part);

  private:
    bool foldable(PortId port, Tick now);

    const Topology& topology_;
    const World& world_;
    const FlowPrints& prints_;
    const RandomMarks& marks_;
    BufferWatch& buffers_;
    std::uint32_t ports_;
    std::vector<std::uint32_t> scratch_;  ///< by port, then by node: kNone between calls
};

}  // namespace sluice::step
