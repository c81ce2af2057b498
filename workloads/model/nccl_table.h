// SPDX-License-Identifier: Apache-2.0
/// How long NCCL takes for a collective inside one server, by the form of NCCL's own cost model
/// (tuning.cc): each pair of an algorithm and a protocol has a latency and a bandwidth. NCCL takes the
/// pair that its cost model believes to be fastest, which need not be so; of pairs that it believes equal,
/// the one with the least time. A pair's time, for n members and S bytes (Collective::bytes):
///
///     base + steps x (step^p + (block / (bandwidth x factor))^p)^(1/p)
///
/// | algorithm | steps                                | block |
/// | ring      | all-reduce 2 (n - 1), else n - 1     | S / n |
/// | nvls      | 1: the switches add and multicast    | S     |
/// | pairs     | n - 1: one block to each other member | S / n |
///
/// p = `overlap`: 1 if a step's latency and its transfer follow each other, more the more of one
/// hides behind the other, less if each delays the other, as when chunks fill a pipeline. Bandwidths are given by members, as channels grow with them.
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

    /// What NCCL's cost model has of it: base + steps x (step + block / bandwidth).
    struct Belief {
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
    /// On the bandwidth, by CollectiveKind; 0: not offered for this kind.
    std::array<double, kCollectiveKinds> factor{};
    std::optional<Belief> belief;      ///< none: that it takes as long as it does
    std::uint32_t fewest_members = 2;  ///< with fewer NCCL takes another one, if there is any
};

/// Microseconds of one choice; n >= 2, and the choice must be offered for `kind`.
double time_us(const NcclChoice& choice, CollectiveKind kind, std::uint32_t members, double bytes);

/// Microseconds that NCCL believes that it takes; infinity with too few members.
double believed_us(const NcclChoice& choice, CollectiveKind kind, std::uint32_t members,
                   double bytes);

/// All choices of one interconnect of one GPU type.
struct NcclTable {
    std::vector<NcclChoice> choices;

    bool has(CollectiveKind kind) const;
    /// The one that NCCL takes, the first of equals; null if none is offered.
    const NcclChoice* choose(CollectiveKind kind, std::uint32_t members, double bytes) const;
};

}  // namespace sluice
