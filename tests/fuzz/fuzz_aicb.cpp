// SPDX-License-Identifier: Apache-2.0
/// Any text is an AICB workload or a ConfigError. A workload is written as it was read, its
/// micro-batches lie inside it, and it has a layout, and a graph if it is small, or a ConfigError.
/// The same text is tried as AICB's physical file, likewise, and as SimAI's other two files.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "workloads/aicb/aicb_graph.h"
#include "workloads/aicb/aicb_physical.h"
#include "workloads/aicb/simai_analytical.h"

namespace {

using namespace sluice;

void try_graph(const AicbWorkload& workload) {
    constexpr RankId kHosts = 16;
    ImportReport report;
    const RankId gpus = workload.header.all_gpus > kHosts ? kHosts : 0;
    const AicbLayout layout(workload, kHosts, 4, gpus, report);
    SimaiAnalytical parameters;
    parameters.nvlink = 100;
    parameters.nic = 10;
    const double total = simai_end_to_end(parameters, workload, layout).totals.total;
    if (!(total >= 0)) std::abort();
    AicbGraphConfig config;
    config.collectives.computed_in_server = false;
    config.most_operations = 20'000;
    AicbGraph built = build_aicb_graph(workload, layout, config, report);
    built.graph.finish();
}

void try_workload(const std::string& text) {
    ImportReport report;
    TokenReader reader("input", text);
    const AicbWorkload workload = parse_aicb(reader, report);
    const std::string written = format_aicb(workload);
    TokenReader again("again", written);
    if (format_aicb(parse_aicb(again, report)) != written) std::abort();
    const AicbBlocks blocks = find_micro_batches(workload);
    if (blocks.first + blocks.count * blocks.length > workload.layers.size()) std::abort();
    try_graph(workload);
}

void try_physical(const std::string& text) {
    constexpr RankId kHosts = 16;
    ImportReport report;
    TokenReader reader("input", text);
    const AicbPhysical physical = parse_aicb_physical(reader, report);
    const RankId gpus = physical.workload.header.all_gpus > kHosts ? kHosts : 0;
    const AicbLayout layout(physical.workload, kHosts, 4, gpus, report);
    CollectiveOptions options;
    options.computed_in_server = false;
    JobGraph graph = build_aicb_physical(physical, layout, options, 20'000);
    graph.finish();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        try_workload(text);
    } catch (const ConfigError&) {
    }
    try {
        try_physical(text);
    } catch (const ConfigError&) {
    }
    try {
        ImportReport report;
        TokenReader reader("input", text);
        parse_bus_bandwidths(reader, report);
    } catch (const ConfigError&) {
    }
    try {
        TokenReader reader("input", text);
        const double ratio = RatioTable::parse(reader).ratio(1e6, 4);
        if (!(ratio > 0)) std::abort();
    } catch (const ConfigError&) {
    }
    return 0;
}
