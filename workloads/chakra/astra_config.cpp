// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/astra_config.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <set>

#include <yaml-cpp/yaml.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "workloads/chakra/json_text.h"
#include "workloads/chakra/text_source.h"

namespace sluice::chakra {

namespace {

using nlohmann::json;

constexpr std::size_t kLargestFile = std::size_t{256} << 20;
constexpr std::uint64_t kMostNpus = 1U << 24;

/// A JSON object in a file: values by key, with the line of the key for messages.
class JsonObject {
  public:
    JsonObject(const std::string& path, ImportReport& report)
        : path_(path), report_(report), text_(read_text(path, kLargestFile)) {
        check_json_depth(text_, path_);
        try {
            object_ = json::parse(text_, nullptr, true, true);
        } catch (const json::exception& error) {
            refuse_json(text_, path_, error);
        }
        if (!object_.is_object()) throw ConfigError(path_ + ": a JSON object is needed");
    }

    /// Keys that nobody asked for are skipped, and said so.
    void finish(const std::set<std::string>& ignored) {
        for (const auto& item : object_.items()) {
            const std::string& key = item.key();
            if (known_.count(key) != 0) continue;
            report_.skipped(path_ + ":" + std::to_string(line(key)),
                            key + (ignored.count(key) != 0 ? ": has no effect here"
                                                           : ": is not a key of this file"));
        }
    }

    int line(const std::string& key) const {
        const std::size_t at = text_.find('"' + key + '"');
        return at == std::string::npos ? 1 : line_at(text_, at + 1);
    }

    [[noreturn]] void fail(const std::string& key, const std::string& what) const {
        throw ConfigError(path_, line(key), key + " " + what);
    }

    const json* find(const std::string& key) {
        known_.insert(key);
        const auto it = object_.find(key);
        return it == object_.end() ? nullptr : &*it;
    }

    double number(const std::string& key, double fallback, double lowest, double highest) {
        const json* value = find(key);
        if (value == nullptr) return fallback;
        const double real = value->is_number() ? value->get<double>() : std::nan("");
        if (real >= lowest && real <= highest) return real;
        fail(key, "is " + shown(*value) + ": a number from " + plain(lowest) + " to " +
                      plain(highest) + " is needed");
    }

    std::uint32_t count(const std::string& key, std::uint32_t fallback, std::uint32_t lowest,
                        std::uint32_t highest) {
        const double real = number(key, fallback, lowest, highest);
        if (real != std::floor(real)) fail(key, "is " + plain(real) + ": not a whole number");
        return static_cast<std::uint32_t>(real);
    }

    bool flag(const std::string& key) {
        const json* value = find(key);
        if (value == nullptr) return false;
        if (value->is_boolean()) return value->get<bool>();
        if (value->is_number()) return value->get<double>() != 0;
        fail(key, "is " + shown(*value) + ": 0 or 1 is needed");
    }

    std::string choice(const std::string& key, const std::string& fallback,
                       std::initializer_list<const char*> words) {
        const json* value = find(key);
        if (value == nullptr) return fallback;
        std::string allowed;
        for (const char* word : words) {
            if (value->is_string() && value->get_ref<const std::string&>() == word) return word;
            allowed += (allowed.empty() ? "" : ", ") + std::string(word);
        }
        fail(key, "is " + shown(*value) + ": one of " + allowed + " is needed");
    }

    static std::string shown(const json& value) {
        return value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 60);
    }

    const json& object() const { return object_; }
    const std::string& path() const { return path_; }

  private:
    static std::string plain(double value) {
        char text[32];
        const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general);
        return {text, end.ptr};
    }

    std::string path_;
    ImportReport& report_;
    std::string text_;
    json object_;
    std::set<std::string> known_;
};

