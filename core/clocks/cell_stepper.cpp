// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "core/clocks/cell_step.h"
#include "core/clocks/worker_pool.h"

namespace sluice::step {

std::function<void(const Cell& cell, Tick begin, Tick end)> cell_stepper(World& world) {
    const auto step = std::make_shared<CellStep>(world);
    return [step](const Cell& cell, Tick begin, Tick end) { (*step)(cell, begin, end); };
}

}  // namespace sluice::step
