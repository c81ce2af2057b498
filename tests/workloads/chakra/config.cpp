// SPDX-License-Identifier: Apache-2.0
/// ASTRA-sim's configuration files: what they mean, and every trap in one line.
#include <doctest/doctest.h>

#include "tests/support/chakra_support.h"
#include "tests/support/error_of.h"

namespace sluice::chakra {
namespace {

using test::TestFolder;

/// Reads `text` with `reader`; the message without the file's path.
template <typename Reader>
std::string refused(Reader reader, const std::string& text) {
    const TestFolder folder;
    const std::string path = folder.write("file", text);
    ImportReport report;
    const std::string error = error_of([&] { reader(path, report); });
    return error.rfind(path, 0) == 0 ? error.substr(path.size()) : error;
}

template <typename Reader>
auto accepted(Reader reader, const std::string& text, ImportReport& report) {
    const TestFolder folder;
    return reader(folder.write("file", text), report);
}

}  // namespace

TEST_CASE("unit.chakra.config.system_json_is_read") {
    ImportReport report;
    const AstraSystem system =
        accepted(read_system,
                 "{\r\n"
                 R"("scheduling-policy": "LIFO", "endpoint-delay": 12.5, "boost-mode": 0,
        "active-chunks-per-dimension": 2, "preferred-dataset-splits": 4,
        "all-reduce-implementation": ["ring", "direct7", "halvingDoubling", "doubleBinaryTree"],
        "all-gather-implementation": ["oneDirect3"], "collective-optimization": "localBWAware",
        "local-mem-bw": 1600, "roofline-enabled": 1, "peak-perf": 900,
        "trace-enabled": 1, "colour": "blue"})",
                 report);
    CHECK(system.endpoint_delay == 12.5);
    CHECK(system.active_chunks == 2);
    CHECK(system.dataset_splits == 4);
    REQUIRE(system.algorithms[0].size() == 4);
    CHECK(system.algorithms[0][1].algorithm == Algorithm::direct);
    CHECK(system.algorithms[0][1].window == 7);
    CHECK(system.algorithms[0][3].algorithm == Algorithm::double_binary_tree);
    CHECK(system.algorithms[1][0].flat);
    CHECK(system.algorithms[1][0].window == 3);
    CHECK(system.local_bandwidth_aware);
    CHECK(system.roofline);
    // trace-enabled has no effect, colour is no key.
    CHECK(report.count(ImportNote::Kind::skipped) == 2);
}

TEST_CASE("unit.chakra.config.system_json_traps") {
    const auto refuse = [](const std::string& text) { return refused(read_system, text); };
    CHECK(refuse("") == ":1: is not JSON");
    CHECK(refuse("{\n\"a\": 1,\n}") == ":3: is not JSON");
    CHECK(refuse("[]") == ": a JSON object is needed");
    CHECK(refuse("{\n\n\"endpoint-delay\": \"10\"}") ==
          ":3: endpoint-delay is \"10\": a number from 0 to 1e+12 is needed");
    CHECK(refuse("{\"preferred-dataset-splits\": 0}").find("preferred-dataset-splits is 0") !=
          std::string::npos);
    CHECK(refuse("{\"active-chunks-per-dimension\": 1.5}") ==
          ":1: active-chunks-per-dimension is 1.5: not a whole number");
    CHECK(refuse("{\"scheduling-policy\": \"RANDOM\"}") ==
          ":1: scheduling-policy is \"RANDOM\": one of LIFO, FIFO, EXPLICIT is needed");
    CHECK(refuse("{\"all-reduce-implementation\": \"ring\"}") ==
          ":1: all-reduce-implementation is \"ring\": a list is needed, one per dimension");
    for (const char* name : {"rings", "direct0", "direct-1", "directx", "oneDirect99999999999"}) {
        CHECK(refuse("{\"all-reduce-implementation\": [\"" + std::string(name) + "\"]}")
                  .find(":1: all-reduce-implementation names \"" + std::string(name) +
                        "\": ring") == 0);
    }
    CHECK(refuse("{\"roofline-enabled\": 1}") ==
          ":1: roofline-enabled needs peak-perf and local-mem-bw above 0");
    CHECK(refuse("{\"model-shared-bus\": 1}").find(":1: model-shared-bus is 1: the LogGP model") ==
          0);
    CHECK(refuse("{\"all-reduce-implementation-custom\": []}").find("one trace prefix") !=
          std::string::npos);
    CHECK(refuse("{\"per-node-custom-implementation\": \"nowhere.yml\"}") ==
          "nowhere.yml: cannot be read: No such file or directory");
    CHECK(error_of([] {
              ImportReport report;
              read_system("none.json", report);
          }) == "none.json: cannot be read: No such file or directory");
}

TEST_CASE("unit.chakra.config.network_yml_is_read") {
    ImportReport report;
    const auto dims =
        accepted(read_network,
                 "topology: [ Ring, Switch ]  # two\r\nnpus_count: [ 4, 2 ]\r\n"
                 "bandwidth: [ 50.0, 25 ]\r\nlatency: [ 500.0, 936.25 ]\r\ncolor: 1\n",
                 report);
    REQUIRE(dims.size() == 2);
    CHECK(dims[0].kind == NetworkKind::ring);
    CHECK(dims[1].kind == NetworkKind::switch_);
    CHECK(dims[1].npus == 2);
    CHECK(dims[1].latency == 936.25);
    CHECK(report.count(ImportNote::Kind::skipped) == 1);
}

