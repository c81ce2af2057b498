// SPDX-License-Identifier: Apache-2.0
#include "workloads/hpcc/hpcc_flows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

#include "core/error.h"
#include "workloads/hpcc/flow_csv.h"
#include "workloads/hpcc/flow_fields.h"

namespace sluice {
namespace {

constexpr std::int64_t kMaxFlows = 100'000'000;

/// Lists of the family, by the words of a flow.
struct Columns {
    std::size_t count;
    bool port;
    const char* text;
};
constexpr Columns kHpccColumns{6, true, "src dst pg dport size start, as of HPCC"};
constexpr Columns kConweave{5, false, "src dst pg size start, as of conweave: no port, 100 taken"};

/// By the line of the first flow; where flows have no lines of their own, by all words there are.
Columns columns_of(TokenReader& reader, std::int64_t count) {
    const TokenReader::Mark start = reader.mark();
    const int count_line = reader.line();
    std::size_t words = 0;
    std::size_t on_line = 0;
    std::size_t on_second = 0;
    int first_line = 0;
    int second_line = 0;
    constexpr std::size_t kSome = 64;
    while (words < kSome && !reader.at_end()) {
        reader.next("flow");
        if (words++ == 0) first_line = reader.line();
        if (reader.line() == first_line) {
            ++on_line;
        } else if (second_line == 0 || reader.line() == second_line) {
            second_line = reader.line();
            ++on_second;
        }
    }
    const std::size_t of_conweave = static_cast<std::size_t>(count) * kConweave.count;
    const bool lines = first_line > count_line && on_line > 3 && on_line < kSome;
    for (; !lines && words <= of_conweave && !reader.at_end(); ++words) reader.next("flow");
    reader.rewind(start);
    const bool own_lines = first_line > count_line && on_line < words;
    const std::size_t width = count == 1 || own_lines ? on_line : 0;
    if (width == kConweave.count) return kConweave;
    const bool regular = on_second == 0 || on_second == on_line;
    if (width < 4 || width == kHpccColumns.count || !regular || width > 2 * kHpccColumns.count) {
        return words == of_conweave ? kConweave : kHpccColumns;
    }
    reader.next("flow");
    reader.fail("a flow of " + std::to_string(width) + " words; allowed are 6, " +
                kHpccColumns.text + ", and 5, " + kConweave.text +
                "; or a CSV with a header, src,dst,bytes,start_us");
}

FlowSpec read_flow(TokenReader& reader, const Columns& columns, const Topology& topology,
                   const Routing& routing, DelayReading starts, flow_fields::WholeNumbers& whole) {
    const auto next = [&](const char* what) {
        const std::string_view text = reader.next(what);
        return whole.digits(text, reader.line());
    };
    FlowSpec flow;
    std::string_view text = next("the flow's source");
    flow.src = flow_fields::host_of(text, reader.place("the flow's source"), topology);
    text = next("the flow's destination");
    flow.dst = flow_fields::host_of(text, reader.place("the flow's destination"), topology);
    flow_fields::check_ends(flow, reader.place(), routing);
    text = next("the priority group");
    flow.priority = flow_fields::priority_of(text, reader.place("the priority group"));
    if (columns.port) {
        text = next("the destination port");
        flow.dport = flow_fields::port_of(text, reader.place("the destination port"));
    }
    constexpr const char* kSize = "the flow's size in bytes";
    text = next(kSize);
    flow.size = parse_integer(text, reader.place(kSize), 1, flow_fields::kMostBytes);
    constexpr const char* kStart = "the flow's start in seconds";
    if (starts == DelayReading::ns3) {
        flow.start = ns3_seconds(
            reader.next_real(kStart, 0, static_cast<double>(flow_fields::kLatestSeconds)));
    } else {
        text = reader.next(kStart);
        flow.start = flow_fields::start_of(text, reader.place(kStart), BareNumber::ns3);
    }
    return flow;
}

/// A count, then so many flows.
std::vector<FlowSpec> read_counted(TokenReader& reader, const Topology& topology,
                                   const Routing& routing, std::vector<std::string>& notes,
                                   DelayReading starts, std::string& format) {
    const std::int64_t count = reader.next_integer("the number of flows", 0, kMaxFlows);
    const Columns columns = columns_of(reader, count);
    format = columns.text;
    const auto possible = static_cast<std::int64_t>(reader.tokens_left_at_most()) /
                          static_cast<std::int64_t>(columns.count);
    std::vector<FlowSpec> flows;
    flows.reserve(static_cast<std::size_t>(std::min(count, possible)));
    flow_fields::WholeNumbers whole;
    for (std::int64_t i = 0; i < count; ++i) {
        if (reader.at_end()) {
            reader.fail("the file ends after " + std::to_string(i) +
                        " flows, its first line says " + std::to_string(count));
        }
        flows.push_back(read_flow(reader, columns, topology, routing, starts, whole));
    }
    whole.tell(reader.file(), notes);
    if (!reader.at_end()) {
        const std::string rest(reader.next("text"));
        const bool flow = rest[0] >= '0' && rest[0] <= '9';
        notes.push_back(reader.file() + ":" + std::to_string(reader.line()) + ": " +
                        (flow ? "more flows follow than the " + std::to_string(count) +
                                    " that the first line says; not read"
                              : "text after the last flow skipped"));
    }
    return flows;
}

}  // namespace

namespace flow_fields {

std::string_view WholeNumbers::digits(std::string_view text, int line) {
    if (text.find_first_not_of("0123456789") == text.npos) return text;
    constexpr double kExact = 9e15;  // of a double's integers
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, value);
    if (stop != end || status != std::errc() || value < 0 || value > kExact ||
        value != std::floor(value)) {
        return text;
    }
    if (count_++ == 0) {
        first_ = std::string(text.substr(0, 40));
        line_ = line;
    }
    digits_ = std::to_string(static_cast<std::int64_t>(value));
    return digits_;
}

void WholeNumbers::tell(const std::string& file, std::vector<std::string>& notes) const {
    if (count_ == 0) return;
    notes.push_back(file + ":" + std::to_string(line_) + ": " + first_ +
                    (count_ > 1 ? " and " : "") +
                    (count_ > 1 ? std::to_string(count_ - 1) + " more whole numbers are" : " is") +
                    " written as a real: read as a whole number, where ns-3 stops at the point");
}

NodeId host_of(std::string_view text, const Place& place, const Topology& topology) {
    const std::int64_t id = parse_integer(text, place, 0, 4294967295);
    if (id >= static_cast<std::int64_t>(topology.node_count()) ||
        !topology.is_host(static_cast<NodeId>(id))) {
        fail_at(place, std::to_string(id) + " is not a host of the topology");
    }
    return static_cast<NodeId>(id);
}

std::uint8_t priority_of(std::string_view text, const Place& place) {
    return static_cast<std::uint8_t>(parse_integer(text, place, 1, 7));
}

std::uint16_t port_of(std::string_view text, const Place& place) {
    return static_cast<std::uint16_t>(parse_integer(text, place, 0, 65535));
}

Tick start_of(std::string_view text, const Place& place, BareNumber bare) {
    const Tick start = parse_time(text, place, bare);
    if (start > kLatestSeconds * kSecond) {
        fail_at(place, std::string(text.substr(0, 40)) + ": at most " +
                           std::to_string(kLatestSeconds) + " s are allowed");
    }
    return start;
}

void check_ends(const FlowSpec& flow, const Place& place, const Routing& routing) {
    if (flow.src == flow.dst) {
        fail_at(place, "the flow goes from host " + std::to_string(flow.src) + " to itself");
    }
    if (routing.distance(flow.src, flow.dst) < 0) {
        fail_at(place, "no path leads from host " + std::to_string(flow.src) + " to host " +
                           std::to_string(flow.dst));
    }
}

}  // namespace flow_fields

