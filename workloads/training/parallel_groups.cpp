// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/parallel_groups.h"

#include <algorithm>
#include <array>

#include "core/error.h"

namespace sluice {

namespace {

constexpr std::array<const char*, 5> kNames = {"tp", "cp", "ep", "dp", "pp"};

std::vector<std::string> split(const std::string& order) {
    std::vector<std::string> names(1);
    for (const char c : order) {
        if (c == '-') {
            names.emplace_back();
        } else {
            names.back() += c;
        }
    }
    return names;
}

std::size_t place(const std::vector<std::string>& names, const char* name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

[[noreturn]] void refuse(const ParallelDegrees& degrees, const std::string& why) {
    throw ConfigError("order \"" + degrees.order + "\" " + why +
                      ": allowed are tp, cp, ep, dp and pp once each, joined by -, fastest first; "
                      "cp and ep may be left out where they are 1");
}

LaneGroups collect(std::uint32_t lanes, std::uint32_t count,
                   const std::vector<std::uint32_t>& group_of) {
    LaneGroups groups(count);
    for (Lane lane = 0; lane < lanes; ++lane) groups[group_of[lane]].push_back(lane);
    return groups;
}

}  // namespace

void check_order(const ParallelDegrees& degrees) {
    const std::vector<std::string> names = split(degrees.order);
    for (const std::string& name : names) {
        if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
            refuse(degrees, "names \"" + name + "\"");
        }
        if (std::count(names.begin(), names.end(), name) > 1) {
            refuse(degrees, "names " + name + " twice");
        }
    }
    for (const char* name : kNames) {
        if (place(names, name) < names.size()) continue;
        const bool optional = (name == std::string("cp") && degrees.cp == 1) ||
                              (name == std::string("ep") && degrees.ep == 1);
        if (!optional) refuse(degrees, "leaves " + std::string(name) + " out");
    }
}

ParallelGroups::ParallelGroups(const ParallelDegrees& degrees) : degrees_(degrees) {
    check_order(degrees);
    number_ranks();
    make_dense_groups();
    make_expert_groups();
}

void ParallelGroups::number_ranks() {
    std::uint32_t stride = 1;
    std::uint32_t tp_stride = 1;
    std::uint32_t cp_stride = 1;
    std::uint32_t dp_stride = 1;
    const std::vector<std::string> names = split(degrees_.order);
    const auto take = [&](std::uint32_t& own, std::uint32_t degree) {
        own = stride;
        stride *= degree;
    };
    for (const std::string& name : names) {
        if (name == "tp") take(tp_stride, degrees_.tp);
        if (name == "cp") take(cp_stride, degrees_.cp);
        if (name == "dp") take(dp_stride, degrees_.dp);
        if (name == "pp") take(stage_stride_, degrees_.pp);
    }
    cp_first_ = place(names, "cp") <= place(names, "dp");
    for (std::uint32_t copy = 0; copy < copies(); ++copy) {
        const std::uint32_t dp = dp_index(copy);
        const std::uint32_t cp = cp_first_ ? copy % degrees_.cp : copy / degrees_.dp;
        for (std::uint32_t tp = 0; tp < degrees_.tp; ++tp) {
            lane_offset_.push_back(tp * tp_stride + cp * cp_stride + dp * dp_stride);
        }
    }
}

void ParallelGroups::make_dense_groups() {
    std::vector<std::uint32_t> tensor;
    std::vector<std::uint32_t> context;
    std::vector<std::uint32_t> replica;
    for (Lane lane = 0; lane < lanes(); ++lane) {
        tensor.push_back(copy(lane));
        context.push_back(dp_index(copy(lane)) * degrees_.tp + tp_index(lane));
        replica.push_back(tp_index(lane));
    }
    tensor_ = collect(lanes(), copies(), tensor);
    context_ = collect(lanes(), degrees_.dp * degrees_.tp, context);
    replicas_ = collect(lanes(), degrees_.tp, replica);
}

std::string ParallelGroups::lane_name(Lane lane) const {
    std::string name = ".dp" + std::to_string(dp_index(copy(lane)));
    if (degrees_.cp > 1) {
        const std::uint32_t at = copy(lane);
        name += ".cp" + std::to_string(cp_first_ ? at % degrees_.cp : at / degrees_.dp);
    }
    return name + ".tp" + std::to_string(tp_index(lane));
}

std::uint32_t expert_tensor_degree(const ParallelDegrees& degrees) {
    const std::uint32_t copies = degrees.cp * degrees.dp;
    return degrees.ep <= copies ? degrees.tp : degrees.tp * copies / degrees.ep;
}

std::uint32_t ParallelGroups::expert_tensor_degree() const {
    return sluice::expert_tensor_degree(degrees_);
}

std::uint32_t ParallelGroups::expert_copies() const {
    return degrees_.ep <= copies() ? copies() / degrees_.ep : 1;
}

void ParallelGroups::make_expert_groups() {
    const std::uint32_t width = degrees_.tp / expert_tensor_degree();
    const std::uint32_t spanned = std::min(degrees_.ep, copies());
    const std::uint32_t sets = copies() / spanned;
    const std::vector<std::string> names = split(degrees_.order);
    const bool strided =
        place(names, "ep") < names.size() && place(names, "ep") > place(names, "dp");
    std::vector<std::uint32_t> group;
    std::vector<std::uint32_t> tensor;
    std::vector<std::uint32_t> replica;
    for (Lane lane = 0; lane < lanes(); ++lane) {
        const std::uint32_t set = strided ? copy(lane) % sets : copy(lane) / spanned;
        const std::uint32_t member = strided ? copy(lane) / sets : copy(lane) % spanned;
        group.push_back(set * expert_tensor_degree() + tp_index(lane) / width);
        tensor.push_back(copy(lane) * width + tp_index(lane) % width);
        replica.push_back(member * degrees_.tp + tp_index(lane));
    }
    experts_ = collect(lanes(), sets * expert_tensor_degree(), group);
    expert_tensor_ = collect(lanes(), copies() * width, tensor);
    expert_replicas_ = collect(lanes(), spanned * degrees_.tp, replica);
}

}  // namespace sluice
