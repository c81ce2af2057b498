// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "experiment/hpcc/queue_monitor.h"

using namespace sluice;

namespace {

/// Host 0 - switch 1 - host 2: port 0 is host 0's, 1 and 2 the switch's, 3 host 2's.
Topology line() {
    Topology topology;
    topology.add_node(NodeKind::host);
    topology.add_node(NodeKind::ethernet);
    topology.add_node(NodeKind::host);
    topology.add_link({0, 1, gigabits_per_second(100), kMicrosecond, 0});
    topology.add_link({1, 2, gigabits_per_second(100), kMicrosecond, 0});
    topology.finish();
    return topology;
}

template <typename Use>
std::string written(const Use& use) {
    const std::string path = (std::filesystem::temp_directory_path() /
                              ("sluice-qlen-" + std::to_string(::getpid()) + ".txt"))
                                 .string();
    {
        OutputFile file(path);
        use(file);
        file.commit();
    }
    std::ifstream in(path);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove(path);
    return text;
}

}  // namespace

TEST_CASE("unit.hpcc.queue_monitor_counts_in_bins_of_1000_bytes") {
    const Topology topology = line();
    const Tick from = 2 * kSecond;
    const std::string text = written([&](OutputFile& file) {
        QueueMonitor monitor(topology, file, from, from + 200 * kNanosecond);
        CHECK(monitor.last_sample() == from + 200 * kNanosecond);
        // 2 s is a multiple of 100 ms: dumped with the first sample in it. Hosts do not count.
        monitor.sample(from, {9'999, 0, 2'999, 9'999});
        monitor.sample(from + 100 * kNanosecond, {0, 999, 1'000, 0});
    });
    CHECK(text == "time: 2000000000\n1 1 1\n1 2 0 0 1\n");
}

TEST_CASE("unit.hpcc.queue_monitor_goes_on_over_a_network_at_rest") {
    const Topology topology = line();
    const Tick from = 2 * kSecond;
    const std::string text = written([&](OutputFile& file) {
        QueueMonitor monitor(topology, file, from, from + 100 * kMillisecond);
        monitor.sample(from, {0, 1'500, 0, 0});
        monitor.idle_until(kNever);
    });
    // 100 ms / 100 ns = 1,000,000 samples after the first, the last of them at 2.1 s.
    CHECK(text ==
          "time: 2000000000\n1 1 0 1\n1 2 1\n"
          "time: 2100000000\n1 1 1000000 1\n1 2 1000001\n");
}

TEST_CASE("unit.hpcc.queue_monitor_stops_where_the_experiment_does") {
    const Topology topology = line();
    const Tick from = 2 * kSecond;
    const std::string text = written([&](OutputFile& file) {
        QueueMonitor monitor(topology, file, from, from + 100 * kMillisecond);
        monitor.sample(from, {0, 0, 0, 0});
        monitor.idle_until(from + 100 * kMillisecond - 1);
    });
    CHECK(text == "time: 2000000000\n1 1 1\n1 2 1\n");
}

TEST_CASE("unit.hpcc.queue_monitor_samples_once_past_an_end_that_falls_between") {
    const Topology topology = line();
    written([&](OutputFile& file) {
        const QueueMonitor between(topology, file, 0, 150 * kNanosecond);
        CHECK(between.last_sample() == 200 * kNanosecond);
        const QueueMonitor backwards(topology, file, kSecond, 0);
        CHECK(backwards.last_sample() == kSecond);
    });
}
