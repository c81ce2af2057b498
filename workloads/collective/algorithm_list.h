// SPDX-License-Identifier: Apache-2.0
/// The list of collective algorithms. An algorithm is a source file that defines its AlgorithmType (algorithms.h); it
/// joins the simulator by a line below. Scenarios, options and messages go by this list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// clang-format off
#define SLUICE_COLLECTIVE_ALGORITHMS(ALGORITHM)            \
    ALGORITHM(ring, kRingAlgorithm)                        \
    ALGORITHM(tree, kTreeAlgorithm)                        \
    ALGORITHM(halving_doubling, kHalvingDoublingAlgorithm) \
    ALGORITHM(pat, kPatAlgorithm)                          \
    ALGORITHM(direct, kDirectAlgorithm)                    \
    ALGORITHM(deepep_dispatch, kDeepepDispatchAlgorithm)   \
    ALGORITHM(deepep_combine, kDeepepCombineAlgorithm)     \
    ALGORITHM(pairwise, kPairwiseAlgorithm)                \
    ALGORITHM(hierarchical, kHierarchicalAlgorithm)        \
    ALGORITHM(nvls, kNvlsAlgorithm)                        \
    ALGORITHM(nvls_tree, kNvlsTreeAlgorithm)               \
    ALGORITHM(pxn, kPxnAlgorithm)
// clang-format on

namespace sluice {

struct AlgorithmType;

#define SLUICE_ALGORITHM(algorithm, type) algorithm,
enum class CollectiveAlgorithm : std::uint8_t {
    automatic,  ///< inside one server: `computed` if that is on; else ring, all-to-all direct
    nccl,  ///< over several servers as NCCL chooses (workloads/model/nccl_plan.h); else automatic
    computed,  ///< one server: the calibrated linear model, no flows
    SLUICE_COLLECTIVE_ALGORITHMS(SLUICE_ALGORITHM)
};
#undef SLUICE_ALGORITHM

const char* to_string(CollectiveAlgorithm algorithm);

/// All, as users write them: automatic and nccl first, computed last.
const std::vector<std::pair<const char*, CollectiveAlgorithm>>& collective_algorithm_words();
/// One line for people: what members send to each other.
const char* describe(CollectiveAlgorithm algorithm);

/// The listed algorithm; not automatic, nccl or computed.
const AlgorithmType& algorithm_type(CollectiveAlgorithm algorithm);

}  // namespace sluice
