// SPDX-License-Identifier: Apache-2.0
/// [workload] type = "goal": a GOAL schedule as a job; type = "htsim": a connection matrix (.cm).
#include <algorithm>

#include <memory>

#include <fmt/core.h>

#include "core/error.h"
#include "core/job/workload.h"
#include "core/text/human.h"
#include "core/world/lookahead.h"
#include "scenario/workload/import_notes.h"
#include "scenario/workload/workload_part.h"
#include "workloads/goal/goal_graph.h"
#include "workloads/goal/goal_stream.h"
#include "workloads/goal/goal_text.h"
#include "workloads/goal/trigger_application.h"

namespace sluice {

namespace {

/// The schedule as it is read, not as a graph.
MakeWorkload stream_goal(const std::string& file, GoalLayout layout, const Scenario& scenario,
                         const JobSite& site) {
    return [=, &scenario] {
        if (layout == GoalLayout::node) {
            throw ConfigError("a streamed schedule has one host per rank: layout \"gpu\"");
        }
        std::unique_ptr<OperationSource> source = open_goal_stream(scenario.resolve(file));
        const RankId ranks = source->rank_count();
        WorkloadPart part;
        part.stream = std::make_unique<StreamApplication>(std::move(source), site.take(ranks));
        part.flow_class = to_string(OpClass::other);
        part.description =
            fmt::format("GOAL schedule {} of {} ranks, streamed, {} operations", file, ranks,
                        human_count(static_cast<double>(part.stream->operation_count())));
        return part;
    };
}

MakeWorkload read_goal_workload(const WorkloadTable& table) {
    ConfigSection& section = table.section;
    const Scenario& scenario = table.scenario;
    const JobSite& site = *table.site;
    const std::string file = section.text("file", std::nullopt);
    GoalGraphOptions options;
    options.layout = section.choice<GoalLayout>(
        "layout", GoalLayout::automatic,
        {{"auto", GoalLayout::automatic}, {"node", GoalLayout::node}, {"gpu", GoalLayout::gpu}});
    if (section.flag("stream", false)) return stream_goal(file, options.layout, scenario, site);
    return [=, &scenario]() mutable {
        ImportReport report;
        const GoalSchedule schedule = read_goal(scenario.resolve(file), report);
        options.file = scenario.resolve(file);
        options.signal_delay = step::network_lookahead(scenario.topology, scenario.network);
        JobGraph graph = build_goal_graph(schedule, options);
        const RankId ranks = graph.rank_count();
        const auto messages = static_cast<double>(graph.messages().size());
        WorkloadPart part(make_workload(std::move(graph), site.take(ranks)));
        part.import_notes = note_lines(report, "sluice goal FILE --check");
        part.description = fmt::format(
            "GOAL schedule {} of {} ranks on {} hosts, {} operations, {} messages", file,
            schedule.rank_count(), ranks, human_count(static_cast<double>(schedule.op_count())),
            human_count(messages));
        return part;
    };
}

MakeWorkload read_htsim_workload(const WorkloadTable& table) {
    ConfigSection& section = table.section;
    const Scenario& scenario = table.scenario;
    const std::string file = section.text("file", std::nullopt);
    return [=, &scenario] {
        ImportReport report;
        ConnectionMatrix matrix =
            read_connection_matrix(TokenReader::open(scenario.resolve(file)), report);
        if (matrix.endless > 0 && scenario.stop == kNever) {
            throw ConfigError(fmt::format(
                "{}: {} of size 0, without end: give the scenario a stop, such as stop = \"10ms\"",
                file, counted(matrix.endless, "flow", "flows")));
        }
        // As many full packets as a flow can have.
        const std::int64_t most = scenario.network.format.payload * std::int64_t{4'294'967'294};
        for (ConnectionMatrix::Connection& c : matrix.connections) {
            if (c.endless) c.size = std::min(c.size, most);
        }
        WorkloadPart part;
        part.import_notes = note_lines(report, "sluice goal FILE --check");
        part.flow_class = "htsim";
        part.description = fmt::format("connection matrix {} of {}, {}, {}", file,
                                       counted(matrix.nodes, "node", "nodes"),
                                       counted(matrix.connections.size(), "flow", "flows"),
                                       counted(matrix.triggers.size(), "trigger", "triggers"));
        const std::vector<NodeId>& hosts = scenario.topology.hosts();
        part.flows = TriggerApplication(matrix, hosts).flows();
        if (!matrix.triggers.empty()) {
            part.make_starter = [matrix, hosts](FlowId first) {
                return std::make_unique<TriggerApplication>(matrix, hosts, first);
            };
        }
        return part;
    };
}

}  // namespace

extern const WorkloadType kGoal{"goal", WorkloadKind::traced_job, read_goal_workload};
extern const WorkloadType kHtsim{"htsim", WorkloadKind::flows, read_htsim_workload};

}  // namespace sluice
