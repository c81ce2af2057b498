// SPDX-License-Identifier: Apache-2.0
/// Whether what flows have of the ports that they share is what their laws bring them to, or they are still on their way.
#include <algorithm>

#include "core/hybrid/phase_state.h"

namespace sluice::hybrid {

namespace {

/// A port is full at this part of its rate: laws leave a few percent free.
constexpr double kFull = 0.85;
/// Rates that differ by less are the same.
constexpr double kUnequal = 0.1;
/// Who allows errors of this part has no use for it.
constexpr double kAnything = 1;

}  // namespace

/// Ports by which data of the group's flows leave.
void PhaseController::list_data_ports(State& state) {
    std::vector<std::pair<PortId, std::uint32_t>> uses;
    for (std::uint32_t i = 0; i < state.group.flows.size(); ++i) {
        for (const PortId port : engine_.tracks(state.group.flows[i]).data) {
            uses.emplace_back(port, i);
        }
    }
    std::sort(uses.begin(), uses.end());
    state.data_ports.clear();
    for (const auto& [port, flow] : uses) {
        if (state.data_ports.empty() || state.data_ports.back().port != port) {
            state.data_ports.push_back({port, {}});
        }
        state.data_ports.back().flows.push_back(flow);
    }
}

/// Max-min fair, nearly: each flow leaves by a full port of which nobody has more. Congestion laws bring flows there, HPCC by
/// additive steps that take thousands of round trips, and look flat meanwhile; a skip would hold up what packets go on doing.
bool PhaseController::shares_are_fair(State& state) {
    if (state.sharing < 2 || state.record.told || shares_ != nullptr || rates_ != nullptr ||
        config_.detector.tolerance >= kAnything) {
        return true;
    }
    if (state.data_ports.empty()) {
        list_data_ports(state);
    }
    constexpr double kTicksPerSecond = 1e12;
    std::vector<bool> fair(state.group.flows.size(), false);
    for (const SharedPortFlows& port : state.data_ports) {
        double sum = 0;
        double most = 0;
        for (const std::uint32_t flow : port.flows) {
            sum += state.rate[flow];
            most = std::max(most, state.rate[flow]);
        }
        const double across = acks_ == nullptr ? 0 : acks_->across(port.port);
        const double capacity =
            static_cast<double>(engine_.link_rate(port.port)) / 8 / kTicksPerSecond - across;
        if (sum * static_cast<double>(engine_.data_bytes()) < kFull * capacity) {
            continue;
        }
        for (const std::uint32_t flow : port.flows) {
            fair[flow] = fair[flow] || state.rate[flow] >= (1 - kUnequal) * most;
        }
    }
    return std::all_of(fair.begin(), fair.end(), [](bool one) { return one; });
}

}  // namespace sluice::hybrid
