// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/simai_analytical.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/core.h>

#include "core/error.h"
#include "core/text/quantity.h"

namespace sluice {

namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr std::int64_t kSmall = 1 << 20;
constexpr double kMostBandwidth = 1e9;  ///< GB/s

/// Time of a message below kSmall by group size, microseconds.
struct SmallMessage {
    double members;
    double microseconds;
};
constexpr SmallMessage kSmallMessages[] = {{2, 10},   {4, 12},   {8, 15},   {16, 66},
                                           {32, 135}, {64, 200}, {128, 320}};

double small_message_time(double members) {
    const auto* above =
        std::find_if(std::begin(kSmallMessages), std::end(kSmallMessages),
                     [&](const SmallMessage& entry) { return entry.members >= members; });
    double microseconds = 0;
    if (above == std::end(kSmallMessages)) {
        const SmallMessage& last = *std::prev(above);
        microseconds = last.microseconds * members / last.members;
    } else if (above->members == members) {
        microseconds = above->microseconds;
    } else {
        const SmallMessage& below = *std::prev(above);
        microseconds = below.microseconds + (above->microseconds - below.microseconds) *
                                                (members - below.members) /
                                                (above->members - below.members);
    }
    return microseconds * 1000;
}

struct BusBandwidth {
    double value = 0;  ///< GB/s
    bool nvlink = false;
};

/// calbusbw: `servers` servers with `gpus` members and `nics` NICs each.
BusBandwidth bus_bandwidth(const SimaiAnalytical& parameters, CollectiveKind kind, double servers,
                           double gpus, double nics) {
    const double network = parameters.nic * nics;
    if (kind == CollectiveKind::all_to_all) {
        if (servers <= 1) return {parameters.nvlink, true};
        return {network / gpus * (servers * gpus - 1) / ((servers - 1) * gpus), false};
    }
    if (servers <= 1) return {parameters.nvlink, false};
    if (gpus <= 1) return {network, false};
    // More NIC than NVLink bandwidth: rings enter and leave a server by different GPUs.
    const double inside =
        network > parameters.nvlink ? parameters.nvlink * gpus / (gpus - 1) : parameters.nvlink;
    if (inside < network) return {inside, true};
    return {network, false};
}

/// How a group lies on servers, as calbusbw is told it.
BusBandwidth group_bandwidth(const SimaiAnalytical& parameters, const AicbLayout& layout,
                             AicbGroup group, CollectiveKind kind) {
    const double server = parameters.gpus_per_server;
    const double nics = parameters.nics_per_server;
    const double members = layout.size(group);
    const auto spread = [&](double inner) {
        const double gpus = std::max(1.0, std::floor(server / inner));
        return bus_bandwidth(parameters, kind, members, gpus, nics / std::min(inner, server));
    };
    switch (group) {
        case AicbGroup::tp:
        case AicbGroup::all:
            if (members <= server) return bus_bandwidth(parameters, kind, 1, members, nics);
            return bus_bandwidth(parameters, kind, std::floor(members / server), server, nics);
        case AicbGroup::ep: {
            const double tp = layout.tp();
            const double gpus = std::max(1.0, std::floor(server / tp));
            if (tp * members <= server) return bus_bandwidth(parameters, kind, 1, gpus, nics);
            return bus_bandwidth(parameters, kind, std::floor(tp * members / server), gpus,
                                 nics / std::min(tp, server));
        }
        case AicbGroup::dp: return spread(layout.tp());
        case AicbGroup::dp_ep: return spread(static_cast<double>(layout.tp()) * layout.ep());
        case AicbGroup::none: break;
    }
    throw InternalError("a communication without group has no bandwidth");
}

double efficiency(const SimaiAnalytical& parameters, const AicbLayout& layout, AicbGroup group,
                  CollectiveKind kind, double bytes, bool nvlink) {
    const std::uint32_t server = parameters.gpus_per_server;
    const RankId tp = layout.tp();
    const auto servers = [&](RankId gpus) { return std::max<std::uint32_t>(1, gpus / server); };
    const auto from = [&](const std::optional<RatioTable>& table, std::uint32_t column) {
        return table ? table->ratio(bytes, column) : 1.0;
    };
    if (kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter) {
        if (group != AicbGroup::tp) return 1;
        return from(nvlink ? parameters.nvlink_ratio : parameters.nic_ratio, servers(tp));
    }
    if (kind != CollectiveKind::all_to_all) return 1;
    if (group == AicbGroup::tp) return from(parameters.all_to_all_ratio, servers(tp));
    if (group != AicbGroup::ep) return 1;
    if (tp >= server && tp * layout.ep() > server) {
        return from(parameters.all_to_all_ratio, RatioTable::kMulti);
    }
    return from(parameters.all_to_all_ratio, servers(tp * layout.ep()));
}

/// From a busbw.yaml; ConfigError if it has none for this.
double listed_bandwidth(const BusBandwidths& bus, AicbGroup group, CollectiveKind kind) {
    const bool tp = group == AicbGroup::tp || group == AicbGroup::all;
    const BusBandwidths::Kinds& kinds = tp ? bus.tp : group == AicbGroup::dp ? bus.dp : bus.ep;
    const char* section = tp ? "TP" : group == AicbGroup::dp ? "DP" : "EP";
    std::optional<double> value;
    switch (kind) {
        case CollectiveKind::all_reduce: value = kinds.all_reduce; break;
        case CollectiveKind::all_gather: value = kinds.all_gather; break;
        case CollectiveKind::reduce_scatter:
            value = kinds.reduce_scatter ? kinds.reduce_scatter : kinds.all_gather;
            break;
        case CollectiveKind::all_to_all: value = kinds.all_to_all; break;
        default: throw InternalError("an AICB file has no such collective");
    }
    if (!value) {
        throw ConfigError(bus.file, 0,
                          fmt::format("section {} has no bandwidth for the workload's {}", section,
                                      to_string(kind)));
    }
    return *value;
}

}  // namespace

