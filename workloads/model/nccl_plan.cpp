// SPDX-License-Identifier: Apache-2.0
#include "workloads/model/nccl_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace sluice {

namespace {

constexpr std::int64_t kKiB = 1024;

/// By protocol: LL, LL128, Simple.
using ByProtocol = std::array<double, 3>;

/// GB/s of a channel, with two servers and with more.
struct Caps {
    double two;
    double more;
};

/// What the model has for a generation of GPUs.
struct NetworkGeneration {
    double from;        ///< B/s of NVLink from which on a GPU counts as one of it
    Caps ring_ll128;    ///< perChMaxRingLL128Bws
    Caps tree_ll128;    ///< perChMaxTreeLL128Bws
    Caps tree;          ///< perChMaxTreeBws
    Caps nvls_tree;     ///< perChMaxNVLSTreeBws
    double nvls;        ///< nvlsEfficiency; 0: no NVLS
    bool nvls_as_tree;  ///< the correction of trees holds for NVLS trees, too
    bool doubles;       ///< few channels are doubled only below 50 GB/s each; channels above 45 are
    std::vector<double> speeds;  ///< GB/s that the search tries for a channel (speedArrayInter)
};

const NetworkGeneration& network_generation(const NcclLink& link) {
    static const std::array<NetworkGeneration, 3> kGenerations = {{
        {0,
         {20, 20},
         {20, 20},
         {23.6, 17.8},
         {0, 0},
         0,
         false,
         false,
         {48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12}},  // Ampere
        {300e9,
         {36.7, 36.7},
         {36.7, 29},
         {41.4, 36},
         {57.7, 45.5},
         0.85,
         false,
         true,
         {48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12}},  // Hopper
        {550e9,
         {40, 40},
         {31.67, 20},
         {42.8, 24},
         {96, 80},
         0.74,
         true,
         true,
         {96, 86,   80, 48, 45.1, 42,  40,  30,  24,   22,
          20, 17.5, 15, 12, 6,    3.0, 2.4, 1.2, 0.24, 0.12}},  // Blackwell
    }};
    const NetworkGeneration* found = &kGenerations.front();
    for (const NetworkGeneration& generation : kGenerations) {
        if (link.bytes_per_second >= generation.from) found = &generation;
    }
    return *found;
}

// Latencies in us: baseLatencies, and hwLatencies of a step over NVLink, over PCIe and between servers.
constexpr ByProtocol kRingBase = {6.6, 14, 8.4};
constexpr ByProtocol kTreeBase = {6.8, 14, 8.4};
constexpr double kPatBase = 8;
constexpr ByProtocol kRingNvlink = {0.6, 1.9, 3.4};
constexpr ByProtocol kRingPcie = {1.0, 2.5, 5.7};
constexpr ByProtocol kTreeNvlink = {0.6, 1.25, 4.0};
constexpr ByProtocol kTreePcie = {1.0, 1.9, 4.0};
constexpr ByProtocol kRingNetwork = {2.7, 4, 14};
constexpr ByProtocol kTreeNetwork = {5, 8.5, 14};
constexpr double kNvlsStep = 25;
constexpr double kNvlsNetwork = 20.9;
constexpr double kPatMember = 2.8;  ///< of each member, beside the steps
constexpr double kPatShare = 3.5;   ///< a step takes a tree's latency divided by this
/// Posting a message takes the host's processor so long (Intel); a ring's Simple steps three times.
constexpr double kNetworkPost = 1;
/// GB/s of LL over a network with two servers and with more (llMaxBws, Intel).
constexpr Caps kLlCap = {39, 20.4};
constexpr double kPlateau = 1.4;  ///< of the latency of a ring's Simple all-reduce between servers
constexpr double kPlateauBytes = 64;
/// Threads of a channel (NCCL_*_MAX_NTHREADS), and bytes for each below which there are fewer channels.
constexpr std::array<std::int64_t, 3> kThreads = {512, 640, 512};
constexpr std::array<std::int64_t, 3> kThreadBytes = {8, 8, 64};
constexpr std::uint32_t kMostChannels = 64;
constexpr std::uint32_t kNvlsChannels = 16;

/// What is measured of trees, relative to the model, from 64 B on by factors of 2 (treeCorrectionFactor).
constexpr std::array<std::array<double, 24>, 3> kTreeCorrection = {{
    {1., 1., 1., 1., .9, .8, .7, .7, .7, .7, .6, .5,
     .4, .4, .5, .6, .7, .8, .9, 1., 1., 1., 1., 1.},
    {1., 1., 1., 1., 1., .9, .8, .8, .8, .7, .6, .6,
     .6, .6, .6, .6, .8, .9, .9, .9, .9, 1., 1., 1.},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}};

std::size_t at(NcclProtocol protocol) { return static_cast<std::size_t>(protocol); }

double floor_log2(double value) { return std::floor(std::log2(value)); }

double tree_correction(NcclProtocol protocol, double bytes, std::size_t below) {
    if (bytes < 64) return 1;
    const auto size = static_cast<std::size_t>(floor_log2(bytes / 64));
    return size < below ? kTreeCorrection[at(protocol)][size] : 1;
}

/// Channels that the search finds, GB/s of each.
struct Channels {
    std::uint32_t nics = 1;   ///< with NICs of their own
    std::uint32_t count = 1;  ///< as the model counts them, before all are doubled
    double rate = 0;
    double tree_rate = 0;  ///< of a tree inside a server
    double nvls_rate = 0;  ///< of an NVLS head inside a server
    double nvls_network = 0;
};

class CostModel {
  public:
    CostModel(const NcclGroup& group, CollectiveKind kind, double bytes)
        : group_(group),
          kind_(kind),
          bytes_(bytes),
          generation_(network_generation(group.link)),
          per_server_(static_cast<double>(group.members) / group.servers),
          channels_(search()) {}

