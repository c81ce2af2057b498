// SPDX-License-Identifier: Apache-2.0
/// Small scenarios that a fuzzer's bytes decide: every transport, way to balance, law and kind of trouble comes up. Not
/// all combinations are allowed: who loads one must take a ConfigError for an answer.
#pragma once

#include <string>
#include <utility>

#include "tests/fuzz/choices.h"

namespace sluice::fuzz {

/// A scenario's text in parts.
struct RandomNetwork {
    std::string head;    ///< keys before the first table
    std::string tables;  ///< [topology], [network], [congestion], [[link_event]]
    std::uint32_t hosts = 0;
    bool cut_off = false;  ///< a cable fails for good, or the run has a stop
};

inline std::string key(const std::string& name, const std::string& value) {
    return name + " = \"" + value + "\"\n";
}

inline std::string number(const std::string& name, std::int64_t value) {
    return name + " = " + std::to_string(value) + "\n";
}

inline std::string flag(const std::string& name, bool value) {
    return name + (value ? " = true\n" : " = false\n");
}

/// [topology], and how many hosts it has.
inline std::pair<std::string, std::uint32_t> random_topology(Choices& choices, bool lossless) {
    std::string text = "[topology]\n";
    std::uint32_t hosts = 0;
    switch (choices.below(5)) {
        case 0:
            hosts = 2 + choices.below(6);
            text += key("type", "star") + number("hosts", hosts);
            break;
        case 1: {
            const std::uint32_t each = 1 + choices.below(3);
            hosts = 2 * each;
            text += key("type", "leaf-spine") + number("leaves", 2) +
                    number("spines", 1 + choices.below(4)) + number("hosts_per_leaf", each);
            break;
        }
        case 2:
            hosts = 5;
            text += key("type", "dumbbell") + number("left_hosts", 3) + number("right_hosts", 2);
            break;
        case 3:
            hosts = 8;
            text += key("type", "rail-optimized") + number("gpus", 8) +
                    number("gpus_per_server", 4) + number("servers_per_segment", 2);
            break;
        default:
            hosts = 16;
            text += key("type", "fat-tree") + number("k", 4);
            break;
    }
    text += key("rate", choices.pick({"100Gbps", "25Gbps", "400Gbps"}));
    text += key("delay", choices.pick({"1us", "10ns", "5us"}));
    if (!lossless && choices.chance(40)) {
        text += std::string("loss = ") + choices.pick({"1e-5", "1e-3", "0.05"}) + "\n";
    }
    return {text, hosts};
}

inline std::string random_nic(Choices& choices, bool plain) {
    std::string text = "[network.nic]\n";
    text += key("retransmit_timeout", choices.pick({"1ms", "200us"}));
    if (choices.chance(25)) text += number("ack_every", choices.pick({2, 8}));
    if (plain || choices.chance(30)) return text;
    const std::uint32_t window = 64U << choices.below(7);
    text += key("transport", "selective-repeat") + number("reorder_window", window);
    text += number("reorder_threshold", 1 + choices.below(window));
    if (choices.chance(30)) {
        text += "[network.trim]\n" + key("threshold", choices.pick({"5KB", "40KB", "200KB"})) +
                key("queue", choices.pick({"0B", "500B", "25KB"})) +
                number("priority", choices.below(8)) +
                key("victim", choices.pick({"arriving", "drawn"}));
    }
    return text;
}

/// [network] and what is below it, and [congestion]. `plain`: nothing that trains are refused with.
inline std::string random_devices(Choices& choices, bool plain) {
    std::string text = "[network]\n" + number("payload", choices.pick({1000, 4096, 256, 9000}));
    text += flag("pfc", choices.chance(50));
    if (!plain) {
        text +=
            key("load_balance",
                choices.pick({"ecmp", "spray", "round-robin", "adaptive", "flowlet", "entropy"}));
        text += flag("entropy_recycle", choices.chance(50));
        text += flag("entropy_avoid", choices.chance(50));
        text += number("entropy_values", choices.pick({1, 8, 256}));
        text += key("flowlet_gap", choices.pick({"0s", "1us", "50us"}));
        text += key("adaptive_band", choices.pick({"1B", "4KB", "100KB"}));
    }
    text += random_nic(choices, plain);
    if (choices.chance(50)) {
        text += "[network.buffer]\n" + key("size", choices.pick({"300KB", "32MB", "2MB"}));
    }
    if (choices.chance(40)) {
        text += "[network.ecn]\n" + key("kmin", choices.pick({"20KB", "1KB"})) +
                key("kmax", choices.pick({"100KB", "1MB"}));
    }
    const char* const law =
        plain ? choices.pick({"hpcc", "dcqcn", "dctcp", "none"})
              : choices.pick({"hpcc", "dcqcn", "timely", "dctcp", "swift", "nscc", "none"});
    return text + "[congestion]\n" + key("law", law);
}

inline std::string random_failures(Choices& choices, std::uint32_t links, bool& for_good) {
    std::string text;
    for (std::uint32_t events = choices.chance(30) ? 1 + choices.below(3) : 0; events > 0;
         --events) {
        const std::uint32_t link = choices.below(links);
        const std::uint32_t at = 1 + choices.below(200);
        text += "[[link_event]]\n" + key("at", std::to_string(at) + "us") + number("link", link);
        if (choices.chance(25)) {
            for_good = true;
            continue;
        }
        text += "[[link_event]]\n" + key("at", std::to_string(at + 1 + choices.below(250)) + "us") +
                number("link", link) + flag("up", true);
    }
    return text;
}

/// `plain`: without what trains are refused with, most of the time.
inline RandomNetwork random_network(Choices& choices, bool plain) {
    RandomNetwork made;
    const bool all = !plain || choices.chance(10);
    made.head = number("seed", 1 + choices.below(200));
    if (choices.chance(15)) {
        made.head += key("stop", std::to_string(1 + choices.below(256)) + "us");
        made.cut_off = true;
    }
    const auto [topology, hosts] = random_topology(choices, !all);
    made.hosts = hosts;
    made.tables = topology + random_devices(choices, !all);
    made.tables += random_failures(choices, hosts, made.cut_off);
    return made;
}

/// Of all that is sent, so that an input takes a fraction of a second with sanitizers, too. What has lost its path for good
/// is sent again until the run is given up.
inline std::int64_t most_bytes(const RandomNetwork& network) {
    return network.cut_off ? 50'000 : 2'000'000;
}

/// [workload] with flows of these hosts, at most 12.
inline std::string random_flows(Choices& choices, std::uint32_t hosts) {
    std::string rows;
    for (std::uint32_t flow = 1 + choices.below(12); flow > 0; --flow) {
        const std::uint32_t from = choices.below(hosts);
        const std::uint32_t to = (from + 1 + choices.below(hosts - 1)) % hosts;
        const int bytes = choices.pick({1, 1000, 4097, 64'000, 300'000, 1'000'000});
        rows += (rows.empty() ? "[" : ", [") + std::to_string(from) + ", " + std::to_string(to) +
                ", \"" + std::to_string(bytes) + "B\", \"" + std::to_string(choices.below(100)) +
                "us\"]";
    }
    return "[workload]\n" + key("type", "flows") + "list = [" + rows + "]\n";
}

}  // namespace sluice::fuzz
