// SPDX-License-Identifier: Apache-2.0
/// `sluice collective`: one collective over a range of sizes, reported as nccl-tests reports it.
/// Each size runs in a process of its own.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/child_run.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output/terminal.h"
#include "cli/print_check.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "core/results/output_names.h"
#include "core/text/quantity.h"
#include "experiment/collective_point.h"
#include "experiment/version.h"
#include "workloads/collective/collective_library.h"

namespace sluice {

namespace {

/// What nccl-tests takes a tensor's elements to be.
constexpr std::int64_t kElementBytes = 4;
constexpr std::int64_t kLargest = std::int64_t{1} << 50;
constexpr std::size_t kMostSizes = 1000;

struct Options {
    CollectivePoint point;
    std::string begin = "1M";
    std::string end = "64M";
    std::int64_t factor = 2;
    std::string step;  ///< empty: by factor
    std::string csv;
    std::string json;
    bool quiet = false;
    std::string result;  ///< a child: where its result goes

    /// Options that are keys of the workload, by key.
    std::vector<std::pair<std::string, std::string>> keys;
};

/// "1M" as nccl-tests reads it, 2^20 bytes, or a size with its unit.
std::int64_t parse_size(const std::string& text, const char* option) {
    std::string with_unit = text;
    const char last = text.empty() ? '\0' : text.back();
    if (last >= '0' && last <= '9') {
        with_unit += "B";
    } else if (std::string("kKmMgG").find(last) != std::string::npos && last != '\0') {
        with_unit.back() = last == 'k' || last == 'K'   ? 'K'
                           : last == 'm' || last == 'M' ? 'M'
                                                        : 'G';
        with_unit += "iB";
    }
    const std::int64_t bytes = parse_bytes(with_unit, {"", 0, option}).count;
    if (bytes < 1 || bytes > kLargest) {
        throw ConfigError(std::string(option) + " \"" + text + "\": allowed are 1 B to 1024 TiB");
    }
    return bytes;
}

std::vector<std::int64_t> sizes_of(const Options& options) {
    const std::int64_t begin = parse_size(options.begin, "--begin");
    const std::int64_t end = parse_size(options.end, "--end");
    if (end < begin) throw ConfigError("--end is less than --begin: it must be at least that");
    const std::int64_t step = options.step.empty() ? 0 : parse_size(options.step, "--step");
    std::vector<std::int64_t> sizes;
    for (std::int64_t size = begin; size <= end;
         size = step > 0 ? size + step : size * options.factor) {
        if (sizes.size() == kMostSizes) {
            throw ConfigError("--begin to --end are more than 1000 sizes: take larger steps");
        }
        sizes.push_back(size);
    }
    return sizes;
}

struct Row {
    std::int64_t bytes;
    CollectiveResult result;
    CollectiveKind kind = CollectiveKind::all_reduce;

