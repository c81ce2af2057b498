// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/error.h"
#include "core/random.h"

namespace sluice {

namespace {

/// One number per use of randomness, so that no two uses share a stream.
enum Purpose : std::uint64_t {
    poisson_gap = 0x7001,
    poisson_peer,
    poisson_size,
    incast_choice,
    start_jitter,
    permutation,
};

/// 40 bytes each: 2 GB of flow list.
constexpr double kMostFlows = 50e6;
constexpr std::int64_t kLargestFlow = 1'000'000'000'000'000;
/// Leaves room for the traffic itself below the end of time.
constexpr Tick kLatestStart = kNever / 4;

void check_hosts(const std::vector<NodeId>& hosts, const char* what) {
    if (hosts.size() < 2) {
        throw ConfigError(std::string(what) + " traffic needs at least 2 hosts, the network has " +
                          std::to_string(hosts.size()));
    }
}

void check_range(const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value < least || value > most) {
        throw ConfigError(std::string("traffic: ") + what + " is " + std::to_string(value) +
                          ", allowed are " + std::to_string(least) + " to " + std::to_string(most));
    }
}

void check_count(double flows) {
    if (!(flows <= kMostFlows)) {
        throw ConfigError("traffic: about " + std::to_string(std::llround(flows / 1e6)) +
                          " million flows, at most 50 million are allowed");
    }
}

void check_times(Tick start, const char* what, Tick length) {
    check_range("start (ps)", start, 0, kLatestStart);
    check_range(what, length, 0, kLatestStart);
}

Tick jittered(Tick start, Tick jitter, std::uint64_t seed, std::uint64_t flow) {
    const double part = uniform(seed, random_stream(start_jitter, 0), flow);
    return start + static_cast<Tick>(part * static_cast<double>(jitter));
}

void sort_by_start(std::vector<FlowSpec>& flows) {
    std::stable_sort(flows.begin(), flows.end(),
                     [](const FlowSpec& a, const FlowSpec& b) { return a.start < b.start; });
}

void check_pattern(const std::vector<NodeId>& hosts, const PatternTraffic& traffic,
                   const char* what) {
    check_hosts(hosts, what);
    check_range("size", traffic.size.count, 1, kLargestFlow);
    check_times(traffic.start, "jitter (ps)", traffic.jitter);
}

void add_pattern_flow(std::vector<FlowSpec>& flows, NodeId src, NodeId dst,
                      const PatternTraffic& traffic) {
    FlowSpec flow;
    flow.src = src;
    flow.dst = dst;
    flow.size = traffic.size.count;
    flow.start = jittered(traffic.start, traffic.jitter, traffic.seed, flows.size());
    flows.push_back(flow);
}

/// The last `count` places of a Fisher-Yates shuffle of `values`, moved to the end.
void shuffle_tail(std::vector<std::uint32_t>& values, std::uint32_t count, std::uint64_t seed,
                  std::uint64_t stream) {
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto left = static_cast<std::uint32_t>(values.size()) - i;
        std::swap(values[left - 1], values[uniform_below(seed, stream, i, left)]);
    }
}

}  // namespace