BusBandwidths parse_bus_bandwidths(TokenReader& reader, ImportReport& report) {
    BusBandwidths bus;
    bus.file = reader.file();
    std::string section;
    std::string_view line;
    for (bool first = true; reader.next_line(line); first = false) {
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos || line[begin] == '#') continue;
        line = line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
        const std::size_t colon = line.find(':');
        const std::string where = fmt::format("{}:{}", reader.file(), reader.line());
        if (colon == std::string_view::npos) {
            // The original never looks at the first line.
            if (!first) report.skipped(where, fmt::format("\"{}\" is no key", line));
            continue;
        }
        // Keys are written "allreduce,".
        const std::string key(line.substr(0, std::min(line.find(','), colon)));
        if (colon + 1 == line.size()) {
            section = key;
            if (section != "TP" && section != "DP" && section != "EP" && section != "PP") {
                report.skipped(where, fmt::format("section \"{}\" is none of TP, DP, EP, PP", key));
            }
            continue;
        }
        std::string_view text = line.substr(colon + 1);
        text = text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
        std::optional<double> value;
        if (text != "null") value = parse_real(text, reader.place(key), 1e-6, kMostBandwidth);
        BusBandwidths::Kinds* kinds = section == "TP"   ? &bus.tp
                                      : section == "DP" ? &bus.dp
                                      : section == "EP" ? &bus.ep
                                                        : nullptr;
        if (section == "PP" && key == "busbw") {
            bus.pp = value;
        } else if (kinds != nullptr && key == "allreduce") {
            kinds->all_reduce = value;
        } else if (kinds != nullptr && key == "allgather") {
            kinds->all_gather = value;
        } else if (kinds != nullptr && key == "reducescatter") {
            kinds->reduce_scatter = value;
        } else if (kinds != nullptr && key == "alltoall") {
            kinds->all_to_all = value;
        } else {
            report.skipped(where, fmt::format("\"{}\" in section \"{}\" is unknown", key, section));
        }
    }
    report.read(bus.file, "bus bandwidths");
    return bus;
}

RatioTable RatioTable::parse(TokenReader& reader) {
    constexpr std::size_t kMostColumns = 64;
    RatioTable table;
    std::string_view line;
    reader.next_line(line);
    while (reader.next_line(line)) {
        const std::vector<std::string_view> fields = split_fields(line, ',');
        if (fields.size() == 1 && fields[0].empty()) continue;
        if (fields.size() <= kMulti || fields.size() > kMostColumns) {
            reader.fail(
                fmt::format("has {} columns; a size and ratios for 1 to 128 servers and "
                            "\"Multi\" are {} or more",
                            fields.size(), kMulti + 1));
        }
        Row row;
        row.size = parse_real(fields[0], reader.place("size"), 1, 1e18);
        if (!table.rows_.empty() && row.size <= table.rows_.back().size) {
            reader.fail("sizes must increase");
        }
        for (std::size_t i = 1; i < fields.size(); ++i) {
            row.values.push_back(
                fields[i].empty() ? 1 : parse_real(fields[i], reader.place("ratio"), 1e-9, 1e3));
        }
        table.rows_.push_back(std::move(row));
    }
    if (table.rows_.empty()) reader.fail("has no row of ratios");
    return table;
}