    double microseconds() const { return static_cast<double>(result.time) / kMicrosecond; }
    /// GB/s: 10^9 bytes per second.
    double algorithm_bandwidth() const {
        return result.time > 0 ? static_cast<double>(bytes) * 1e3 / static_cast<double>(result.time)
                               : 0;
    }
    double bus_bandwidth() const {
        return algorithm_bandwidth() * wire_factor(kind, result.members);
    }
    /// Elements that nccl-tests names: of one member where each has a part.
    std::int64_t count() const {
        const bool parts = kind == CollectiveKind::all_gather ||
                           kind == CollectiveKind::reduce_scatter ||
                           kind == CollectiveKind::all_to_all;
        return bytes / kElementBytes / (parts ? result.members : 1);
    }
    bool reduces() const {
        return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce ||
               kind == CollectiveKind::reduce_scatter;
    }
    bool has_root() const {
        return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
    }
};

CollectiveKind kind_of(const std::string& name) {
    for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind) {
        if (name == to_string(static_cast<CollectiveKind>(kind))) {
            return static_cast<CollectiveKind>(kind);
        }
    }
    throw InternalError("no collective is called " + name);
}

void print_header(const Row& row) {
    print("# {} ({}) of {} ranks", row.result.kind, row.result.algorithm, row.result.members);
    if (row.result.groups > 1) print(" in each of {} groups", row.result.groups);
    print(", mode {}; {}\n", row.result.mode, row.result.network);
    print(
        "#\n# time: until the last rank is done; algbw = size / time; busbw = algbw x {:.4g}, what "
        "each\n# rank's link carries; GB/s are 10^9 bytes per second\n#\n",
        wire_factor(row.kind, row.result.members));
    print("#{:>12}{:>14}{:>8}{:>8}{:>8}{:>12}{:>9}{:>9}\n", "size", "count", "type", "redop",
          "root", "time", "algbw", "busbw");
    print("#{:>12}{:>14}{:>8}{:>8}{:>8}{:>12}{:>9}{:>9}\n", "(B)", "(elements)", "", "", "", "(us)",
          "(GB/s)", "(GB/s)");
}

void print_row(const Row& row) {
    print(" {:>12}{:>14}{:>8}{:>8}{:>8}{:>12.2f}{:>9.2f}{:>9.2f}", row.bytes, row.count(), "float",
          row.reduces() ? "sum" : "none", row.has_root() ? 0 : -1, row.microseconds(),
          row.algorithm_bandwidth(), row.bus_bandwidth());
    print(row.result.choice.empty() ? "\n" : "  {}\n", row.result.choice);
    flush_output();
}

std::string csv_of(const std::vector<Row>& rows) {
    std::string text =
        "kind,algorithm,members,groups,size_bytes,count,time_us,algbw_GBps,busbw_GBps,flows,flow_"
        "bytes\n";
    for (const Row& row : rows) {
        text += fmt::format("{},{},{},{},{},{},{:.6f},{:.6f},{:.6f},{},{}\n", row.result.kind,
                            row.result.algorithm, row.result.members, row.result.groups, row.bytes,
                            row.count(), row.microseconds(), row.algorithm_bandwidth(),
                            row.bus_bandwidth(), row.result.flows, row.result.flow_bytes);
    }
    return text;
}

std::string json_of(const std::vector<Row>& rows, const Options& options) {
    nlohmann::ordered_json json;
    json["sluice_version"] = program_version();
    json["scenario"] = options.point.scenario;
    for (const auto& [key, value] : options.keys) json["options"][key] = value;
    for (const Row& row : rows) {
        json["mode"] = row.result.mode;
        json["kind"] = row.result.kind;
        json["algorithm"] = row.result.algorithm;
        json["members"] = row.result.members;
        json["groups"] = row.result.groups;
        json["rows"].push_back({{"size_bytes", row.bytes},
                                {"count", row.count()},
                                {"time_us", row.microseconds()},
                                {"algbw_GBps", row.algorithm_bandwidth()},
                                {"busbw_GBps", row.bus_bandwidth()},
                                {"flows", row.result.flows},
                                {"flow_bytes", row.result.flow_bytes}});
        if (!row.result.choice.empty()) json["rows"].back()["choice"] = row.result.choice;
    }
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// A file of this process that goes with it.
class ScratchFile {
  public:
    ScratchFile() : path_((std::filesystem::temp_directory_path() / "sluice-XXXXXX").string()) {
        const int descriptor = mkstemp(path_.data());
        if (descriptor < 0) throw ConfigError(path_ + ": cannot be created");
        close(descriptor);
        leftover_.watch(path_, Leftover::Kind::file);
    }
    ~ScratchFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
    Leftover leftover_;
};

std::vector<std::string> child_arguments(const Options& options, std::int64_t bytes,
                                         const std::string& result) {
    std::vector<std::string> arguments{"collective", "--result=" + result,
                                       fmt::format("--begin={}", bytes),
                                       fmt::format("--end={}", bytes)};
    if (!options.point.mode.empty()) arguments.push_back("--mode=" + options.point.mode);
    for (const auto& [key, value] : options.keys) {
        std::string option = key;
        std::replace(option.begin(), option.end(), '_', '-');
        arguments.push_back(fmt::format("--{}={}", option, value));
    }
    for (const std::string& set : options.point.sets) arguments.push_back("--set=" + set);
    arguments.emplace_back("--");
    arguments.push_back(options.point.scenario);
    return arguments;
}

/// A result as text, to hand it from one process to another.
std::string to_json(const CollectiveResult& result) {
    return nlohmann::json{{"kind", result.kind},
                          {"algorithm", result.algorithm},
                          {"mode", result.mode},
                          {"choice", result.choice},
                          {"time_ps", result.time},
                          {"members", result.members},
                          {"groups", result.groups},
                          {"flows", result.flows},
                          {"flow_bytes", result.flow_bytes},
                          {"network", result.network}}
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

CollectiveResult read_result(const std::string& path) {
    std::ifstream file(path);
    const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
    if (json.is_discarded()) throw InternalError(path + ": a run left no result there");
    CollectiveResult result;
    result.kind = json.at("kind");
    result.algorithm = json.at("algorithm");
    result.choice = json.at("choice");
    result.mode = json.at("mode");
    result.time = json.at("time_ps");
    result.members = json.at("members");
    result.groups = json.at("groups");
    result.flows = json.at("flows");
    result.flow_bytes = json.at("flow_bytes");
    result.network = json.at("network");
    return result;
}

int run_child(const Options& options) {
    const InterruptGuard guard;
    const auto go_on = [](const RunPosition&) { return !InterruptGuard::requested(); };
    CollectiveResult result;
    std::vector<std::string> work_left;
    const int code = run_collective_point(options.point, parse_size(options.begin, "--begin"),
                                          go_on, result, work_left);
    tell(work_left);
    if (code != kExitDone) return code;
    write_output(options.result, to_json(result));
    return kExitDone;
}

/// What an interrupt left of a table stays under the name of a partial file.
void write_table(const std::string& path, const std::string& text, int code) {
    if (path.empty()) return;
    OutputFile file(path);
    file << text;
    if (code != kExitInterrupted) file.commit();
}

int collective_command(Options& options) {
    options.point.keys = options.keys;
    if (!options.result.empty()) return run_child(options);
    require_different({{"the scenario", options.point.scenario},
                       {"--csv", options.csv},
                       {"--json", options.json}});
    const std::vector<std::int64_t> sizes = sizes_of(options);
    // A slip must come up before the first run.
    check_collective_point(options.point, sizes.back());
    const InterruptGuard guard;
    const ScratchFile scratch;
    std::vector<Row> rows;
    int code = kExitDone;
    for (const std::int64_t bytes : sizes) {
        code = InterruptGuard::requested()
                   ? kExitInterrupted
                   : run_this_program(child_arguments(options, bytes, scratch.path()));
        if (code != kExitDone) break;
        Row row{bytes, read_result(scratch.path()), {}};
        row.kind = kind_of(row.result.kind);
        rows.push_back(row);
        if (options.quiet) continue;
        if (rows.size() == 1) print_header(row);
        print_row(row);
    }
    if (rows.empty()) return code;
    write_table(options.csv, csv_of(rows), code);
    write_table(options.json, json_of(rows, options), code);
    if (options.quiet) return code;
    double sum = 0;
    for (const Row& row : rows) sum += row.bus_bandwidth();
    print("# Avg bus bandwidth    : {:.4f}\n", sum / static_cast<double>(rows.size()));
    return code;
}

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kCollectiveKinds; ++i) {
        names.emplace_back(to_string(static_cast<CollectiveKind>(i)));
    }
    return names;
}

std::vector<std::string> algorithm_names() {
    std::vector<std::string> names;
    for (const auto& word : collective_algorithm_words()) names.emplace_back(word.first);
    return names;
}

/// What the algorithms do, a line each, for --help.
std::string algorithms_help() {
    std::string text = "Algorithms:";
    for (const auto& [name, algorithm] : collective_algorithm_words()) {
        text += fmt::format("\n  {:<27} {}", name, describe(algorithm));
    }
    return text;
}

void add_size_options(CommandLine app, Options& options) {
    app.add_option("-b,--begin", options.begin, "First size: 1M is 2^20 B (default: 1M)")
        .type_name("SIZE");
    app.add_option("-e,--end", options.end, "Last size (default: 64M)").type_name("SIZE");
    app.add_option("-f,--factor", options.factor, "Factor between successive sizes (default: 2)")
        .type_name("N")
        .range(2, 1 << 20);
    app.add_option("-i,--step", options.step,
                   "Difference between successive sizes, in place of a factor")
        .type_name("SIZE");
}

/// How the collective runs: keys of the workload.
template <typename Key>
void add_execution_keys(const Key& key) {
    key("--channels", "channels", "N",
        "Copies of the algorithm that share the tensor (default: as NCCL)");
    key("--ring-order", "ring_order", "NAME",
        "Order of the ranks in rings: rail (default: same rail across servers), or given");
    key("--queue-pairs", "queue_pairs", "N",
        "Queue pairs of a connection over the network (default: one per port of the sender)");
    key("--chunk", "chunk", "SIZE",
        "Bytes pipelined at a time; 0B: whole steps (default: as NCCL)");
    key("--nccl-algorithm", "nccl_algorithm", "NAME",
        "Algorithm nccl: ring, tree, nvls-tree or pat alone (default: what NCCL takes)");
    key("--nccl-protocol", "nccl_protocol", "NAME", "Algorithm nccl: LL, LL128 or Simple alone");
    key("--overhead", "overhead", "TIME",
        "Software overhead per collective and rank (default: 8.4us)");
    key("--step-overhead", "step_overhead", "TIME", "Software overhead per message (default: 0s)");
    key("--server-hop", "server_hop", "TIME",
        "Latency of a computed message inside a server (default: 3.4us)");
    key("--window", "window", "N",
        "If all pairs exchange at once: unfinished sends per rank (default: all)");
    key("--server-copies", "server_copies", "X",
        "deepep-dispatch, deepep-combine: members of another server that a token goes to (default: "
        "1)");
    key("--intra-node", "intra_node", "NAME",
        "Traffic inside servers: computed, or network (default with NVSwitches)");
    key("--gpu", "gpu", "NAME", "The GPU type, for computed communication (default: A100)");
    key("--interconnect", "interconnect", "NAME",
        "The GPU's interconnect: nvlink (default), pcie, ...");
}

}  // namespace