std::vector<FlowSpec> read_hpcc_flows(TokenReader reader, const Topology& topology,
                                      const Routing& routing, std::vector<std::string>& notes,
                                      DelayReading starts, std::string* format) {
    std::string read_as = "CSV with a header";
    std::vector<FlowSpec> flows =
        is_flow_csv(reader) ? read_flow_csv(reader, topology, routing, notes)
                            : read_counted(reader, topology, routing, notes, starts, read_as);
    if (format != nullptr) *format = read_as;
    std::stable_sort(flows.begin(), flows.end(),
                     [](const FlowSpec& a, const FlowSpec& b) { return a.start < b.start; });
    assign_source_ports(flows);
    return flows;
}

namespace {

/// Seconds that ns3_seconds() turns into `time`, whole nanoseconds. It truncates a double, which
/// may lie just below what the text says; a picosecond more then lands inside the nanosecond.
std::string ns3_start(Tick time) {
    const Tick nanoseconds = time / kNanosecond;
    std::string digits = std::to_string(nanoseconds % 1'000'000'000);
    digits.insert(0, 9 - digits.size(), '0');
    std::string text = std::to_string(nanoseconds / 1'000'000'000) + "." + digits;
    // The least that a double of 100 s tells apart; a reader of exact picoseconds is one off then.
    for (const char* const more : {"", "001", "5"}) {
        if (ns3_seconds(std::stod(text + more)) == nanoseconds * kNanosecond) return text + more;
    }
    return text + "5";
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
