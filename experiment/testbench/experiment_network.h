// SPDX-License-Identifier: Apache-2.0
/// An experiment, with its jobs, as a part of somebody's testbench: its network is one of models/network.h, with host ports
/// and foreign models as that has them, in mode packet, hybrid or wormhole. In the modes with phases the rest skips, while
/// packets are executed in every partition (or group) that contains
///   - a host whose host port has operations outstanding: a post ends the skip of what it meets, at its instant;
///   - a foreign model, or a device of the user's own, unless it is a SteadyModel (models/steady_model.h).
/// The time of the network still follows that of SystemC, across a skip, too.
///
/// It never calls sc_start or sc_stop.
#pragma once

#include <memory>

#include "core/results/mode.h"
#include "experiment/experiment.h"
#include "experiment/modes/phase_watch.h"
#include "experiment/testbench/testbench_models.h"
#include "models/network.h"

namespace sluice {

class ExperimentNetwork : public sc_core::sc_module {
  public:
    /// The experiment must outlive this. `options` are those of the network but for link events and the stop, which are
    /// the experiment's. ConfigError if the experiment cannot run so: mode flow has no packets, a network with phases or
    /// symmetry reduction has one clock, and see Network.
    ExperimentNetwork(const sc_core::sc_module_name& name, const Experiment& experiment, Mode mode,
                      NetworkOptions options = {});
    ~ExperimentNetwork() override;

    Network& network() { return *network_; }
    const Network& network() const { return *network_; }
    /// As of now, those of phases and the audit included.
    RunCounters counters() const;
    /// The simulation is over: skips end at the time that the network has reached, and the last phases are reported.
    void finish();

  private:
    Routing routing_;
    std::unique_ptr<Network> network_;
    std::unique_ptr<TestbenchModels> models_;  ///< null in mode packet
    std::unique_ptr<PhaseWatch> phases_;       ///< null in mode packet
    bool over_ = false;
};

}  // namespace sluice
