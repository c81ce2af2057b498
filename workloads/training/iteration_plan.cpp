// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/iteration_plan.h"

namespace sluice {

IterationPlan::IterationPlan(const TrainingConfig& of, const RankPlaces& at)
    : config(of),
      places(at),
      tensor_on_network(tensor_uses_network(of, at)),
      detail(training_detail(of, tensor_on_network)),
      pipeline(of.pipeline()),
      groups(of),
      costs(training_costs(of)),
      lanes(groups.lanes()),
      chunks(chunks_per_rank(pipeline)) {
    for (Lane lane = 0; lane < lanes; ++lane) lane_names.push_back(groups.lane_name(lane));
}

}  // namespace sluice
