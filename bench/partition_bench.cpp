// SPDX-License-Identifier: Apache-2.0
/// What the partition layer costs, and into what traffic partitions: called by bench/partition.
/// Resources are the cables of the data's and of the ACKs' paths, and the two hosts.
///
///   partition_bench cost NETWORK FLOWS OPERATIONS   time of a leave and of an enter, with FLOWS in
///   partition_bench course NETWORK                  partitions while traffic comes and goes
///
/// NETWORK: `rail` (data-parallel rings of 16 GPUs along the rails, one GPU a flow), `rail-spine`
/// (the same, the ring's servers one per segment, so that every hop crosses a spine by ECMP),
/// `fat-tree` (random pairs by ECMP, one host a flow), `fat-tree-1024` (k = 16 whatever the number
/// of flows), `incast` (to one host of `fat-tree-1024`). One line of JSON per call.
/// All paths are computed before the clock starts. At the end the partitions are compared with a
/// computation from scratch; a difference is an error.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/partition/flow_resources.h"
#include "core/partition/partition_set.h"
#include "core/random.h"
#include "core/routing/routing.h"
#include "core/topology/builders.h"

namespace {

using namespace sluice;

constexpr std::uint32_t kRing = 16;
constexpr std::uint32_t kRails = 8;
constexpr std::uint64_t kSeed = 1;

class Draws {
  public:
    explicit Draws(std::uint64_t purpose) : stream_(random_stream(purpose, 0)) {}
    std::uint32_t below(std::uint32_t bound) { return uniform_below(kSeed, stream_, n_++, bound); }

  private:
    std::uint64_t stream_;
    std::uint64_t n_ = 0;
};

/// Whole groups of 16 servers for at least `flows` GPUs.
Topology rail_network(std::uint32_t flows, bool over_spines) {
    const std::uint32_t group = kRing * kRails;
    RailParams params;
    params.gpus = static_cast<std::int64_t>((flows + group - 1) / group) * group;
    params.gpus_per_server = kRails;
    // Over spines: 16 segments, so that the ring's members are servers g, g + n/16, g + 2n/16, ...
    params.servers_per_segment = over_spines ? params.gpus / group : kRing;
    return build_rail(params);
}

Topology fat_tree(std::uint32_t hosts) {
    FatTreeParams params;
    while (params.k * params.k * params.k / 4 < hosts) {
        params.k += 2;
    }
    return build_fat_tree(params);
}

/// The traffic: slot i of the network has one flow after another.
class Traffic {
  public:
    Traffic(const std::string& network, std::uint32_t flows)
        : network_(network),
          topology_(network == "rail"         ? rail_network(flows, false)
                    : network == "rail-spine" ? rail_network(flows, true)
                    : network == "fat-tree"   ? fat_tree(flows)
                                              : fat_tree(1024)),
          routing_(topology_) {
        if (network != "rail" && network != "rail-spine" && network != "fat-tree" &&
            network != "fat-tree-1024" && network != "incast") {
            throw std::runtime_error("no network " + network);
        }
        hosts_ = static_cast<std::uint32_t>(topology_.host_count());
        permutation_.resize(hosts_);
        std::iota(permutation_.begin(), permutation_.end(), 0U);
        for (std::uint32_t i = hosts_ - 1; i > 0; --i) {
            std::swap(permutation_[i], permutation_[draws_.below(i + 1)]);
        }
    }

    const Topology& topology() const { return topology_; }

    /// The first flows of all slots are (as far as there are hosts) a permutation; later ones go
    /// anywhere. Ring neighbours stay, with a new source port.
    std::vector<ResourceId> next(std::uint32_t slot, bool first) {
        const NodeId src = slot % hosts_;
        NodeId dst = 0;
        if (network_ == "rail") {
            const std::uint32_t server = src / kRails;
            const std::uint32_t member = server % kRing;
            dst = (server - member + (member + 1) % kRing) * kRails + src % kRails;
        } else if (network_ == "rail-spine") {
            dst = (src + hosts_ / kRing) % hosts_;
        } else if (network_ == "incast") {
            return routed(1 + slot % (hosts_ - 1), 0);
        } else {
            dst = first && slot < hosts_ ? permutation_[src] : draws_.below(hosts_);
        }
        return routed(src, dst != src ? dst : (src + 1) % hosts_);
    }

  private:
    std::vector<ResourceId> routed(NodeId src, NodeId dst) {
        const auto sport = static_cast<std::uint16_t>(10'000 + draws_.below(40'000));
        FlowPath path;
        path.forward = routing_.path({src, dst, sport, 100});
        path.reverse = routing_.path({dst, src, 100, sport});
        return flow_resources(topology_, path);
    }

