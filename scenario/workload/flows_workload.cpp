// SPDX-License-Identifier: Apache-2.0
/// [workload] type = "flows": a list in the scenario, or a file: a flow.txt of HPCC
/// ns-3 or conweave, or a CSV.
#include <fmt/core.h>

#include "core/error.h"
#include "core/text/human.h"
#include "core/text/quantity.h"
#include "scenario/node_reader.h"
#include "scenario/workload/workload_part.h"
#include "workloads/hpcc/hpcc_flows.h"

namespace sluice {

namespace {

/// [src, dst, size] or [src, dst, size, start].
FlowSpec read_flow(const ConfigValue& row, NodeReader& nodes) {
    const std::string place = row.at.text();
    if (row.kind != ConfigValue::Kind::array || row.array.size() < 3 || row.array.size() > 4) {
        fail_at({place, 0, "a flow"}, "is " + row.shown() +
                                          "; must be [src, dst, size, start], such as "
                                          "[0, 1, \"8MB\", \"10us\"]");
    }
    FlowSpec flow;
    flow.src = nodes.host(row.array[0], "the source");
    flow.dst = nodes.host(row.array[1], "the destination");
    if (flow.src == flow.dst) {
        fail_at({place, 0, "a flow"}, "goes from host " + std::to_string(flow.src) + " to itself");
    }
    flow.size = bytes_of(row.array[2], "the size").count;
    if (flow.size < 1 || kLargestMessage.count < flow.size) {
        fail_at(
            {row.array[2].at.text(), 0, "the size"},
            "is " + row.array[2].shown() + "; must be from 1B to " + format_bytes(kLargestMessage));
    }
    flow.start = row.array.size() == 4 ? time_of(row.array[3], "the start") : 0;
    if (flow.start > ConfigSection::kMaxTime) {
        fail_at({row.array[3].at.text(), 0, "the start"},
                "is " + row.array[3].shown() + "; must be at most 53 days");
    }
    return flow;
}

WorkloadPart finish(std::vector<FlowSpec> flows, const std::string& from) {
    WorkloadPart part;
    part.description = fmt::format("{} {}", counted(flows.size(), "flow", "flows"), from);
    part.flows = std::move(flows);
    part.flow_class = "flow";
    return part;
}

MakeWorkload read_flows(const WorkloadTable& table) {
    ConfigSection& section = table.section;
    const Scenario& scenario = table.scenario;
    const ConfigValue* list = section.raw("list");
    if (section.has("file") == (list != nullptr)) {
        section.fail("type", "is \"flows\": give either 'list' or 'file'");
    }
    if (list == nullptr) {
        const std::string file = section.text("file", std::nullopt);
        return [=, &scenario] {
            std::vector<std::string> notes;
            const Routing routing(scenario.topology);
            std::string format;
            const bool ns3 = scenario.network.arithmetic == Arithmetic::ns3;
            std::vector<FlowSpec> flows = read_hpcc_flows(
                TokenReader::open(scenario.resolve(file)), scenario.topology, routing, notes,
                ns3 ? DelayReading::ns3 : DelayReading::exact, &format);
            WorkloadPart part = finish(std::move(flows), "of " + file + " (" + format + ")");
            part.import_notes = std::move(notes);
            return part;
        };
    }
    if (list->kind != ConfigValue::Kind::array) {
        section.fail("list",
                     std::string("is ") + list->kind_name() + "; must be an array of flows");
    }
    std::vector<FlowSpec> flows;
    flows.reserve(list->array.size());
    NodeReader nodes(scenario.topology);
    for (const ConfigValue& row : list->array) flows.push_back(read_flow(row, nodes));
    section.note("list", std::to_string(flows.size()) + " flows");
    return [flows] { return finish(flows, "listed"); };
}

}  // namespace

extern const WorkloadType kFlows{"flows", WorkloadKind::flows, read_flows};

}  // namespace sluice
