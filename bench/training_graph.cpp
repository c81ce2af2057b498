// SPDX-License-Identifier: Apache-2.0
/// How long the graph of one iteration of GPT-175B on 1024 GPUs (TP8-DP16-PP8) takes to build,
/// finish() included: 1F1B and interleaved, 16 and 96 micro-batches, whole stages and single layers.
/// Checks the number of messages and their bytes per class against the formulae before it reports;
/// a wrong graph fails. Bar: 3 s each.
///
/// usage: training_graph [MODEL_FOLDER]
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "workloads/model/model_file.h"
#include "workloads/training/training.h"
#include "workloads/training/training_costs.h"

namespace {

using namespace sluice;

struct Case {
    PipelineSchedule schedule;
    std::uint32_t chunks;
    std::uint32_t micro_batches;
    TrainingDetail detail;
};

/// Boundaries: v p - 1, each crossed by every micro-batch in both directions on every lane, in
/// 2 b s h / tp bytes. Rings of dp: reduce-scatter and all-gather, dp - 1 steps of each.
void check(const TrainingConfig& config, const JobGraph& graph) {
    const std::size_t lanes = std::size_t{config.tp} * config.dp;
    const std::size_t boundaries = std::size_t{config.pp} * config.chunks - 1;
    const std::size_t boundary_flows = boundaries * config.micro_batches * lanes * 2;
    const std::size_t ring_flows = std::size_t{graph.rank_count()} * 2 * (config.dp - 1);
    const TrainingCosts costs = training_costs(config);
    std::size_t flows[2] = {0, 0};
    std::int64_t bytes[2] = {0, 0};
    for (const JobGraph::Message& message : graph.messages()) {
        const bool ring = graph.label(message.send).cls == OpClass::dp;
        ++flows[ring ? 1 : 0];
        bytes[ring ? 1 : 0] += message.bytes;
    }
    std::int64_t reduced = 0;
    for (const StageCosts& stage : costs.stages) reduced += stage.dense_parameters;
    const std::int64_t ring_bytes =
        reduced * (config.gradient_bytes + config.parameter_bytes) * (config.dp - 1) * config.tp;
    if (flows[0] != boundary_flows || flows[1] != ring_flows || bytes[1] != ring_bytes ||
        bytes[0] != static_cast<std::int64_t>(boundary_flows) * costs.boundary_bytes) {
        throw std::runtime_error("the graph's messages are not those of the formulae");
    }
}

void measure(const ModelShape& model, const Case& shape) {
    TrainingConfig config;
    config.model = model;
    config.tp = 8;
    config.dp = 16;
    config.pp = 8;
    config.schedule = shape.schedule;
    config.chunks = shape.chunks;
    config.micro_batches = shape.micro_batches;
    config.detail = shape.detail;
    const auto begin = std::chrono::steady_clock::now();
    const JobGraph graph = training_graph(config, 1024, 8);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    check(config, graph);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::cout << "{\"schedule\": \"" << to_string(shape.schedule)
              << "\", \"chunks\": " << shape.chunks
              << ", \"micro_batches\": " << shape.micro_batches << ", \"detail\": \""
              << (shape.detail == TrainingDetail::layer ? "layer" : "stage")
              << "\", \"operations\": " << graph.op_count()
              << ", \"messages\": " << graph.messages().size() << ", \"seconds\": " << time.count()
              << ", \"peak_mib_so_far\": " << usage.ru_maxrss / 1024 << "}" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::string folder = argc > 1 ? argv[1] : "workloads/data/models";
        const ModelShape model = find_model("gpt-175b", {folder});
        for (const TrainingDetail detail : {TrainingDetail::stage, TrainingDetail::layer}) {
            for (const std::uint32_t m : {16U, 96U}) {
                measure(model, {PipelineSchedule::one_f_one_b, 1, m, detail});
                measure(model, {PipelineSchedule::interleaved, 2, m, detail});
            }
        }
    } catch (const std::exception& error) {
        std::cerr << "training_graph: " << error.what() << "\n";
        return 1;
    }
    return 0;
}
