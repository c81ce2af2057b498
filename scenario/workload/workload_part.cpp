// SPDX-License-Identifier: Apache-2.0
#include "scenario/workload/workload_part.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "scenario/node_reader.h"
#include "scenario/workload/priorities.h"

namespace sluice {

JobSite::JobSite(ConfigSection& section, const Scenario& scenario, HostPool& pool) : pool_(&pool) {
    if (pool.free_count() == 0) {
        section.fail("type", "is a job, but no host is free: limit the earlier jobs by `ranks`");
    }
    request_.seed = scenario.seed;
    request_.ranks =
        static_cast<std::uint32_t>(section.integer("ranks", 0, 0, std::int64_t{1} << 24));
    request_.placement = section.choice<Placement>("placement", Placement::packed,
                                                   {{"packed", Placement::packed},
                                                    {"spread", Placement::spread},
                                                    {"random", Placement::random},
                                                    {"listed", Placement::listed}});
    request_.unit =
        static_cast<std::uint32_t>(section.integer("unit", 0, 0, std::int64_t{1} << 24));
    const auto hosts = NodeReader(scenario.topology).hosts(section, "hosts");
    const bool listed = request_.placement == Placement::listed;
    if (hosts.has_value() != listed) {
        section.fail(listed ? "placement" : "hosts",
                     listed ? "\"listed\" needs the key hosts, a list of hosts in rank order"
                            : "is for placement = \"listed\" only");
    }
    if (!listed) return;
    if (section.has("unit")) {
        section.fail("unit", "is not for placement = \"listed\", whose hosts are all named");
    }
    request_.hosts = *hosts;
    const auto count = static_cast<std::uint32_t>(request_.hosts.size());
    if (request_.ranks != 0 && request_.ranks != count) {
        section.fail("ranks", "is not the length of the list of hosts, " + std::to_string(count));
    }
    request_.ranks = count;
}

std::size_t JobSite::available() const {
    return request_.ranks != 0 ? request_.ranks : pool_->free_count();
}

std::vector<NodeId> JobSite::take(std::uint32_t ranks, std::uint32_t unit) const {
    PlacementRequest request = request_;
    if (request.unit == 0) request.unit = unit;
    if (ranks != 0 && request.ranks != 0 && request.ranks != ranks) {
        throw ConfigError("the job has " + std::to_string(ranks) +
                          " ranks, but its table gives it " + std::to_string(request.ranks) +
                          " hosts");
    }
    if (request.ranks == 0) request.ranks = ranks;
    return pool_->take(request);
}

namespace {

/// Names stand in files and in lines for people.
std::string read_job_name(ConfigSection& section, const std::string& fallback) {
    const std::string name = section.text("name", fallback);
    const bool plain = std::all_of(name.begin(), name.end(), [](char letter) {
        return static_cast<unsigned char>(letter) >= 0x20 && letter != 0x7f;
    });
    if (name.empty() || !plain) {
        section.fail("name", "must be a text of at least one letter, without control characters");
    }
    return name;
}

/// How the messages of a job's connections leave what queue pairs do.
struct MessageExceptions {
    bool overlap = false;
    bool own_port = false;
};

MessageExceptions read_exceptions(ConfigSection& section, WorkloadKind kind) {
    MessageExceptions exceptions;
    if (kind == WorkloadKind::traced_job) return exceptions;
    exceptions.overlap = section.flag("overlapping_messages", false);
    exceptions.own_port = section.flag("port_per_message", false);
    return exceptions;
}

}  // namespace

WorkloadPart read_workload(ConfigSection& section, const Scenario& scenario, HostPool& pool) {
    std::vector<std::string> names;
    for (const WorkloadType* type : workload_types()) names.emplace_back(type->name);
    const std::size_t index = section.choice_index("type", "", names);
    const WorkloadType& type = *workload_types()[index];
    std::optional<JobSite> site;
    std::string name;
    Tick start = 0;
    MessageExceptions exceptions;
    if (type.kind != WorkloadKind::flows) {
        site.emplace(section, scenario, pool);
        name = read_job_name(section, type.name);
        start = section.time("start", 0);
        exceptions = read_exceptions(section, type.kind);
    }
    const MakeWorkload make = type.read({section, scenario, site ? &*site : nullptr, names[index]});
    const auto priority = static_cast<std::uint8_t>(section.integer("priority", 3, 1, 7));
    const Priorities priorities =
        type.kind == WorkloadKind::flows ? Priorities() : read_priorities(section);
    section.finish();
    try {
        WorkloadPart part = make();
        part.name = name;
        part.start = start;
        for (FlowSpec& flow : part.flows) {
            flow.priority = priority;
            flow.overlaps = exceptions.overlap;
            flow.own_port = exceptions.own_port;
        }
        if (part.stream != nullptr) {
            part.stream->set_start(start);
            part.stream->set_priority(priority);
        }
        set_priorities(part, priorities);
        return part;
    } catch (const OutOfMemoryError& error) {
        throw OutOfMemoryError(section.where("type") + ": " + error.what());
    } catch (const ConfigError& error) {
        throw ConfigError(section.where("type") + ": " + error.what());
    }
}

}  // namespace sluice