    bool offered(NcclNetworkAlgorithm algorithm, NcclProtocol protocol) const {
        const bool sum = kind_ == CollectiveKind::all_reduce;
        if (protocol == NcclProtocol::ll128 && !group_.link.nvlink && per_server_ > 1) return false;
        switch (algorithm) {
            case NcclNetworkAlgorithm::ring: return true;
            case NcclNetworkAlgorithm::tree: return sum;
            case NcclNetworkAlgorithm::nvls_tree:
                return sum && protocol == NcclProtocol::simple && group_.nvls &&
                       generation_.nvls > 0 && group_.least_per_server >= kFewestOfNvls;
            case NcclNetworkAlgorithm::pat:
                return !sum && protocol == NcclProtocol::simple && group_.members == group_.servers;
        }
        return false;
    }

    NcclPlan plan(NcclNetworkAlgorithm algorithm, NcclProtocol protocol) const {
        NcclPlan plan;
        plan.algorithm = algorithm;
        plan.protocol = protocol;
        set_steps(plan);
        plan.model_us = latency(plan) + bytes_ / (1e3 * bandwidth(algorithm, protocol));
        set_channels(plan);
        set_chunk(plan);
        return plan;
    }

  private:
    double steps() const {
        return (kind_ == CollectiveKind::all_reduce ? 2.0 : 1.0) * (group_.members - 1);
    }
    double cap(const Caps& caps) const { return group_.servers <= 2 ? caps.two : caps.more; }

