// SPDX-License-Identifier: Apache-2.0
#include "workloads/hpcc/hpcc_flows.h"

#include <algorithm>

#include "core/error.h"

namespace sluice {
namespace {

constexpr std::int64_t kMaxFlows = 100'000'000;
constexpr std::int64_t kMaxFlowBytes = 1'000'000'000'000'000;  ///< a petabyte
/// What ns3_seconds takes.
constexpr double kMaxStartSeconds = 8'000'000;

NodeId read_host(TokenReader& reader, const char* what, const Topology& topology) {
    const std::int64_t id = reader.next_integer(what, 0, 4294967295);
    if (id >= static_cast<std::int64_t>(topology.node_count()) ||
        !topology.is_host(static_cast<NodeId>(id))) {
        reader.fail(std::string(what) + " " + std::to_string(id) +
                    " is not a host of the topology");
    }
    return static_cast<NodeId>(id);
}

FlowSpec read_flow(TokenReader& reader, const Topology& topology, const Routing& routing) {
    FlowSpec flow;
    flow.src = read_host(reader, "the flow's source", topology);
    flow.dst = read_host(reader, "the flow's destination", topology);
    if (flow.src == flow.dst) {
        reader.fail("the flow goes from host " + std::to_string(flow.src) + " to itself");
    }
    if (routing.distance(flow.src, flow.dst) < 0) {
        reader.fail("no path leads from host " + std::to_string(flow.src) + " to host " +
                    std::to_string(flow.dst));
    }
    // Class 0 is the control queue: never marked nor paused.
    flow.priority = static_cast<std::uint8_t>(reader.next_integer("the priority group", 1, 7));
    flow.dport = static_cast<std::uint16_t>(reader.next_integer("the destination port", 0, 65535));
    flow.size = reader.next_integer("the flow's size in bytes", 1, kMaxFlowBytes);
    flow.start = ns3_seconds(reader.next_real("the flow's start in seconds", 0, kMaxStartSeconds));
    return flow;
}

}  // namespace

std::vector<FlowSpec> read_hpcc_flows(TokenReader reader, const Topology& topology,
                                      const Routing& routing, std::vector<std::string>& notes) {
    const std::int64_t count = reader.next_integer("the number of flows", 0, kMaxFlows);
    constexpr std::int64_t kTokensPerFlow = 6;
    const auto possible = static_cast<std::int64_t>(reader.tokens_left_at_most()) / kTokensPerFlow;
    std::vector<FlowSpec> flows;
    flows.reserve(static_cast<std::size_t>(std::min(count, possible)));
    for (std::int64_t i = 0; i < count; ++i) {
        if (reader.at_end()) {
            reader.fail("the file ends after " + std::to_string(i) +
                        " flows, its first line says " + std::to_string(count));
        }
        flows.push_back(read_flow(reader, topology, routing));
    }
    if (!reader.at_end()) {
        const std::string rest(reader.next("text"));
        const bool flow = rest[0] >= '0' && rest[0] <= '9';
        notes.push_back(reader.file() + ":" + std::to_string(reader.line()) + ": " +
                        (flow ? "more flows follow than the " + std::to_string(count) +
                                    " that the first line says; not read"
                              : "text after the last flow skipped"));
    }
    std::stable_sort(flows.begin(), flows.end(),
                     [](const FlowSpec& a, const FlowSpec& b) { return a.start < b.start; });
    assign_source_ports(flows);
    return flows;
}

namespace {

/// Seconds that ns3_seconds() turns into `time`, whole nanoseconds. It truncates a double, which
/// may lie just below what the text says; half a nanosecond more then lands inside the nanosecond.
std::string ns3_start(Tick time) {
    const Tick nanoseconds = time / kNanosecond;
    std::string digits = std::to_string(nanoseconds % 1'000'000'000);
    digits.insert(0, 9 - digits.size(), '0');
    std::string text = std::to_string(nanoseconds / 1'000'000'000) + "." + digits;
    if (ns3_seconds(std::stod(text)) != nanoseconds * kNanosecond) text += '5';
    return text;
}

}  // namespace

std::string format_hpcc_flows(std::vector<FlowSpec> flows) {
    std::stable_sort(flows.begin(), flows.end(),
                     [](const FlowSpec& a, const FlowSpec& b) { return a.start < b.start; });
    std::string text = std::to_string(flows.size()) + '\n';
    for (const FlowSpec& flow : flows) {
        if (flow.start == kNever) {
            throw InternalError("format_hpcc_flows: a flow has no start time");
        }
        for (const std::int64_t number :
             {std::int64_t{flow.src}, std::int64_t{flow.dst}, std::int64_t{flow.priority},
              std::int64_t{flow.dport}, flow.size}) {
            text += std::to_string(number) + ' ';
        }
        text += ns3_start(flow.start) + '\n';
    }
    return text;
}

std::vector<NodeId> read_hpcc_trace_nodes(TokenReader reader, const Topology& topology) {
    std::vector<NodeId> nodes;
    const std::int64_t count = reader.next_integer("the number of traced nodes", 0, 4294967295);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t id = reader.next_integer("a traced node's id", 0, 4294967295);
        if (id < static_cast<std::int64_t>(topology.node_count())) {
            nodes.push_back(static_cast<NodeId>(id));
        }
    }
    return nodes;
}

}  // namespace sluice
