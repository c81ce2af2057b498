// SPDX-License-Identifier: Apache-2.0
#include "core/packet/switch.h"

namespace sluice::step {

template void switch_step<ScenarioPolicies>(World&, SwitchScratch&, const Cell&, Tick, Tick);

}  // namespace sluice::step
