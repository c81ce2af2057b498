// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/trace.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "workloads/chakra/et_file.h"

namespace sluice::chakra {

namespace {

constexpr std::uint8_t kCpuBit = 0x80;
constexpr std::size_t kMostNodes = 0xfffffff0;
constexpr std::size_t kMostGroups = 1'000'000;

bool is_communication(NodeType type) {
    return type == NodeType::comm_send || type == NodeType::comm_recv ||
           type == NodeType::comm_coll;
}

/// "3.0", as pandas writes a number, is "3".
std::string whole_name(std::string name) {
    const std::size_t digits = name.find_first_not_of("0123456789");
    const bool whole = digits != std::string::npos && digits > 0 && name[digits] == '.' &&
                       digits + 1 < name.size() &&
                       name.find_first_not_of('0', digits + 1) == std::string::npos;
    if (whole) name.resize(digits);
    return name;
}

/// The groups in a METADATA node's inputs: a JSON array of {pg_name, ranks} inside a list's repr.
/// nullopt: it is not that.
std::optional<std::vector<Group>> parse_groups(std::string_view values) {
    const std::size_t first = values.find("[{");
    const std::size_t last = values.rfind("}]");
    if (first == std::string_view::npos || last == std::string_view::npos || last < first) {
        return std::nullopt;
    }
    const std::string_view text = values.substr(first, last + 2 - first);
    const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
    if (!list.is_array()) return std::nullopt;
    std::vector<Group> groups;
    for (const nlohmann::json& item : list) {
        if (!item.is_object() || !item.contains("pg_name") || !item.contains("ranks") ||
            !item["pg_name"].is_string() || !item["ranks"].is_array()) {
            return std::nullopt;
        }
        Group group;
        group.name = whole_name(item["pg_name"].get<std::string>());
        for (const nlohmann::json& rank : item["ranks"]) {
            if (!rank.is_number_unsigned() || rank.get<std::uint64_t>() >= kNone) {
                return std::nullopt;
            }
            group.ranks.push_back(rank.get<std::uint32_t>());
        }
        groups.push_back(std::move(group));
    }
    return groups;
}

/// Whether some nodes wait for each other.
void report_cycle(const Trace& trace, ImportReport& report) {
    const std::vector<std::uint32_t> order = trace.issue_order();
    if (order.size() == trace.size()) return;
    std::vector<bool> done(trace.size(), false);
    for (const std::uint32_t node : order) done[node] = true;
    // Every node that is left waits for another that is left: following them must come back.
    auto node =
        static_cast<std::uint32_t>(std::find(done.begin(), done.end(), false) - done.begin());
    std::vector<std::uint32_t> path;
    std::vector<bool> seen(trace.size(), false);
    while (!seen[node]) {
        seen[node] = true;
        path.push_back(node);
        node = *std::find_if(trace.deps_begin(node), trace.deps_end(node),
                             [&](std::uint32_t on) { return !done[on]; });
    }
    path.erase(path.begin(), std::find(path.begin(), path.end(), node));
    std::string text = "waits for itself: node " + std::to_string(trace.id(path[0]));
    constexpr std::size_t kMostShown = 8;
    for (std::size_t i = 1; i < path.size() && i < kMostShown; ++i) {
        text += " -> " + std::to_string(trace.id(path[i]));
    }
    if (path.size() > kMostShown) text += " -> ...";
    text += " -> " + std::to_string(trace.id(path[0])) + "; " +
            std::to_string(trace.size() - order.size()) + " nodes can never run";
    report.misfit(trace.where(path[0]), text);
}

/// Reads one file. Rows are first in the file's order.
class TraceReader {
  public:
    TraceReader(const std::string& path, ImportReport& report) : reader_(path), report_(report) {
        columns_.path = path;
    }

    Trace read() {
        NodeView node;
        columns_.begin.push_back(0);
        while (reader_.next(node)) add(node);
        sort_rows();
        resolve();
        shrink();
        const std::size_t dependencies = columns_.deps.size();
        Trace trace(std::move(columns_));
        report_cycle(trace, report_);
        count_notes(trace, dependencies);
        return trace;
    }

  private:
    void misfit(std::uint64_t id, const std::string& text) {
        report_.misfit(columns_.path + ":node " + std::to_string(id), text);
    }

