// SPDX-License-Identifier: Apache-2.0
#include "workloads/model/nccl_cost_model.h"

#include <algorithm>
#include <array>
#include <vector>

namespace sluice {

namespace {

/// What the model has for a generation of GPUs.
struct Generation {
    double from;                ///< B/s of NVLink from which on a GPU counts as one of it
    double ll;                  ///< B/s that LL reaches at most in one server (llMaxBws)
    double nvls;                ///< of the bandwidth (nvlsEfficiency); 0: no NVLS
    std::vector<double> heads;  ///< B/s that the search tries for an NVLS head (speedArrayIntra)
};

const Generation& generation_of(const NcclLink& link) {
    static const std::array<Generation, 3> kGenerations = {{
        {0, 87.7e9, 0, {}},                                          // Ampere
        {300e9, 141e9, 0.85, {60e9, 50e9, 40e9, 30e9, 24e9, 20e9}},  // Hopper
        {550e9, 282e9, 0.74, {90e9, 80e9, 70e9, 60e9, 50e9, 45e9}},  // Blackwell
    }};
    const Generation* found = &kGenerations.front();
    for (const Generation& generation : kGenerations) {
        if (link.bytes_per_second >= generation.from) found = &generation;
    }
    return *found;
}

/// Each of `members` is the head of a part, at the largest rate that all together get through a link.
double nvls_rate(const NcclLink& link, const Generation& generation, std::uint32_t members) {
    double rate = generation.heads.back();
    for (const double head : generation.heads) {
        if (head * members > link.bytes_per_second * 1.001) continue;
        rate = head;
        break;
    }
    return rate * members * generation.nvls;
}

}  // namespace

std::optional<NcclChoice::CostModel> nccl_cost_model(const NcclLink& link, NcclAlgorithm algorithm,
                                                     NcclProtocol protocol) {
    const Generation& generation = generation_of(link);
    if (algorithm == NcclAlgorithm::pairs) return std::nullopt;
    if (algorithm == NcclAlgorithm::nvls) {
        if (!link.nvlink || generation.nvls <= 0) return std::nullopt;
        return NcclChoice::CostModel{
            0, 25, {{4, nvls_rate(link, generation, 4)}, {8, nvls_rate(link, generation, 8)}}};
    }
    const double rate = link.bytes_per_second;
    switch (protocol) {
        case NcclProtocol::ll:
            return NcclChoice::CostModel{
                6.6, link.nvlink ? 0.6 : 1.0, {{2, std::min(rate / 2, generation.ll)}}};
        case NcclProtocol::ll128:
            if (!link.nvlink) return std::nullopt;
            return NcclChoice::CostModel{14, 1.9, {{2, 0.92 * rate}}};
        case NcclProtocol::simple:
            return NcclChoice::CostModel{8.4, link.nvlink ? 3.4 : 5.7, {{2, rate}}};
    }
    return std::nullopt;
}

}  // namespace sluice
