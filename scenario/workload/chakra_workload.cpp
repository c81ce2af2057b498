// SPDX-License-Identifier: Apache-2.0
/// [workload] type = "chakra": Chakra traces as a job on any topology.
#include <filesystem>

#include <fmt/core.h>

#include "core/error.h"
#include "core/job/workload.h"
#include "core/text/human.h"
#include "core/world/lookahead.h"
#include "scenario/workload/import_notes.h"
#include "scenario/workload/workload_part.h"
#include "workloads/chakra/chakra_graph.h"
#include "workloads/chakra/chakra_stream.h"

namespace sluice {

namespace {

/// Without a system.json: rings in every dimension, whole collectives.
chakra::AstraSystem default_system(std::size_t dims) {
    chakra::AstraSystem system;
    system.path = "the default system";
    system.local_bandwidth_aware = true;
    for (auto& algorithms : system.algorithms) algorithms.resize(dims);
    return system;
}

/// A prefix is not a file that could be looked for: its first trace is.
std::vector<std::string> traces_of(const Scenario& scenario, const std::string& traces) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const std::string folder = scenario.resolve(traces);
    for (const std::string ending : {".0.et", ".0.et.gz", ".0.json", ".0.json.gz"}) {
        const std::string first = scenario.resolve(traces + ending);
        if (!fs::is_directory(folder, ignored) && fs::exists(first, ignored)) {
            return chakra::find_traces(first.substr(0, first.size() - ending.size()));
        }
    }
    return chakra::find_traces(folder);
}

/// The traces as they are read, not as a graph.
MakeWorkload stream_chakra(ConfigSection& section, const std::string& traces,
                           const std::string& system, const chakra::JobOptions& options,
                           const Scenario& scenario, const JobSite& site) {
    StreamOptions stream;
    stream.window = static_cast<std::uint32_t>(section.integer("stream_window", 0, 0, 1 << 24));
    if (options.expansion.rendezvous) {
        section.fail("rendezvous", "is not for streamed traces");
    }
    return [=, &scenario] {
        ImportReport report;
        const chakra::AstraSystem how = system.empty()
                                            ? default_system(1)
                                            : chakra::read_system(scenario.resolve(system), report);
        refuse_misfits(report);
        std::unique_ptr<OperationSource> source = chakra::open_chakra_stream(
            traces_of(scenario, traces), how, {options.compute_scale, options.comm_scale});
        const RankId ranks = source->rank_count();
        WorkloadPart part;
        part.import_notes = note_lines(report, "sluice chakra lint");
        part.stream =
            std::make_unique<StreamApplication>(std::move(source), site.take(ranks), stream);
        part.flow_class = "pp";
        part.description = fmt::format("Chakra traces {} of {} ranks, streamed", traces, ranks);
        return part;
    };
}

MakeWorkload read_chakra_workload(const WorkloadTable& table) {
    ConfigSection& section = table.section;
    const Scenario& scenario = table.scenario;
    const JobSite& site = *table.site;
    const std::string traces = section.text("traces", std::nullopt);
    const std::string system = section.text("system", "");
    const std::string groups = section.text("comm_groups", "");
    const std::string memory = section.text("remote_memory", "");
    const auto dims = section.integers("logical_dims", 1, 1 << 24, 16);
    chakra::JobOptions options;
    options.expansion.queues_per_dim =
        static_cast<std::uint32_t>(section.integer("queues_per_dim", 1, 1, 65536));
    options.expansion.injection_scale = section.number("injection_scale", 1, 0, 1e6);
    options.expansion.rendezvous = section.flag("rendezvous", false);
    options.compute_scale = section.number("compute_scale", 1, 0, 1e6);
    options.comm_scale = section.number("comm_scale", 1, 0, 1e6);
    if (section.flag("stream", false)) {
        return stream_chakra(section, traces, system, options, scenario, site);
    }
    return [=, &scenario]() mutable {
        ImportReport report;
        const std::vector<chakra::Trace> read =
            chakra::read_traces(traces_of(scenario, traces), chakra::reading_threads(), report);
        if (dims) {
            options.expansion.dims.assign(dims->begin(), dims->end());
        } else {
            options.expansion.dims = {static_cast<std::uint32_t>(read.size())};
        }
        const chakra::AstraSystem how = system.empty()
                                            ? default_system(options.expansion.dims.size())
                                            : chakra::read_system(scenario.resolve(system), report);
        if (!groups.empty()) {
            options.groups = chakra::read_comm_groups(scenario.resolve(groups), report);
        }
        if (!memory.empty()) {
            options.memory = chakra::read_remote_memory(scenario.resolve(memory), report);
        }
        options.signal_delay = step::network_lookahead(scenario.topology, scenario.network);
        refuse_misfits(report);
        const auto job = chakra::build_job(read, how, options, report);
        refuse_misfits(report);
        const RankId ranks = job->graph.rank_count();
        const auto operations = static_cast<double>(job->graph.op_count());
        const auto messages = static_cast<double>(job->graph.messages().size());
        WorkloadPart part(make_workload(std::move(job->graph), site.take(ranks)));
        part.import_notes = note_lines(report, "sluice chakra lint");
        part.description =
            fmt::format("Chakra traces {} of {} ranks, {} operations, {} messages", traces, ranks,
                        human_count(operations), human_count(messages));
        return part;
    };
}

}  // namespace

extern const WorkloadType kChakra{"chakra", WorkloadKind::traced_job, read_chakra_workload};

}  // namespace sluice
