// SPDX-License-Identifier: Apache-2.0
/// The [phases] table of a scenario: how modes `hybrid` and `wormhole` find and use steady phases. Keys, units
/// and defaults: docs/scenario.md.
#pragma once

#include "core/hybrid/phase_config.h"
#include "core/text/config_section.h"

namespace sluice {

struct Scenario;

/// ConfigError with the place and what is allowed. The scenario's mode decides some defaults.
PhaseConfig read_phases(ConfigSection section, const Scenario& scenario);

}  // namespace sluice
