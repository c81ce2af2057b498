// SPDX-License-Identifier: Apache-2.0
/// Fuzzes the readers of htsim's connection matrices and .topo files: any text is each of both or a
/// ConfigError, and what is built from it keeps its invariants.
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/topology/connectivity.h"
#include "core/topology/htsim_topology.h"
#include "workloads/goal/trigger_application.h"

namespace {

using namespace sluice;

void check(bool condition) {
    if (!condition) std::abort();
}

void read_matrix(const std::string& text) {
    ImportReport report;
    const ConnectionMatrix matrix = read_connection_matrix(TokenReader("input", text), report);
    for (const ConnectionMatrix::Connection& c : matrix.connections) {
        check(c.src < matrix.nodes && c.dst < matrix.nodes && c.src != c.dst && c.size > 0);
        check(c.start >= 0);
    }
    if (matrix.nodes > 1000) return;
    std::vector<NodeId> hosts(matrix.nodes);
    std::iota(hosts.begin(), hosts.end(), 0U);
    check(TriggerApplication(matrix, hosts).flows().size() == matrix.connections.size());
}

void read_topology_file(const std::string& text) {
    std::vector<std::string> skipped;
    const Topology topology = read_htsim_topology(TokenReader("input", text), skipped);
    if (topology.node_count() < 10'000) check(!find_unreachable_hosts(topology).has_value());
}

template <typename Read>
void attempt(Read read, const std::string& text) {
    try {
        read(text);
    } catch (const ConfigError&) {
        return;
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    attempt(read_matrix, text);
    attempt(read_topology_file, text);
    return 0;
}