Command add_collective_command(CommandLine program) {
    CommandLine app = program.add_subcommand(
        "collective", "Run one collective over a range of sizes; print a table like nccl-tests");
    const auto options = std::make_shared<Options>();
    app.add_option(
           "scenario", options->point.scenario,
           "The scenario file: network, devices, and the keys of a workload of type collective")
        .type_name("SCENARIO.toml")
        .required();
    const auto key = [&](const std::string& flags, const std::string& name,
                         const std::string& value_name, const std::string& text) {
        return app
            .add_option_for(
                flags,
                [options, name](const std::string& value) {
                    options->keys.emplace_back(name, value);
                },
                text)
            .type_name(value_name);
    };
    key("--kind", "kind", "NAME", "The operation (default: all-reduce)").one_of(kind_names());
    key("--algorithm", "algorithm", "NAME", "The algorithm (default: automatic)")
        .one_of(algorithm_names());
    key("--ranks", "ranks", "N", "Hosts that take part (default: all)");
    key("--placement", "placement", "NAME", "Choice of hosts: packed (default), spread, random");
    key("--groups", "groups", "NAME",
        "all: one group (default); rail, server: one group for each of these, at the same time");
    key("--group-size", "group_size", "N",
        "Divide groups into groups of N neighbours (default: undivided)");
    add_size_options(app, *options);
    app.add_option("--mode", options->point.mode, "packet, hybrid, flow (default: the scenario's)")
        .type_name("MODE");
    add_execution_keys(key);
    app.add_option("--csv", options->csv, "Also write the table to this file").type_name("FILE");
    app.add_option("--json", options->json, "Also write the table to this file").type_name("FILE");
    add_set_option(app, options->point.sets, kSetHelp);
    app.add_flag("--quiet", options->quiet, "Print nothing but errors");
    app.add_option("--result", options->result, "").hidden();
    app.footer(algorithms_help());
    return {app, [options] { return collective_command(*options); }};
}

}  // namespace sluice
