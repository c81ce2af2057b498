// SPDX-License-Identifier: Apache-2.0
#include "core/topology/htsim_topology.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/topology/builder_support.h"
#include "core/topology/limits.h"

namespace sluice {

namespace {

constexpr std::int64_t kUnset = -1;
constexpr std::int64_t kMostGbps = 1'000'000;
constexpr std::int64_t kMostLatency = 1'000'000'000;  ///< ns

struct Tier {
    bool given = false;
    std::int64_t speed = kUnset;  ///< Gb/s, downlinks
    std::int64_t radix_down = kUnset;
    std::int64_t radix_up = kUnset;
    std::int64_t latency = kUnset;         ///< ns, downlinks
    std::int64_t switch_latency = kUnset;  ///< ns
    std::int64_t bundle = kUnset;          ///< downlinks per switch below
    std::int64_t oversubscribed = kUnset;
};

struct Shape {
    std::int64_t nodes = kUnset;
    std::int64_t tiers = kUnset;
    std::int64_t podsize = kUnset;
    Tier tier[3];
};

std::string lower(std::string_view word) {
    std::string text(word);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return text;
}

class ShapeReader {
  public:
    ShapeReader(TokenReader& reader, std::vector<std::string>& skipped)
        : reader_(reader), skipped_(skipped) {}

    Shape read() {
        while (!reader_.at_end()) line();
        check();
        return shape_;
    }

  private:
    void line() {
        const std::string shown(reader_.next("a key"));
        if (shown[0] == '#') return rest_of_line();
        const std::string key = lower(shown);
        if (key == "tier") {
            tier_ = reader_.next_integer("tier", 0, 2);
            if (shape_.tier[tier_].given) {
                reader_.fail("tier " + std::to_string(tier_) + " is described twice");
            }
            shape_.tier[tier_].given = true;
        } else if (std::int64_t* value = tier_ < 0 ? header(key) : setting(key)) {
            if (*value != kUnset) reader_.fail(shown + " is given twice");
            *value = reader_.next_integer(shown, lowest(key), highest(key));
        } else {
            look_for_others(key);
            skipped_.push_back(reader_.file() + ":" + std::to_string(reader_.line()) + ": " +
                               shown);
        }
        rest_of_line();
    }

    /// Files that begin like a fat tree's and are none.
    void look_for_others(const std::string& key) {
        if (key == "connections" || key.find("->") != std::string::npos) {
            reader_.fail(
                "is htsim's connection matrix, no topology: workload type \"htsim\" reads it");
        }
        if (key[0] >= '0' && key[0] <= '9') {
            reader_.fail(
                "a number where htsim's .topo has a key (Nodes, Tiers, Podsize); a topology.txt of "
                "HPCC ns-3 or SimAI has no comments before its header");
        }
        if (tier_ < 0 && (key == "p" || key == "a" || key == "h" || key == "q")) {
            const int line = reader_.line();
            fly_[key] = reader_.next(key);
            if (reader_.line() != line) reader_.fail("ends where the value of " + key + " is due");
        }
    }

    /// ATLAHS' dragonflies and Slim Flies have the same ending, and other keys.
    void refuse_flies() const {
        const auto value = [&](const char* key) {
            const auto found = fly_.find(key);
            return found == fly_.end() ? std::string("?") : found->second;
        };
        if (fly_.count("q") > 0) {
            missing("is htsim's Slim Fly (p " + value("p") + ", q " + value("q") +
                    "), which is not read; allowed: its fat trees (Nodes, Tiers, Podsize)");
        }
        if (fly_.empty()) return;
        missing("is htsim's dragonfly (p " + value("p") + ", a " + value("a") + ", h " +
                value("h") +
                "), which is not read; allowed: its fat trees (Nodes, Tiers, Podsize). Topology "
                "type \"dragonfly\" builds one: hosts_per_router = " +
                value("p") + ", routers_per_group = " + value("a") +
                ", global_cables_per_router = " + value("h") +
                "; rate, local_rate and global_rate are its Link_speed_host, _local and _global, "
                "and delay, local_delay and global_delay its Link_latency of the same with half "
                "the Switch_latency for each end at a switch");
    }

    void rest_of_line() {
        std::string_view rest;
        reader_.next_line(rest);
    }

