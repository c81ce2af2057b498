// SPDX-License-Identifier: Apache-2.0
/// [workload] type = "stream": a job of any length that follows a rule and needs no file.
#include <cmath>
#include <memory>

#include <fmt/core.h>

#include "core/text/human.h"
#include "scenario/workload/workload_part.h"
#include "workloads/generated/operation_generator.h"

namespace sluice {

namespace {

MakeWorkload read_stream_workload(const WorkloadTable& table) {
    ConfigSection& section = table.section;
    const Scenario& scenario = table.scenario;
    const JobSite& site = *table.site;
    GeneratorOptions options;
    options.operations = static_cast<std::uint64_t>(
        section.integer("operations", std::nullopt, 1, std::int64_t{1} << 31));
    options.pattern = section.choice<StreamPattern>("pattern", StreamPattern::ring,
                                                    {{"ring", StreamPattern::ring},
                                                     {"pairs", StreamPattern::pairs},
                                                     {"shift", StreamPattern::shift}});
    options.bytes = section.bytes("bytes", std::nullopt, {1}, {std::int64_t{1} << 50}).count;
    options.compute = section.time("compute", 0);
    options.jitter = section.number("jitter", 0, 0, 1);
    options.seed = scenario.seed;
    return [=]() mutable {
        const std::vector<NodeId> hosts = site.take();
        options.ranks = static_cast<RankId>(hosts.size());
        WorkloadPart part;
        part.stream = std::make_unique<StreamApplication>(make_operation_generator(options), hosts);
        part.flow_class = to_string(OpClass::other);
        part.description =
            fmt::format("a generated stream of {} ranks, {} operations", hosts.size(),
                        human_count(static_cast<double>(part.stream->operation_count())));
        return part;
    };
}

}  // namespace

extern const WorkloadType kStream{"stream", WorkloadKind::traced_job, read_stream_workload};

}  // namespace sluice
