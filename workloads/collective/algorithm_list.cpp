// SPDX-License-Identifier: Apache-2.0
#include "workloads/collective/algorithm_list.h"

#include <algorithm>

#include "core/error.h"
#include "workloads/collective/algorithms.h"

namespace sluice {

#define SLUICE_DECLARE(algorithm, type) extern const AlgorithmType type;
SLUICE_COLLECTIVE_ALGORITHMS(SLUICE_DECLARE)
#undef SLUICE_DECLARE

bool AlgorithmType::can_do(CollectiveKind kind) const {
    if (kind == CollectiveKind::all_to_all) return add_all_to_all != nullptr;
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

const AlgorithmType& algorithm_type(CollectiveAlgorithm algorithm) {
    switch (algorithm) {
#define SLUICE_CASE(algorithm, type) \
    case CollectiveAlgorithm::algorithm: return type;
        SLUICE_COLLECTIVE_ALGORITHMS(SLUICE_CASE)
#undef SLUICE_CASE
        default: throw InternalError("a collective algorithm that is not in the list");
    }
}

const std::vector<std::pair<const char*, CollectiveAlgorithm>>& collective_algorithm_words() {
#define SLUICE_WORD(algorithm, type) {type.name, CollectiveAlgorithm::algorithm},
    static const std::vector<std::pair<const char*, CollectiveAlgorithm>> kWords{
        {"automatic", CollectiveAlgorithm::automatic},
        {"nccl", CollectiveAlgorithm::nccl},
        SLUICE_COLLECTIVE_ALGORITHMS(SLUICE_WORD){"computed", CollectiveAlgorithm::computed}};
#undef SLUICE_WORD
    return kWords;
}

const char* to_string(CollectiveAlgorithm algorithm) {
    if (algorithm == CollectiveAlgorithm::automatic) return "automatic";
    if (algorithm == CollectiveAlgorithm::nccl) return "nccl";
    if (algorithm == CollectiveAlgorithm::computed) return "computed";
    return algorithm_type(algorithm).name;
}

const char* describe(CollectiveAlgorithm algorithm) {
    if (algorithm == CollectiveAlgorithm::automatic) {
        return "computed inside a server, direct or pxn for all-to-all, else ring";
    }
    if (algorithm == CollectiveAlgorithm::nccl) {
        return "between servers the algorithm, protocol and channels that NCCL chooses; else "
               "automatic";
    }
    if (algorithm == CollectiveAlgorithm::computed)
        return "the linear model's time; members of one server, no messages";
    return algorithm_type(algorithm).help;
}

}  // namespace sluice
