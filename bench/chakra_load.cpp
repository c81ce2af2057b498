// SPDX-License-Identifier: Apache-2.0
/// How quickly Chakra traces load, in what memory, and how quickly their graph builds.
/// A generated rank: layers of a computation with duration, operations and bytes, an all-reduce every
/// tenth node, each node after the one before it.
///
/// usage: chakra_load write FOLDER RANKS NODES    write the traces
///        chakra_load read FOLDER THREADS         read and check them
///        chakra_load build FOLDER THREADS        also build the graph, collectives left out
/// read and build print one line of JSON. `build` takes the all-reduces for broadcasts, which take
/// their durations, so that what is measured is the traces' own operations.
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>

#include "workloads/chakra/chakra_graph.h"
#include "workloads/chakra/et_file.h"

namespace {

using namespace sluice;
using namespace sluice::chakra;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kLayerNames = 96;

Node make_node(std::uint64_t id) {
    Node node;
    node.id = id;
    node.name = "layer" + std::to_string(id % kLayerNames) + ".mlp.forward";
    if (id > 0) node.data_deps = {id - 1};
    node.attributes = {Attribute::boolean("is_cpu_op", false)};
    if (id % 10 == 9) {
        node.type = NodeType::comm_coll;
        node.duration_us = 40;
        node.attributes.push_back(
            Attribute::int64("comm_type", static_cast<std::int64_t>(CollectiveType::broadcast)));
        node.attributes.push_back(Attribute::int64("comm_size", 1 << 20));
    } else {
        node.type = NodeType::comp;
        node.duration_us = 100 + id % 7;
        node.attributes.push_back(Attribute::int64("num_ops", 1'000'000'000));
        node.attributes.push_back(Attribute::uint64("tensor_size", 1'000'000));
    }
    return node;
}

int write_traces(const std::string& folder, std::uint64_t ranks, std::uint64_t nodes) {
    std::filesystem::create_directories(folder);
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
        EtWriter writer(folder + "/t." + std::to_string(rank) + ".et", {});
        for (std::uint64_t id = 0; id < nodes; ++id) writer.write(make_node(id));
        writer.close();
    }
    return 0;
}

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

int read_folder(const std::string& folder, unsigned threads, bool build) {
    const std::vector<std::string> files = find_traces(folder);
    std::uintmax_t bytes = 0;
    for (const std::string& file : files) bytes += std::filesystem::file_size(file);
    const Clock::time_point start = Clock::now();
    ImportReport report;
    const std::vector<Trace> traces = read_traces(files, threads, report);
    const double read_s = seconds_since(start);
    std::uint64_t nodes = 0;
    std::uint64_t memory = 0;
    for (const Trace& trace : traces) {
        nodes += trace.size();
        memory += trace.memory_bytes();
    }
    double build_s = 0;
    std::size_t operations = 0;
    if (build) {
        JobOptions options;
        options.expansion.dims = {static_cast<std::uint32_t>(traces.size())};
        const Clock::time_point begun = Clock::now();
        const auto job = build_job(traces, {}, options, report);
        build_s = seconds_since(begun);
        if (!job) throw std::runtime_error(report.text());
        operations = job->graph.op_count();
        if (operations < nodes) throw std::runtime_error("the graph lost nodes");
    }
    if (report.count(ImportNote::Kind::misfit) != 0) throw std::runtime_error(report.text());
    struct rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    std::cout << "{\"ranks\": " << files.size() << ", \"nodes\": " << nodes
              << ", \"file_bytes\": " << bytes << ", \"threads\": " << threads
              << ", \"read_s\": " << read_s
              << ", \"ns_per_node\": " << read_s * 1e9 / static_cast<double>(nodes)
              << ", \"trace_bytes_per_node\": "
              << static_cast<double>(memory) / static_cast<double>(nodes)
              << ", \"build_s\": " << build_s << ", \"operations\": " << operations
              << ", \"peak_rss_mib\": " << usage.ru_maxrss / 1024 << "}\n";
    return 0;
}

int run(int argc, char** argv) {
    const std::string verb = argc > 1 ? argv[1] : "";
    if (verb == "write" && argc == 5) {
        return write_traces(argv[2], std::stoull(argv[3]), std::stoull(argv[4]));
    }
    if ((verb == "read" || verb == "build") && argc == 4) {
        return read_folder(argv[2], static_cast<unsigned>(std::stoul(argv[3])), verb == "build");
    }
    std::cerr << "usage: chakra_load write FOLDER RANKS NODES | read|build FOLDER THREADS\n";
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "chakra_load: " << error.what() << '\n';
        return 1;
    }
}
