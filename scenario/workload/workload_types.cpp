// SPDX-License-Identifier: Apache-2.0
#include "scenario/workload/workload_part.h"

namespace sluice {

// Each is in the file of its reader.
// clang-format off
#define SLUICE_WORKLOADS(TYPE) \
    TYPE(kTraining)            \
    TYPE(kAicb)                \
    TYPE(kCollective)          \
    TYPE(kRingAllReduce)       \
    TYPE(kRingReduceScatter)   \
    TYPE(kRingAllGather)       \
    TYPE(kAllToAll)            \
    TYPE(kGoal)                \
    TYPE(kChakra)              \
    TYPE(kStream)              \
    TYPE(kFlows)               \
    TYPE(kPoisson)             \
    TYPE(kPermutation)         \
    TYPE(kIncast)              \
    TYPE(kRing)                \
    TYPE(kHtsim)
// clang-format on

#define SLUICE_DECLARE(type) extern const WorkloadType type;
SLUICE_WORKLOADS(SLUICE_DECLARE)
#undef SLUICE_DECLARE

const std::vector<const WorkloadType*>& workload_types() {
#define SLUICE_LIST(type) &type,
    static const std::vector<const WorkloadType*> kTypes{SLUICE_WORKLOADS(SLUICE_LIST)};
#undef SLUICE_LIST
    return kTypes;
}

}  // namespace sluice