TEST_CASE("unit.chakra.config.network_yml_traps") {
    const auto refuse = [](const std::string& text) { return refused(read_network, text); };
    const std::string good = "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50 ]\n";
    CHECK(refuse(good) == ": latency is missing");
    CHECK(refuse("") == ": topology, npus_count, bandwidth and latency are needed");
    CHECK(refuse(good + "latency: [ 1, 2 ]\n").find(":4: latency needs a list") == 0);
    CHECK(refuse(good + "latency: 500\n") ==
          ":4: latency needs a list, also of one dimension: [ 500 ]");
    CHECK(refuse("# one dimension\ntopology: Switch\nnpus_count: [ 4 ]\n") ==
          ":2: topology needs a list, also of one dimension: [ Switch ]");
    CHECK(refuse(good + "latency: [ -1 ]\n") ==
          ":4: latency is \"-1\": a number of at least 0 is needed");
    CHECK(refuse(good + "latency: [ 500ns ]\n").find(":4: latency is \"500ns\"") == 0);
    CHECK(refuse("topology: [ Torus ]\nnpus_count: [ 8 ]\nbandwidth: [ 50 ]\nlatency: [ 1 ]\n") ==
          ":1: topology names \"Torus\": Ring, FullyConnected or Switch is needed for each "
          "dimension");
    for (const char* count : {"1", "2.5", "99999999"}) {
        CHECK(refuse("topology: [ Ring ]\nnpus_count: [ " + std::string(count) +
                     " ]\nbandwidth: [ 50 ]\nlatency: [ 1 ]\n")
                  .find(":2: npus_count is " + std::string(count) + ": whole numbers") == 0);
    }
    CHECK(refuse("topology: [ Ring").find("is not the YAML that is needed") != std::string::npos);
    CHECK(refuse(std::string(100'000, '[')).find("is not the YAML that is needed") !=
          std::string::npos);
}

TEST_CASE("unit.chakra.config.logical_topology") {
    ImportReport report;
    CHECK(accepted(read_logical_dims, "{\"logical-dims\": [\"8\", \"2\"]}", report) ==
          std::vector<std::uint32_t>{8, 2});
    CHECK(accepted(read_logical_dims, "{\"logical-dims\": [4]}", report) ==
          std::vector<std::uint32_t>{4});
    const auto refuse = [](const std::string& text) { return refused(read_logical_dims, text); };
    CHECK(refuse("{}").find(R"(: "logical-dims": ["8", "2"] is needed)") == 0);
    for (const char* entry : {"\"0\"", "\"8x\"", "-1", "\"\"", "\"99999999999\"", "null"}) {
        CHECK(refuse("{\"logical-dims\": [" + std::string(entry) + "]}")
                  .find(":1: logical-dims holds " + std::string(entry)) == 0);
    }
}

TEST_CASE("unit.chakra.config.communicator_groups") {
    ImportReport report;
    const auto groups = accepted(read_comm_groups, "{\"1\": [0, 2], \"2\": [1, 3]}", report);
    REQUIRE(groups.size() == 2);
    CHECK(groups[1].name == "2");
    CHECK(groups[1].ranks == std::vector<std::uint32_t>{1, 3});
    CHECK(read_comm_groups("an-empty-file.json", report).empty());
    const auto refuse = [](const std::string& text) { return refused(read_comm_groups, text); };
    CHECK(refuse("{\"tp\": [0]}") ==
          ":1: tp is not a group's id: a whole number as a text is needed");
    CHECK(refuse("{\"1\": []}") == ":1: 1 needs a list of ranks");
    CHECK(refuse("{\"1\": [0, 0]}") == ":1: 1 lists rank 0 twice");
    CHECK(refuse("{\"1\": [-1]}").find(":1: 1 holds -1") == 0);
}

TEST_CASE("unit.chakra.config.remote_memory") {
    ImportReport report;
    const RemoteMemory memory =
        accepted(read_remote_memory,
                 R"({"memory-type": "PER_NODE_MEMORY_EXPANSION", "num-nodes": 2,
                    "num-npus-per-node": 4, "remote-mem-latency": 100, "remote-mem-bw": 50})",
                 report);
    CHECK(memory.kind == RemoteMemory::Kind::per_node);
    CHECK(memory.npus_per_node == 4);
    const auto refuse = [](const std::string& text) { return refused(read_remote_memory, text); };
    CHECK(refuse("{\"memory-type\": \"CLOUD\"}").find(":1: memory-type is \"CLOUD\": one of NO_") ==
          0);
    CHECK(refuse("{\"memory-type\": \"MEMORY_POOL\"}") ==
          ":1: remote-mem-bw must be above 0 for MEMORY_POOL");
    CHECK(refuse("{\"memory-type\": \"PER_NODE_MEMORY_EXPANSION\", \"remote-mem-bw\": 1}")
              .find(":1: memory-type PER_NODE_MEMORY_EXPANSION needs num-nodes") == 0);
}

}  // namespace sluice::chakra
