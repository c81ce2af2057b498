// SPDX-License-Identifier: Apache-2.0
/// `sluice chakra`: Chakra traces looked at, converted and written.
#include <cctype>
#include <filesystem>
#include <map>

#include <fmt/core.h>
#include "cli/commands.h"
#include "cli/output/terminal.h"
#include "cli/print_check.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "core/text/quantity.h"
#include "experiment/astra_inputs.h"
#include "experiment/build_experiment.h"
#include "workloads/chakra/et_export.h"
#include "workloads/chakra/et_file.h"

namespace sluice {

namespace {

namespace fs = std::filesystem;
using chakra::NodeType;

struct ChakraOptions {
    std::string input;
    std::string output;
    std::string collective = "all_reduce";
    std::string size = "1MiB";
    int ranks = 8;
};

/// Files of a prefix or folder, or one file.
std::vector<std::string> input_files(const std::string& input) {
    std::error_code error;
    if (fs::is_regular_file(input, error)) return {input};
    return chakra::find_traces(input);
}

int lint(const ChakraOptions& options) {
    ImportReport report;
    try {
        chakra::read_traces(input_files(options.input), chakra::reading_threads(), report);
    } catch (const ConfigError& error) {
        report.misfit_line(error.what(), "chakra");
    }
    return print_check(report);
}

/// Nodes, time and bytes by kind over all ranks.
int stat(const ChakraOptions& options) {
    struct Total {
        std::uint64_t nodes = 0;
        double amount = 0;
    };
    ImportReport report;
    const std::vector<chakra::Trace> traces =
        chakra::read_traces(input_files(options.input), chakra::reading_threads(), report);
    std::map<std::string, Total> totals;
    std::uint64_t nodes = 0;
    for (const chakra::Trace& trace : traces) {
        for (std::size_t node = 0; node < trace.size(); ++node) {
            std::string kind = to_string(trace.type(node));
            if (trace.type(node) == NodeType::comm_coll) {
                kind += fmt::format(" {}", to_string(trace.communication(node).type));
            } else if (trace.type(node) == NodeType::comp) {
                kind += trace.on_cpu(node) ? " CPU" : " GPU";
            }
            Total& total = totals[kind];
            ++total.nodes;
            total.amount += static_cast<double>(trace.value(node));
        }
        nodes += trace.size();
    }
    print("{} ranks, {} nodes\n", traces.size(), nodes);
    for (const auto& [kind, total] : totals) {
        print("{:<38} {:>12} nodes {:>20.0f} {}\n", kind, total.nodes, total.amount,
              kind.rfind("COMP", 0) == 0 ? "us" : "bytes");
    }
    return kExitDone;
}

/// PREFIX.RANK of an input file, with another prefix where many are converted into a folder.
std::string output_name(const std::string& input, const ChakraOptions& options, bool json) {
    std::string name = fs::path(input).filename().string();
    for (const char* ending : {".gz", ".et", ".json"}) {
        const std::string text = ending;
        if (name.size() > text.size() &&
            name.compare(name.size() - text.size(), text.size(), text) == 0) {
            name.resize(name.size() - text.size());
        }
    }
    return (fs::path(options.output) / (name + (json ? ".json" : ".et"))).string();
}

/// .et to protobuf-JSON, either JSON form to .et.
int convert(const ChakraOptions& options) {
    if (options.output.empty()) throw ConfigError("chakra convert: -o FOLDER is missing");
    std::error_code error;
    fs::create_directories(options.output, error);
    for (const std::string& input : input_files(options.input)) {
        const bool from_json = input.find(".json") != std::string::npos;
        const std::string output = output_name(input, options, !from_json);
        if (fs::equivalent(input, output, error)) {
            throw ConfigError(output + ": is the input: give another folder with -o");
        }
        chakra::EtReader reader(input);
        chakra::NodeView view;
        if (from_json) {
            chakra::EtWriter writer(output, {});
            while (reader.next(view)) {
                chakra::Node node = chakra::to_node(view);
                chakra::standard_kinds(node);
                writer.write(node);
            }
            writer.close();
        } else {
            std::vector<chakra::Node> nodes;
            while (reader.next(view)) nodes.push_back(chakra::to_node(view));
            write_output(output, chakra::to_json(nodes));
        }
        print("{}\n", output);
    }
    return kExitDone;
}

/// One collective over all ranks, as ASTRA-sim's microbenchmarks have it.
int generate(const ChakraOptions& options) {
    if (options.output.empty()) throw ConfigError("chakra generate: -o PREFIX is missing");
    std::string wanted = options.collective;
    for (char& c : wanted) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
    for (std::uint64_t type = 0; type < chakra::kCollectiveTypes; ++type) {
        if (wanted != to_string(static_cast<chakra::CollectiveType>(type))) continue;
        const Bytes size = parse_bytes(options.size, {{}, 0, "--size"});
        chakra::Node node;
        const bool whole = size.count >= 1 << 20 && size.count % (1 << 20) == 0;
        std::string lower = wanted;
        for (char& c : lower) c = static_cast<char>(std::tolower(c));
        node.name = fmt::format(
            "{}_{}npus_{}", lower, options.ranks,
            whole ? fmt::format("{}MB", size.count >> 20) : fmt::format("{}B", size.count));
        node.type = NodeType::comm_coll;
        node.attributes = {chakra::Attribute::boolean("is_cpu_op", false),
                           chakra::Attribute::int64("comm_type", static_cast<std::int64_t>(type)),
                           chakra::Attribute::int64("comm_size", size.count)};
        for (int rank = 0; rank < options.ranks; ++rank) {
            chakra::EtWriter writer(fmt::format("{}.{}.et", options.output, rank), {});
            node.id = static_cast<std::uint64_t>(rank);
            writer.write(node);
            writer.close();
        }
        return kExitDone;
    }
    throw ConfigError("chakra generate: --collective " + options.collective +
                      ": all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, "
                      "gather, scatter, reduce_scatter_block or barrier is needed");
}

/// The first job of a scenario as traces.
int write_job(const ChakraOptions& options) {
    if (options.output.empty()) throw ConfigError("chakra export: -o PREFIX is missing");
    Scenario scenario = load_scenario(options.input, {});
    const BuiltExperiment built = build_experiment(scenario);
    tell(built.import_notes);
    if (built.jobs.empty()) {
        throw ConfigError(options.input + ": has no job, only flows with start times");
    }
    ImportReport report;
    chakra::export_job(built.jobs.front().application->graph(), options.output, report);
    print("{}", report.text());
    return kExitDone;
}

}  // namespace

Command add_chakra_command(CommandLine program) {
    auto options = std::make_shared<ChakraOptions>();
    CommandLine app = program.add_subcommand("chakra", "Inspect, convert and write Chakra traces");
    app.require_subcommand();
    const auto add_input = [&](CommandLine command) {
        command
            .add_option("traces", options->input,
                        "Prefix of PREFIX.0.et, PREFIX.1.et, ..., their folder, or one file")
            .type_name("PREFIX")
            .required();
    };
    CommandLine lint_app = app.add_subcommand(
        "lint", "Report what was read, what was skipped and what does not fit, by file and node");
    add_input(lint_app);
    CommandLine stat_app = app.add_subcommand("stat", "Count nodes, time and bytes by kind");
    add_input(stat_app);
    CommandLine convert_app =
        app.add_subcommand("convert", "Convert .et to protobuf-JSON, and either JSON form to .et");
    add_input(convert_app);
    convert_app.add_option("-o,--output", options->output, "Folder to write to").type_name("DIR");
    CommandLine generate_app =
        app.add_subcommand("generate", "Write one collective over all ranks as .et files");
    generate_app
        .add_option("--collective", options->collective,
                    "all_reduce, all_gather, reduce_scatter, all_to_all, ...")
        .type_name("NAME");
    generate_app.add_option("--ranks", options->ranks, "Number of ranks, one file each")
        .type_name("N")
        .range(1, 1'000'000);
    generate_app
        .add_option("--size", options->size, "Size of the collective (comm_size), e.g. 1MiB")
        .type_name("SIZE");
    generate_app.add_option("-o,--output", options->output, "Prefix of the files")
        .type_name("PREFIX");
    CommandLine export_app =
        app.add_subcommand("export", "Write the job of a scenario as .et files");
    export_app.add_option("scenario", options->input, "The scenario file")
        .type_name("SCENARIO.toml")
        .required();
    export_app.add_option("-o,--output", options->output, "Prefix of the files")
        .type_name("PREFIX");
    return {app, [=] {
                if (export_app.parsed()) return write_job(*options);
                if (lint_app.parsed()) return lint(*options);
                if (stat_app.parsed()) return stat(*options);
                return convert_app.parsed() ? convert(*options) : generate(*options);
            }};
}

}  // namespace sluice
