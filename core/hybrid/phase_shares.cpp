// SPDX-License-Identifier: Apache-2.0
/// What the flows of a full port have of it: in a skip, and as packets go on.
#include <algorithm>
#include <string>

#include "core/calibration/counter_class.h"
#include "core/error.h"
#include "core/hybrid/phase_state.h"
#include "core/random.h"
#include "core/steady/fair_shares.h"

namespace sluice::hybrid {

namespace {

constexpr double kBitsPerByteAndSecond = 8e12;
/// A port is full at this part of what the law aims at.
constexpr double kFull = 0.9;
/// Rounds that bring the length of a skip below the first finisher's, which depends on it.
constexpr int kRounds = 6;
/// Base round trips of packets between a skip and the first finisher: flows that leave find laws that have
/// adapted to the shares that they woke with. Under HPCC who takes what a leaver frees depends on that.
constexpr Tick kSettling = 12;
/// A law wakes with its rate within this factor of the one that it fell asleep with.
constexpr double kMostChange = 16;
/// Who allows errors of this part does not ask whether shares are fair, nor whether laws aim lower.
constexpr double kAnything = 1;
/// A flow alone that has more of a link than this above what its law aims at is still on its way down to it.
constexpr double kAboveAim = 0.02;

/// Scales `rate` so that every full port carries its total.
void scale_to_totals(const std::vector<FullPort>& ports, std::vector<double>& rate) {
    for (const FullPort& port : ports) {
        double sum = 0;
        for (std::size_t i = port.first; i < port.last; ++i) {
            sum += rate[i];
        }
        for (std::size_t i = port.first; i < port.last; ++i) {
            rate[i] *= sum > 0 ? port.total / sum : 1;
        }
    }
}

/// A flow that nobody meets comes to its rate by its law alone, within 32 round trips below one switch, too.
constexpr std::size_t kCountersAlone = 2;

}  // namespace

/// What does not change of a flow of the group that shares `port`: all but its rates.
SharePast PhaseController::past_of(const State& state, std::size_t flow, PortId port,
                                   std::size_t flows) const {
    SharePast past;
    past.flows = flows;
    past.line = static_cast<double>(engine_.link_rate(port)) / kBitsPerByteAndSecond /
                static_cast<double>(engine_.payload());
    past.base_rtt = engine_.base_rtt(state.group.flows[flow]);
    return past;
}

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

/// Lists the ports by which data of two flows or more leave, if it is known how shares move.
void PhaseController::list_shared_ports(State& state, steady::GroupFacts& facts) {
    state.shared_ports.clear();
    if (shares_ == nullptr) {
        return;
    }
    std::vector<std::pair<PortId, std::uint32_t>> uses;
    for (std::uint32_t i = 0; i < state.group.flows.size(); ++i) {
        for (const PortId port : engine_.tracks(state.group.flows[i]).data) {
            uses.emplace_back(port, i);
        }
    }
    std::sort(uses.begin(), uses.end());
    const double payload_share =
        static_cast<double>(engine_.payload()) / static_cast<double>(engine_.data_bytes());
    const double aim = congestion::target_utilization(engine_.law());
    for (std::size_t first = 0, last = 0; first < uses.size(); first = last) {
        while (last < uses.size() && uses[last].first == uses[first].first) {
            ++last;
        }
        if (last - first < 2) {
            continue;
        }
        steady::SharedPort port;
        port.least = kFull * aim * payload_share / 8 *
                     static_cast<double>(engine_.link_rate(uses[first].first));
        for (std::size_t use = first; use < last; ++use) {
            port.flows.push_back(uses[use].second);
            port.known = port.known && shares_->knows(past_of(state, uses[use].second,
                                                              uses[first].first, last - first));
        }
        facts.shared.push_back(port);
        state.shared_ports.push_back({uses[first].first, std::move(port.flows)});
    }
}

/// After take_rates(): what is known of the flows of full ports. Rates of the others stand.
void PhaseController::take_shares(State& state, const std::vector<std::uint32_t>& full) {
    Shares& shares = state.shares;
    shares = Shares{};
    for (const std::uint32_t p : full) {
        const SharedPortFlows& shared = state.shared_ports[p];
        const auto count = static_cast<double>(shared.flows.size());
        FullPort port;
        port.first = shares.flows.size();
        double by_law = 0;
        for (const std::uint32_t flow : shared.flows) {
            port.total += state.rate[flow];
            by_law += static_cast<double>(state.readings[flow].rate);
        }
        for (const std::uint32_t flow : shared.flows) {
            SharePast past = past_of(state, flow, shared.port, shared.flows.size());
            past.rate = port.total * static_cast<double>(state.readings[flow].rate) / by_law;
            past.fair = port.total / count;
            shares.flows.push_back(flow);
            shares.past.push_back(past);
        }
        port.last = shares.flows.size();
        shares.ports.push_back(port);
    }
    shares.occasion = mix_bits(static_cast<std::uint64_t>(state.since_born)) + shares.flows.size();
}

/// What a flow may be advanced by at most: what is in flight as a skip ends is as much as now, and that
/// many are sent as packets.
std::int64_t PhaseController::skippable(const State& state, std::size_t flow) const {
    return engine_.unsent_packets(state.group.flows[flow]) -
           state.readings[flow].in_flight / engine_.payload() - 1;
}

/// A skip of at most `dt` that no flow of a full port is likely to finish in.
Tick PhaseController::length_with_shares(State& state, Tick dt) {
    const Shares& shares = state.shares;
    if (shares.flows.empty()) {
        return dt;
    }
    dt = std::min(dt, shares_->longest(state.rtt));
    for (int round = 0; round < kRounds && dt > 0; ++round) {
        Tick shorter = dt;
        for (std::size_t i = 0; i < shares.flows.size(); ++i) {
            const double most = shares_->most(shares.past[i], dt);
            const std::int64_t left = skippable(state, shares.flows[i]);
            if (left <= 0) {
                return 0;
            }
            const Tick settled = shorter + kSettling * state.rtt;
            if (static_cast<double>(left) < most * static_cast<double>(settled)) {
                const double until = static_cast<double>(left) / most;
                shorter = static_cast<Tick>(until) - kSettling * state.rtt;
                state.planned_end = PhaseEnd::finisher_near;
            }
        }
        if (shorter == dt) {
            break;
        }
        dt = shorter;
    }
    return dt;
}

/// The shares of a skip of `dt`, anew if it becomes shorter: by the same random numbers.
void PhaseController::draw_shares(State& state, Tick dt) {
    Shares& shares = state.shares;
    if (shares.flows.empty() || dt <= 0) {
        return;
    }
    const std::vector<ShareDrawn> drawn = shares_->draw(shares.past, dt, shares.occasion);
    std::vector<double> mean;
    std::vector<double> end;
    for (std::size_t i = 0; i < shares.flows.size(); ++i) {
        const ShareDrawn& one = drawn.at(i);
        if (!(one.mean >= 0 && one.mean < 1e18 && one.end >= 0 && one.end < 1e18)) {
            throw InternalError("phases.shares: rates of " + std::to_string(one.mean) + " and " +
                                std::to_string(one.end) + " packets per tick");
        }
        mean.push_back(one.mean);
        end.push_back(one.end);
    }
    scale_to_totals(shares.ports, mean);
    scale_to_totals(shares.ports, end);
    shares.factor.resize(shares.flows.size());
    for (std::size_t i = 0; i < shares.flows.size(); ++i) {
        const std::uint32_t flow = shares.flows[i];
        const double left = static_cast<double>(skippable(state, flow) + state.advanced(flow)) /
                            static_cast<double>(dt);
        state.rate[flow] = std::min(mean[i], std::max(left, 0.0));
        shares.factor[i] =
            std::min(std::max(end[i] / shares.past[i].rate, 1 / kMostChange), kMostChange);
    }
}

/// The laws of full ports' flows wake with the shares that were drawn.
void PhaseController::wake_with_shares(State& state) {
    const Shares& shares = state.shares;
    for (std::size_t i = 0; i < shares.factor.size(); ++i) {
        engine_.rescale_law(state.group.flows[shares.flows[i]], shares.factor[i], state.until);
    }
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

/// A skip would hold up what packets go on doing, while flows have not settled on what they have of ports. Others, who tell,
/// or draw, how shares move, know better.
bool PhaseController::shares_are_fair(State& state) {
    if (state.sharing < 2 || state.record.told || shares_ != nullptr || rates_ != nullptr ||
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
