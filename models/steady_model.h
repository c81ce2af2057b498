// SPDX-License-Identifier: Apache-2.0
/// What a device of a testbench's own may offer so that the modes with phases skip packets that pass by it, too
/// (docs/embedding.md). Without it they are executed.
#pragma once

#include <cstdint>
#include <vector>

#include "core/units.h"

namespace sluice {

class SteadyModel {
  public:
    virtual ~SteadyModel() = default;

    /// True: while packets come by `ports` as they have lately, the device will go on with them as it has lately, and
    /// nothing else will happen there. Asked before each skip of all that passes by these ports, local and ascending, at an
    /// instant that SystemC's time has reached.
    virtual bool is_steady(const std::vector<std::uint32_t>& ports) = 0;
    /// What the device has not done yet at `ports` it does `dt` ps later, for nothing happens there meanwhile. Negative: the
    /// skip ends that much earlier than it was said to. Packets that it has sent are not its own any more: they are moved.
    virtual void advance(const std::vector<std::uint32_t>& ports, Tick dt) = 0;
};

}  // namespace sluice
