// SPDX-License-Identifier: Apache-2.0
/// Writes a generated stream (workloads/generated/) as Chakra traces FOLDER/stream.RANK.et, node by
/// node.
///     write_chakra FOLDER RANKS OPERATIONS [ring|pairs|shift] [BYTES] [COMPUTE_US]
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/streaming/generator_arguments.h"
#include "workloads/chakra/et_file.h"

using namespace sluice;

namespace {

chakra::Node node_of(const StreamOperation& given, std::uint64_t id, RankId rank) {
    chakra::Node node;
    node.id = id;
    if (given.kind == StreamKind::compute) {
        node.name = "compute";
        node.type = chakra::NodeType::comp;
        node.duration_us = static_cast<std::uint64_t>(given.amount / kMicrosecond);
        return node;
    }
    const bool send = given.kind == StreamKind::send;
    node.name = send ? "send" : "recv";
    node.type = send ? chakra::NodeType::comm_send : chakra::NodeType::comm_recv;
    const auto own = static_cast<std::int32_t>(rank);
    const auto peer = static_cast<std::int32_t>(given.peer);
    node.attributes = {chakra::Attribute::int64("comm_size", given.amount),
                       chakra::Attribute::int32("comm_src", send ? own : peer),
                       chakra::Attribute::int32("comm_dst", send ? peer : own)};
    return node;
}

void write_rank(OperationSource& source, RankId rank, const std::string& folder) {
    chakra::EtWriter writer(folder + "/stream." + std::to_string(rank) + ".et", {});
    const std::uint64_t count = source.operation_count(rank);
    OperationBlock block;
    // What the operations of this block and of the next wait for.
    std::vector<std::vector<std::uint64_t>> waits(2 * kBlockSize);
    for (std::uint64_t first = 0; first < count; first += kBlockSize) {
        source.load(rank, static_cast<std::uint32_t>(first / kBlockSize), block);
        for (std::uint32_t i = 0; i < block.count; ++i) {
            const StreamOperation& given = block.operation(i);
            chakra::Node node = node_of(given, first + i, rank);
            node.data_deps.swap(waits[(first + i) % waits.size()]);
            for (std::uint32_t link = 0; link < given.ends; ++link) {
                const StreamOp next = block.links[given.first_link + link];
                waits[next % waits.size()].push_back(first + i);
            }
            writer.write(node);
        }
    }
    writer.close();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fputs(
            "usage: write_chakra FOLDER RANKS OPERATIONS [ring|pairs|shift] [BYTES] "
            "[COMPUTE_US]\n",
            stderr);
        return 2;
    }
    const GeneratorOptions options = generator_options(argc, argv, "10", kMicrosecond);
    const auto source = make_operation_generator(options);
    for (RankId rank = 0; rank < options.ranks; ++rank) write_rank(*source, rank, argv[1]);
    return 0;
}