    /// A numeric attribute; `fallback` if it is missing or, with a misfit, not a whole number.
    std::int64_t integer(const NodeView& node, const char* name, std::int64_t fallback,
                         std::int64_t lowest, std::int64_t highest) {
        const AttributeView* attribute = node.find(name);
        if (attribute == nullptr) return fallback;
        const std::optional<std::int64_t> value = attribute->integer();
        if (value && *value >= lowest && *value <= highest) return *value;
        misfit(node.id, std::string(name) +
                            (value ? " is " + std::to_string(*value) : " is not a whole number") +
                            ": " + std::to_string(lowest) + " to " + std::to_string(highest) +
                            " is allowed");
        return fallback;
    }

    void add(const NodeView& node) {
        if (columns_.type.size() >= kMostNodes) {
            throw ConfigError(columns_.path + ": holds more than 4294967280 nodes");
        }
        unknown_ += node.unknown_fields;
        const bool cpu = integer(node, "is_cpu_op", 0, 0, 1) != 0;
        columns_.ids.push_back(node.id);
        columns_.type.push_back(
            static_cast<std::uint8_t>(static_cast<unsigned>(node.type) | (cpu ? kCpuBit : 0U)));
        columns_.name.push_back(intern(node.name));
        std::uint64_t value = 0;
        std::uint32_t extra = kNone;
        if (is_communication(node.type)) {
            if (cpu) misfit(node.id, "is a communication on the CPU: is_cpu_op must be false");
            value = static_cast<std::uint64_t>(
                integer(node, "comm_size", 0, 0, std::numeric_limits<std::int64_t>::max()));
            extra = intern(communication(node));
        } else if (node.type == NodeType::comp) {
            value = node.duration_us;
            extra = add_work(node);
        } else if (node.type == NodeType::mem_load || node.type == NodeType::mem_store) {
            value = static_cast<std::uint64_t>(
                integer(node, "tensor_size", 0, 0, std::numeric_limits<std::int64_t>::max()));
            if (node.duration_us > 0) {
                extra = intern(Work{static_cast<std::int64_t>(node.duration_us), 0});
            }
        } else if (node.type == NodeType::metadata) {
            add_groups(node);
        }
        columns_.value.push_back(value);
        columns_.extra.push_back(extra);
        dep_ids_.insert(dep_ids_.end(), node.ctrl_deps.begin(), node.ctrl_deps.end());
        dep_ids_.insert(dep_ids_.end(), node.data_deps.begin(), node.data_deps.end());
        if (dep_ids_.size() >= kMostNodes) {
            throw ConfigError(columns_.path + ": holds more than 4294967280 dependencies");
        }
        columns_.begin.push_back(static_cast<std::uint32_t>(dep_ids_.size()));
    }

    std::uint32_t intern(std::string_view name) {
        if (!columns_.names.empty() && columns_.names.back() == name) {
            return static_cast<std::uint32_t>(columns_.names.size() - 1);
        }
        const auto [it, fresh] = name_ids_.try_emplace(
            std::string(name), static_cast<std::uint32_t>(columns_.names.size()));
        if (fresh) columns_.names.emplace_back(name);
        return it->second;
    }

    std::uint32_t add_work(const NodeView& node) {
        if (node.find("num_ops") == nullptr && node.find("tensor_size") == nullptr) return kNone;
        constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
        return intern(
            Work{integer(node, "num_ops", 0, 0, kMost), integer(node, "tensor_size", 0, 0, kMost)});
    }

    /// Layers and iterations repeat themselves: what is alike is stored once.
    std::uint32_t intern(const Work& work) {
        const auto [it, fresh] = work_ids_.try_emplace(
            {work.operations, work.bytes}, static_cast<std::uint32_t>(columns_.works.size()));
        if (fresh) columns_.works.push_back(work);
        return it->second;
    }

    std::uint32_t intern(const Communication& comm) {
        const auto [it, fresh] =
            comm_ids_.try_emplace({comm.type, comm.dims_given, comm.dim_count, comm.group, comm.src,
                                   comm.dst, comm.tag, comm.priority, comm.dims, comm.duration_us},
                                  static_cast<std::uint32_t>(columns_.comms.size()));
        if (fresh) columns_.comms.push_back(comm);
        return it->second;
    }

