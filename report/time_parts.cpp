// SPDX-License-Identifier: Apache-2.0
#include "report/time_parts.h"

#include <string_view>

namespace sluice::report {

namespace {

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

PartKind kind_of_part(const std::string& name) {
    if (name == "compute") return PartKind::compute;
    if (name.find(" over ") != std::string::npos) return PartKind::network;
    if (ends_with(name, "inside servers")) return PartKind::servers;
    return ends_with(name, "software") ? PartKind::software : PartKind::other;
}

std::string label_of_part(const std::string& name, PartKind kind) {
    if (kind == PartKind::compute) return "computation";
    if (kind == PartKind::software) return name + " around collectives";
    const std::size_t over = name.find(" over ");
    if (over == std::string::npos) return name;
    return name.substr(0, over) + " flows across " + name.substr(over + 6) + " links";
}

std::string network_basis(const RunFiles& run) {
    if (run.summary.value("mode", std::string()) == "flow")
        return "flow model: fair shares of links, no queues";
    return number(run.summary, "hops_saved") > 0 ? "packets, and equations where traffic is steady"
                                                 : "packets";
}

std::string compute_basis(const RunFiles& run) {
    const std::string source = run.config_text("workload.compute");
    if (source == "flops") return "FLOPs of the model over the GPU's rate; not simulated";
    if (source == "roofline")
        return "FLOPs and memory traffic of the model (roofline); not simulated";
    if (source == "profile") return "measured times of the scenario's profile; not simulated";
    return "times that the workload gives; not simulated";
}

std::string basis_of(const RunFiles& run, PartKind kind) {
    switch (kind) {
        case PartKind::compute: return compute_basis(run);
        case PartKind::network: return network_basis(run);
        case PartKind::servers:
            return "latency and bandwidth of the GPU's interconnect; not simulated";
        case PartKind::software: return "delays that the scenario gives";
        case PartKind::other: break;
    }
    return "waits inside the job";
}

const char* name_of_kind(PartKind kind) {
    switch (kind) {
        case PartKind::compute: return "compute";
        case PartKind::network: return "network";
        case PartKind::servers: return "servers";
        case PartKind::software: return "software";
        case PartKind::other: break;
    }
    return "other";
}

bool has_path(const Json& job) {
    return job.contains("critical_path_s") && !job.at("critical_path_s").empty();
}

}  // namespace

std::vector<TimePart> time_parts(const RunFiles& run, const Json& job) {
    std::vector<TimePart> parts;
    if (!has_path(job)) return parts;
    double sum = 0;
    for (const auto& [name, seconds] : job.at("critical_path_s").items()) {
        const PartKind kind = kind_of_part(name);
        const std::string label = label_of_part(name, kind);
        const std::string cause =
            kind == PartKind::network ? name.substr(0, name.find(" over ")) : label;
        parts.push_back({label, cause, kind, seconds.get<double>(), 0, basis_of(run, kind)});
        sum += parts.back().seconds;
    }
    for (TimePart& part : parts) part.share = sum > 0 ? part.seconds / sum : 0;
    return parts;
}

const Json* longest_job(const Json& summary) {
    const Json* longest = nullptr;
    if (!summary.contains("jobs")) return nullptr;
    for (const Json& job : summary.at("jobs")) {
        if (!has_path(job)) continue;
        if (longest == nullptr || number(job, "jct_s") > number(*longest, "jct_s")) longest = &job;
    }
    return longest;
}

double share_of(const std::vector<TimePart>& parts, PartKind kind) {
    double share = 0;
    for (const TimePart& part : parts) share += part.kind == kind ? part.share : 0;
    return share;
}

Json jobs_time(const RunFiles& run) {
    Json list = Json::array();
    for (const Json& job : run.summary.value("jobs", Json::array())) {
        if (!has_path(job)) continue;
        Json parts = Json::array();
        for (const TimePart& part : time_parts(run, job)) {
            parts.push_back({{"label", part.label},
                             {"kind", name_of_kind(part.kind)},
                             {"seconds", part.seconds},
                             {"share", part.share},
                             {"basis", part.basis}});
        }
        list.push_back({{"name", job.value("name", std::string())}, {"parts", std::move(parts)}});
    }
    return list;
}

}  // namespace sluice::report