DimensionAlgorithm parse_algorithm(const JsonObject& in, const std::string& key,
                                   const json& value) {
    struct Name {
        const char* name;
        DimensionAlgorithm meaning;
    };
    static const Name kNames[] = {
        {"ring", {Algorithm::ring, false, 0}},
        {"oneRing", {Algorithm::ring, true, 0}},
        {"direct", {Algorithm::direct, false, 0}},
        {"oneDirect", {Algorithm::direct, true, 0}},
        {"halvingDoubling", {Algorithm::halving_doubling, false, 0}},
        {"oneHalvingDoubling", {Algorithm::halving_doubling, true, 0}},
        {"doubleBinaryTree", {Algorithm::double_binary_tree, false, 0}},
    };
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        for (const Name& candidate : kNames) {
            const std::string name = candidate.name;
            if (text == name) return candidate.meaning;
            if (candidate.meaning.algorithm != Algorithm::direct || text.rfind(name, 0) != 0) {
                continue;
            }
            DimensionAlgorithm windowed = candidate.meaning;
            const char* end = text.data() + text.size();
            const auto [stop, error] =
                std::from_chars(text.data() + name.size(), end, windowed.window);
            if (error == std::errc{} && stop == end && windowed.window > 0) return windowed;
        }
    }
    in.fail(key, "names " + JsonObject::shown(value) +
                     ": ring, oneRing, direct, oneDirect (both with a window: direct4), "
                     "halvingDoubling, oneHalvingDoubling or doubleBinaryTree is needed");
}

std::vector<DimensionAlgorithm> read_algorithms(JsonObject& in, const std::string& key) {
    std::vector<DimensionAlgorithm> algorithms;
    const json* value = in.find(key);
    if (value == nullptr) return algorithms;
    if (!value->is_array()) {
        in.fail(key, "is " + JsonObject::shown(*value) + ": a list is needed, one per dimension");
    }
    for (const json& entry : *value) algorithms.push_back(parse_algorithm(in, key, entry));
    return algorithms;
}

std::string beside(const std::string& file, const std::string& path, const std::string& ending) {
    std::error_code error;
    const std::filesystem::path other = std::filesystem::path(file).parent_path() / path;
    if (!std::filesystem::exists(path + ending, error) &&
        std::filesystem::exists(other.string() + ending, error)) {
        return other.string();
    }
    return path;
}

std::string read_custom(JsonObject& in, const std::string& key) {
    const json* value = in.find(key);
    if (value == nullptr) return {};
    if (!value->is_array() || value->size() != 1 || !value->front().is_string()) {
        in.fail(key, "is " + JsonObject::shown(*value) + ": a list of one trace prefix is needed");
    }
    return beside(in.path(), value->front().get<std::string>(), ".0.et");
}

/// Calls `read` and turns what yaml-cpp throws into one line.
template <typename Read>
void with_yaml(const std::string& path, Read read) {
    const std::string text = read_text(path, kLargestFile);
    try {
        read(YAML::Load(text));
    } catch (const YAML::Exception& error) {
        throw ConfigError(path, error.mark.line >= 0 ? error.mark.line + 1 : 0,
                          "is not the YAML that is needed: " + error.msg);
    }
}

std::map<std::uint64_t, std::string> read_custom_by_node(JsonObject& in) {
    std::map<std::uint64_t, std::string> prefixes;
    const char* key = "per-node-custom-implementation";
    const json* value = in.find(key);
    if (value == nullptr) return prefixes;
    if (!value->is_string()) in.fail(key, "is not the path of a YAML file");
    const std::string path = beside(in.path(), value->get<std::string>(), "");
    with_yaml(path, [&](const YAML::Node& root) {
        if (!root.IsMap()) throw ConfigError(path + ": a map of node ids to prefixes is needed");
        for (const auto& item : root) {
            prefixes[item.first.as<std::uint64_t>()] =
                beside(path, item.second.as<std::string>(), ".0.et");
        }
    });
    return prefixes;
}

double yaml_number(const std::string& path, const std::string& key, const YAML::Node& node,
                   double lowest) {
    double value = 0;
    if (!node.IsScalar() || !YAML::convert<double>::decode(node, value) || !(value >= lowest) ||
        !(value <= 1e12)) {
        throw ConfigError(
            path, node.Mark().line + 1,
            key + (node.IsScalar() ? " is \"" + node.Scalar() + '"' : " is no number") +
                ": a number of at least " + (lowest > 0 ? "1e-9" : "0") + " is needed");
    }
    return value;
}

NetworkKind yaml_kind(const std::string& path, const YAML::Node& node) {
    const std::string text = node.IsScalar() ? node.Scalar() : "";
    if (text == "Ring") return NetworkKind::ring;
    if (text == "FullyConnected") return NetworkKind::fully_connected;
    if (text == "Switch") return NetworkKind::switch_;
    throw ConfigError(path, node.Mark().line + 1,
                      "topology names \"" + text +
                          "\": Ring, FullyConnected or Switch is needed for each dimension");
}