    Communication communication(const NodeView& node) {
        Communication comm;
        comm.duration_us = node.duration_us;
        constexpr std::int64_t kMostRank = kNone - 1;
        if (node.type == NodeType::comm_coll) {
            if (node.find("comm_type") == nullptr) misfit(node.id, "has no comm_type");
            comm.type = static_cast<CollectiveType>(
                integer(node, "comm_type", 0, 0, static_cast<std::int64_t>(kCollectiveTypes) - 1));
            comm.priority = integer(node, "comm_priority", 0, std::numeric_limits<int>::min(),
                                    std::numeric_limits<std::uint32_t>::max());
            take_dims(node, comm);
        } else {
            comm.tag = integer(node, "comm_tag", 0, std::numeric_limits<std::int64_t>::min(),
                               std::numeric_limits<std::int64_t>::max());
            comm.src = static_cast<std::uint32_t>(integer(node, "comm_src", kNone, 0, kMostRank));
            comm.dst = static_cast<std::uint32_t>(integer(node, "comm_dst", kNone, 0, kMostRank));
            const bool send = node.type == NodeType::comm_send;
            if ((send ? comm.dst : comm.src) == kNone) {
                misfit(node.id, send ? "is a send without comm_dst" : "is a recv without comm_src");
            }
        }
        if (node.find("comm_size") == nullptr && comm.type != CollectiveType::barrier) {
            report_.skipped(columns_.path + ":node " + std::to_string(node.id),
                            "has no comm_size: taken as 0");
        }
        comm.group = group_of(node);
        return comm;
    }

    void take_dims(const NodeView& node, Communication& comm) {
        const AttributeView* attribute = node.find("involved_dim");
        if (attribute == nullptr) return;
        const std::optional<std::vector<std::int64_t>> values = attribute->integers();
        if (!values || values->size() > 64) {
            misfit(node.id, "involved_dim is not a list of at most 64 booleans");
            return;
        }
        comm.dims_given = true;
        comm.dim_count = static_cast<std::uint8_t>(values->size());
        for (std::size_t d = 0; d < values->size(); ++d) {
            if ((*values)[d] != 0) comm.dims |= std::uint64_t{1} << d;
        }
    }

    /// "" and "0" are the world.
    std::uint32_t group_of(const NodeView& node) {
        const AttributeView* attribute = node.find("pg_name");
        if (attribute == nullptr) return kNone;
        std::string name;
        if (const std::optional<std::string_view> text = attribute->string()) {
            name = *text;
        } else if (const std::optional<std::int64_t> number = attribute->integer()) {
            name = std::to_string(*number);
        } else {
            misfit(node.id, "pg_name is not a text");
        }
        name = whole_name(std::move(name));
        if (name.empty() || name == "0") return kNone;
        std::vector<std::string>& names = columns_.group_names;
        const auto [it, fresh] =
            group_ids_.try_emplace(name, static_cast<std::uint32_t>(names.size()));
        if (fresh) names.push_back(std::move(name));
        return it->second;
    }

    void add_groups(const NodeView& node) {
        if (!node.inputs.present || node.inputs.values.empty()) return;
        std::optional<std::vector<Group>> groups = parse_groups(node.inputs.values);
        if (!groups) {
            report_.skipped(columns_.path + ":node " + std::to_string(node.id),
                            "METADATA whose inputs do not list communicator groups");
            return;
        }
        if (columns_.groups.size() + groups->size() > kMostGroups) {
            throw ConfigError(columns_.path + ": defines more than 1000000 groups");
        }
        for (Group& group : *groups) columns_.groups.push_back(std::move(group));
    }

    /// Ascending ids, whatever the file's order.
    void sort_rows() {
        std::vector<std::uint64_t>& ids = columns_.ids;
        if (!std::is_sorted(ids.begin(), ids.end())) permute();
        bool unique = true;
        for (std::size_t i = 1; i < ids.size(); ++i) {
            if (ids[i] != ids[i - 1]) continue;
            unique = false;
            misfit(ids[i], "stands twice in the file");
        }
        if (!ids.empty()) columns_.first_id = ids.front();
        consecutive_ = ids.empty() || (unique && ids.back() - ids.front() == ids.size() - 1);
    }

