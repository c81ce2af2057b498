// SPDX-License-Identifier: Apache-2.0
/// The [phases] table of a scenario: how `hybrid` mode finds and uses steady phases. Keys, units
/// and defaults: docs/scenario.md.
#pragma once

#include "core/hybrid/phase_config.h"
#include "core/text/config_section.h"

namespace sluice {

/// ConfigError with the place and what is allowed.
PhaseConfig read_phases(ConfigSection section);

}  // namespace sluice
