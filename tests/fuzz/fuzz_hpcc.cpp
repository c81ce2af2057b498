// SPDX-License-Identifier: Apache-2.0
/// Fuzzes the readers of an HPCC ns-3 experiment. The first byte picks the file: config (and what
/// it means for devices), flow list, or traced nodes. Only a ConfigError of one line may come out.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text/tokens.h"
#include "workloads/hpcc/hpcc_config.h"
#include "workloads/hpcc/hpcc_flows.h"
#include "workloads/hpcc/hpcc_network.h"

namespace {

using namespace sluice;

/// Hosts 0 and 1 behind switch 2, host 3 with a switch of its own that leads nowhere.
Topology small_network() {
    Topology topology;
    topology.add_node(NodeKind::host);
    topology.add_node(NodeKind::host);
    topology.add_node(NodeKind::ethernet);
    topology.add_node(NodeKind::host);
    topology.add_node(NodeKind::ethernet);
    topology.add_link({0, 2, gigabits_per_second(100), kMicrosecond, 0});
    topology.add_link({1, 2, gigabits_per_second(400), kMicrosecond, 0});
    topology.add_link({3, 4, gigabits_per_second(100), kMicrosecond, 0});
    topology.finish();
    return topology;
}

void read_config(const std::string& text, const Topology& topology) {
    const HpccConfig config = parse_hpcc_config("config.txt", text);
    std::vector<std::string> notes;
    hpcc_config_json(config);
    hpcc_network(config, topology, 1, notes);
    hpcc_link_events(config, topology);
}

/// Flows that read also write and read back.
void read_flows(const std::string& text, const Topology& topology, const Routing& routing) {
    std::vector<std::string> notes;
    std::string format;
    const std::vector<FlowSpec> flows = read_hpcc_flows(TokenReader("flow.txt", text), topology,
                                                        routing, notes, DelayReading::ns3, &format);
    try {
        read_hpcc_flows(TokenReader("flow.txt", text), topology, routing, notes,
                        DelayReading::exact);
    } catch (const ConfigError&) {  // of a start finer than a picosecond
    }
    // A CSV's starts are exact; those of a flow.txt are nanoseconds that a double holds.
    if (format.find("CSV") != std::string::npos) return;
    const std::string written = format_hpcc_flows(flows);
    notes.clear();
    const std::vector<FlowSpec> again =
        read_hpcc_flows(TokenReader("again.txt", written), topology, routing, notes);
    if (!notes.empty() || format_hpcc_flows(again) != written || again.size() != flows.size()) {
        std::abort();
    }
    for (std::size_t i = 0; i < flows.size(); ++i) {
        if (again[i].start != flows[i].start) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Topology topology = small_network();
    static const Routing routing(topology);
    if (size == 0) {
        return 0;
    }
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    try {
        switch (data[0] % 3) {
            case 0: read_config(text, topology); break;
            case 1: read_flows(text, topology, routing); break;
            default: read_hpcc_trace_nodes(TokenReader("trace.txt", text), topology); break;
        }
    } catch (const ConfigError& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) {
            std::abort();
        }
    }
    return 0;
}
