// SPDX-License-Identifier: Apache-2.0
/// [workload] type = "aicb": a workload file of AICB or SimAI on any network.
#include <algorithm>

#include <fmt/core.h>

#include "core/job/workload.h"
#include "scenario/workload/collective_options.h"
#include "scenario/workload/import_notes.h"
#include "scenario/workload/workload_part.h"
#include "workloads/aicb/aicb_graph.h"
#include "workloads/aicb/aicb_physical.h"

namespace sluice {

namespace {

/// Every algorithm for the kinds that a workload file has, under its own name.
void read_algorithms(ConfigSection& section, CollectiveOptions& options) {
    options.algorithms.assign(kCollectiveKinds, CollectiveAlgorithm::automatic);
    const std::pair<const char*, CollectiveKind> keys[] = {
        {"all_reduce", CollectiveKind::all_reduce},
        {"all_gather", CollectiveKind::all_gather},
        {"reduce_scatter", CollectiveKind::reduce_scatter},
        {"all_to_all", CollectiveKind::all_to_all},
    };
    for (const auto& [key, kind] : keys) {
        options.algorithms[static_cast<std::size_t>(kind)] =
            section.choice(key, CollectiveAlgorithm::automatic, collective_algorithm_words());
    }
}

bool ends_in_csv(const std::string& file) {
    return file.size() >= 4 && file.compare(file.size() - 4, 4, ".csv") == 0;
}

MakeWorkload read_aicb_workload(const WorkloadTable& table) {
    ConfigSection& section = table.section;
    const Scenario& scenario = table.scenario;
    const JobSite& site = *table.site;
    const Topology& topology = scenario.topology;
    const std::string file = scenario.resolve(section.text("file", std::nullopt));
    AicbGraphConfig config;
    config.compute_scale = section.number("compute_scale", 1, 0, 1e6);
    config.micro_batches =
        static_cast<std::size_t>(section.integer("micro_batches", 0, 0, 1'000'000'000));
    config.schedule = section.choice<PipelineSchedule>("schedule", PipelineSchedule::one_f_one_b,
                                                       {{"1f1b", PipelineSchedule::one_f_one_b},
                                                        {"gpipe", PipelineSchedule::gpipe},
                                                        {"zb-h1", PipelineSchedule::zb_h1}});
    const auto gpus = static_cast<RankId>(section.integer("gpus", 0, 0, AicbWorkload::kMostGpus));
    const auto rows = static_cast<std::size_t>(section.integer("rows", 0, 0, 1'000'000'000));
    config.most_operations = section.number("operations", kMostAicbOperations, 1, 4e9);
    config.collectives = read_collective_options(section, scenario);
    read_algorithms(section, config.collectives);
    const std::uint32_t queue_pairs = read_queue_pairs(section);
    return [=, &topology]() mutable {
        ImportReport report;
        const std::uint32_t per_server = std::max<std::uint32_t>(1, topology.gpus_per_server);
        TokenReader reader = TokenReader::open(file);
        const bool is_physical = ends_in_csv(file);
        AicbPhysical physical;
        if (is_physical) {
            physical = parse_aicb_physical(reader, report, rows);
        } else {
            physical.workload = parse_aicb(reader, report, rows);
        }
        const AicbWorkload& workload = physical.workload;
        const AicbLayout layout(workload, static_cast<RankId>(site.available()), per_server, gpus,
                                report);
        const std::vector<NodeId> hosts = site.take(layout.world());
        place_collectives(config.collectives, topology, hosts, queue_pairs);
        JobGraph graph = is_physical ? build_aicb_physical(physical, layout, config.collectives,
                                                           config.most_operations)
                                     : build_aicb_graph(workload, layout, config, report).graph;
        graph.finish();
        WorkloadPart part(make_workload(std::move(graph), hosts));
        part.import_notes = note_lines(report, "sluice simai --check");
        part.description = fmt::format("{} ({} {}) on {} GPUs (TP{} EP{} DP{} PP{})", file,
                                       is_physical ? physical.rows.size() : workload.layers.size(),
                                       is_physical ? "collectives" : "layers", layout.world(),
                                       layout.tp(), layout.ep(), layout.dp(), layout.pp());
        return part;
    };
}

}  // namespace

extern const WorkloadType kAicb{"aicb", WorkloadKind::job, read_aicb_workload};

}  // namespace sluice
