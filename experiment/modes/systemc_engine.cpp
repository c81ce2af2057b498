// SPDX-License-Identifier: Apache-2.0
#include "experiment/modes/systemc_engine.h"

#include <utility>
#include <vector>

#include "models/observe/tapped.h"

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

/// What a tap throws is kept, and the run ends.
struct SystemCEngine::GuardedTap final : Tap {
    GuardedTap(SystemCEngine& of, Tap& its) : engine(of), tap(its) {}

    bool watches(PortId port) const override { return tap.watches(port); }
    void passed(const step::World& world, Tick now) override {
        engine.guarded([&] { tap.passed(world, now); });
    }
    void sent(const step::World& world, PortId port, const step::Packet& packet,
              Tick arrival) override {
        engine.guarded([&] { tap.sent(world, port, packet, arrival); });
    }
    void stepped(const step::World& world, PortId port, Tick now) override {
        engine.guarded([&] { tap.stepped(world, port, now); });
    }

    SystemCEngine& engine;
    Tap& tap;
};

SystemCEngine::~SystemCEngine() = default;

/// Hosts tell of ACKs, if somebody is to be told.
SystemCEngine::NodeMaker SystemCEngine::acks_maker() {
    if (experiment_.on_ack == nullptr) return {};
    on_ack_ = [this](FlowId flow, std::uint32_t sequence, Tick rtt) {
        guarded([&] { (*experiment_.on_ack)(flow, sequence, rtt); });
    };
    return [this](const char* name, NodeId id, const Node::Context& context,
                  step::SwitchScratch&) -> std::unique_ptr<Node> {
        if (context.world.is_host[id] == 0) return nullptr;
        return std::make_unique<AcksNic>(name, id, context, on_ack_);
    };
}

NetworkOptions SystemCEngine::options() {
    NetworkOptions options;
    options.free_running = true;
    options.make_node = acks_maker();
    if (experiment_.taps == nullptr) return options;
    std::vector<Tap*> taps;
    for (Tap* const tap : *experiment_.taps) {
        taps_.push_back(std::make_unique<GuardedTap>(*this, *tap));
        taps.push_back(taps_.back().get());
    }
    options.make_node = [this, taps, others = options.make_node](
                            const char* name, NodeId id, const Node::Context& context,
                            step::SwitchScratch& scratch) -> std::unique_ptr<Node> {
        if (!is_tapped(taps, id, context)) {
            return others ? others(name, id, context, scratch) : nullptr;
        }
        if (context.world.is_host[id] != 0 && experiment_.on_ack != nullptr) {
            return std::make_unique<Tapped<AcksNic>>(taps, name, id, context, on_ack_);
        }
        return make_tapped(taps)(name, id, context, scratch);
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
