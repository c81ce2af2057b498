// SPDX-License-Identifier: Apache-2.0
/// Writes a generated stream (workloads/generated/) as a GOAL binary or as GOAL text, in pieces: files
/// of any size in a few megabytes of memory.
///     write_goal FILE RANKS OPERATIONS [ring|pairs|shift] [BYTES] [COMPUTE_NS] [binary|text]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/core.h>

#include "bench/streaming/generator_arguments.h"
#include "workloads/goal/goal_binary.h"
#include "workloads/goal/goal_schedule.h"
#include "workloads/goal/goal_text.h"

using namespace sluice;

namespace {

GoalSchedule rank_schedule(OperationSource& source, RankId rank) {
    GoalBuilder builder;
    OperationBlock block;
    const std::uint64_t count = source.operation_count(rank);
    builder.reserve(count);
    struct Edge {
        std::uint32_t op;
        std::uint32_t on;
    };
    std::vector<Edge> edges;
    for (std::uint64_t first = 0; first < count; first += kBlockSize) {
        source.load(rank, static_cast<std::uint32_t>(first / kBlockSize), block);
        for (std::uint32_t i = 0; i < block.count; ++i) {
            const StreamOperation& given = block.operation(i);
            GoalOperation op;
            op.size = static_cast<std::uint64_t>(given.amount);
            if (given.kind == StreamKind::compute) {
                op.size /= static_cast<std::uint64_t>(kNanosecond);
            } else {
                op.kind = given.kind == StreamKind::send ? GoalKind::send : GoalKind::recv;
                op.peer = given.peer;
            }
            const std::uint32_t number = builder.add(op);
            for (std::uint32_t link = 0; link < given.ends; ++link) {
                edges.push_back({block.links[given.first_link + link], number});
            }
        }
    }
    for (const Edge& edge : edges) builder.add_edge(edge.op, edge.on, false);
    builder.end_rank();
    return builder.finish();
}

/// Text of one rank of a schedule of its own, under its number in the whole.
std::string rank_text(const GoalSchedule& schedule, RankId rank) {
    std::string text;
    write_goal_text(schedule, [&](std::string_view piece) { text += piece; });
    const std::string head = "rank 0 {";
    return fmt::format("rank {} {{", rank) + text.substr(text.find(head) + head.size());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fputs(
            "usage: write_goal FILE RANKS OPERATIONS [ring|pairs|shift] [BYTES] "
            "[COMPUTE_NS] [binary|text]\n",
            stderr);
        return 2;
    }
    const GeneratorOptions options = generator_options(argc, argv, "10000", kNanosecond);
    const bool text = argument_or(argc, argv, 7, "binary") == "text";
    const auto source = make_operation_generator(options);

    std::FILE* const out = std::fopen(argv[1], "wb");
    if (out == nullptr) {
        std::perror(argv[1]);
        return 1;
    }
    const auto put = [&](const std::string& bytes) {
        if (std::fwrite(bytes.data(), 1, bytes.size(), out) != bytes.size()) {
            std::perror(argv[1]);
            std::exit(1);
        }
    };
    std::vector<std::uint64_t> sizes(options.ranks, 0);
    put(text ? fmt::format("num_ranks {}\n", options.ranks) : goal_binary_header(sizes, 0, 0));
    for (RankId rank = 0; rank < options.ranks; ++rank) {
        const GoalSchedule schedule = rank_schedule(*source, rank);
        const std::string block = text ? rank_text(schedule, rank) : goal_binary_block(schedule, 0);
        sizes[rank] = block.size();
        put(block);
    }
    std::rewind(out);
    if (!text) put(goal_binary_header(sizes, 0, 0));
    return std::fclose(out) == 0 ? 0 : 1;
}