    std::int64_t* header(const std::string& key) {
        if (key == "nodes") return &shape_.nodes;
        if (key == "tiers") return &shape_.tiers;
        if (key == "podsize") return &shape_.podsize;
        return nullptr;
    }

    std::int64_t* setting(const std::string& key) {
        Tier& tier = shape_.tier[tier_];
        if (key == "downlink_speed_gbps") return &tier.speed;
        if (key == "radix_down") return &tier.radix_down;
        if (key == "radix_up") return &tier.radix_up;
        if (key == "downlink_latency_ns") return &tier.latency;
        if (key == "switch_latency_ns") return &tier.switch_latency;
        if (key == "bundle") return &tier.bundle;
        if (key == "oversubscribed") return &tier.oversubscribed;
        return nullptr;
    }

    static std::int64_t lowest(const std::string& key) {
        if (key == "tiers") return 2;
        return key == "downlink_latency_ns" || key == "switch_latency_ns" ? 0 : 1;
    }
    static std::int64_t highest(const std::string& key) {
        if (key == "tiers") return 3;
        if (key == "downlink_speed_gbps") return kMostGbps;
        if (key == "downlink_latency_ns" || key == "switch_latency_ns") return kMostLatency;
        return kMaxNodes;
    }

    [[noreturn]] void missing(const std::string& what) const {
        throw ConfigError(reader_.file(), 0, what);
    }

    void check() {
        if (shape_.nodes == kUnset) refuse_flies();
        if (shape_.nodes == kUnset) missing("has no Nodes line");
        if (shape_.tiers == kUnset) missing("has no Tiers line");
        if (shape_.podsize == kUnset) missing("has no Podsize line");
        for (std::int64_t k = 0; k < shape_.tiers; ++k) {
            Tier& tier = shape_.tier[k];
            const std::string name = "Tier " + std::to_string(k);
            if (!tier.given) missing("has no " + name);
            if (tier.speed == kUnset) missing(name + " has no Downlink_speed_Gbps");
            if (tier.latency == kUnset) missing(name + " has no Downlink_Latency_ns");
            if (tier.radix_down == kUnset) missing(name + " has no Radix_Down");
            if (k + 1 < shape_.tiers && tier.radix_up == kUnset) missing(name + " has no Radix_Up");
            if (tier.switch_latency == kUnset) tier.switch_latency = 0;
            if (tier.bundle == kUnset) tier.bundle = 1;
            if (tier.oversubscribed == kUnset) tier.oversubscribed = 1;
        }
    }

    TokenReader& reader_;
    std::vector<std::string>& skipped_;
    Shape shape_;
    std::int64_t tier_ = -1;
    std::map<std::string, std::string> fly_;  ///< what a dragonfly's file says in place of Nodes
};

/// How many switches there are, by pod and in all.
struct Counts {
    std::int64_t pods = 0;
    std::int64_t tors_per_pod = 0;
    std::int64_t aggs_per_pod = 0;
    std::int64_t cores = 0;
};

class Solver {
  public:
    Solver(const Shape& shape, const std::string& file) : s_(shape), file_(file) {}

    Counts solve() {
        const Tier& tor = s_.tier[0];
        const Tier& agg = s_.tier[1];
        require(tor.bundle == 1, "Tier 0: Bundle must be 1, a host has one NIC");
        Counts counts;
        counts.pods = divide(s_.nodes, s_.podsize, "Nodes", "Podsize");
        if (s_.tiers == 2)
            require(counts.pods == 1, "two tiers make one pod: Podsize must be Nodes");
        counts.tors_per_pod = divide(s_.podsize, tor.radix_down, "Podsize", "Tier 0's Radix_Down");
        // Every step's uplinks: what comes from below over what a link above carries.
        const std::int64_t tor_uplinks =
            divide(s_.nodes * tor.speed, agg.speed * tor.oversubscribed, "the hosts' rates",
                   "Tier 1's Downlink_speed_Gbps x Tier 0's Oversubscribed");
        counts.aggs_per_pod = divide(tor_uplinks, counts.pods * agg.radix_down,
                                     "the number of ToR uplinks", "pods x Tier 1's Radix_Down");
        require(counts.aggs_per_pod * agg.bundle == tor.radix_up,
                "Tier 0's Radix_Up is " + std::to_string(tor.radix_up) + ", but there are " +
                    std::to_string(counts.aggs_per_pod) +
                    " aggregation switches per pod x Bundle " + std::to_string(agg.bundle));
        if (s_.tiers == 3) add_cores(counts, tor_uplinks);
        return counts;
    }

