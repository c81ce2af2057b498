// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/systemc_engine.h"

#include <utility>

/// SystemC's library refers to sc_main even when main() is the program's own. A program that has one keeps it.
__attribute__((weak)) int sc_main(int, char**) { return 0; }

namespace sluice {

SystemCEngine::SystemCEngine(const Experiment& experiment)
    : experiment_(experiment),
      begin_(std::chrono::steady_clock::now()),
      routing_(experiment.topology, next_hop_order(experiment.network.arithmetic)),
      network_(std::make_unique<Network>("network", experiment.topology, routing_,
                                         experiment.network, experiment.flows, experiment.paths,
                                         experiment.application.get(), options())),
      elaboration_(std::chrono::steady_clock::now() - begin_) {}

NetworkOptions SystemCEngine::options() {
    NetworkOptions options;
    options.free_running = true;
    if (experiment_.on_ack == nullptr) return options;
    on_ack_ = [this](FlowId flow, std::uint32_t sequence, Tick rtt) {
        guarded([&] { (*experiment_.on_ack)(flow, sequence, rtt); });
    };
    options.make_node = [this](const char* name, NodeId id, const Node::Context& context,
                               step::SwitchScratch&) -> std::unique_ptr<Node> {
        if (context.world.is_host[id] == 0) return nullptr;
        return std::make_unique<AcksNic>(name, id, context, on_ack_);
    };
    return options;
}

RunHooks SystemCEngine::guarded_hooks(const RunHooks& hooks) {
    RunHooks safe = hooks;
    safe.on_progress = [this, &hooks](Tick now) {
        bool go_on = true;
        guarded([&] { go_on = !hooks.on_progress || hooks.on_progress(now); });
        return go_on && error_ == nullptr;
    };
    if (hooks.on_finish) {
        safe.on_finish = [this, &hooks](const FlowRecord& flow) {
            guarded([&] { hooks.on_finish(flow); });
        };
    }
    if (hooks.on_pfc) {
        safe.on_pfc = [this, &hooks](const PfcEvent& event) {
            guarded([&] { hooks.on_pfc(event); });
        };
    }
    if (hooks.on_phase) {
        safe.on_phase = [this, &hooks](const PhaseRecord& phase) {
            guarded([&] { hooks.on_phase(phase); });
        };
    }
    if (hooks.on_sample) {
        safe.on_sample = [this, &hooks](Tick now, const std::vector<std::int64_t>& queue_bytes) {
            guarded([&] { hooks.on_sample(now, queue_bytes); });
        };
    }
    return safe;
}

void SystemCEngine::start(RunHooks hooks) {
    network_->clock().configure(experiment_.link_events, std::move(hooks), experiment_.stop);
    sc_core::sc_start();
    rethrow();
}

}  // namespace sluice
