// SPDX-License-Identifier: Apache-2.0
/// Where a port begins to mark.
#pragma once

#include "core/packet/network_config.h"

namespace sluice::step {

/// ECN thresholds of a port: the listed rate, else the nearest listed one in proportion. `config` lists
/// at least one.
EcnPoint ecn_point(const EcnConfig& config, Rate rate);

}  // namespace sluice::step
