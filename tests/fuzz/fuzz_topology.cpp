// SPDX-License-Identifier: Apache-2.0
/// Fuzzes what reads topology.txt and flow_paths.csv, and what is computed from them at once. An
/// input is a topology file, then optionally a line "----" and a paths file. Whatever the bytes,
/// the only way out besides success is ConfigError; a network that reads also writes, in either
/// family's format, and reads back.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/routing/base_rtt.h"
#include "core/routing/paths.h"
#include "core/routing/routing.h"
#include "core/topology/connectivity.h"
#include "core/topology/link_class.h"
#include "core/topology/topology_io.h"

namespace {

using namespace sluice;

void check(bool condition) {
    if (!condition) {
        std::abort();
    }
}

void exercise(const Topology& topology) {
    for (const TopologyFormat format :
         {TopologyFormat::automatic, TopologyFormat::hpcc, TopologyFormat::simai}) {
        const std::string text = format_topology(topology, format);
        TokenReader again("again", text);
        ImportReport report;
        check(format_topology(read_topology(again, &report), format) == text);
        check(report.count(ImportNote::Kind::read) >= 2);
    }
    const LinkClasses classes(topology);
    std::size_t links = 0;
    for (const LinkClass& c : classes.classes()) links += c.links;
    check(links == topology.links().size());

    // Larger networks only repeat the work of small ones.
    if (topology.host_count() < 2 || topology.host_count() > 64) {
        return;
    }
    const bool disconnected = find_unreachable_hosts(topology).has_value();
    Routing routing(topology);
    bool all_paths = true;
    for (const NodeId dst : topology.hosts()) {
        const NodeId src = topology.hosts().front();
        const std::vector<PortId> path = routing.path({src, dst, 10000, 100});
        check(src == dst ||
              routing.distance(src, dst) == (path.empty() ? -1 : static_cast<int>(path.size())));
        all_paths = all_paths && (src == dst || !path.empty());
    }
    check(disconnected || all_paths);
    network_base_rtt(topology, {});
    if (!topology.links().empty()) {
        routing.set_link(0, false);
        routing.prepare_all();
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    constexpr std::string_view kSeparator = "\n----\n";
    const std::size_t cut = input.find(kSeparator);
    try {
        TokenReader reader("fuzz", std::string(input.substr(0, cut)));
        ImportReport report;
        const Topology topology = read_topology(reader, &report);
        if (cut != input.npos) {
            TokenReader paths("fuzz", std::string(input.substr(cut + kSeparator.size())));
            PathTable::read(paths, topology);
        }
        exercise(topology);
    } catch (const ConfigError&) {
    }
    return 0;
}