std::uint32_t json_rank(const JsonObject& in, const std::string& key, const json& value) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= kMostNpus) {
        in.fail(key, "holds " + JsonObject::shown(value) + ": ranks are whole numbers from 0");
    }
    return value.get<std::uint32_t>();
}

}  // namespace

AstraSystem read_system(const std::string& path, ImportReport& report) {
    JsonObject in(path, report);
    AstraSystem system;
    system.path = path;
    // With one GPU communication at a time, the order among collectives never comes to be asked.
    in.choice("scheduling-policy", "LIFO", {"LIFO", "FIFO", "EXPLICIT"});
    static const char* const kKinds[] = {"all-reduce", "all-gather", "reduce-scatter",
                                         "all-to-all"};
    for (std::size_t kind = 0; kind < kSimulated; ++kind) {
        const std::string key = std::string(kKinds[kind]) + "-implementation";
        system.algorithms[kind] = read_algorithms(in, key);
        system.custom[kind] = read_custom(in, key + "-custom");
    }
    system.custom_by_node = read_custom_by_node(in);
    system.local_bandwidth_aware = in.choice("collective-optimization", "baseline",
                                             {"baseline", "localBWAware"}) == "localBWAware";
    system.active_chunks = in.count("active-chunks-per-dimension", 1, 1, 1'000'000);
    system.dataset_splits = in.count("preferred-dataset-splits", 1, 1, 1'000'000);
    system.endpoint_delay = in.number("endpoint-delay", 10, 0, 1e12);
    system.local_mem_bw = in.number("local-mem-bw", 0, 0, 1e12);
    system.peak_perf = in.number("peak-perf", 0, 0, 1e12);
    system.roofline = in.flag("roofline-enabled");
    system.replay_only = in.flag("replay-only");
    if (system.roofline && (system.peak_perf <= 0 || system.local_mem_bw <= 0)) {
        in.fail("roofline-enabled", "needs peak-perf and local-mem-bw above 0");
    }
    if (in.flag("model-shared-bus")) {
        in.fail("model-shared-bus",
                "is 1: the LogGP model of the memory bus is not simulated here; 0 is allowed");
    }
    in.find("boost-mode");  // ASTRA-sim itself ignores it
    in.finish({"local-reduction-delay", "L", "o", "g", "G", "trace-enabled", "track-local-mem",
               "local-mem-trace-filename"});
    report.read(path, "system configuration");
    return system;
}

std::vector<NetworkDimension> read_network(const std::string& path, ImportReport& report) {
    std::vector<NetworkDimension> dimensions;
    with_yaml(path, [&](const YAML::Node& root) {
        if (!root.IsMap()) {
            throw ConfigError(path + ": topology, npus_count, bandwidth and latency are needed");
        }
        const char* const kKeys[] = {"topology", "npus_count", "bandwidth", "latency"};
        for (const char* key : kKeys) {
            const YAML::Node list = root[key];
            if (!list) throw ConfigError(path + ": " + key + " is missing");
            if (!list.IsSequence()) {
                throw ConfigError(path, list.Mark().line + 1,
                                  std::string(key) + " needs a list, also of one dimension: [ " +
                                      (list.IsScalar() ? list.Scalar() : "...") + " ]");
            }
            if (list.size() != root[kKeys[0]].size() || list.size() == 0) {
                throw ConfigError(path, list.Mark().line + 1,
                                  std::string(key) + " needs a list with one entry for each of " +
                                      "the dimensions that topology names");
            }
        }
        std::uint64_t total = 1;
        for (std::size_t d = 0; d < root["topology"].size(); ++d) {
            NetworkDimension dimension;
            dimension.kind = yaml_kind(path, root["topology"][d]);
            const YAML::Node npus = root["npus_count"][d];
            const double count = yaml_number(path, "npus_count", npus, 1e-9);
            total *= static_cast<std::uint64_t>(std::min(count, 1e9));
            if (count != std::floor(count) || count < 2 || total > kMostNpus) {
                throw ConfigError(path, npus.Mark().line + 1,
                                  "npus_count is " + npus.Scalar() +
                                      ": whole numbers above 1 with a product of at most 16777216 "
                                      "are allowed");
            }
            dimension.npus = static_cast<std::uint32_t>(count);
            dimension.bandwidth = yaml_number(path, "bandwidth", root["bandwidth"][d], 1e-9);
            dimension.latency = yaml_number(path, "latency", root["latency"][d], 0);
            dimensions.push_back(dimension);
        }
        for (const auto& item : root) {
            const std::string key = item.first.IsScalar() ? item.first.Scalar() : "";
            if (key != "topology" && key != "npus_count" && key != "bandwidth" &&
                key != "latency") {
                report.skipped(path + ":" + std::to_string(item.first.Mark().line + 1),
                               key + ": is not a key of this file");
            }
        }
    });
    report.read(path, std::to_string(dimensions.size()) + " network dimensions");
    return dimensions;
}