double RatioTable::ratio(double bytes, std::uint32_t servers) const {
    constexpr std::uint32_t kSixteenServers = 5;
    std::uint32_t column = kSixteenServers;
    for (std::uint32_t i = 0; i < 8; ++i) {
        if (servers == 1U << i) column = i + 1;
    }
    if (servers == kMulti) column = kMulti;
    const auto value = [&](const Row& row) {
        return column <= row.values.size() ? row.values[column - 1] : 1.0;
    };
    const double best = value(rows_.back());
    const auto above =
        std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.size >= bytes; });
    if (above == rows_.end()) return 1;
    if (above == rows_.begin()) return value(*above) / best;
    const Row& below = *std::prev(above);
    const double share = (bytes - below.size) / (above->size - below.size);
    return (value(below) + (value(*above) - value(below)) * share) / best;
}

double simai_nvlink_bandwidth(const std::string& gpu) {
    constexpr double kSm80 = 20.0;
    constexpr double kSm90 = 20.6;
    std::string name = gpu;
    for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    if (name == "A100") return 12 * kSm80;
    if (name == "A800") return 8 * kSm80;
    if (name == "H100" || name == "H20") return 18 * kSm90;
    if (name == "H800") return 8 * kSm90;
    throw ConfigError("GPU type \"" + gpu + "\": allowed are A100, A800, H100, H800 and H20");
}

double simai_nic_bandwidth(const std::string& nic) {
    std::string name = nic;
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (name == "cx6") return 23.5;
    if (name == "cx7" || name == "bf3") return 48.5;
    throw ConfigError("NIC type \"" + nic + "\": allowed are cx6, cx7 and bf3");
}

double simai_communication_time(const SimaiAnalytical& parameters, const AicbLayout& layout,
                                AicbGroup group, CollectiveKind kind, std::int64_t bytes) {
    const RankId members = layout.size(group);
    if (members < 2 || bytes == 0) return 0;
    double bandwidth = 0;
    if (parameters.bus) {
        bandwidth = listed_bandwidth(*parameters.bus, group, kind);
    } else {
        if (bytes > 1 && bytes < kSmall) return small_message_time(members);
        const BusBandwidth bus = group_bandwidth(parameters, layout, group, kind);
        bandwidth = bus.value * efficiency(parameters, layout, group, kind,
                                           static_cast<double>(bytes), bus.nvlink);
    }
    return std::floor(static_cast<double>(bytes) / kGibi / bandwidth * kNanosecondsPerSecond *
                      wire_factor(kind, members));
}

AicbEndToEnd simai_end_to_end(const SimaiAnalytical& parameters, const AicbWorkload& workload,
                              const AicbLayout& layout) {
    AicbEndToEnd result;
    result.layers.resize(workload.layers.size());
    AicbTotals& totals = result.totals;
    double stage = 0;  // what a bubble consists of
    for (std::size_t i = 0; i < workload.layers.size(); ++i) {
        const AicbLayer& layer = workload.layers[i];
        for (const AicbPhase phase : {kForward, kInputGradient, kWeightGradient}) {
            AicbPhaseTimes& times = result.layers[i][phase];
            times.compute = static_cast<double>(layer.work[phase].compute);
            totals.compute += times.compute;
            const bool awaited = phase != kWeightGradient;
            if (workload.name(layer) != "embedding_layer") stage += times.compute;
            const AicbGroup group = group_of(workload, i, phase);
            if (layout.size(group) < 2) continue;
            times.communication = simai_communication_time(parameters, layout, group,
                                                           collective_kind(layer.work[phase].comm),
                                                           layer.work[phase].bytes);
            if (awaited && workload.name(layer) != "embedding_layer") stage += times.communication;
            const double overlap = !awaited                 ? parameters.dp_overlap
                                   : group == AicbGroup::ep ? parameters.ep_overlap
                                                            : parameters.tp_overlap;
            times.exposed = std::floor(times.communication * (1 - overlap));
            totals.exposed += times.exposed;
            double& part = !awaited ? (group == AicbGroup::dp_ep ? totals.dp_ep : totals.dp)
                           : group == AicbGroup::ep ? totals.ep
                                                    : totals.tp;
            part += times.exposed;
        }
    }
    const AicbHeader& header = workload.header;
    const double chunks = static_cast<double>(std::max<std::int64_t>(1, header.ga)) *
                          static_cast<double>(std::max<std::int64_t>(1, header.vpp));
    if (layout.pp() > 1) {
        const double bandwidth = parameters.bus ? parameters.bus->pp.value_or(0) : parameters.nic;
        if (!(bandwidth > 0)) {
            throw ConfigError(parameters.bus->file, 0,
                              "section PP has no busbw for the workload's "
                              "pipeline");
        }
        totals.bubble = stage * (layout.pp() - 1) / chunks;
        totals.pp = 2 * chunks * static_cast<double>(header.pp_comm) / kGibi / bandwidth *
                    kNanosecondsPerSecond * (1 - parameters.pp_overlap);
    }
    totals.total = totals.compute + totals.exposed + totals.bubble + totals.pp;
    return result;
}

}  // namespace sluice