    /// The channels and the rate at which the most gets through NICs and the links inside a server. A GPU that is the last of
    /// its server in a channel sends nothing inside it; over PCIe it sends to its NIC the same way.
    Channels search() const {
        const double link = group_.link.bytes_per_second / 1e9;
        const double nic = group_.nic_bytes_per_second / 1e9;
        const double inside = group_.link.nvlink ? (per_server_ - 1) / per_server_ : 1;
        const auto fit = [&](double speed) {
            if (inside <= 0) return group_.least_per_server;
            const double most = std::floor(link * 1.001 / (speed * inside));
            return static_cast<std::uint32_t>(std::clamp<double>(most, 0, group_.least_per_server));
        };
        Channels best;
        best.rate = generation_.speeds.back();
        bool found = false;
        for (const double speed : generation_.speeds) {
            // More channels at less than half of the rate are not tried.
            if (found && speed <= 0.49 * best.rate) break;
            const std::uint32_t count = fit(speed);
            if (speed > nic || count == 0 || (found && count * speed <= best.nics * best.rate)) {
                continue;
            }
            best.nics = count;
            best.rate = speed;
            found = true;
        }
        best.tree_rate = best.rate;
        best.nvls_rate = generation_.speeds.back();
        // Ascending: a tree's links inside are used as far as they go, up to twice a NIC's rate.
        for (auto speed = generation_.speeds.rbegin(); speed != generation_.speeds.rend();
             ++speed) {
            const bool more = *speed > best.tree_rate && best.tree_rate < 2 * best.rate;
            if (more && fit(*speed) >= best.nics) best.tree_rate = *speed;
            if (*speed <= nic && *speed * best.nics <= link * 1.001) best.nvls_rate = *speed;
            if (*speed <= nic) best.nvls_network = *speed;
        }
        best.count = best.nics;
        if (best.rate >= 25 && !(generation_.doubles && best.rate < 50 && best.nics > 4)) {
            best.count *= 2;
            best.rate /= 2;
            best.tree_rate /= 2;
        }
        return best;
    }

    /// GB/s of the tensor.
    double bandwidth(NcclNetworkAlgorithm algorithm, NcclProtocol protocol) const {
        const double count = channels_.count;
        switch (algorithm) {
            case NcclNetworkAlgorithm::ring: {
                double bus = count * channels_.rate;
                if (protocol == NcclProtocol::ll) bus = std::min(cap(kLlCap), bus / 2);
                if (protocol == NcclProtocol::ll128) {
                    bus = std::min(0.92 * bus, count * cap(generation_.ring_ll128));
                }
                return bus * group_.members / steps();
            }
            case NcclNetworkAlgorithm::tree: return tree_bandwidth(protocol);
            case NcclNetworkAlgorithm::nvls_tree: return nvls_bandwidth();
            case NcclNetworkAlgorithm::pat: return 0.75 * count * channels_.rate;
        }
        return 0;
    }

    double tree_bandwidth(NcclProtocol protocol) const {
        const double count = channels_.count;
        const double rate = group_.servers <= 2 ? channels_.tree_rate : channels_.rate;
        double bus = std::min(0.92 * count * rate, count * cap(generation_.tree));
        if (protocol == NcclProtocol::ll) bus = std::min(bus / 3.8, cap(kLlCap));
        if (protocol == NcclProtocol::ll128) {
            bus = std::min(bus * 120 / 128, count * cap(generation_.tree_ll128));
        }
        // With one GPU in a server the search finds the plain pattern of trees.
        if (group_.members == group_.servers) bus *= 0.85;
        return bus / 2 * tree_correction(protocol, bytes_, 23);
    }

    double nvls_bandwidth() const {
        const double heads = channels_.nics;
        const double inside = channels_.nvls_rate * generation_.nvls * (heads - 1) / heads * 2;
        const double across = channels_.nvls_network * (group_.servers <= 2 ? 2 : 1);
        const double bus = heads * std::min({inside, across, cap(generation_.nvls_tree)});
        const double correction =
            generation_.nvls_as_tree ? tree_correction(NcclProtocol::simple, bytes_, 24) : 1;
        return bus * group_.members / steps() * correction;
    }