    void permute() {
        const std::size_t count = columns_.ids.size();
        std::vector<std::uint32_t> order(count);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return columns_.ids[a] < columns_.ids[b];
        });
        const auto apply = [&](auto& column) {
            auto sorted = column;
            for (std::size_t i = 0; i < count; ++i) sorted[i] = column[order[i]];
            column.swap(sorted);
        };
        std::vector<std::uint64_t> deps;
        deps.reserve(dep_ids_.size());
        std::vector<std::uint32_t> begin = {0};
        for (const std::uint32_t row : order) {
            deps.insert(deps.end(), dep_ids_.begin() + columns_.begin[row],
                        dep_ids_.begin() + columns_.begin[row + 1]);
            begin.push_back(static_cast<std::uint32_t>(deps.size()));
        }
        dep_ids_.swap(deps);
        columns_.begin.swap(begin);
        apply(columns_.ids);
        apply(columns_.type);
        apply(columns_.value);
        apply(columns_.extra);
        apply(columns_.name);
    }

    std::uint32_t position(std::uint64_t id) const {
        const std::vector<std::uint64_t>& ids = columns_.ids;
        if (ids.empty()) return kNone;
        if (consecutive_) {
            const std::uint64_t offset = id - ids.front();
            return id >= ids.front() && offset < ids.size() ? static_cast<std::uint32_t>(offset)
                                                            : kNone;
        }
        const auto it = std::lower_bound(ids.begin(), ids.end(), id);
        if (it == ids.end() || *it != id) return kNone;
        return static_cast<std::uint32_t>(it - ids.begin());
    }

    /// Ids of dependencies as positions; one that does not exist is a misfit and left out.
    void resolve() {
        columns_.deps.reserve(dep_ids_.size());
        std::size_t from = 0;
        for (std::uint32_t node = 0; node < columns_.type.size(); ++node) {
            const std::size_t until = columns_.begin[node + 1];
            for (; from < until; ++from) {
                const std::uint32_t on = position(dep_ids_[from]);
                if (on == kNone) {
                    misfit(columns_.ids[node], "depends on node " + std::to_string(dep_ids_[from]) +
                                                   ", which is not in the file");
                    continue;
                }
                if (on >= node) columns_.ascending = false;
                columns_.deps.push_back(on);
            }
            columns_.begin[node + 1] = static_cast<std::uint32_t>(columns_.deps.size());
        }
    }

    void count_notes(const Trace& trace, std::size_t dependencies) {
        report_.read(trace.path(), std::to_string(trace.size()) + " nodes, " +
                                       std::to_string(dependencies) + " dependencies");
        const auto unknown = unknown_ + reader_.metadata().unknown_fields;
        if (unknown > 0) {
            report_.skipped(trace.path(),
                            std::to_string(unknown) + " fields that Chakra does not define");
        }
    }

    void shrink() {
        if (consecutive_) columns_.ids.clear();
        columns_.ids.shrink_to_fit();
        columns_.type.shrink_to_fit();
        columns_.value.shrink_to_fit();
        columns_.extra.shrink_to_fit();
        columns_.name.shrink_to_fit();
        columns_.begin.shrink_to_fit();
        columns_.deps.shrink_to_fit();
        columns_.comms.shrink_to_fit();
        columns_.works.shrink_to_fit();
    }

    EtReader reader_;
    ImportReport& report_;
    TraceColumns columns_;
    std::vector<std::uint64_t> dep_ids_;
    std::unordered_map<std::string, std::uint32_t> name_ids_;
    std::unordered_map<std::string, std::uint32_t> group_ids_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> work_ids_;
    std::map<std::tuple<CollectiveType, bool, std::uint8_t, std::uint32_t, std::uint32_t,
                        std::uint32_t, std::int64_t, std::int64_t, std::uint64_t, std::uint64_t>,
             std::uint32_t>
        comm_ids_;
    std::uint64_t unknown_ = 0;
    bool consecutive_ = false;
};

}  // namespace

Trace Trace::read(const std::string& path, ImportReport& report) {
    return TraceReader(path, report).read();
}

}  // namespace sluice::chakra
