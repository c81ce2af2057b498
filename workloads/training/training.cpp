// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/training.h"

#include "workloads/training/iteration_builder.h"

namespace sluice {

JobGraph training_graph(const TrainingConfig& config, std::size_t hosts,
                        std::uint32_t gpus_per_server) {
    check_training(config, hosts, gpus_per_server);
    return IterationBuilder(config, gpus_per_server).build();
}

Workload training_workload(const TrainingConfig& config, const Topology& topology) {
    return make_workload(training_graph(config, topology.host_count(), topology.gpus_per_server),
                         topology.hosts());
}

}  // namespace sluice
