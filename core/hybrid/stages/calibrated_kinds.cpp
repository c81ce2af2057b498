// SPDX-License-Identifier: Apache-2.0
/// Kinds of groups that are recorded, and the ACK load that is a part of them.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/hybrid/stages/ack_streams.h"
#include "core/hybrid/stages/calibration_stage.h"
#include "core/steady/rate_units.h"

namespace sluice::hybrid {

namespace {

/// Resolution of the ACK load's class: this fraction of the link.
constexpr double kAckClasses = 256;
/// ACK loads that differ by less, as shares of the link, count as equal.
constexpr double kAckSharesAgree = 2 / kAckClasses;

}  // namespace

/// Share of a port's link that ACKs of other flows take.
double CalibrationStage::ack_share(PortId port) const {
    const auto rate = static_cast<double>(view_.link_rate(port));
    return acks_ == nullptr ? 0 : acks_->across(port) * kBitsPerByteAndTick / rate;
}

/// If the ACK load on the group's ports has changed, the group gets a new kind, and stops contributing.
void CalibrationStage::update_ack_load(GroupState& state, bool begins, Tick at) {
    CalibrationRecord& record = state.record;
    std::vector<double> shares;
    bool known = true;
    for (const FlowSlot flow : state.group.flows) {
        for (const PortId port : view_.tracks(flow).data) {
            shares.push_back(ack_share(port));
            known = known && (acks_ == nullptr || acks_->awaited(port) == 0);
        }
    }
    const auto same = [](double a, double b) { return std::abs(a - b) <= kAckSharesAgree; };
    if (begins || !std::equal(shares.begin(), shares.end(), record.ack_shares.begin(),
                              record.ack_shares.end(), same)) {
        record.ack_shares = std::move(shares);
        record.known_from_begin = begins && known;
        record.kind.key.clear();
        if (acks_ != nullptr) {
            compute_key(state, at);
        }
        record.contributes = false;
    }
}

/// Computes the key of the group's kind, if it has none. This is done when the ACK load is noted, or at the first use where
/// ACKs are packets.
void CalibrationStage::compute_key(GroupState& state, Tick at) const {
    CalibrationRecord& record = state.record;
    if (record.kind.key.empty()) {
        record.kind.key = key_of(state, at);
        record.kind.key.push_back(record.known_from_begin ? 1 : 0);
        record.known = kNone;
        record.looked_up = CalibrationRecord::kNotLookedUp;
    }
}

GroupKey CalibrationStage::key_of(const GroupState& state, Tick at) const {
    std::vector<KeyedFlow> flows;
    std::set<PortId> data;
    const auto counters = loads_.counters_of(state.group, at);
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        const FlowSlot flow = state.group.flows[i];
        std::vector<std::int64_t> law = view_.law_facts(flow);
        if (!counters.empty()) {
            law.insert(law.end(), counters[i].begin(), counters[i].end());
        }
        flows.push_back({&view_.tracks(flow), view_.base_rtt(flow), view_.line_rate(flow),
                         state.record.age_class[i], view_.sender(flow).traffic_class,
                         std::move(law)});
        const std::vector<PortId>& way = view_.tracks(flow).data;
        data.insert(way.begin(), way.end());
    }
    return group_key(flows, [&](PortId port) {
        // Other ports carry the group's own ACKs, whose number is not known yet.
        const double share = data.count(port) > 0 ? ack_share(port) : 0;
        return KeyedPort{view_.link_rate(port), view_.describe(port).mark_bytes,
                         std::llround(share * kAckClasses)};
    });
}

}  // namespace sluice::hybrid