  private:
    void add_cores(Counts& counts, std::int64_t tor_uplinks) {
        const Tier& agg = s_.tier[1];
        const Tier& core = s_.tier[2];
        const std::int64_t agg_uplinks = divide(
            tor_uplinks * agg.speed, core.speed * agg.oversubscribed, "the ToR uplinks' rates",
            "Tier 2's Downlink_speed_Gbps x Tier 1's Oversubscribed");
        counts.cores = divide(agg_uplinks, core.radix_down, "the number of aggregation uplinks",
                              "Tier 2's Radix_Down");
        const std::int64_t per_agg =
            divide(counts.cores, counts.aggs_per_pod, "the number of core switches",
                   "aggregation switches per pod");
        require(per_agg * core.bundle == agg.radix_up,
                "Tier 1's Radix_Up is " + std::to_string(agg.radix_up) + ", but there are " +
                    std::to_string(per_agg) + " core switches per aggregation switch x Bundle " +
                    std::to_string(core.bundle));
    }

    void require(bool good, const std::string& message) const {
        if (!good) throw ConfigError(file_, 0, message);
    }
    std::int64_t divide(std::int64_t a, std::int64_t b, const char* what, const char* by) const {
        require(a % b == 0, std::string(what) + " (" + std::to_string(a) +
                                ") must be a multiple of " + by + " (" + std::to_string(b) + ")");
        return a / b;
    }

    const Shape& s_;
    const std::string& file_;
};

/// The downlinks of a tier; `below` is the tier below or null for hosts.
Cable cable(const Tier& tier, const Tier* below) {
    const std::int64_t switches =
        tier.switch_latency + (below == nullptr ? 0 : below->switch_latency);
    return {gigabits_per_second(tier.speed),
            tier.latency * kNanosecond + switches * (kNanosecond / 2), 0};
}

Topology build_clos(const Shape& s, const Counts& n, const std::string& file) {
    using build::capped_product;
    const std::int64_t tors = n.pods * n.tors_per_pod;
    const std::int64_t aggs = n.pods * n.aggs_per_pod;
    const std::int64_t tor_links = capped_product(capped_product(tors, n.aggs_per_pod, kMaxLinks),
                                                  s.tier[1].bundle, kMaxLinks);
    const std::int64_t agg_links =
        s.tiers == 3 ? capped_product(aggs, s.tier[1].radix_up, kMaxLinks) : 0;
    build::Builder builder(file, s.nodes + tors + aggs + n.cores, s.nodes + tor_links + agg_links);
    builder.add(NodeKind::host, s.nodes);
    const NodeId tor = builder.add(NodeKind::ethernet, tors);
    const NodeId agg = builder.add(NodeKind::ethernet, aggs);
    const NodeId core = builder.add(NodeKind::ethernet, n.cores);
    builder.attach(s.nodes, s.tier[0].radix_down, tor, cable(s.tier[0], nullptr));
    const Cable up = cable(s.tier[1], &s.tier[0]);
    for (std::int64_t t = 0; t < tors; ++t) {
        const std::int64_t first = t / n.tors_per_pod * n.aggs_per_pod;
        for (std::int64_t a = 0; a < n.aggs_per_pod; ++a) {
            builder.join(tor + t, agg + first + a, up, s.tier[1].bundle);
        }
    }
    for (std::int64_t a = 0; s.tiers == 3 && a < aggs; ++a) {
        for (std::int64_t c = a % n.aggs_per_pod; c < n.cores; c += n.aggs_per_pod) {
            builder.join(agg + a, core + c, cable(s.tier[2], &s.tier[1]), s.tier[2].bundle);
        }
    }
    return builder.finish();
}

}  // namespace

bool is_htsim_topology(TokenReader& reader) {
    const std::string_view first = reader.peek();
    return !first.empty() && (first[0] == '#' || (first[0] >= 'A' && first[0] <= 'Z') ||
                              (first[0] >= 'a' && first[0] <= 'z'));
}

Topology read_htsim_topology(TokenReader reader, std::vector<std::string>& skipped) {
    const Shape shape = ShapeReader(reader, skipped).read();
    const Counts counts = Solver(shape, reader.file()).solve();
    return build_clos(shape, counts, reader.file());
}

}  // namespace sluice
