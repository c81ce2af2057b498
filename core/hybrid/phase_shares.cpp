// SPDX-License-Identifier: Apache-2.0
/// What the flows of a full port have of it.
#include <algorithm>

#include "core/calibration/counter_class.h"
#include "core/hybrid/phase_state.h"
#include "core/steady/fair_shares.h"

namespace sluice::hybrid {

namespace {

constexpr double kBitsPerByteAndSecond = 8e12;
/// Who allows errors of this part does not ask whether shares are fair, nor whether laws aim lower.
constexpr double kAnything = 1;
/// A flow alone that has more of a link than this above what its law aims at is still on its way down to it.
constexpr double kAboveAim = 0.02;

/// A flow that nobody meets comes to its rate by its law alone, within 32 round trips below one switch, too.
constexpr std::size_t kCountersAlone = 2;

}  // namespace

/// The most flows of a group whose data packets leave by one port.
std::size_t PhaseController::sharing(const State& state) {
    double most = 0;
    const auto each = [&](auto&& visit) {
        for (const FlowSlot flow : state.group.flows) {
            for (const PortId port : engine_.tracks(flow).data) {
                visit(port);
            }
        }
    };
    each([&](PortId port) {
        if (load_.size() <= port) {
            load_.resize(port + 1, 0);
        }
        most = std::max(most, ++load_[port]);
    });
    each([&](PortId port) { load_[port] = 0; });
    return static_cast<std::size_t>(most);
}

/// GroupFacts::counters; not before sharing() is known. Where ACKs are no packets, a flow that others' cross counts none.
std::size_t PhaseController::counters(const State& state) {
    const auto each_ack_port = [&](auto&& visit) {
        for (const FlowSlot flow : state.group.flows) {
            for (const PortId port : engine_.tracks(flow).acks) {
                visit(port);
            }
        }
    };
    each_ack_port([&](PortId port) {
        if (load_.size() <= port) {
            load_.resize(port + 1, 0);
        }
        load_[port] = 1;
    });
    const auto is_crossed = [this](PortId port) {
        return acks_ == nullptr ? port < load_.size() && load_[port] > 0
                                : acks_->across(port) > 0 || acks_->awaited(port) > 0;
    };
    std::size_t most = 0;
    for (const FlowSlot flow : state.group.flows) {
        const std::vector<PortId>& way = engine_.tracks(flow).data;
        const bool met = std::any_of(way.begin(), way.end(), is_crossed);
        const std::size_t switches =
            way.empty() ? 0 : way.size() - 1;  // the first port is the NIC's
        if (met && acks_ == nullptr) {
            most = std::max(most, switches);
        } else if (!met && state.sharing == 1) {
            most = std::max({most, switches, kCountersAlone});
        }
    }
    each_ack_port([&](PortId port) { load_[port] = 0; });
    return most;
}

/// By flow, what the counters that its law reads make of its rate; none: it reads none.
std::vector<std::vector<std::int64_t>> PhaseController::counters_of(const State& state,
                                                                    Tick at) const {
    const std::int64_t unit = engine_.counter_unit();
    if (unit == 0) {
        return {};
    }
    std::vector<const step::Footprint*> ways;
    for (const FlowSlot flow : state.group.flows) {
        ways.push_back(&engine_.tracks(flow));
    }
    const CounterFacts facts = {unit, engine_.packets_per_ack(),
                                static_cast<double>(engine_.data_bytes()), engine_.ack_bytes(),
                                engine_.ack_streams() == nullptr};
    return counter_classes(ways, facts, [this, at](PortId from, PortId to) {
        return engine_.counter_ahead(from, to, at);
    });
}

/// What a flow may be advanced by at most: what is in flight as a skip ends is as much as now, and that
/// many are sent as packets.
std::int64_t PhaseController::skippable(const State& state, std::size_t flow) const {
    return engine_.unsent_packets(state.group.flows[flow]) -
           state.readings[flow].in_flight / engine_.payload() - 1;
}

/// Lists the ports by which data of the group's flows leave.
void PhaseController::list_data_ports(State& state) {
    std::vector<std::pair<PortId, std::uint32_t>> uses;
    for (std::uint32_t i = 0; i < state.group.flows.size(); ++i) {
        for (const PortId port : engine_.tracks(state.group.flows[i]).data) {
            uses.emplace_back(port, i);
        }
    }
    std::sort(uses.begin(), uses.end());
    for (const auto& [port, flow] : uses) {
        if (state.data_ports.empty() || state.data_ports.back() != port) {
            state.data_ports.push_back(port);
            state.uses.emplace_back();
        }
        state.uses.back().flows.push_back(flow);
    }
}

/// A law that aims below a link's rate (HPCC) comes down from it within as many round trips as windows take to shrink to one
/// round trip's bytes: 45 behind an NVSwitch, in which nothing is seen to move.
bool PhaseController::is_above_aim(const State& state) const {
    const double aim = congestion::target_utilization(engine_.law());
    if (aim >= 1 || state.sharing > 1 || state.record.told || rates_ != nullptr ||
        config_.detector.tolerance >= kAnything) {
        return false;
    }
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        const std::vector<PortId>& way = engine_.tracks(state.group.flows[i]).data;
        const double bytes = state.rate[i] * static_cast<double>(engine_.data_bytes());
        // The first port is the NIC's, which reports nothing.
        for (std::size_t hop = 1; hop < way.size(); ++hop) {
            const double link =
                static_cast<double>(engine_.link_rate(way[hop])) / kBitsPerByteAndSecond;
            if (bytes > (aim + kAboveAim) * link) {
                return true;
            }
        }
    }
    return false;
}

/// A skip would hold up what packets go on doing, while flows have not settled on what they have of ports. Who predicts how
/// shares move knows better.
bool PhaseController::shares_are_fair(State& state) {
    if (state.sharing < 2 || state.record.told || rates_ != nullptr ||
        config_.detector.tolerance >= kAnything) {
        return true;
    }
    if (state.data_ports.empty()) {
        list_data_ports(state);
    }
    for (std::size_t i = 0; i < state.data_ports.size(); ++i) {
        const PortId port = state.data_ports[i];
        const double across = acks_ == nullptr ? 0 : acks_->across(port);
        const double bytes =
            static_cast<double>(engine_.link_rate(port)) / kBitsPerByteAndSecond - across;
        state.uses[i].capacity = congestion::target_utilization(engine_.law()) * bytes /
                                 static_cast<double>(engine_.data_bytes());
    }
    return steady::are_fair(state.uses, state.rate);
}

}  // namespace sluice::hybrid
