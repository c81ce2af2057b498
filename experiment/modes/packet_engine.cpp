// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/packet_engine.h"

#include <utility>

/// SystemC's library refers to sc_main even when main() is the program's own.
int sc_main(int, char**) { return 0; }

namespace sluice {

PacketEngine::PacketEngine(const Experiment& experiment)
    : experiment_(experiment),
      begin_(std::chrono::steady_clock::now()),
      routing_(experiment.topology, next_hop_order(experiment.network.arithmetic)),
      network_(std::make_unique<Network>("network", experiment.topology, routing_,
                                         experiment.network, experiment.flows, experiment.paths,
                                         experiment.application.get())),
      elaboration_(std::chrono::steady_clock::now() - begin_) {}

step::DriverHooks PacketEngine::driver_hooks(const RunHooks& hooks) {
    step::WorldStore& store = network_->store();
    store.world().digest_hops = hooks.checksum;
    step::DriverHooks driver;
    driver.on_progress = [this, &hooks](Tick now) {
        bool go_on = true;
        guarded([&] { go_on = !hooks.on_progress || hooks.on_progress(now); });
        return go_on && error_ == nullptr;
    };
    driver.progress_interval = hooks.interval;
    if (hooks.on_finish) {
        driver.on_finish = [this, &hooks](const FlowRecord& flow) {
            guarded([&] { hooks.on_finish(flow); });
        };
    }
    if (hooks.on_pfc) {
        driver.on_pfc = [this, &hooks](const PfcEvent& event) {
            guarded([&] { hooks.on_pfc(event); });
        };
    }
    if (hooks.on_sample && hooks.sample_every > 0) {
        driver.sample_every = hooks.sample_every;
        driver.sample_from = hooks.sample_from;
        driver.sample_to = hooks.sample_to;
        driver.on_sample = [this, &hooks, &store,
                            bytes = std::vector<std::int64_t>()](Tick now) mutable {
            const std::size_t ports = experiment_.topology.port_count();
            bytes.resize(ports);
            for (std::size_t p = 0; p < ports; ++p) {
                bytes[p] = store.world().egress[p].queued_bytes;
            }
            guarded([&] { hooks.on_sample(now, bytes); });
        };
    }
    return driver;
}

void PacketEngine::start(step::DriverHooks hooks) {
    network_->clock().configure(experiment_.link_events, std::move(hooks), experiment_.stop);
    sc_core::sc_start();
    rethrow();
}

Tick PacketEngine::reached() const {
    const NetworkClock& clock = network_->clock();
    if (clock.cut_off()) return experiment_.stop;
    return clock.at_rest() ? network_->store().last_arrival() : clock.now();
}

}  // namespace sluice