std::vector<FlowSpec> poisson_traffic(const std::vector<NodeId>& hosts, const FlowSizeCdf& sizes,
                                      const PoissonTraffic& traffic) {
    check_hosts(hosts, "poisson");
    if (!(traffic.load > 0 && traffic.load <= 1)) {
        throw ConfigError("traffic: load is out of range, allowed are more than 0 and at most 1");
    }
    check_range("rate (bits/s)", traffic.rate.bits_per_second, 1, 1'000'000'000'000'000);
    check_times(traffic.start, "duration (ps)", traffic.duration);
    const double mean_gap = sizes.mean() * 8 /
                            (static_cast<double>(traffic.rate.bits_per_second) * traffic.load) *
                            static_cast<double>(kSecond);
    check_count(static_cast<double>(traffic.duration) / mean_gap *
                static_cast<double>(hosts.size()));

    std::vector<FlowSpec> flows;
    const auto others = static_cast<std::uint32_t>(hosts.size() - 1);
    for (std::uint32_t src = 0; src < hosts.size(); ++src) {
        double at = 0;
        for (std::uint64_t n = 0;; ++n) {
            // 1 - u is in (0, 1], so the logarithm is finite.
            at -=
                std::log(1 - uniform(traffic.seed, random_stream(poisson_gap, src), n)) * mean_gap;
            if (at >= static_cast<double>(traffic.duration)) break;
            const std::uint32_t peer =
                uniform_below(traffic.seed, random_stream(poisson_peer, src), n, others);
            FlowSpec flow;
            flow.src = hosts[src];
            flow.dst = hosts[peer < src ? peer : peer + 1];
            flow.size = sizes.sample(uniform(traffic.seed, random_stream(poisson_size, src), n));
            flow.start = traffic.start + static_cast<Tick>(at);
            flows.push_back(flow);
        }
    }
    sort_by_start(flows);
    return flows;
}

std::vector<FlowSpec> incast_traffic(const std::vector<NodeId>& hosts,
                                     const IncastTraffic& traffic) {
    check_hosts(hosts, "incast");
    const auto count = static_cast<std::int64_t>(hosts.size());
    check_range("senders", traffic.senders, 1, count - 1);
    check_range("receiver (index of a host)", traffic.receiver, 0, count - 1);
    check_range("size", traffic.size.count, 1, kLargestFlow);
    check_times(traffic.start, "jitter (ps)", traffic.jitter);

    std::vector<std::uint32_t> candidates(hosts.size());
    std::iota(candidates.begin(), candidates.end(), 0U);
    candidates.erase(candidates.begin() + traffic.receiver);
    shuffle_tail(candidates, traffic.senders, traffic.seed, random_stream(incast_choice, 0));
    std::vector<FlowSpec> flows;
    for (std::size_t i = candidates.size() - traffic.senders; i < candidates.size(); ++i) {
        FlowSpec flow;
        flow.src = hosts[candidates[i]];
        flow.dst = hosts[traffic.receiver];
        flow.size = traffic.size.count;
        flow.start = jittered(traffic.start, traffic.jitter, traffic.seed, flows.size());
        flow.dport = traffic.dport;
        flows.push_back(flow);
    }
    sort_by_start(flows);
    return flows;
}

std::vector<FlowSpec> permutation_traffic(const std::vector<NodeId>& hosts,
                                          const PatternTraffic& traffic) {
    check_pattern(hosts, traffic, "permutation");
    const auto count = static_cast<std::uint32_t>(hosts.size());
    std::vector<std::uint32_t> target(count);
    // A shuffle has no fixed point with probability 1/e, so this takes about three tries, and all
    // permutations without one are equally likely.
    bool fixed_point = true;
    for (std::uint64_t attempt = 0; fixed_point; ++attempt) {
        std::iota(target.begin(), target.end(), 0U);
        shuffle_tail(target, count, traffic.seed, random_stream(permutation, attempt));
        fixed_point = false;
        for (std::uint32_t i = 0; i < count; ++i) fixed_point = fixed_point || target[i] == i;
    }
    std::vector<FlowSpec> flows;
    for (std::uint32_t i = 0; i < count; ++i) {
        add_pattern_flow(flows, hosts[i], hosts[target[i]], traffic);
    }
    sort_by_start(flows);
    return flows;
}

std::vector<FlowSpec> ring_traffic(const std::vector<NodeId>& hosts,
                                   const PatternTraffic& traffic) {
    check_pattern(hosts, traffic, "ring");
    std::vector<FlowSpec> flows;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        add_pattern_flow(flows, hosts[i], hosts[(i + 1) % hosts.size()], traffic);
    }
    sort_by_start(flows);
    return flows;
}

}  // namespace sluice
