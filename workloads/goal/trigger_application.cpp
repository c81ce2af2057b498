// SPDX-License-Identifier: Apache-2.0
#include "workloads/goal/trigger_application.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace sluice {

namespace {

/// A timer's token: a connection to start or, with this bit, a trigger that is activated.
constexpr std::uint64_t kActivate = std::uint64_t{1} << 32;

}  // namespace

TriggerApplication::TriggerApplication(ConnectionMatrix matrix, std::vector<NodeId> hosts,
                                       FlowId first_flow)
    : matrix_(std::move(matrix)), hosts_(std::move(hosts)), first_flow_(first_flow) {
    if (hosts_.size() < matrix_.nodes) {
        throw ConfigError("the connection matrix has " + std::to_string(matrix_.nodes) +
                          " nodes but only " + std::to_string(hosts_.size()) + " hosts");
    }
    for (const ConnectionMatrix::Trigger& trigger : matrix_.triggers) {
        const std::uint32_t home =
            trigger.targets.empty() ? 0 : matrix_.connections[trigger.targets[0]].src;
        states_.push_back({hosts_[home], 0});
    }
}

std::vector<FlowSpec> TriggerApplication::flows() const {
    std::vector<FlowSpec> flows;
    flows.reserve(matrix_.connections.size());
    for (const ConnectionMatrix::Connection& c : matrix_.connections) {
        FlowSpec flow;
        flow.src = hosts_[c.src];
        flow.dst = hosts_[c.dst];
        flow.size = c.size;
        flow.start = c.start;
        flow.connection = c.queue;
        flows.push_back(flow);
    }
    return flows;
}

const ConnectionMatrix::Connection* TriggerApplication::connection(FlowId flow) const {
    if (flow < first_flow_ || flow - first_flow_ >= matrix_.connections.size()) return nullptr;
    return &matrix_.connections[flow - first_flow_];
}

bool TriggerApplication::waits_at(NodeId host) const {
    return std::any_of(
        matrix_.connections.begin(), matrix_.connections.end(),
        [&](const ConnectionMatrix::Connection& c) {
            return (hosts_[c.src] == host && (c.start == kNever || c.send_done != kNone)) ||
                   (hosts_[c.dst] == host && c.recv_done != kNone);
        });
}

void TriggerApplication::on_begin(NodeId host, HostServices& /*services*/) {
    for (State& state : states_) {
        if (state.home == host) state.activations = 0;
    }
}

void TriggerApplication::on_received(NodeId host, FlowId flow, Tick now, HostServices& services) {
    const ConnectionMatrix::Connection* c = connection(flow);
    if (c != nullptr && c->recv_done != kNone) activate(c->recv_done, host, now, services);
}

void TriggerApplication::on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) {
    const ConnectionMatrix::Connection* c = connection(flow);
    if (c != nullptr && c->send_done != kNone) activate(c->send_done, host, now, services);
}

void TriggerApplication::on_timer(NodeId host, std::uint64_t token, Tick now,
                                  HostServices& services) {
    if ((token & kActivate) != 0) {
        act(static_cast<std::uint32_t>(token), now, services);
    } else {
        start(static_cast<std::uint32_t>(token), host, now, services);
    }
}

void TriggerApplication::activate(std::uint32_t trigger, NodeId host, Tick now,
                                  HostServices& services) {
    const NodeId home = states_[trigger].home;
    if (home == host) return act(trigger, now, services);
    services.set_timer(home, now + services.lookahead(), kActivate | trigger);
}

void TriggerApplication::act(std::uint32_t trigger, Tick now, HostServices& services) {
    using Type = ConnectionMatrix::TriggerType;
    const ConnectionMatrix::Trigger& t = matrix_.triggers[trigger];
    State& state = states_[trigger];
    const std::uint32_t before = state.activations++;
    if (t.type == Type::multishot) {
        if (before < t.targets.size()) start(t.targets[before], state.home, now, services);
        return;
    }
    if (before + 1 != (t.type == Type::barrier ? t.count : 1)) return;
    for (const std::uint32_t target : t.targets) start(target, state.home, now, services);
}

void TriggerApplication::start(std::uint32_t target, NodeId host, Tick now,
                               HostServices& services) {
    const NodeId source = hosts_[matrix_.connections[target].src];
    if (source == host) {
        services.start_flow(first_flow_ + target, now);
    } else {
        services.set_timer(source, now + services.lookahead(), target);
    }
}

}  // namespace sluice
