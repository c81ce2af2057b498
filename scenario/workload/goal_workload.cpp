// SPDX-License-Identifier: Apache-2.0
/// [workload] type = "goal": a GOAL schedule as a job; type = "htsim": a connection matrix (.cm).
#include <memory>

#include <fmt/core.h>

#include "scenario/workload/import_notes.h"
#include "core/text/human.h"
#include "scenario/workload/workload_part.h"
#include "core/error.h"
#include "core/world/lookahead.h"
#include "workloads/goal/goal_graph.h"
#include "workloads/goal/goal_stream.h"
#include "workloads/goal/goal_text.h"
#include "workloads/goal/trigger_application.h"
#include "core/job/workload.h"

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
        part.description = fmt::format(
            "GOAL schedule {} of {} ranks, streamed, {} operations", file, ranks,
            human_count(static_cast<double>(part.stream->operation_count())));
        return part;
    };
}

}  // namespace

MakeWorkload read_goal_workload(ConfigSection& section, const Scenario& scenario,
                                const JobSite& site) {
    const std::string file = section.text("file", std::nullopt);
    GoalGraphOptions options;
    options.layout = section.choice<GoalLayout>(
        "layout", GoalLayout::automatic,
        {{"auto", GoalLayout::automatic}, {"node", GoalLayout::node}, {"gpu", GoalLayout::gpu}});
    if (section.flag("stream", false)) return stream_goal(file, options.layout, scenario, site);
    return [=, &scenario]() mutable {
        ImportReport report;
        const GoalSchedule schedule = read_goal(scenario.resolve(file), report);
        tell_notes(report, "sluice goal FILE --check");
        options.file = scenario.resolve(file);
        options.signal_delay = step::network_lookahead(scenario.topology, scenario.network);
        JobGraph graph = build_goal_graph(schedule, options);
        const RankId ranks = graph.rank_count();
        const auto messages = static_cast<double>(graph.messages().size());
        Workload workload = make_workload(std::move(graph), site.take(ranks));
        WorkloadPart part;
        part.flows = std::move(workload.flows);
        part.application = std::move(workload.application);
        part.description = fmt::format(
            "GOAL schedule {} of {} ranks on {} hosts, {} operations, {} messages", file,
            schedule.rank_count(), ranks, human_count(static_cast<double>(schedule.op_count())),
            human_count(messages));
        return part;
    };
}

MakeWorkload read_htsim_workload(ConfigSection& section, const Scenario& scenario) {
    const std::string file = section.text("file", std::nullopt);
    return [=, &scenario] {
        ImportReport report;
        ConnectionMatrix matrix =
            read_connection_matrix(TokenReader::open(scenario.resolve(file)), report);
        tell_notes(report, "sluice goal FILE --check");
        WorkloadPart part;
        part.flow_class = "htsim";
        part.description =
            fmt::format("connection matrix {} of {} nodes, {} flows, {} triggers", file,
                        matrix.nodes, matrix.connections.size(), matrix.triggers.size());
        const bool triggers = !matrix.triggers.empty();
        auto application =
            std::make_unique<TriggerApplication>(std::move(matrix), scenario.topology.hosts());
        part.flows = application->flows();
        if (triggers) part.starter = std::move(application);
        return part;
    };
}

}  // namespace sluice
