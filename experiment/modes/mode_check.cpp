// SPDX-License-Identifier: Apache-2.0
/// What can be said of an experiment's mode without an engine: whoever only checks links none.
#include <string>
#include <utility>

#include "core/error.h"
#include "experiment/configuration_of.h"
#include "experiment/modes/hybrid_run.h"
#include "experiment/modes/mode_run.h"

namespace sluice {

std::vector<Mode> offered_modes() {
    return {Mode::packet, Mode::hybrid, Mode::wormhole, Mode::flow};
}

void require_offered(Mode mode, const std::string& what) {
    std::string offered;
    for (const Mode one : offered_modes()) {
        if (one == mode) return;
        offered += (offered.empty() ? "" : ", ") + std::string(mode_name(one));
    }
    throw ConfigError(what + ": this build offers: " + offered);
}

void check_hybrid(const Experiment& experiment) {
    const Configuration configuration = configuration_of(experiment, Mode::hybrid);
    refuse(configuration, "network.arithmetic", "mode hybrid");
    refuse(configuration, "phases.wake", "mode hybrid");
}

void check_run(const Experiment& experiment, Mode mode) {
    require_offered(mode, std::string("mode ") + mode_name(mode));
    if (has_phases(mode)) check_hybrid(experiment);
}

}  // namespace sluice
