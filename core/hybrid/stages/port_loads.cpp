// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/stages/port_loads.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/calibration/counter_class.h"
#include "core/hybrid/stages/ack_streams.h"
#include "core/steady/rate_units.h"

namespace sluice::hybrid {

namespace {

/// A flow alone that has more of a link than this above what its law aims at is still on its way down to it.
constexpr double kAboveAim = 0.02;

/// A flow that nobody meets comes to its rate by its law alone, within 32 round trips below one switch, too.
constexpr std::size_t kCountersAlone = 2;

}  // namespace

double& PortLoads::at(PortId port) {
    if (load_.size() <= port) {
        load_.resize(port + 1, 0);
    }
    return load_[port];
}

std::size_t PortLoads::most_sharing(const Group& group) {
    double most = 0;
    const auto each = [&](auto&& visit) {
        for (const FlowSlot flow : group.flows) {
            for (const PortId port : view_.tracks(flow).data) {
                visit(port);
            }
        }
    };
    each([&](PortId port) { most = std::max(most, ++at(port)); });
    each([&](PortId port) { load_[port] = 0; });
    return static_cast<std::size_t>(most);
}

std::size_t PortLoads::most_counters(const Group& group, std::size_t sharing) {
    const auto each_ack_port = [&](auto&& visit) {
        for (const FlowSlot flow : group.flows) {
            for (const PortId port : view_.tracks(flow).acks) {
                visit(port);
            }
        }
    };
    each_ack_port([&](PortId port) { at(port) = 1; });
    const auto is_crossed = [this](PortId port) {
        return acks_ == nullptr ? port < load_.size() && load_[port] > 0
                                : acks_->across(port) > 0 || acks_->awaited(port) > 0;
    };
    std::size_t most = 0;
    for (const FlowSlot flow : group.flows) {
        const std::vector<PortId>& way = view_.tracks(flow).data;
        const bool met = std::any_of(way.begin(), way.end(), is_crossed);
        const std::size_t switches =
            way.empty() ? 0 : way.size() - 1;  // the first port is the NIC's
        if (met && acks_ == nullptr) {
            most = std::max(most, switches);
        } else if (!met && sharing == 1) {
            most = std::max({most, switches, kCountersAlone});
        }
    }
    each_ack_port([&](PortId port) { load_[port] = 0; });
    return most;
}

std::vector<std::vector<std::int64_t>> PortLoads::counters_of(const Group& group, Tick at) const {
    const std::int64_t unit = view_.counter_unit();
    if (unit == 0) {
        return {};
    }
    std::vector<const step::Footprint*> ways;
    for (const FlowSlot flow : group.flows) {
        ways.push_back(&view_.tracks(flow));
    }
    const CounterFacts facts = {unit, view_.packets_per_ack(),
                                static_cast<double>(view_.data_bytes()), view_.ack_bytes(),
                                view_.ack_streams() == nullptr};
    return counter_classes(ways, facts, [this, at](PortId from, PortId to) {
        return view_.counter_ahead(from, to, at);
    });
}

double PortLoads::aim_of(FlowSlot flow, Tick at) const {
    const std::int64_t unit = view_.counter_unit();
    const std::vector<PortId>& way = view_.tracks(flow).data;
    if (acks_ == nullptr || unit == 0 || way.empty()) {
        return 0;
    }
    const auto link = [this](PortId port) {
        return static_cast<double>(view_.link_rate(port)) / kBitsPerByteAndTick;
    };
    const double target = congestion::target_utilization(view_.law());
    // The first port is the NIC's, which reports nothing.
    double aim = link(way[0]) - acks_->across(way[0]);
    std::vector<Counter> counters;
    counters.reserve(way.size() - 1);
    for (std::size_t hop = 1; hop < way.size(); ++hop) {
        aim = std::min(aim, target * link(way[hop]) - acks_->across(way[hop]));
        const auto distance =
            hop == 1 ? std::nullopt : view_.counter_ahead(way[hop - 1], way[hop], at);
        const bool drifts = !distance.has_value();  // not the same packets cross both
        const std::int64_t before = drifts ? 0 : counters.back().ahead;
        counters.push_back({before + distance.value_or(0), link(way[hop]), 0, drifts});
    }
    const double data = view_.packets_per_ack() * static_cast<double>(view_.data_bytes());
    constexpr int kRounds =
        3;  // between two reports ACKs pass, too, the more the slower the flow is
    for (int round = 0; round < kRounds && aim > 0 && !counters.empty(); ++round) {
        for (std::size_t hop = 1; hop < way.size(); ++hop) {
            const double acks = acks_->across(way[hop]) * data / aim;
            counters[hop - 1].bytes = static_cast<std::int64_t>(data + acks);
        }
        const double before = aim;
        aim = std::min(aim, target * data / counted_time(counters, unit));
        if (aim == before) {
            break;
        }
    }
    return std::max(aim, 0.0) * static_cast<double>(view_.payload()) /
           static_cast<double>(view_.data_bytes());
}

/// Payload bytes per tick that a law by counters takes of each port.
std::vector<double> PortLoads::room_of(const Group& group, const DataPorts& known,
                                       bool beside_own) {
    const double target = congestion::target_utilization(view_.law());
    const double payload =
        static_cast<double>(view_.payload()) / static_cast<double>(view_.data_bytes());
    const auto each_own = [&](auto&& visit) {
        for (const FlowSlot flow : group.flows) {
            for (const PortId port : view_.tracks(flow).acks) {
                visit(port, flow);
            }
        }
    };
    if (beside_own) {
        each_own([&](PortId port, FlowSlot flow) { this->at(port) += acks_->own(flow); });
    }
    std::vector<double> room;
    for (std::size_t i = 0; i < known.ports.size(); ++i) {
        const PortId port = known.ports[i];
        const double link = static_cast<double>(view_.link_rate(port)) / kBitsPerByteAndTick;
        const double own = beside_own ? this->at(port) : 0;
        const double across = acks_ == nullptr ? 0 : acks_->across(port) - own;
        // A NIC's port reports nothing.
        const FlowSlot user = group.flows[known.uses[i].flows.front()];
        const double share = view_.tracks(user).data.front() == port ? 1 : target;
        room.push_back(std::max(share * link - across, 0.0) * payload);
    }
    if (beside_own) {
        each_own([&](PortId port, FlowSlot) { load_[port] = 0; });
    }
    return room;
}

std::vector<double> PortLoads::fair_aims(const Group& group, Tick at, bool beside_own,
                                         DataPorts& known, std::vector<PortId>* limits) {
    const std::size_t flows = group.flows.size();
    if (limits != nullptr) {
        limits->assign(flows, kNone);
    }
    if (flows == 1) {
        return {aim_of(group.flows.front(), at)};
    }
    list(group, known);
    std::vector<double> room = room_of(group, known, beside_own && acks_ != nullptr);
    std::vector<std::size_t> open(known.ports.size());
    for (std::uint32_t i = 0; i < known.ports.size(); ++i) {
        open[i] = known.uses[i].flows.size();
    }
    std::vector<double> aims(flows, -1);
    for (std::size_t set = 0; set < flows;) {
        double least = std::numeric_limits<double>::infinity();
        std::size_t tightest = 0;
        for (std::size_t i = 0; i < room.size(); ++i) {
            if (open[i] > 0 && room[i] / static_cast<double>(open[i]) < least) {
                least = room[i] / static_cast<double>(open[i]);
                tightest = i;
            }
        }
        if (!std::isfinite(least)) {
            return std::vector<double>(flows, 0);
        }
        for (const std::uint32_t f : known.uses[tightest].flows) {
            if (aims[f] >= 0) {
                continue;
            }
            aims[f] = least;
            ++set;
            if (limits != nullptr) {
                (*limits)[f] = known.ports[tightest];
            }
            for (const std::uint32_t i : known.ways[f]) {
                room[i] -= least;
                --open[i];
            }
        }
    }
    return aims;
}

void PortLoads::fit(const Group& group, std::vector<double>& rate) {
    const std::vector<FlowSlot>& flows = group.flows;
    const auto data = static_cast<double>(view_.data_bytes());
    const double acks = view_.ack_bytes();
    const auto each = [&](std::size_t i, auto&& visit) {
        const step::Footprint& tracks = view_.tracks(flows[i]);
        for (const PortId port : tracks.data) {
            visit(port, rate[i] * data);
        }
        for (const PortId port : tracks.acks) {
            if (acks_ == nullptr) {
                visit(port, rate[i] * acks);
            }
        }
    };
    // In an order that does not depend on the flows': a skip ends where the last digit decides, and flows that do
    // the same must do it then.
    std::vector<std::pair<PortId, double>> loads;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        each(i, [&](PortId port, double load) { loads.emplace_back(port, load); });
    }
    std::sort(loads.begin(), loads.end());
    for (const auto& [port, load] : loads) {
        at(port) += load;
    }
    std::vector<double> fitting(flows.size(), 1);
    for (std::size_t i = 0; i < flows.size(); ++i) {
        each(i, [&](PortId port, double) {
            const double across = acks_ == nullptr ? 0 : acks_->across(port);
            const double capacity =
                static_cast<double>(view_.link_rate(port)) / 8 / kTicksPerSecond - across;
            fitting[i] = std::min(fitting[i], capacity / load_[port]);
        });
    }
    for (std::size_t i = 0; i < flows.size(); ++i) {
        each(i, [&](PortId port, double) { load_[port] = 0; });
    }
    for (std::size_t i = 0; i < flows.size(); ++i) {
        rate[i] *= fitting[i];
    }
}