    void set_steps(NcclPlan& plan) const {
        const std::size_t p = at(plan.protocol);
        const bool nvlink = group_.link.nvlink;
        const bool alone = group_.members == group_.servers;
        switch (plan.algorithm) {
            case NcclNetworkAlgorithm::ring:
                plan.base_us = kRingBase[p];
                plan.server_step_us = (nvlink ? kRingNvlink : kRingPcie)[p];
                // With one GPU in a server nothing hides a step of the network.
                plan.network_step_us = (alone ? kTreeNetwork : kRingNetwork)[p];
                return;
            case NcclNetworkAlgorithm::tree:
                plan.base_us = kTreeBase[p];
                plan.server_step_us = (nvlink ? kTreeNvlink : kTreePcie)[p];
                plan.network_step_us = kTreeNetwork[p];
                return;
            case NcclNetworkAlgorithm::nvls_tree:
                plan.server_step_us = kNvlsStep;
                plan.network_step_us = kNvlsNetwork;
                return;
            case NcclNetworkAlgorithm::pat:
                plan.base_us = kPatBase + group_.members * kPatMember;
                plan.network_step_us = kTreeNetwork[p] / kPatShare;
                return;
        }
    }

    double latency(const NcclPlan& plan) const {
        const double levels = floor_log2(group_.servers);
        switch (plan.algorithm) {
            case NcclNetworkAlgorithm::ring: {
                const bool sum = kind_ == CollectiveKind::all_reduce;
                const bool simple = plan.protocol == NcclProtocol::simple;
                const double across = (sum ? 2 : 1) * (group_.servers - 1.0);
                const double inside =
                    std::max(plan.server_step_us, kNetworkPost * (simple ? 3 : 1));
                const double all =
                    plan.base_us + (steps() - across) * inside + across * plan.network_step_us;
                const double each = std::floor(bytes_ / (most_channels() * group_.members));
                return sum && simple && each >= kPlateauBytes ? kPlateau * all : all;
            }
            case NcclNetworkAlgorithm::tree: {
                const double inside = std::floor(per_server_) - 1;
                return plan.base_us +
                       2 * (inside * plan.server_step_us + levels * plan.network_step_us);
            }
            case NcclNetworkAlgorithm::nvls_tree:
                return plan.server_step_us + 2 * levels * plan.network_step_us;
            case NcclNetworkAlgorithm::pat: return plan.base_us + levels * plan.network_step_us;
        }
        return 0;
    }

    /// Rings and trees have each channel of the search twice, few fast ones four times (connect.cc).
    std::uint32_t most_channels() const {
        std::uint32_t count = 2 * channels_.count;
        if (generation_.doubles && channels_.rate > 45 && count < 16) count *= 2;
        return std::min(count, kMostChannels);
    }

    void set_channels(NcclPlan& plan) const {
        if (plan.algorithm == NcclNetworkAlgorithm::nvls_tree) {
            plan.nccl_channels = kNvlsChannels;
            return;
        }
        plan.most_channels = channels_.nics;
        const std::size_t p = at(plan.protocol);
        std::int64_t each = kThreads[p] * kThreadBytes[p];
        if (plan.algorithm == NcclNetworkAlgorithm::ring && plan.protocol == NcclProtocol::ll)
            each *= group_.members;
        const auto filled = static_cast<std::uint32_t>(
            std::clamp<double>(std::floor(bytes_ / static_cast<double>(each)), 1, most_channels()));
        plan.nccl_channels = filled;
        plan.channels = std::min(filled, channels_.nics);
    }

