// SPDX-License-Identifier: Apache-2.0
#include "core/packet/nic.h"

namespace sluice::step {

template void host_step<CallbackEvents>(World&, const Cell&, Tick);

}  // namespace sluice::step
