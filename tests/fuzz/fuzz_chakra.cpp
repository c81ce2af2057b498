// SPDX-License-Identifier: Apache-2.0
/// Any bytes are a Chakra trace (wire format or JSON), an ASTRA-sim configuration file, or a
/// ConfigError. The first byte chooses which. What is read as a trace is written and read again to
/// the same messages, and a trace without misfits becomes a graph or misfits.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.h"
#include "workloads/chakra/astra_config.h"
#include "workloads/chakra/chakra_graph.h"
#include "workloads/chakra/et_file.h"

namespace {

using namespace sluice;
using namespace sluice::chakra;

std::string write_input(const std::string& text, const char* ending) {
    static const std::string base =
        (std::filesystem::temp_directory_path() / ("sluice-fuzz-" + std::to_string(getpid())))
            .string();
    const std::string path = base + ".0" + ending;
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    return path;
}

void rewrite(const std::string& path) {
    EtReader reader(path);
    NodeView view;
    while (reader.next(view)) {
        Node node;
        try {
            node = to_node(view);
        } catch (const WireError&) {
            continue;  // a list that is not what its kind says
        }
        const std::string message = encode(node);
        NodeView again;
        parse_node(message, again);
        if (encode(to_node(again)) != message) std::abort();
        standard_kinds(node);
        parse_node(encode(node), again);
    }
}

void build(const std::string& path) {
    ImportReport report;
    std::vector<Trace> traces;
    traces.push_back(Trace::read(path, report));
    traces.push_back(traces.front());
    AstraSystem system;
    for (auto& algorithms : system.algorithms) algorithms.resize(1);
    JobOptions options;
    options.expansion.dims = {2};
    const bool sound = report.count(ImportNote::Kind::misfit) == 0;
    if (!sound) return;
    const auto job = build_job(traces, system, options, report);
    if (job == nullptr && report.count(ImportNote::Kind::misfit) == 0) std::abort();
}

void try_input(unsigned char kind, const std::string& text) {
    ImportReport report;
    switch (kind % 7) {
        case 0: {
            const std::string path = write_input(text, ".et");
            rewrite(path);
            build(path);
            break;
        }
        case 1: {
            const std::string path = write_input(text, ".json");
            rewrite(path);
            build(path);
            break;
        }
        case 2: read_system(write_input(text, ".system"), report); break;
        case 3: read_network(write_input(text, ".yml"), report); break;
        case 4: read_logical_dims(write_input(text, ".dims"), report); break;
        case 5: read_comm_groups(write_input(text, ".groups"), report); break;
        default: read_remote_memory(write_input(text, ".memory"), report); break;
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    try {
        try_input(data[0], std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
    } catch (const sluice::ConfigError&) {
        return 0;
    } catch (const sluice::chakra::WireError&) {
        return 0;
    }
    return 0;
}
