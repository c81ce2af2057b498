// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/training.h"

#include "core/error.h"
#include "workloads/training/iteration_builder.h"

namespace sluice {

namespace {

bool tensor_crosses_servers(const TrainingConfig& config, const RankPlaces& places) {
    const ParallelGroups groups(config);
    for (std::uint32_t stage = 0; stage < groups.stages(); ++stage) {
        for (const LaneGroup& group : groups.tensor()) {
            std::vector<RankId> ranks;
            for (const Lane lane : group) ranks.push_back(groups.rank(stage, lane));
            if (!places.in_one_server(ranks)) return true;
        }
    }
    return false;
}

}  // namespace

bool tensor_uses_network(const TrainingConfig& config, const RankPlaces& places) {
    if (config.tp == 1) return false;
    return config.network_in_server || tensor_crosses_servers(config, places);
}

JobGraph training_graph(const TrainingConfig& config, const RankPlaces& places) {
    if (config.tp > 1 && !config.tp_across_servers && tensor_crosses_servers(config, places)) {
        throw ConfigError("order \"" + config.order +
                          "\" and the placement put a tensor-parallel group on several servers: "
                          "allowed with tp_across_servers = true");
    }
    check_stragglers(config);
    return IterationBuilder(config, places).build();
}

JobGraph training_graph(const TrainingConfig& config, std::size_t hosts,
                        std::uint32_t gpus_per_server) {
    check_training(config, hosts, gpus_per_server);
    return training_graph(config, RankPlaces::packed(config.ranks(), gpus_per_server));
}

}  // namespace sluice