    std::string network_;
    Topology topology_;
    Routing routing_;
    std::uint32_t hosts_ = 0;
    std::vector<NodeId> permutation_;
    Draws draws_{1};
};

/// Partitions computed anew from each flow's resources; throws if `set` has others.
void verify(const PartitionSet& set, std::uint32_t flows, std::size_t resources) {
    std::vector<std::uint32_t> parent(resources);
    std::iota(parent.begin(), parent.end(), 0U);
    const auto root = [&parent](std::uint32_t r) {
        while (parent[r] != r) {
            parent[r] = parent[parent[r]];
            r = parent[r];
        }
        return r;
    };
    std::size_t members = 0;
    for (FlowId flow = 0; flow < flows; ++flow) {
        if (set.contains(flow)) {
            ++members;
            for (const ResourceId r : set.resources_of(flow)) {
                parent[root(r)] = root(set.resources_of(flow).front());
            }
        }
    }
    std::map<std::uint32_t, PartitionId> id_of_root;
    std::set<PartitionId> ids;
    std::size_t listed = 0;
    for (const PartitionId id : set.partitions()) {
        for (const FlowId flow : set.flows(id)) {
            const std::uint32_t top = root(set.resources_of(flow).front());
            if (set.partition_of(flow) != id || id_of_root.emplace(top, id).first->second != id) {
                throw std::runtime_error("partitions differ from a computation from scratch");
            }
            ids.insert(id);
            ++listed;
        }
    }
    if (listed != members || ids.size() != id_of_root.size() || ids.size() != set.count()) {
        throw std::runtime_error("partitions differ from a computation from scratch");
    }
}

double nanoseconds(std::chrono::steady_clock::duration time) {
    return std::chrono::duration<double, std::nano>(time).count();
}

/// The least that two looks at the clock in turn differ by, for callers to subtract.
double clock_cost() {
    double least = 1e9;
    for (int i = 0; i < 1000; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        least = std::min(least, nanoseconds(std::chrono::steady_clock::now() - begin));
    }
    return least;
}

void print_times(const char* name, std::vector<double>& times) {
    std::sort(times.begin(), times.end());
    const double mean =
        std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
    std::printf(", \"%s_ns\": {\"mean\": %.0f, \"median\": %.0f, \"p99\": %.0f, \"max\": %.0f}",
                name, mean, times[times.size() / 2], times[times.size() * 99 / 100], times.back());
}

/// What leaving and entering came to.
struct Costs {
    std::vector<double> leave;  ///< nanoseconds
    std::vector<double> enter;
    std::uint64_t examined_by_leave = 0;
    std::uint64_t examined_by_enter = 0;
    std::uint64_t uses = 0;
    std::size_t splits = 0;
    std::size_t merges = 0;
};

/// The flow of slots[i] leaves and next[i] enters in its place, for every i.
Costs measure(PartitionSet& set, const std::vector<std::uint32_t>& slots,
              const std::vector<std::vector<ResourceId>>& next) {
    const double clock = clock_cost();
    Costs costs;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const std::uint64_t before = set.examined();
        const auto start = std::chrono::steady_clock::now();
        const PartitionSet::Exit exit = set.leave(slots[i]);
        const auto middle = std::chrono::steady_clock::now();
        const std::uint64_t between = set.examined();
        const auto again = std::chrono::steady_clock::now();
        const PartitionSet::Entry entry = set.enter(slots[i], next[i]);
        const auto end = std::chrono::steady_clock::now();
        // The first tenth warms up: lists reach their lasting capacity.
        if (i >= slots.size() / 10) {
            costs.leave.push_back(nanoseconds(middle - start) - clock);
            costs.enter.push_back(nanoseconds(end - again) - clock);
            costs.examined_by_leave += between - before;
            costs.examined_by_enter += set.examined() - between;
            costs.uses += set.resources_of(slots[i]).size();
            costs.splits += exit.split_off.size();
            costs.merges += entry.absorbed.size();
        }
    }
    return costs;
}

