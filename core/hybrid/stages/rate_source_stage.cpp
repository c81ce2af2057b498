// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/stages/rate_source_stage.h"

#include <algorithm>

#include "core/hybrid/stages/stage_list.h"
#include "core/steady/rate_units.h"

namespace sluice::hybrid {

void RateSourceStage::limit(SkipPlan& plan) {
    if (rates_ != nullptr) {
        take_rates(plan.state);
        plan.rates_are_known = true;
    }
}

void RateSourceStage::take_rates(GroupState& state) {
    const std::vector<FlowSlot>& flows = state.group.flows;
    const auto payload = static_cast<double>(view_.payload());
    const double data = static_cast<double>(view_.data_bytes()) / payload;
    const double acks = view_.ack_bytes() / payload;
    std::vector<RateDemand> demands(flows.size());
    std::vector<double> capacities;
    std::vector<PortId> ports;
    std::vector<double> users;
    const auto use = [&](RateDemand& demand, PortId port, double coefficient) {
        if (link_index_.size() <= port) {
            link_index_.resize(port + 1, kNone);
        }
        if (link_index_[port] == kNone) {
            link_index_[port] = static_cast<std::uint32_t>(ports.size());
            ports.push_back(port);
            capacities.push_back(static_cast<double>(view_.link_rate(port)) / 8 / kTicksPerSecond);
            users.push_back(0);
        }
        demand.links.push_back({link_index_[port], coefficient});
        users[link_index_[port]] += coefficient;
    };
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const step::Footprint& tracks = view_.tracks(flows[i]);
        for (const PortId port : tracks.data) {
            use(demands[i], port, data);
        }
        for (const PortId port : tracks.acks) {
            use(demands[i], port, acks);
        }
    }
    for (const PortId port : ports) {
        link_index_[port] = kNone;
    }
    for (std::size_t i = 0; i < flows.size(); ++i) {
        demands[i].instantaneous = state.rate[i] * payload;
        // What an equal division of its links guarantees: laws know no other minimum.
        for (const RateDemand::Use& used : demands[i].links) {
            demands[i].guaranteed =
                std::min(demands[i].guaranteed, capacities[used.link] / users[used.link]);
        }
    }
    const std::vector<double> rates = rates_->rates(demands, capacities);
    for (std::size_t i = 0; i < flows.size(); ++i) {
        state.rate[i] = rates[i] / payload;
    }
}

std::unique_ptr<SkipStage> make_rate_source_stage(StageContext& context) {
    return std::make_unique<RateSourceStage>(context.view(), context.rates);
}

}  // namespace sluice::hybrid
