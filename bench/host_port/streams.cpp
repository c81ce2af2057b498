// SPDX-License-Identifier: Apache-2.0
/// Streams of writes by host ports, in a mode that skips them or by packets: each of eight hosts of a star writes to the next
/// one. Prints one line of JSON: transactions of 4 KiB that the written bytes are, in millions a user-second, packet-hops, and
/// the mean time of a write.
///
/// usage: host_port_streams LAW packet|hybrid MIB WRITES
///   MIB of a write, WRITES by each host, of which four are outstanding
#include <sys/resource.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "experiment/build_experiment.h"
#include "experiment/testbench/experiment_network.h"
#include "models/host_port/host_port.h"
#include "scenario/scenario.h"

namespace {

using namespace sluice;

constexpr NodeId kHosts = 8;
constexpr int kTransaction = 4096;

double user_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

/// Writes to the next host as fast as its port takes them.
class Writer : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Writer);
    Writer(const sc_core::sc_module_name& name, HostPort& port, std::int64_t bytes, int writes)
        : sc_module(name), port_(port), bytes_(bytes), writes_(writes) {
        port_.completions().on_each([this](const Completion& made) {
            ++completed;
            ticks += static_cast<double>(made.completed - made.effective);
        });
        SC_THREAD(run);
    }
    int completed = 0;
    double ticks = 0;  ///< that they took, in all

  private:
    void run() {
        for (int i = 0; i < writes_; ++i) {
            Post post;
            post.peer = (port_.host() + 1) % kHosts;
            post.bytes = bytes_;
            port_.post(post);
        }
    }
    HostPort& port_;
    std::int64_t bytes_;
    int writes_;
};

void run(const std::string& law, const std::string& mode, std::int64_t bytes, int writes) {
    Scenario scenario =
        parse_scenario("mode = \"" + mode +
                           "\"\n[topology]\ntype = \"star\"\nhosts = 8\n[congestion]\n"
                           "law = \"" +
                           law + "\"\n[workload]\ntype = \"flows\"\nlist = [[0, 1, \"1kB\"]]\n",
                       "streams.toml");
    BuiltExperiment built = build_experiment(scenario, HostPorts::attached);
    ExperimentNetwork network("network", built.experiment,
                              mode == "packet" ? Mode::packet : Mode::hybrid);
    HostPortOptions options;
    options.depth = 4;
    options.doorbell_latency = network.network().store().world().lookahead;
    options.may_skip = true;
    std::vector<std::unique_ptr<HostPort>> ports;
    std::vector<std::unique_ptr<Writer>> writers;
    for (NodeId host = 0; host < kHosts; ++host) {
        const std::string number = std::to_string(host);
        ports.push_back(std::make_unique<HostPort>(("port" + number).c_str(), network.network(),
                                                   host, options));
        writers.push_back(
            std::make_unique<Writer>(("writer" + number).c_str(), *ports.back(), bytes, writes));
    }
    const double begin = user_seconds();
    sc_core::sc_start();
    network.finish();
    const double took = user_seconds() - begin;
    int completed = 0;
    double ticks = 0;
    for (const auto& writer : writers) {
        completed += writer->completed;
        ticks += writer->ticks;
    }
    const double transactions =
        static_cast<double>(completed) * static_cast<double>(bytes) / kTransaction;
    std::printf(
        "{\"law\": \"%s\", \"mode\": \"%s\", \"writes\": %d, \"m_transactions_s\": %.2f, "
        "\"packet_hops\": %llu, "
        "\"mean_us\": %.3f, \"user_s\": %.3f}\n",
        law.c_str(), mode.c_str(), completed, transactions / took * 1e-6,
        static_cast<unsigned long long>(network.counters().packet_hops), ticks / completed * 1e-6,
        took);
}

}  // namespace

int sc_main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: host_port_streams LAW packet|hybrid MIB WRITES\n");
        return 2;
    }
    try {
        run(argv[1], argv[2], std::stoll(argv[3]) << 20, std::stoi(argv[4]));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