std::vector<std::uint32_t> read_logical_dims(const std::string& path, ImportReport& report) {
    JsonObject in(path, report);
    const json* list = in.find("logical-dims");
    if (list == nullptr || !list->is_array() || list->empty()) {
        throw ConfigError(path + R"(: "logical-dims": ["8", "2"] is needed, NPUs per dimension)");
    }
    std::vector<std::uint32_t> dims;
    std::uint64_t total = 1;
    for (const json& entry : *list) {
        const std::string text = entry.is_string() ? entry.get<std::string>() : entry.dump();
        std::uint32_t npus = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, npus);
        if (error == std::errc{} && stop == end && npus >= 1 && npus <= kMostNpus) total *= npus;
        if (error != std::errc{} || stop != end || npus == 0 || total > kMostNpus) {
            in.fail("logical-dims", "holds " + JsonObject::shown(entry) +
                                        ": whole numbers from 1 as texts, with a product of at "
                                        "most 16777216, are needed");
        }
        dims.push_back(npus);
    }
    in.finish({});
    report.read(path, std::to_string(total) + " NPUs in " + std::to_string(dims.size()) +
                          " logical dimensions");
    return dims;
}

std::vector<Group> read_comm_groups(const std::string& path, ImportReport& report) {
    if (path.find("empty") != std::string::npos) return {};
    JsonObject in(path, report);
    std::vector<Group> groups;
    for (const auto& item : in.object().items()) {
        Group group;
        group.name = item.key();
        if (group.name.empty() || group.name.find_first_not_of("0123456789") != std::string::npos) {
            in.fail(group.name, "is not a group's id: a whole number as a text is needed");
        }
        if (!item.value().is_array() || item.value().empty()) {
            in.fail(group.name, "needs a list of ranks");
        }
        std::set<std::uint32_t> seen;
        for (const json& rank : item.value()) {
            group.ranks.push_back(json_rank(in, group.name, rank));
            if (!seen.insert(group.ranks.back()).second) {
                in.fail(group.name, "lists rank " + std::to_string(group.ranks.back()) + " twice");
            }
        }
        groups.push_back(std::move(group));
    }
    report.read(path, std::to_string(groups.size()) + " communicator groups");
    return groups;
}

RemoteMemory read_remote_memory(const std::string& path, ImportReport& report) {
    JsonObject in(path, report);
    RemoteMemory memory;
    const std::string kind = in.choice("memory-type", "NO_MEMORY_EXPANSION",
                                       {"NO_MEMORY_EXPANSION", "PER_NODE_MEMORY_EXPANSION",
                                        "PER_NPU_MEMORY_EXPANSION", "MEMORY_POOL"});
    memory.latency = in.number("remote-mem-latency", 0, 0, 1e12);
    memory.bandwidth = in.number("remote-mem-bw", 0, 0, 1e12);
    if (kind == "PER_NODE_MEMORY_EXPANSION") {
        memory.kind = RemoteMemory::Kind::per_node;
        memory.nodes = in.count("num-nodes", 0, 0, kMostNpus);
        memory.npus_per_node = in.count("num-npus-per-node", 0, 0, kMostNpus);
        if (memory.nodes == 0 || memory.npus_per_node == 0) {
            in.fail("memory-type",
                    "PER_NODE_MEMORY_EXPANSION needs num-nodes and "
                    "num-npus-per-node, both at least 1");
        }
    } else if (kind != "NO_MEMORY_EXPANSION") {
        memory.kind =
            kind == "MEMORY_POOL" ? RemoteMemory::Kind::pool : RemoteMemory::Kind::per_npu;
    }
    if (memory.kind != RemoteMemory::Kind::none && !(memory.bandwidth > 0)) {
        in.fail("remote-mem-bw", "must be above 0 for " + kind);
    }
    in.finish({});
    report.read(path, "remote memory: " + kind);
    return memory;
}

}  // namespace sluice::chakra
