// SPDX-License-Identifier: Apache-2.0
/// How long NCCL takes for a collective inside one server, by the form of NCCL's own cost model
/// (tuning.cc): each pair of an algorithm and a protocol has a latency and a bandwidth. NCCL takes the
/// pair for which its cost model gives the least time. The time that the pair then takes is another one.
/// Where the model gives several pairs the same time, the fastest of them is taken.
///
/// A pair's time, for n members and S bytes (Collective::bytes):
///
///     base + steps x (step^p + (block / (bandwidth x factor))^p)^(1/p)
///
/// | algorithm | steps                                | block |
/// | ring      | all-reduce 2 (n - 1), else n - 1     | S / n |
/// | nvls      | 1: the switches add and multicast    | S     |
/// | pairs     | n - 1: one block to each other member | S / n |
///
/// With shared links, whose bandwidth is `bandwidth`, and `own` the first one's, a member's own part of a step and its
/// share of those links last
///
///     mine = (step^p + (block / (own x factor))^p)^(1/p), share = block / (bandwidth x factor of shared links)
///
/// pairs: base + steps x max(mine, share), as a member's own part overlaps with the transfers of the others;
/// ring: base + steps x (mine^2 + share^2)^(1/2), as a step waits for the neighbour's step, whose time varies.
///
/// Shared links carry more while a ring's buffers fit the processors' caches. A connection has 8 slots (NCCL_STEPS)
/// and sends through them in turn, so that 8 S are in use (LL: 16 S).
///
/// p = `overlap`. 1: a step's latency and its transfer follow each other. Above 1: one hides behind the
/// other. Below 1: each delays the other, as while chunks fill a pipeline. Bandwidths are given by
/// members, as channels grow with them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/model/collective_kind.h"

namespace sluice {

enum class NcclAlgorithm : std::uint8_t { ring, nvls, pairs };
enum class NcclProtocol : std::uint8_t { ll, ll128, simple };

const char* to_string(NcclAlgorithm algorithm);  ///< "ring", "nvls", "pairs"
const char* to_string(NcclProtocol protocol);    ///< "LL", "LL128", "Simple"
/// Whether the algorithm does operations of this kind.
bool supports(NcclAlgorithm algorithm, CollectiveKind kind);

inline constexpr double kLeastOverlap = 0.5;

/// One pair of an algorithm and a protocol.
struct NcclChoice {
    struct Bandwidth {
        std::uint32_t members = 2;
        double bytes_per_second = 0;
    };

    /// Its time by NCCL's cost model: base + steps x (step + block / bandwidth).
    struct CostModel {
        double base_us = 0;
        double step_us = 0;
        std::vector<Bandwidth> bandwidth;  ///< as NcclChoice::bandwidth
    };

    NcclAlgorithm algorithm = NcclAlgorithm::ring;
    NcclProtocol protocol = NcclProtocol::simple;
    double base_us = 0;
    double step_us = 0;
    double overlap = 1;  ///< at least kLeastOverlap
    /// By growing members; each holds up to the next one, the first also below.
    std::vector<Bandwidth> bandwidth;
    /// The first bandwidth is that of a member's own link, the others what it has of links that all share.
    bool shared_links = false;
    /// On the bandwidth of shared links, by CollectiveKind, and of a ring whose buffers are cached; 0: as `factor`.
    std::array<double, kCollectiveKinds> shared_factor{};
    std::array<double, kCollectiveKinds> cached_factor{};
    /// On the bandwidth, by CollectiveKind; 0: not offered for this kind.
    std::array<double, kCollectiveKinds> factor{};
    std::optional<CostModel> cost_model;  ///< none: its own time counts
    std::uint32_t fewest_members = 2;     ///< with fewer NCCL takes another one, if there is any
    /// NCCL takes it for every block of at most so many bytes, and for no larger one. 0: blocks do not decide.
    double most_block = 0;
};

/// Microseconds of one choice; n >= 2, and the choice must be offered for `kind`.
double time_us(const NcclChoice& choice, CollectiveKind kind, std::uint32_t members, double bytes);

/// The same by NCCL's cost model; infinity with too few members. Where blocks decide: 0, or infinity for too large ones.
double model_us(const NcclChoice& choice, CollectiveKind kind, std::uint32_t members, double bytes);

/// All choices of one interconnect of one GPU type.
struct NcclTable {
    std::vector<NcclChoice> choices;

    bool has(CollectiveKind kind) const;
    /// The one that NCCL takes, the first of equals; null if none is offered.
    const NcclChoice* choose(CollectiveKind kind, std::uint32_t members, double bytes) const;
    /// The pair as it runs on many channels: the last one that the table has; null if there is none.
    const NcclChoice* find(NcclAlgorithm algorithm, NcclProtocol protocol) const;
};

}  // namespace sluice
