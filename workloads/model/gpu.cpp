// SPDX-License-Identifier: Apache-2.0
#include "workloads/model/gpu.h"

#include <optional>
#include <utility>

#include "core/error.h"
#include "workloads/model/data_file.h"
#include "workloads/model/nccl_table_file.h"

namespace sluice {

namespace {

constexpr std::size_t kMostInterconnects = 64;
constexpr const char* kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

LinearCost read_cost(ConfigSection& section, std::optional<LinearCost> fallback) {
    LinearCost cost;
    std::optional<Tick> latency;
    std::optional<Rate> bandwidth;
    if (fallback) {
        latency = fallback->latency;
        bandwidth = Rate{static_cast<std::int64_t>(8 * fallback->bytes_per_second)};
    }
    cost.latency = section.time("latency", latency, 0, kSecond);
    cost.bytes_per_second =
        static_cast<double>(section.rate("bandwidth", bandwidth).bits_per_second) / 8;
    return cost;
}

IntraNode::Calibration read_calibration(ConfigSection section, CollectiveKind kind,
                                        const LinearCost& ring) {
    IntraNode::Calibration calibration;
    calibration.kind = kind;
    calibration.members =
        static_cast<std::uint32_t>(section.integer("members", 2, 2, kMostMembers));
    calibration.cost = read_cost(section, ring);
    section.finish();
    return calibration;
}

/// One operation's calibrations: a table, an array of them by number of members, or none.
void read_operation(ConfigSection& section, CollectiveKind kind, const LinearCost& ring,
                    std::vector<IntraNode::Calibration>& calibrations) {
    const char* key = to_string(kind);
    const ConfigValue* value = section.raw(key);
    if (value == nullptr) {
        calibrations.push_back({kind, 2, ring});
        return;
    }
    if (value->kind != ConfigValue::Kind::array) {
        calibrations.push_back(read_calibration(section.table(key), kind, ring));
        return;
    }
    const std::vector<ConfigSection> tables = section.tables(key);
    if (tables.empty()) section.fail(key, "is empty; give at least one table");
    std::uint32_t last = 0;
    for (const ConfigSection& table : tables) {
        calibrations.push_back(read_calibration(table, kind, ring));
        if (calibrations.back().members <= last) {
            section.fail(key, "must list its tables by growing number of members, each once");
        }
        last = calibrations.back().members;
    }
}

Interconnect read_interconnect(ConfigSection section, const std::string& name) {
    Interconnect interconnect;
    interconnect.name = name;
    interconnect.ring = read_cost(section, std::nullopt);
    std::vector<IntraNode::Calibration> calibrations;
    for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind) {
        read_operation(section, static_cast<CollectiveKind>(kind), interconnect.ring, calibrations);
    }
    NcclTable nccl;
    if (section.has("nccl")) nccl = read_nccl_table(section.table("nccl"));
    section.finish();
    interconnect.calibration = IntraNode(std::move(calibrations), std::move(nccl));
    return interconnect;
}

std::vector<Interconnect> read_interconnects(ConfigSection& root) {
    std::vector<Interconnect> interconnects;
    const ConfigValue* value = root.raw("interconnect");
    if (value == nullptr) return interconnects;
    ConfigSection section = root.table("interconnect");
    if (value->table.size() > kMostInterconnects) {
        root.fail("interconnect", "has more than 64 tables");
    }
    for (const ConfigMember& member : value->table) {
        const bool plain = member.key.find_first_not_of(kNameCharacters) == std::string::npos;
        if (!plain || member.key.empty()) {
            root.fail("interconnect", "has the name " + shown_text(member.key) +
                                          "; names are letters, digits, - and _");
        }
        interconnects.push_back(read_interconnect(section.table(member.key), member.key));
    }
    return interconnects;
}

}  // namespace

OverlapSlowdown read_overlap(ConfigSection section) {
    OverlapSlowdown overlap;
    overlap.matrices = section.number("matrices", std::nullopt, 0, 100);
    overlap.attention = section.number("attention", std::nullopt, 0, 100);
    overlap.memory = section.number("memory", std::nullopt, 0, 100);
    section.finish();
    return overlap;
}

namespace {

Gpu read_root(const ConfigValue& values, const std::string& source) {
    EffectiveConfig unused;
    ConfigSection root(values, unused);
    Gpu gpu;
    gpu.name = root.text("name", data_name(source));
    gpu.peak_flops = root.number("peak_flops", std::nullopt, 1e6, 1e21);
    gpu.efficiency = root.number("efficiency", gpu.efficiency, 1e-6, 1);
    gpu.memory_bytes =
        root.bytes("memory", std::nullopt, Bytes{1}, Bytes{std::int64_t{1} << 60}).count;
    gpu.memory_bytes_per_second =
        static_cast<double>(root.rate("memory_bandwidth", std::nullopt).bits_per_second) / 8;
    gpu.memory_efficiency = root.number("memory_efficiency", gpu.memory_efficiency, 1e-6, 1);
    gpu.interconnects = read_interconnects(root);
    if (root.has("overlap")) gpu.overlap = read_overlap(root.table("overlap"));
    root.finish();
    if (const Interconnect* nvlink = gpu.find_interconnect("nvlink")) {
        gpu.nvlink_bytes_per_second = static_cast<std::int64_t>(nvlink->ring.bytes_per_second);
        gpu.nvlink_latency = nvlink->ring.latency;
    }
    return gpu;
}

}  // namespace

const Interconnect* Gpu::find_interconnect(const std::string& interconnect) const {
    for (const Interconnect& candidate : interconnects) {
        if (candidate.name == interconnect) return &candidate;
    }
    return nullptr;
}

NcclLink Gpu::nccl_link(const std::string& interconnect) const {
    const Interconnect* const found = find_interconnect(interconnect);
    if (found == nullptr) throw InternalError(name + " has no interconnect " + interconnect);
    const bool nvlink = interconnect.rfind("pcie", 0) != 0;
    return {nvlink, found->ring.bytes_per_second};
}

const char* Gpu::usual_interconnect() const {
    return find_interconnect("nvlink") != nullptr ? "nvlink" : "pcie";
}

const IntraNode& Gpu::intra_node(const std::string& interconnect) const {
    if (const Interconnect* found = find_interconnect(interconnect)) return found->calibration;
    std::string known;
    for (const Interconnect& candidate : interconnects) {
        known += (known.empty() ? "" : ", ") + candidate.name;
    }
    throw ConfigError("GPU type \"" + name + "\" has no interconnect " + shown_text(interconnect) +
                      "; its file has: " + (known.empty() ? "none" : known));
}

Gpu parse_gpu(const std::string& text, const std::string& source) {
    return read_root(parse_config(text, source), source);
}

Gpu load_gpu(const std::string& path) { return read_root(load_config(path), path); }

Gpu find_gpu(const std::string& name, const std::vector<std::string>& folders) {
    return load_gpu(find_data_file("GPU type", name, folders));
}

Gpu read_gpu(ConfigSection& section, const std::string& key, const std::string& fallback,
             const std::vector<std::string>& folders,
             const std::function<std::string(const std::string&)>& resolve) {
    const std::string name = section.text(key, fallback);
    return load_gpu(find_data_file(section, key, "GPU type", name, folders, resolve));
}

std::vector<std::string> gpu_names(const std::vector<std::string>& folders) {
    return data_names(folders);
}

}  // namespace sluice
