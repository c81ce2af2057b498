// SPDX-License-Identifier: Apache-2.0
/// Runs the closed loop of bench/flow_churn on SimGrid's max-min network model: reads the workload
/// that it wrote (links, flows, paths), keeps the same number of flows under way, and stops after
/// so many completions. SimGrid's corrections for TCP are off, so that both solve one model.
///
/// usage: simgrid_flows WORKLOAD COMPLETIONS FCT_FILE
/// Prints one line of JSON; writes "flow,start,finish" in seconds per completed flow.
#include <simgrid/s4u.hpp>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace s4u = simgrid::s4u;
using Clock = std::chrono::steady_clock;

struct Flow {
    std::uint32_t src = 0;
    std::uint32_t dst = 0;
    std::uint64_t size = 0;
    std::vector<std::uint32_t> path;
    double start = 0;
    double finish = 0;
};

struct Workload {
    std::vector<double> link_rate;  ///< bytes/s
    std::uint32_t hosts = 0;
    std::uint32_t concurrent = 0;
    std::vector<Flow> flows;  ///< flow i + concurrent starts when flow i is complete
};

Workload read_workload(const std::string& path) {
    std::ifstream file(path);
    Workload workload;
    std::size_t links = 0;
    std::size_t flows = 0;
    if (!(file >> links >> workload.hosts >> workload.concurrent >> flows)) {
        throw std::runtime_error(path + ": cannot read the first line");
    }
    workload.link_rate.resize(links);
    for (double& rate : workload.link_rate) file >> rate;
    workload.flows.resize(flows);
    for (Flow& flow : workload.flows) {
        std::size_t hops = 0;
        file >> flow.src >> flow.dst >> flow.size >> hops;
        flow.path.resize(hops);
        for (std::uint32_t& link : flow.path) file >> link;
    }
    if (!file) throw std::runtime_error(path + ": ends early");
    return workload;
}

/// What all actors share; SimGrid runs them one at a time.
struct Run {
    Workload workload;
    std::vector<s4u::Host*> hosts;
    std::size_t wanted = 0;
    std::vector<std::uint32_t> completed;
    Clock::time_point first;  ///< the first completion
    Clock::time_point last;
    std::clock_t first_cpu = 0;
    std::clock_t last_cpu = 0;
};

/// Keeps one flow of the closed loop under way.
void sender(Run& run, std::uint32_t flow_id) {
    for (; flow_id < run.workload.flows.size(); flow_id += run.workload.concurrent) {
        Flow& flow = run.workload.flows[flow_id];
        flow.start = s4u::Engine::get_clock();
        s4u::Comm::sendto(run.hosts[flow.src], run.hosts[flow.dst], flow.size);
        if (run.completed.size() == run.wanted) break;
        flow.finish = s4u::Engine::get_clock();
        run.completed.push_back(flow_id);
        run.last = Clock::now();
        run.last_cpu = std::clock();
        if (run.completed.size() == 1) {
            run.first = run.last;
            run.first_cpu = run.last_cpu;
        }
        if (run.completed.size() == run.wanted) break;
    }
    s4u::Actor::kill_all();
}

void build_platform(Run& run) {
    s4u::NetZone* const zone = s4u::create_full_zone("fabric");
    for (std::uint32_t host = 0; host < run.workload.hosts; ++host) {
        run.hosts.push_back(zone->create_host("h" + std::to_string(host), 1e9));
    }
    std::vector<s4u::Link*> links;
    for (std::size_t link = 0; link < run.workload.link_rate.size(); ++link) {
        links.push_back(zone->create_link("l" + std::to_string(link), run.workload.link_rate[link])
                            ->set_latency(0.0)
                            ->seal());
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> known;
    for (const Flow& flow : run.workload.flows) {
        if (!known.insert({flow.src, flow.dst}).second) continue;
        std::vector<s4u::LinkInRoute> route;
        for (const std::uint32_t link : flow.path) route.emplace_back(links[link]);
        zone->add_route(run.hosts[flow.src]->get_netpoint(), run.hosts[flow.dst]->get_netpoint(),
                        nullptr, nullptr, route, false);
    }
    zone->seal();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::cerr << "usage: simgrid_flows WORKLOAD COMPLETIONS FCT_FILE\n";
        return 2;
    }
    try {
        // Plain max-min of the links' full rates, weights equal, started without latency.
        std::vector<std::string> arguments = {
            argv[0],
            "--log=root.thresh:error",
            "--cfg=network/model:CM02",
            "--cfg=network/bandwidth-factor:1",
            "--cfg=network/latency-factor:1",
            "--cfg=network/weight-S:0",
            "--cfg=network/TCP-gamma:0",
            "--cfg=network/crosstraffic:0",
            "--cfg=contexts/stack-size:64",
        };
        std::vector<char*> pointers;
        for (std::string& argument : arguments) pointers.push_back(argument.data());
        int count = static_cast<int>(pointers.size());
        s4u::Engine engine(&count, pointers.data());
        Run run;
        run.workload = read_workload(argv[1]);
        run.wanted = std::stoul(argv[2]);
        build_platform(run);
        const auto begin = Clock::now();
        for (std::uint32_t flow = 0; flow < run.workload.concurrent; ++flow) {
            s4u::Actor::create("sender", run.hosts[run.workload.flows[flow].src], sender,
                               std::ref(run), flow);
        }
        engine.run();
        if (run.completed.size() < 2) throw std::runtime_error("fewer than two flows completed");
        std::ofstream fct(argv[3]);
        fct.precision(17);
        for (const std::uint32_t id : run.completed) {
            const Flow& flow = run.workload.flows[id];
            fct << id << ',' << flow.start << ',' << flow.finish << '\n';
        }
        fct.close();
        if (!fct) throw std::runtime_error(std::string(argv[3]) + ": cannot write");
        const std::chrono::duration<double> loop = run.last - run.first;
        const std::chrono::duration<double> start = run.first - begin;
        std::cout.precision(9);
        std::cout << "{\"completions\": " << run.completed.size()
                  << ", \"wall_s\": " << loop.count() << ", \"cpu_s\": "
                  << static_cast<double>(run.last_cpu - run.first_cpu) / CLOCKS_PER_SEC
                  << ", \"completions_per_s\": "
                  << static_cast<double>(run.completed.size() - 1) / loop.count()
                  << ", \"first_s\": " << start.count() << "}\n";
    } catch (const std::exception& error) {
        std::cerr << "simgrid_flows: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
