// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/stages/trajectory_kinds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/hybrid/outside.h"
#include "core/hybrid/stages/ack_streams.h"
#include "core/memo/canonical_form.h"
#include "core/steady/rate_units.h"

namespace sluice::hybrid {

namespace {

/// Most flows of a small group that begin at once: what they send of their first round trips stands in one queue.
constexpr std::int64_t kMostNew = 4;
/// What NICs offer a port, as a multiple of what laws aim at, if it is NICs that limit a large group. One more flow than an
/// all-to-all's may come to a port.
constexpr double kNicBound = 1.2;
/// A large group has settled after so many round trips at the least: one that others may follow, and one that goes on by itself.
constexpr Tick kSettles = 128;
constexpr Tick kSettlesUnshared = 64;
/// The same of a flow alone, and what part of a quarter of them a packet may be.
constexpr Tick kSettlesAlone = 64;
constexpr double kPartOfQuarter = 0.0005;
/// A window of many packets.
constexpr double kManyPackets = 16;
/// Laws' rates over aims are of one class if their logarithms to this base round to the same number.
constexpr double kRateClass = 1.4;
constexpr double kRateClassOfMany = 2.5;  ///< in groups of more than two flows
/// The same of what a flow alone has under way, as a part of what it would have at its aim.
constexpr double kFillClass = 1.1;
constexpr double kLeastFill = 0.01;
/// Of a pair, flows are told apart by age up to the class from 15 round trips on: two that begin together divide their port
/// evenly, end together and so meet again.
constexpr std::int64_t kOldest = 4;
/// In place of the class of a flow of which nothing has been acknowledged.
constexpr std::int64_t kFresh = 1000;
/// Aims of flows alone are of one class if they round to the same part of the NIC's rate: a law does not do quite what is
/// said of it, and is off by the same where it aims at the same.
constexpr double kAimClasses = 64;
constexpr double kAimClassesOfLong = 256;
/// The same of the largest part of a link that ACKs take as the flow begins.
constexpr double kTrajectoryAckClasses = 32;

/// Numbers that key_of() adds to the shape of a flow alone, and those of its state at the shape's end.
constexpr std::size_t kAloneClasses = 2;
constexpr std::size_t kStates = 2;

/// A young flow goes on as one that has been alone from the beginning, if it has sent as much, and sends as fast, but for this
/// part.
constexpr double kLike = 0.1;
/// Label of an edge from a flow to a port that its ACKs cross. Of its data the label is the hop.
constexpr std::int64_t kAckEdge = -1;
/// In a large group all rates within these parts of the aim are one class: NICs hide what is above, and laws hover around it.
constexpr double kLeastSettled = 0.4;
constexpr double kMostSettled = 2;

bool is_long(const TrajectoryRecord& record) {
    return 2 * record.need > static_cast<Tick>(kMaxBins) * record.flows.front().base_rtt;
}

std::int64_t aim_class(const TrajectoryRecord& record) {
    const double line = static_cast<double>(record.line_rate) / kBitsPerByteAndTick;
    const double classes = is_long(record) ? kAimClassesOfLong : kAimClasses;
    return std::llround(record.flows.front().aim / line * classes);
}

std::int64_t rate_class(double rate, std::size_t flows) {
    if (is_large(flows) && rate >= kLeastSettled && rate <= kMostSettled) {
        return 0;
    }
    return std::lround(std::log(rate) / std::log(flows > 2 ? kRateClassOfMany : kRateClass));
}

/// By powers of two.
std::int64_t age_class(Tick age, Tick base_rtt) {
    std::int64_t found = 0;
    while (found < kOldest && age >= base_rtt * ((Tick{2} << found) - 1)) {
        ++found;
    }
    return found;
}

}  // namespace

/// Nothing of it has been acknowledged or skipped.
bool TrajectoryKinds::is_fresh(FlowSlot flow) const {
    const step::Sender& sender = view_.sender(flow);
    return sender.una_bytes == 0 && sender.skipped == 0;
}

/// Not where packets may be dropped: what follows a time-out is not to be told from a few groups. Nor where a port is slower
/// than a NIC: there a new flow's first round trip stands in a queue for long, and it is not known what it does if somebody
/// comes before it is gone.
bool TrajectoryKinds::may_form(const GroupState& state) const {
    const std::vector<FlowSlot>& flows = state.group.flows;
    if (flows.empty() || flows.size() > kMostFlows || passes_outside(view_, state.group)) {
        return false;
    }
    Tick first = kNever;
    Tick last = 0;
    for (const FlowSlot flow : flows) {
        const std::vector<PortId>& way = view_.tracks(flow).data;
        const bool slower = std::any_of(way.begin(), way.end(), [&](PortId port) {
            return view_.link_rate(port) < view_.line_rate(flow);
        });
        if (slower || view_.unsent_packets(flow) <= 0) {
            return false;
        }
        if (is_fresh(flow)) {
            first = std::min(first, view_.start(flow));
            last = std::max(last, view_.start(flow));
        }
    }
    return is_large(flows.size()) ||
           (new_flows(state) <= kMostNew && (last == 0 || last - first <= view_.lookahead()));
}

std::int64_t TrajectoryKinds::new_flows(const GroupState& state) const {
    return std::count_if(state.group.flows.begin(), state.group.flows.end(),
                         [this](FlowSlot flow) { return is_fresh(flow); });
}

/// NICs are what limits a large group: evenly divided among their flows they leave switch ports hardly more than laws aim at.
/// Where laws are what limits it (an incast), flows keep whatever shares they have come to, and new ones queue. Nor do two
/// flows go from one NIC to the same port: one may have settled, the other not.
bool TrajectoryKinds::is_exchange(const std::vector<FlowSlot>& flows) const {
    std::map<PortId, double> of_nic;
    std::map<PortId, double> offered;
    std::set<std::pair<PortId, PortId>> ends;
    for (const FlowSlot flow : flows) {
        const std::vector<PortId>& way = view_.tracks(flow).data;
        if (!ends.emplace(way.front(), way.back()).second) {
            return false;
        }
        ++of_nic[way.front()];
    }
    const double most = kNicBound * congestion::target_utilization(view_.law());
    for (const FlowSlot flow : flows) {
        const std::vector<PortId>& way = view_.tracks(flow).data;
        const double rate = static_cast<double>(view_.line_rate(flow)) / of_nic[way.front()];
        for (std::size_t hop = 1; hop < way.size(); ++hop) {
            double& all = offered[way[hop]];
            all += rate;
            if (all > most * static_cast<double>(view_.link_rate(way[hop]))) {
                return false;
            }
        }
    }
    return true;
}

/// In an order that tells apart what does: new flows last, then by switches, then the fastest first.
void TrajectoryKinds::list_flows(GroupState& state, Tick at) const {
    TrajectoryRecord& record = state.trajectory;
    for (std::size_t place = 0; place < state.group.flows.size(); ++place) {
        const FlowSlot slot = state.group.flows[place];
        const steady::FlowReading reading = view_.reading(slot);
        TrajectoryFlow flow;
        flow.place = place;
        flow.base_rtt = view_.base_rtt(slot);
        flow.acked = static_cast<double>(reading.acked);
        // Of a new flow the first ACK is on its way.
        const Tick told = reading.acked > 0 ? reading.progress : state.changed + flow.base_rtt;
        flow.age = static_cast<double>(told - at - flow.base_rtt);
        flow.advance = -static_cast<double>(reading.in_flight);  // bytes, up to here
        record.flows.push_back(flow);
    }
    const auto rank = [&](const TrajectoryFlow& flow) {
        const FlowSlot slot = state.group.flows[flow.place];
        return std::make_tuple(is_fresh(slot), view_.tracks(slot).data.size(),
                               -view_.sender(slot).cc.rate);
    };
    std::stable_sort(record.flows.begin(), record.flows.end(),
                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

/// What of the flow its law was given.
void TrajectoryKinds::append_law(FlowSlot flow, std::vector<std::int64_t>& facts) {
    for (const std::int64_t fact : view_.law_facts(flow)) {
        facts.push_back(facts_.stand_in(fact));
    }
}

/// The lookahead, as a recording of new flows begins when it is over. By flow in the kind's order: its base RTT and what its law
/// was given, traffic class, the classes of its law's rate and, in a pair, of its age, and the ports of its data by first
/// appearance, with their rates.
GroupKey TrajectoryKinds::shape_of(GroupState& state) {
    TrajectoryRecord& record = state.trajectory;
    GroupKey key = {static_cast<std::int64_t>(record.flows.size()),
                    facts_.stand_in(view_.lookahead())};
    std::map<PortId, std::int64_t> names;
    for (const TrajectoryFlow& flow : record.flows) {
        const FlowSlot slot = state.group.flows[flow.place];
        const step::Sender& sender = view_.sender(slot);
        const double rate = static_cast<double>(sender.cc.rate) / kBitsPerByteAndTick / flow.aim;
        const std::vector<PortId>& way = view_.tracks(slot).data;
        key.insert(key.end(), {facts_.stand_in(flow.base_rtt), sender.traffic_class});
        append_law(slot, key);
        record.rate_at = key.size();
        key.push_back(record.young || is_fresh(slot) ? kFresh
                                                     : rate_class(rate, record.flows.size()));
        if (record.flows.size() == 2) {
            key.push_back(age_class(record.begin - view_.start(slot), flow.base_rtt));
        }
        key.push_back(static_cast<std::int64_t>(way.size()));
        for (const PortId port : way) {
            const auto [name, first] = names.emplace(port, static_cast<std::int64_t>(names.size()));
            key.push_back(name->second);
            if (first) {
                key.push_back(view_.link_rate(port));
            }
        }
    }
    return key;
}

/// A flow of a large group that has just begun.
bool TrajectoryKinds::has_just_begun(const TrajectoryRecord& record, FlowSlot flow) const {
    return record.begin - view_.start(flow) <= 2 * view_.lookahead();
}

/// Flows, with what shape_of() has of each but for its law's rate; ports of data, with their rates; data and ACKs that cross
/// them. What NICs let through hides laws' rates above it: the class of their median stands for all that are not far below.
memo::ConflictGraph TrajectoryKinds::graph_of(const GroupState& state) {
    const TrajectoryRecord& record = state.trajectory;
    std::vector<double> rates;
    for (const TrajectoryFlow& flow : record.flows) {
        const step::Sender& sender = view_.sender(state.group.flows[flow.place]);
        rates.push_back(static_cast<double>(sender.cc.rate) / kBitsPerByteAndTick / flow.aim);
    }
    std::vector<double> sorted = rates;
    const auto median = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), median, sorted.end());
    memo::ConflictGraph graph(
        {rate_class(*median, rates.size()), facts_.stand_in(view_.lookahead())});
    for (std::size_t k = 0; k < record.flows.size(); ++k) {
        const FlowSlot slot = state.group.flows[record.flows[k].place];
        const std::int64_t slow = rates[k] < kLeastSettled ? 1 : 0;
        std::vector<std::int64_t> colour = {facts_.stand_in(record.flows[k].base_rtt),
                                            view_.sender(slot).traffic_class,
                                            has_just_begun(record, slot) ? kFresh : slow};
        append_law(slot, colour);
        graph.add_vertex(colour);
    }
    std::map<PortId, std::uint32_t> ports;
    const auto each_way = [&](auto&& visit) {
        for (std::uint32_t k = 0; k < record.flows.size(); ++k) {
            visit(k, view_.tracks(state.group.flows[record.flows[k].place]));
        }
    };
    each_way([&](std::uint32_t k, const step::Footprint& way) {
        for (std::size_t hop = 0; hop < way.data.size(); ++hop) {
            const auto [port, first] = ports.emplace(way.data[hop], 0);
            if (first) {
                port->second = graph.add_vertex({view_.link_rate(way.data[hop])});
            }
            graph.add_edge(k, port->second, static_cast<std::int64_t>(hop));
        }
    });
    each_way([&](std::uint32_t k, const step::Footprint& way) {
        for (const PortId port : way.acks) {
            if (const auto found = ports.find(port); found != ports.end()) {
                graph.add_edge(k, found->second, kAckEdge);
            }
        }
    });
    return graph;
}

/// Of a large group: it puts the flows in an order that is the same for all groups of the shape.
GroupKey TrajectoryKinds::shape_of_large(GroupState& state) {
    TrajectoryRecord& record = state.trajectory;
    const memo::CanonicalForm form = memo::canonical_form(graph_of(state));
    std::vector<TrajectoryFlow> ordered;
    for (const std::uint32_t vertex : form.order) {
        if (vertex < record.flows.size()) {
            ordered.push_back(record.flows[vertex]);
        }
    }
    record.flows = std::move(ordered);
    return {static_cast<std::int64_t>(record.flows.size()),
            static_cast<std::int64_t>(form.digest.high),
            static_cast<std::int64_t>(form.digest.low)};
}

/// A flow begins at line rate, and its law lowers that the further, the more ACKs are in its way.
std::int64_t TrajectoryKinds::ack_class(FlowSlot flow) const {
    double most = 0;
    for (const PortId port : view_.tracks(flow).data) {
        const auto link = static_cast<double>(view_.link_rate(port)) / kBitsPerByteAndTick;
        most = std::max(most, view_.ack_streams()->across(port) / link);
    }
    return std::llround(most * kTrajectoryAckClasses);
}

/// One recording stands for all flows alone of a kind. So of those that are not new the kind holds what they have under way,
/// of what their laws aim at, and of slow ones the additive increases until the multiplicative one that takes up what is free.
void TrajectoryKinds::append_state(GroupState& state) const {
    TrajectoryRecord& record = state.trajectory;
    const FlowSlot slot = state.group.flows.front();
    if (record.young || is_fresh(slot)) {
        record.shape.insert(record.shape.end(), {kFresh, 0});
        return;
    }
    const TrajectoryFlow& flow = record.flows.front();
    const step::Sender& sender = view_.sender(slot);
    const double fill = -flow.advance / static_cast<double>(flow.base_rtt);
    const double rate = static_cast<double>(sender.cc.rate) / kBitsPerByteAndTick / flow.aim;
    record.shape.push_back(
        std::lround(std::log(std::max(fill, kLeastFill)) / std::log(kFillClass)));
    record.shape.push_back(
        rate_class(rate, 1) < 0 ? congestion::increase_stage(sender.cc, view_.law()) : 0);
}

void TrajectoryKinds::name(GroupState& state) {
    TrajectoryRecord& record = state.trajectory;
    record.shape = is_large(record.flows.size()) ? shape_of_large(state) : shape_of(state);
    if (record.flows.size() == 1) {
        record.shape.push_back(is_long(record) ? 1 : 0);
        append_state(state);
        record.ack_class = ack_class(state.group.flows.front());
    }
}

GroupKey TrajectoryKinds::key_of(const TrajectoryRecord& record) const {
    GroupKey key = record.shape;
    if (record.flows.size() == 1) {
        key.insert(key.end(), {aim_class(record), record.ack_class});
    }
    return key;
}

std::int64_t TrajectoryKinds::distance(const TrajectoryRecord& record, const GroupKey& key) const {
    if (key.size() != record.shape.size() + kAloneClasses) {
        return kNever;
    }
    const std::int64_t* const classes = &key[record.shape.size()];
    return 2 * std::abs(classes[0] - aim_class(record)) + std::abs(classes[1] - record.ack_class);
}

std::int64_t TrajectoryKinds::distance_settled(const TrajectoryRecord& record,
                                               const GroupKey& key) const {
    const GroupKey& shape = record.shape;
    const auto first = static_cast<std::ptrdiff_t>(record.rate_at) + 1;
    const auto last = static_cast<std::ptrdiff_t>(shape.size() - kStates);
    const bool like = key.size() == shape.size() + kAloneClasses &&
                      std::equal(shape.begin() + first, shape.begin() + last, key.begin() + first);
    return like ? distance(record, key) : kNever;
}

/// A flow alone may have settled once a packet is a small part of a quarter of its steps: else their means agree by chance. By
/// additive steps the flows of a large group come to equal rates only if their windows are many packets. Else they keep what they
/// have come to. Small groups do not settle.
Settling TrajectoryKinds::settling_of(const GroupState& state) const {
    const TrajectoryRecord& record = state.trajectory;
    if (record.flows.size() == 1) {
        const TrajectoryFlow& flow = record.flows.front();
        const double packets =
            flow.aim * static_cast<double>(flow.base_rtt) / static_cast<double>(view_.payload());
        const double steps = packets > 0 ? std::ceil(4 / (kPartOfQuarter * packets)) : kMaxBins;
        return {0, static_cast<Tick>(std::clamp<double>(steps, kSettlesAlone, kMaxBins))};
    }
    if (!is_large(record.flows.size())) {
        return {};
    }
    const bool evens =
        std::all_of(record.flows.begin(), record.flows.end(), [&](const TrajectoryFlow& flow) {
            return flow.aim * static_cast<double>(flow.base_rtt) >=
                   kManyPackets * static_cast<double>(view_.payload());
        });
    return evens ? Settling{convergence_time(state), record.unshared ? kSettlesUnshared : kSettles}
                 : Settling{};
}

/// True if a young flow, which somebody's last packets may have met, has done what `other` did.
bool TrajectoryKinds::is_like(const GroupState& state, const Trajectory& other) const {
    const TrajectoryRecord& record = state.trajectory;
    const double aim = record.flows.front().aim;
    const auto age = static_cast<double>(record.since - record.begin);
    const step::Sender& sender = view_.sender(state.group.flows.front());
    const auto payload = static_cast<double>(view_.payload());
    const double line = static_cast<double>(record.line_rate) / kBitsPerByteAndTick * payload /
                        static_cast<double>(view_.data_bytes());
    const double sent = line * static_cast<double>(view_.lookahead()) + other.advance(0, age) * aim;
    const double law = other.law(0, age) * aim;
    const double rate = static_cast<double>(sender.cc.rate) / kBitsPerByteAndTick;
    return std::abs(static_cast<double>(sender.next_bytes) - sent) <= kLike * sent + 2 * payload &&
           std::abs(rate - law) <= kLike * law;
}

double TrajectoryKinds::convergence_time(const GroupState& state) const {
    double aims = 0;
    for (const TrajectoryFlow& flow : state.trajectory.flows) {
        aims += flow.aim;
    }
    const double rate = aims / static_cast<double>(state.trajectory.flows.size()) *
                        kBitsPerByteAndTick * static_cast<double>(view_.data_bytes()) /
                        static_cast<double>(view_.payload());
    return congestion::convergence_trips(view_.law(), rate) * static_cast<double>(state.rtt);
}

}  // namespace sluice::hybrid