void PortLoads::list(const Group& group, DataPorts& known) const {
    if (!known.ports.empty()) {
        return;
    }
    std::vector<std::pair<PortId, std::uint32_t>> uses;
    for (std::uint32_t i = 0; i < group.flows.size(); ++i) {
        for (const PortId port : view_.tracks(group.flows[i]).data) {
            uses.emplace_back(port, i);
        }
    }
    std::sort(uses.begin(), uses.end());
    known.ways.resize(group.flows.size());
    for (const auto& [port, flow] : uses) {
        if (known.ports.empty() || known.ports.back() != port) {
            known.ports.push_back(port);
            known.uses.emplace_back();
        }
        known.uses.back().flows.push_back(flow);
        known.ways[flow].push_back(static_cast<std::uint32_t>(known.ports.size() - 1));
    }
}

bool PortLoads::is_above_aim(const Group& group, const std::vector<double>& rate) const {
    const double aim = congestion::target_utilization(view_.law());
    for (std::size_t i = 0; aim < 1 && i < group.flows.size(); ++i) {
        const std::vector<PortId>& way = view_.tracks(group.flows[i]).data;
        const double bytes = rate[i] * static_cast<double>(view_.data_bytes());
        // The first port is the NIC's, which reports nothing.
        for (std::size_t hop = 1; hop < way.size(); ++hop) {
            const double link =
                static_cast<double>(view_.link_rate(way[hop])) / kBitsPerByteAndTick;
            if (bytes > (aim + kAboveAim) * link) {
                return true;
            }
        }
    }
    return false;
}

bool PortLoads::are_fair(const Group& group, const std::vector<double>& rate,
                         DataPorts& known) const {
    list(group, known);
    for (std::size_t i = 0; i < known.ports.size(); ++i) {
        const PortId port = known.ports[i];
        const double across = acks_ == nullptr ? 0 : acks_->across(port);
        const double bytes =
            static_cast<double>(view_.link_rate(port)) / kBitsPerByteAndTick - across;
        known.uses[i].capacity = congestion::target_utilization(view_.law()) * bytes /
                                 static_cast<double>(view_.data_bytes());
    }
    return steady::are_fair(known.uses, rate);
}

}  // namespace sluice::hybrid
