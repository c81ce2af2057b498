// SPDX-License-Identifier: Apache-2.0
/// Small training jobs and what is asked of their graphs.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "core/error.h"
#include "core/job/workload.h"
#include "tests/support/fake_engine.h"
#include "tests/support/model_support.h"
#include "workloads/training/training.h"
#include "workloads/training/training_costs.h"

namespace sluice::trained {

struct Totals {
    std::size_t flows = 0;
    std::int64_t bytes = 0;
};

inline std::map<OpClass, Totals> totals_of(const JobGraph& graph) {
    std::map<OpClass, Totals> totals;
    for (const JobGraph::Message& message : graph.messages()) {
        Totals& total = totals[graph.label(message.send).cls];
        ++total.flows;
        total.bytes += message.bytes;
    }
    return totals;
}

/// Eight layers, given times, one GPU per server: tensor parallelism and the rest over the network
/// where there is any.
inline TrainingConfig small(std::uint32_t pp, std::uint32_t micro_batches) {
    TrainingConfig config;
    config.model.name = "small";
    config.model.layers = 16;
    config.model.hidden = 64;
    config.model.heads = 8;
    config.model.kv_heads = 8;
    config.model.ffn = 256;
    config.model.vocabulary = 1000;
    config.sequence = 64;
    config.pp = pp;
    config.micro_batches = micro_batches;
    config.forward_time = 16 * kMicrosecond;
    config.backward_time = 32 * kMicrosecond;
    config.weight_time = 16 * kMicrosecond;
    return config;
}

inline TrainingConfig small_mixture(std::uint32_t ep, std::uint32_t dp) {
    TrainingConfig config = small(1, 1);
    config.model.experts = 8;
    config.model.top_k = 2;
    config.model.layers = 2;
    config.ep = ep;
    config.dp = dp;
    return config;
}

/// Runs the job; `free`: messages take no time at all.
inline Workload run(const TrainingConfig& config, bool free, std::uint32_t gpus_per_server = 1) {
    Workload work = make_workload(training_graph(config, config.ranks(), gpus_per_server),
                                  fake::hosts(config.ranks()));
    if (free) {
        for (FlowSpec& flow : work.flows) flow.size = 0;
    }
    fake::Engine(*work.application, work.flows, config.ranks(), free ? 0 : kMicrosecond).run();
    if (!work.application->complete()) throw InternalError("the job is not complete");
    return work;
}

inline Tick duration(const TrainingConfig& config, bool free, std::uint32_t gpus_per_server = 1) {
    return run(config, free, gpus_per_server).application->last_end();
}

inline std::string error_of(const TrainingConfig& config, std::size_t hosts = 128,
                            std::uint32_t gpus_per_server = 8) {
    try {
        check_training(config, hosts, gpus_per_server);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

inline bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace sluice::trained
