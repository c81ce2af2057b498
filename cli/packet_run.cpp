// SPDX-License-Identifier: Apache-2.0
#include "cli/packet_run.h"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <utility>

#include "models/network.h"

/// SystemC's library refers to sc_main even when main() is the program's own.
int sc_main(int, char**) { return 0; }

namespace sluice {

struct PacketRun::Impl {
    explicit Impl(const Experiment& given) : experiment(given), routing(given.topology) {
        const auto begin = std::chrono::steady_clock::now();
        network = std::make_unique<Network>("network", experiment.topology, routing,
                                            experiment.network, experiment.flows, experiment.paths,
                                            experiment.application.get());
        elaboration = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin);
    }

    const Experiment& experiment;
    Routing routing;
    std::unique_ptr<Network> network;
    std::chrono::duration<double> elaboration{};
};

PacketRun::PacketRun(const Experiment& experiment) : impl_(std::make_unique<Impl>(experiment)) {}

PacketRun::~PacketRun() = default;

void PacketRun::run(const RunHooks& hooks) {
    step::WorldStore& store = impl_->network->store();
    store.world().digest_hops = hooks.checksum;
    // An exception must not pass through SystemC's kernel, which would wrap it: it is kept, the run
    // is stopped at the next occasion, and it goes on from here.
    std::exception_ptr error;
    const auto guarded = [&error](auto&& call) {
        if (error != nullptr) {
            return;
        }
        try {
            call();
        } catch (...) {
            error = std::current_exception();
        }
    };
    step::DriverHooks driver;
    driver.on_progress = [&](Tick now) {
        bool go_on = true;
        guarded([&] { go_on = !hooks.on_progress || hooks.on_progress(now); });
        return go_on && error == nullptr;
    };
    driver.progress_interval = hooks.interval;
    if (hooks.on_finish) {
        driver.on_finish = [&](FlowId flow) {
            guarded([&] { hooks.on_finish(flow, store.results()[flow]); });
        };
    }
    if (hooks.on_pfc) {
        driver.on_pfc = [&](const step::PfcChange& change) {
            guarded([&] { hooks.on_pfc(PfcEvent{change.at, change.port, change.pause}); });
        };
    }
    if (hooks.on_sample && hooks.sample_every > 0) {
        driver.sample_every = hooks.sample_every;
        driver.sample_from = hooks.sample_from;
        driver.sample_to = hooks.sample_to;
        driver.on_sample = [&, bytes = std::vector<std::int64_t>()](Tick now) mutable {
            const std::size_t ports = impl_->experiment.topology.port_count();
            bytes.resize(ports);
            for (std::size_t p = 0; p < ports; ++p) {
                bytes[p] = store.world().egress[p].queued_bytes;
            }
            guarded([&] { hooks.on_sample(now, bytes); });
        };
    }
    impl_->network->clock().configure(impl_->experiment.link_events, std::move(driver),
                                      impl_->experiment.stop);
    sc_core::sc_start();
    if (error != nullptr) {
        std::rethrow_exception(error);
    }
}

bool PacketRun::cut_off() const { return impl_->network->clock().cut_off(); }

Tick PacketRun::now() const { return impl_->network->clock().now(); }

const std::vector<FlowResult>& PacketRun::results() const {
    return impl_->network->store().results();
}

RunCounters PacketRun::counters() const { return impl_->network->counters(); }

std::vector<PortStatistics> PacketRun::port_statistics() const {
    return impl_->network->store().port_statistics(now());
}

double PacketRun::elaboration_seconds() const { return impl_->elaboration.count(); }

std::size_t PacketRun::memory_bytes() const { return impl_->network->store().memory_bytes(); }

}  // namespace sluice