    /// A channel's buffer holds eight steps: of LL 32 KiB, of LL128 600,000 B / 16 x 15, of Simple 512 KiB. A ring's
    /// Simple sends two at a time.
    void set_chunk(NcclPlan& plan) const {
        constexpr std::size_t kSteps = 8;
        constexpr std::int64_t kLl128Step = 576'000;
        plan.in_flight = kSteps;
        plan.chunk = plan.protocol == NcclProtocol::ll      ? 32 * kKiB
                     : plan.protocol == NcclProtocol::ll128 ? kLl128Step
                                                            : 512 * kKiB;
        if (plan.algorithm == NcclNetworkAlgorithm::ring && plan.protocol == NcclProtocol::simple) {
            plan.chunk *= 2;
            plan.in_flight = kSteps / 2;
        }
        if (plan.algorithm == NcclNetworkAlgorithm::tree && plan.protocol == NcclProtocol::ll128) {
            const double depth = 1 + floor_log2(group_.servers) + 0.1 * per_server_;
            const auto halve = [&](double chunks, std::int64_t least) {
                const double each = bytes_ / plan.nccl_channels;
                while (std::floor(each / static_cast<double>(plan.chunk)) <
                           depth * chunks / per_server_ &&
                       plan.chunk > least) {
                    plan.chunk /= 2;
                }
            };
            halve(64, 128 * kKiB);
            halve(16, 32 * kKiB);
        }
        if (plan.algorithm == NcclNetworkAlgorithm::nvls_tree) plan.chunk = nvls_piece();
    }

    /// What all heads of all channels take at a time.
    std::int64_t nvls_piece() const {
        const std::int64_t at_once = std::int64_t{kNvlsChannels} * channels_.nics;
        std::int64_t chunk = (group_.servers >= 4 ? 64 : 128) * kKiB;
        const auto lower = [&](std::int64_t rounds, std::int64_t least) {
            if (bytes_ < static_cast<double>(rounds * at_once * chunk)) {
                chunk = std::min(chunk, least);
            }
        };
        lower(4, 64 * kKiB);
        lower(1, 32 * kKiB);
        return at_once * chunk;
    }

    const NcclGroup& group_;
    CollectiveKind kind_;
    double bytes_;
    const NetworkGeneration& generation_;
    double per_server_;
    Channels channels_;
};

}  // namespace

const char* to_string(NcclNetworkAlgorithm algorithm) {
    switch (algorithm) {
        case NcclNetworkAlgorithm::ring: return "ring";
        case NcclNetworkAlgorithm::tree: return "tree";
        case NcclNetworkAlgorithm::nvls_tree: return "NVLS tree";
        case NcclNetworkAlgorithm::pat: return "PAT";
    }
    return "";
}

std::string NcclPlan::text() const {
    return std::string(to_string(algorithm)) + " " + to_string(protocol) + ", " +
           std::to_string(nccl_channels) + (nccl_channels == 1 ? " channel" : " channels");
}

bool is_planned(CollectiveKind kind) { return supports(NcclAlgorithm::ring, kind); }

std::optional<NcclPlan> plan_nccl(const NcclGroup& group, CollectiveKind kind, std::int64_t bytes,
                                  const NcclLimits& limits) {
    const CostModel model(group, kind, static_cast<double>(bytes));
    std::optional<NcclPlan> best;
    // In NCCL's order: the first of equals is taken.
    for (const NcclNetworkAlgorithm algorithm :
         {NcclNetworkAlgorithm::tree, NcclNetworkAlgorithm::ring, NcclNetworkAlgorithm::nvls_tree,
          NcclNetworkAlgorithm::pat}) {
        for (const NcclProtocol protocol :
             {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
            if (limits.algorithm.value_or(algorithm) != algorithm) continue;
            if (limits.protocol.value_or(protocol) != protocol) continue;
            if (!model.offered(algorithm, protocol)) continue;
            const NcclPlan plan = model.plan(algorithm, protocol);
            if (!best || plan.model_us < best->model_us) best = plan;
        }
    }
    return best;
}

std::int64_t wire_bytes(NcclProtocol protocol, std::int64_t payload) {
    switch (protocol) {
        case NcclProtocol::ll: return 2 * payload;
        case NcclProtocol::ll128: return (payload + 119) / 120 * 128;
        case NcclProtocol::simple: return payload;
    }
    return payload;
}

}  // namespace sluice
