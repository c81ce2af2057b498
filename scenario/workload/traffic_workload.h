// SPDX-License-Identifier: Apache-2.0
/// What [workload] type = "poisson" says, for whoever draws such flows in another way.
#pragma once

#include <string>

#include "core/text/config_section.h"
#include "scenario/scenario.h"
#include "workloads/traffic/flow_size_cdf.h"
#include "workloads/traffic/traffic.h"

namespace sluice {

struct PoissonWorkload {
    std::string cdf;  ///< a name, or a file
    PoissonTraffic traffic;
};

PoissonWorkload read_poisson_workload(ConfigSection& section, const Scenario& scenario);

FlowSizeCdf sizes_of(const PoissonWorkload& workload, const Scenario& scenario);

}  // namespace sluice
