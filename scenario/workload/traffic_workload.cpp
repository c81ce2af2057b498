// SPDX-License-Identifier: Apache-2.0
/// [workload] type = "poisson", "permutation", "incast", "ring": generated flows with start times.
#include "scenario/workload/traffic_workload.h"

#include <algorithm>

#include <fmt/core.h>

#include "core/text/human.h"
#include "scenario/network_section.h"
#include "scenario/node_reader.h"
#include "scenario/workload/data_folders.h"
#include "scenario/workload/workload_part.h"
#include "workloads/traffic/flow_size_cdf.h"
#include "workloads/traffic/traffic.h"

namespace sluice {

namespace {

MakeWorkload read_poisson(const WorkloadTable& table) {
    const Scenario& scenario = table.scenario;
    const PoissonWorkload poisson = read_poisson_workload(table.section, scenario);
    return [=, &scenario] {
        const PoissonTraffic& traffic = poisson.traffic;
        WorkloadPart part;
        part.flows =
            poisson_traffic(scenario.topology.hosts(), sizes_of(poisson, scenario), traffic);
        part.flow_class = "poisson";
        part.description =
            fmt::format("Poisson traffic, {} sizes, {:.3g}% load for {}", poisson.cdf,
                        100 * traffic.load, human_time(traffic.duration));
        return part;
    };
}

/// Its place among the hosts: a number, or a host's name.
std::uint32_t read_receiver(ConfigSection& section, const Topology& topology) {
    const std::vector<NodeId>& hosts = topology.hosts();
    const ConfigValue* const value = section.raw("receiver");
    if (value == nullptr || value->kind != ConfigValue::Kind::text) {
        return static_cast<std::uint32_t>(
            section.integer("receiver", 0, 0, static_cast<std::int64_t>(hosts.size()) - 1));
    }
    const NodeId host = NodeReader(topology).host(*value, "'receiver'");
    const auto place = std::lower_bound(hosts.begin(), hosts.end(), host) - hosts.begin();
    section.note("receiver", place);
    return static_cast<std::uint32_t>(place);
}

MakeWorkload read_incast(const WorkloadTable& table) {
    ConfigSection& section = table.section;
    const Scenario& scenario = table.scenario;
    IncastTraffic traffic;
    const auto hosts = static_cast<std::int64_t>(scenario.topology.host_count());
    traffic.senders = static_cast<std::uint32_t>(
        section.integer("senders", std::min<std::int64_t>(traffic.senders, hosts - 1), 1,
                        std::max<std::int64_t>(hosts - 1, 1)));
    traffic.receiver = read_receiver(section, scenario.topology);
    traffic.size = section.bytes("size", traffic.size, {1}, kLargestMessage);
    traffic.start = section.time("start", traffic.start);
    traffic.jitter = section.time("jitter", traffic.jitter);
    traffic.seed = scenario.seed;
    return [=, &scenario] {
        WorkloadPart part;
        part.flows = incast_traffic(scenario.topology.hosts(), traffic);
        part.flow_class = "incast";
        part.description = fmt::format("incast of {} x {}B", traffic.senders,
                                       human_count(static_cast<double>(traffic.size.count)));
        return part;
    };
}

MakeWorkload read_pattern(const WorkloadTable& table) {
    ConfigSection& section = table.section;
    const Scenario& scenario = table.scenario;
    const std::string& type = table.type;
    PatternTraffic traffic;
    traffic.size = section.bytes("size", traffic.size, {1}, kLargestMessage);
    traffic.start = section.time("start", traffic.start);
    traffic.jitter = section.time("jitter", traffic.jitter);
    traffic.seed = scenario.seed;
    return [=, &scenario] {
        const std::vector<NodeId>& hosts = scenario.topology.hosts();
        WorkloadPart part;
        part.flows =
            type == "ring" ? ring_traffic(hosts, traffic) : permutation_traffic(hosts, traffic);
        part.flow_class = type;
        part.description = fmt::format("{} of {} x {}B", type, part.flows.size(),
                                       human_count(static_cast<double>(traffic.size.count)));
        return part;
    };
}

}  // namespace

PoissonWorkload read_poisson_workload(ConfigSection& section, const Scenario& scenario) {
    PoissonWorkload poisson;
    PoissonTraffic& traffic = poisson.traffic;
    poisson.cdf = section.text("cdf", std::nullopt);
    traffic.load = section.number("load", traffic.load, 1e-6, 1);
    traffic.rate = section.rate("rate", nic_rate(scenario.topology));
    traffic.start = section.time("start", traffic.start);
    traffic.duration = section.time("duration", traffic.duration, kPicosecond);
    traffic.seed = scenario.seed;
    return poisson;
}

FlowSizeCdf sizes_of(const PoissonWorkload& workload, const Scenario& scenario) {
    return FlowSizeCdf::find(scenario.resolve(workload.cdf), data_folders("cdf", scenario.path));
}

extern const WorkloadType kPoisson{"poisson", WorkloadKind::flows, read_poisson};
extern const WorkloadType kPermutation{"permutation", WorkloadKind::flows, read_pattern};
extern const WorkloadType kIncast{"incast", WorkloadKind::flows, read_incast};
extern const WorkloadType kRing{"ring", WorkloadKind::flows, read_pattern};

}  // namespace sluice
