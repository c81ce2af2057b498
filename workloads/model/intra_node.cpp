// SPDX-License-Identifier: Apache-2.0
#include "workloads/model/intra_node.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace sluice {

namespace {

constexpr std::array<const char*, kCollectiveKinds> kNames = {
    "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "reduce", "send"};

Tick ticks_of(double microseconds) {
    return static_cast<Tick>(std::ceil(microseconds * static_cast<double>(kMicrosecond)));
}

Tick linear_time(const LinearCost& linear, double wire_bytes) {
    if (linear.bytes_per_second <= 0) return linear.latency;
    const double seconds = wire_bytes / linear.bytes_per_second;
    return linear.latency + static_cast<Tick>(std::ceil(seconds * static_cast<double>(kSecond)));
}

}  // namespace

const char* to_string(CollectiveKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

double wire_factor(CollectiveKind kind, std::uint32_t members) {
    if (members < 2) return 0;
    const double others = static_cast<double>(members - 1) / members;
    switch (kind) {
        case CollectiveKind::all_reduce: return 2 * others;
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::all_gather:
        case CollectiveKind::all_to_all: return others;
        case CollectiveKind::broadcast:
        case CollectiveKind::reduce:
        case CollectiveKind::send: return 1;
    }
    return 1;
}

IntraNode::IntraNode(std::vector<Calibration> calibrations, NcclTable nccl)
    : calibrations_(std::move(calibrations)), nccl_(std::move(nccl)) {}

LinearCost IntraNode::cost(CollectiveKind kind, std::uint32_t members) const {
    const Calibration* best = nullptr;
    for (const Calibration& calibration : calibrations_) {
        if (calibration.kind != kind) continue;
        // The largest that is not above `members`, else the smallest there is.
        const bool fits = calibration.members <= members;
        const bool better =
            best == nullptr ||
            (fits && (best->members > members || calibration.members > best->members)) ||
            (!fits && best->members > calibration.members);
        if (better) best = &calibration;
    }
    if (best == nullptr) {
        throw InternalError(std::string("no intra-server calibration of ") + to_string(kind));
    }
    return best->cost;
}

Tick IntraNode::time(CollectiveKind kind, std::uint32_t members, std::int64_t bytes) const {
    if (members < 2) return 0;
    const auto size = static_cast<double>(bytes);
    if (const NcclChoice* choice = nccl_.choose(kind, members, size)) {
        return ticks_of(time_us(*choice, kind, members, size));
    }
    return linear_time(cost(kind, members), size * wire_factor(kind, members));
}

std::string IntraNode::choice(CollectiveKind kind, std::uint32_t members,
                              std::int64_t bytes) const {
    const NcclChoice* choice = nccl_.choose(kind, members, static_cast<double>(bytes));
    if (choice == nullptr) return "";
    return std::string(to_string(choice->algorithm)) + " " + to_string(choice->protocol);
}

Tick IntraNode::exchange_time(std::uint32_t members, std::int64_t most) const {
    constexpr CollectiveKind kKind = CollectiveKind::all_to_all;
    const auto wire = static_cast<double>(most);
    if (members >= 2 && nccl_.has(kKind)) {
        const double size = wire / wire_factor(kKind, members);
        return ticks_of(time_us(*nccl_.choose(kKind, members, size), kKind, members, size));
    }
    return linear_time(cost(kKind, members), wire);
}

}  // namespace sluice
