// SPDX-License-Identifier: Apache-2.0
/// Flow mode under churn: so many flows at a time on an ECMP fat-tree, each completion starting the
/// next flow of the same source, until so many have completed. Writes the workload for another
/// simulator (bench/peers/simgrid/simgrid_flows.cpp), or runs it and measures completions per second.
///
/// usage: flow_churn write|run K CONCURRENT COMPLETIONS FILE
///   write: FILE is the workload: "links hosts concurrent flows", each link's bytes/s, and per flow
///          "source destination bytes hops link...", flow i + concurrent following flow i
///   run:   FILE gets "flow,start,finish" in seconds per completed flow; one line of JSON is printed
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/routing/routing.h"
#include "core/topology/builders.h"
#include "flowlevel/flow_run.h"

namespace {

using namespace sluice;
using Clock = std::chrono::steady_clock;

/// Flows that a chain can never run out of within the run: sizes differ by a factor of 20 at most.
constexpr std::size_t kRounds = 4;
constexpr std::uint32_t kLeastBytes = 1'000'000;
constexpr std::uint32_t kMostBytes = 20'000'000;

struct Workload {
    Topology topology;
    NetworkConfig network;
    std::vector<FlowSpec> flows;
    std::size_t concurrent = 0;
};

/// All links 100 Gb/s. No headers, ACKs or delays to speak of: what is compared is the sharing. Source
/// ports are equal, so that a pair of hosts has one path.
Workload make_workload(std::int64_t k, std::size_t concurrent) {
    Workload workload;
    FatTreeParams params;
    params.k = k;
    params.host_cable.delay = kNanosecond;
    params.fabric_cable.delay = kNanosecond;
    workload.topology = build_fat_tree(params);
    workload.network.congestion.law = congestion::Law::none;
    workload.network.format.header = 0;
    workload.network.format.extra_header = 0;
    workload.network.format.ack = 0;
    workload.network.pfc = false;
    workload.concurrent = concurrent;
    const auto hosts = static_cast<std::uint32_t>(workload.topology.host_count());
    std::uint64_t draws = 0;
    const auto below = [&](std::uint32_t bound) { return uniform_below(1, 1, draws++, bound); };
    for (std::size_t i = 0; i < kRounds * concurrent; ++i) {
        FlowSpec flow;
        flow.src = i < concurrent ? below(hosts) : workload.flows[i - concurrent].src;
        flow.dst = below(hosts - 1);
        flow.dst += flow.dst >= flow.src ? 1 : 0;
        flow.size = kLeastBytes + below(kMostBytes - kLeastBytes);
        workload.flows.push_back(flow);
    }
    return workload;
}

void write_workload(const Workload& workload, const std::string& path) {
    const Topology& topology = workload.topology;
    const Routing routing(topology);
    std::ofstream file(path);
    file << topology.port_count() << ' ' << topology.host_count() << ' ' << workload.concurrent
         << ' ' << workload.flows.size() << '\n';
    for (PortId port = 0; port < topology.port_count(); ++port) {
        file << topology.rate(port).bits_per_second / 8 << '\n';
    }
    for (const FlowSpec& flow : workload.flows) {
        const std::vector<PortId> ports = routing.path(data_key(flow));
        file << flow.src << ' ' << flow.dst << ' ' << flow.size << ' ' << ports.size();
        for (const PortId port : ports) {
            file << ' ' << port;
        }
        file << '\n';
    }
    file.close();
    if (!file) {
        throw std::runtime_error(path + ": cannot write");
    }
}

/// Starts the first flows, and for each that is done the next one of its chain.
class ClosedLoop : public Application {
  public:
    explicit ClosedLoop(const Workload& workload)
        : workload_(workload), first_(workload.topology.node_count()) {
        for (std::size_t i = 0; i < workload.concurrent; ++i) {
            first_[workload.flows[i].src].push_back(static_cast<FlowId>(i));
        }
    }
    void on_begin(NodeId host, HostServices& services) override {
        for (const FlowId flow : first_[host]) {
            services.start_flow(flow, 0);
        }
    }
    void on_received(NodeId, FlowId, Tick, HostServices&) override {}
    void on_sent(NodeId, FlowId flow, Tick now, HostServices& services) override {
        if (flow + workload_.concurrent < workload_.flows.size()) {
            services.start_flow(static_cast<FlowId>(flow + workload_.concurrent), now);
        }
    }
    void on_timer(NodeId, std::uint64_t, Tick, HostServices&) override {}

  private:
    const Workload& workload_;
    std::vector<std::vector<FlowId>> first_;  ///< by host
};

void run(const Workload& workload, std::size_t wanted, const std::string& path) {
    ClosedLoop application(workload);
    const std::vector<FlowPath> paths;
    const std::vector<LinkEvent> link_events;
    flowlevel::FlowRun run({workload.topology, workload.network, workload.flows, paths, link_events,
                            &application, kNever});
    std::vector<FlowId> completed;
    Clock::time_point first;
    Clock::time_point last;
    std::clock_t first_cpu = 0;
    std::clock_t last_cpu = 0;
    std::uint64_t first_changes = 0;
    std::uint64_t last_changes = 0;
    RunHooks hooks;
    hooks.interval = 1;
    hooks.on_finish = [&](const FlowRecord& flow) {
        if (completed.size() == wanted) {
            return;
        }
        completed.push_back(flow.id);
        last = Clock::now();
        last_cpu = std::clock();
        last_changes = run.rate_changes();
        if (completed.size() == 1) {
            first = last;
            first_cpu = last_cpu;
            first_changes = last_changes;
        }
    };
    hooks.on_progress = [&](Tick) { return completed.size() < wanted; };
    const auto begin = Clock::now();
    run.run(hooks);
    if (completed.size() < wanted) {
        throw std::runtime_error("only " + std::to_string(completed.size()) + " flows completed");
    }
    std::ofstream file(path);
    file.precision(17);
    for (const FlowId flow : completed) {
        const FlowResult& result = run.results()[flow];
        file << flow << ',' << static_cast<double>(result.start) * 1e-12 << ','
             << static_cast<double>(result.finish) * 1e-12 << '\n';
    }
    file.close();
    if (!file) {
        throw std::runtime_error(path + ": cannot write");
    }
    const double wall = std::chrono::duration<double>(last - first).count();
    const auto counted = static_cast<double>(wanted - 1);
    std::cout.precision(9);
    std::cout << "{\"completions\": " << wanted << ", \"wall_s\": " << wall
              << ", \"cpu_s\": " << static_cast<double>(last_cpu - first_cpu) / CLOCKS_PER_SEC
              << ", \"completions_per_s\": " << counted / wall
              << ", \"first_s\": " << std::chrono::duration<double>(first - begin).count()
              << ", \"rate_changes_per_completion\": "
              << static_cast<double>(last_changes - first_changes) / counted
              << ", \"memory_bytes\": " << run.memory_bytes() << "}\n";
}

}  // namespace

int main(int argc, char** argv) {
    const std::string mode = argc == 6 ? argv[1] : "";
    if (mode != "write" && mode != "run") {
        std::cerr << "usage: flow_churn write|run K CONCURRENT COMPLETIONS FILE\n";
        return 2;
    }
    try {
        const Workload workload = make_workload(std::stoll(argv[2]), std::stoul(argv[3]));
        const std::size_t completions = std::stoul(argv[4]);
        if (completions < 2) {
            throw std::runtime_error("at least 2 completions");
        }
        if (mode == "write") {
            write_workload(workload, argv[5]);
        } else {
            run(workload, completions, argv[5]);
        }
    } catch (const std::exception& error) {
        std::cerr << "flow_churn: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
