// SPDX-License-Identifier: Apache-2.0
/// One experiment, ready to run: the network, how its devices behave, and what its hosts do.
/// Every source (scenario file, HPCC config, test, bench) ends in this struct, and every mode
/// starts from it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/flow/application.h"
#include "core/flow/flow.h"
#include "core/hybrid/phase_config.h"
#include "core/memo/memo.h"
#include "core/packet/network_config.h"
#include "core/routing/routing.h"
#include "core/topology/topology.h"

namespace sluice {

class Tap;

struct Experiment {
    std::string name;
    Topology topology;
    NetworkConfig network;
    PhaseConfig phases;  ///< of modes hybrid and wormhole
    /// What is known from other runs, and is told what this one learns; null: of this one only.
    std::shared_ptr<memo::Memo> memo;
    std::vector<std::int64_t> memo_fingerprint;  ///< memo_fingerprint()
    std::vector<FlowSpec> flows;
    std::vector<FlowPath> paths;  ///< empty, or one per flow
    std::vector<LinkEvent> link_events;
    std::unique_ptr<Application> application;  ///< may be null: flows have start times
    bool fold = true;    ///< modes with packets: copies are executed once, with the same results
    int threads = 1;     ///< modes packet and hybrid: 0: as many as help
    Tick stop = kNever;  ///< nothing happens at or after this instant
    /// Told of every ACK (models/nic/acks_nic.h) in modes with packets, where nothing is folded or told then;
    /// null: nobody is. Set before the run is built; whom it tells may be set until it runs.
    std::shared_ptr<std::function<void(FlowId flow, std::uint32_t sequence, Tick rtt)>> on_ack;
    /// Told of what ports do (models/observe/tapped.h), likewise; null: nobody is. Set, and filled, before the run is built.
    std::shared_ptr<std::vector<Tap*>> taps;
};

}  // namespace sluice
