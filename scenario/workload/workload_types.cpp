// SPDX-License-Identifier: Apache-2.0
#include "scenario/workload/workload_part.h"

namespace sluice {

// Each is in the file of its reader.
extern const WorkloadType kTraining;
extern const WorkloadType kAicb;
extern const WorkloadType kCollective;
extern const WorkloadType kRingAllReduce;
extern const WorkloadType kRingReduceScatter;
extern const WorkloadType kRingAllGather;
extern const WorkloadType kAllToAll;
extern const WorkloadType kGoal;
extern const WorkloadType kChakra;
extern const WorkloadType kStream;
extern const WorkloadType kFlows;
extern const WorkloadType kPoisson;
extern const WorkloadType kPermutation;
extern const WorkloadType kIncast;
extern const WorkloadType kRing;
extern const WorkloadType kHtsim;

const std::vector<const WorkloadType*>& workload_types() {
    static const std::vector<const WorkloadType*> kTypes{
        &kTraining,      &kAicb,     &kCollective,  &kRingAllReduce, &kRingReduceScatter,
        &kRingAllGather, &kAllToAll, &kGoal,        &kChakra,        &kStream,
        &kFlows,         &kPoisson,  &kPermutation, &kIncast,        &kRing,
        &kHtsim};
    return kTypes;
}

}  // namespace sluice
