// SPDX-License-Identifier: Apache-2.0
/// How the INT slots of flows are laid out (core/packet/int_slots.h): how many a flow may have, for which of its
/// packets, and of how many words each is. The layout only grows, but for copy(). Owns the blocks that hosts keep for flows to
/// come; flows' own are with their routes.
#pragma once

#include <cstdint>

#include "core/packet/state.h"

namespace sluice::step {

class IntLayout {
  public:
    /// No flow carries INT before provide(). The hosts' columns must outlive this.
    explicit IntLayout(World& world) : world_(world) {}
    ~IntLayout();
    IntLayout(const IntLayout&) = delete;
    IntLayout& operator=(const IntLayout&) = delete;

    bool in_use() const { return world_.int_block != 0; }
    /// Slots for flows that have so many bytes in flight. Not beside other workers, nor is widen().
    void provide(std::int64_t in_flight);
    /// Before any flow has slots: records of so many switches.
    void set_switches(int longest);
    bool holds(int switches) const { return switches < static_cast<int>(world_.int_stride); }
    /// Records of as many switches as a path may have, of the flows in slots 0 .. slots-1, too.
    void widen(std::size_t slots);
    /// As in another store of the same network. While no flow has slots.
    void copy(const IntLayout& other);

  private:
    void free_blocks();

    World& world_;
};

}  // namespace sluice::step