/// With `flows` in: a random one leaves and the next flow of its slot enters, over and over.
void cost(const std::string& network, std::uint32_t flows, std::uint32_t operations) {
    Traffic traffic(network, flows);
    const std::size_t resources = resource_count(traffic.topology());
    PartitionSet set(resources, flows);
    std::vector<std::vector<ResourceId>> first;
    for (std::uint32_t slot = 0; slot < flows; ++slot) {
        first.push_back(traffic.next(slot, true));
    }
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint32_t slot = 0; slot < flows; ++slot) {
        set.enter(slot, first[slot]);
    }
    const double fill = nanoseconds(std::chrono::steady_clock::now() - begin) / flows;

    Draws draws(2);
    std::vector<std::uint32_t> slots;
    std::vector<std::vector<ResourceId>> next;
    for (std::uint32_t i = 0; i < operations; ++i) {
        slots.push_back(draws.below(flows));
        next.push_back(traffic.next(slots.back(), false));
    }
    Costs costs = measure(set, slots, next);
    verify(set, flows, resources);
    const auto timed = static_cast<double>(costs.leave.size());
    std::printf("{\"network\": \"%s\", \"flows\": %u, \"operations\": %zu", network.c_str(), flows,
                costs.leave.size());
    print_times("leave", costs.leave);
    print_times("enter", costs.enter);
    std::printf(
        ", \"fill_ns\": %.0f, \"resources_per_flow\": %.1f, \"examined_per_leave\": %.1f, "
        "\"examined_per_enter\": %.1f, \"splits_per_leave\": %.3f, \"merges_per_enter\": %.3f, "
        "\"partitions\": %zu, \"largest\": %zu, \"bytes_per_flow\": %.0f}\n",
        fill, static_cast<double>(costs.uses) / timed,
        static_cast<double>(costs.examined_by_leave) / timed,
        static_cast<double>(costs.examined_by_enter) / timed,
        static_cast<double>(costs.splits) / timed, static_cast<double>(costs.merges) / timed,
        set.count(), set.largest(), static_cast<double>(set.memory_bytes()) / flows);
}

/// 1,024 slots start in random order until all have a flow, then each flow is replaced twice, then
/// all end in random order. A sample when a tenth has started, a quarter, and so on.
void course(const std::string& network) {
    constexpr std::uint32_t kSlots = 1024;
    Traffic traffic(network, kSlots);
    const std::size_t resources = resource_count(traffic.topology());
    PartitionSet set(resources, kSlots);
    Draws draws(3);
    const auto shuffled = [&draws] {
        std::vector<std::uint32_t> order(kSlots);
        std::iota(order.begin(), order.end(), 0U);
        for (std::uint32_t i = kSlots - 1; i > 0; --i) {
            std::swap(order[i], order[draws.below(i + 1)]);
        }
        return order;
    };
    std::printf("{\"network\": \"%s\", \"flows\": %u, \"samples\": [", network.c_str(), kSlots);
    const char* separator = "";
    const auto sample = [&](const char* phase, std::uint32_t flows) {
        verify(set, kSlots, resources);
        std::printf("%s{\"phase\": \"%s\", \"flows\": %u, \"partitions\": %zu, \"largest\": %zu}",
                    separator, phase, flows, set.count(), set.largest());
        separator = ", ";
    };
    const auto is_sampled = [](std::uint32_t in) {
        return in == kSlots / 10 || in == kSlots / 4 || in == kSlots / 2 || in == kSlots;
    };
    std::uint32_t in = 0;
    for (const std::uint32_t slot : shuffled()) {
        set.enter(slot, traffic.next(slot, true));
        if (is_sampled(++in)) {
            sample("start", in);
        }
    }
    for (int round = 0; round < 2; ++round) {
        for (const std::uint32_t slot : shuffled()) {
            set.leave(slot);
            set.enter(slot, traffic.next(slot, false));
        }
        sample("replace", in);
    }
    for (const std::uint32_t slot : shuffled()) {
        set.leave(slot);
        if (is_sampled(--in)) {
            sample("end", in);
        }
    }
    std::printf("]}\n");
}

std::uint32_t number(const char* text) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(text, &end, 10);
    if (*end != '\0' || value < 10 || value > 10'000'000) {
        throw std::runtime_error(std::string("not a number from 10 to 10000000: ") + text);
    }
    return static_cast<std::uint32_t>(value);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc == 5 && std::strcmp(argv[1], "cost") == 0) {
            cost(argv[2], number(argv[3]), number(argv[4]));
        } else if (argc == 3 && std::strcmp(argv[1], "course") == 0) {
            course(argv[2]);
        } else {
            std::fprintf(stderr,
                         "usage: partition_bench cost NETWORK FLOWS OPERATIONS\n"
                         "       partition_bench course NETWORK\n");
            return 2;
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "partition_bench: %s\n", error.what());
        return 2;
    }
    return 0;
}
