// SPDX-License-Identifier: Apache-2.0
#include "workloads/goal/goal_layout.h"

#include <fmt/format.h>

#include "core/error.h"

namespace sluice {

namespace {

[[noreturn]] void fail(const std::string& file, const std::string& message) {
    throw ConfigError(file, 0, message);
}

void check_magic(const std::string& file, std::uint64_t magic) {
    if (magic == kGoalInvalidated) {
        fail(file,
             "was made invalid by a simulation that ran in place (magic 2342); convert it again");
    }
    if (magic != kGoalMagic) fail(file, "is no GOAL binary: it does not begin with 4223");
}

/// The block from `start` to `end`, offsets in the file.
GoalBlock read_block(const std::string& file, std::uint32_t rank, std::uint64_t start,
                     std::uint64_t end, const GoalFetch& fetch) {
    std::string counts;
    fetch(start, 8, counts);
    GoalBlock block;
    block.node_count = get_little_endian<std::uint32_t>(counts.data());
    block.root_count = get_little_endian<std::uint32_t>(counts.data() + 4);
    const std::uint64_t length = end - start;
    if (block.node_count > (length - 8) / kGoalNode) {
        fail_goal_rank(
            file, rank,
            fmt::format("{} operations do not fit its {} bytes", block.node_count, length));
    }
    const std::uint64_t before =
        8 + std::uint64_t{4} * block.root_count + kGoalNode * block.node_count;
    if (before > length || block.node_count > kMostGoalOps || block.root_count > block.node_count) {
        fail_goal_rank(file, rank,
                       fmt::format("{} operations and {} roots do not fit its {} bytes",
                                   block.node_count, block.root_count, length));
    }
    block.roots = start + 8;
    block.nodes = block.roots + std::uint64_t{4} * block.root_count;
    block.appendix = start + before;
    block.entry_count = (length - before) / 4;
    return block;
}

}  // namespace

void fail_goal_rank(const std::string& file, std::uint32_t rank, const std::string& message) {
    fail(file, fmt::format("rank {}: {}", rank, message));
}

GoalLayoutTable read_goal_layout(const std::string& file, std::uint64_t size,
                                 const GoalFetch& fetch) {
    if (size < kGoalOffsetBase + kGoalHeader) fail(file, "is too short to be a GOAL schedule");
    std::string header;
    fetch(0, kGoalOffsetBase + kGoalHeader, header);
    check_magic(file, get_little_endian<std::uint64_t>(header.data()));
    const auto ranks = get_little_endian<std::uint32_t>(header.data() + 8);
    if (ranks == 0) fail(file, "has no ranks");
    if (ranks > kMostGoalRanks) {
        fail(file, fmt::format("{} ranks: at most {} are allowed", ranks, kMostGoalRanks));
    }
    GoalLayoutTable table;
    table.max_cpu = get_little_endian<std::uint8_t>(header.data() + 12);
    table.max_nic = get_little_endian<std::uint8_t>(header.data() + 13);
    const std::uint64_t offsets = std::uint64_t{16} * ranks;
    if (size - kGoalOffsetBase - kGoalHeader < offsets) {
        fail(file, fmt::format("is too short for the {} ranks that it names", ranks));
    }
    fetch(kGoalOffsetBase + kGoalHeader, offsets, header);
    table.ranks.reserve(ranks);
    std::uint64_t last = kGoalHeader + offsets;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const char* const at = header.data() + 16 * std::size_t{rank};
        const auto start = get_little_endian<std::uint64_t>(at);
        const auto end = get_little_endian<std::uint64_t>(at + 8);
        if (start < last || end < start || end - start < 8 || end > size - kGoalOffsetBase) {
            fail_goal_rank(
                file, rank,
                fmt::format("offsets {} to {} are not a block between {} and the file's end at {}",
                            start, end, last, size - kGoalOffsetBase));
        }
        last = end;
        table.ranks.push_back(
            read_block(file, rank, kGoalOffsetBase + start, kGoalOffsetBase + end, fetch));
    }
    return table;
}

GoalNode read_goal_node(const char* node, const std::string& file, std::uint32_t ranks,
                        std::uint32_t rank, std::uint32_t number) {
    GoalNode result;
    GoalOperation& op = result.operation;
    const auto type = get_little_endian<std::uint8_t>(node + 4);
    if (type < 1 || type > 3) {
        fail_goal_rank(
            file, rank,
            fmt::format("operation {} has type {}; 1 send, 2 recv, 3 calc", number, type));
    }
    result.dependencies = get_little_endian<std::uint32_t>(node);
    op.kind = static_cast<GoalKind>(type);
    op.peer = get_little_endian<std::uint32_t>(node + 5);
    op.size = get_little_endian<std::uint64_t>(node + 9);
    op.tag = get_little_endian<std::uint32_t>(node + 17);
    op.cpu = get_little_endian<std::uint8_t>(node + 21);
    op.nic = get_little_endian<std::uint8_t>(node + 22);
    result.ends = get_little_endian<std::uint32_t>(node + 23);
    result.first_end = get_little_endian<std::uint32_t>(node + 27);
    result.starts = get_little_endian<std::uint32_t>(node + 31);
    result.first_start = get_little_endian<std::uint32_t>(node + 35);
    if (op.size > kMostGoalSize) {
        fail_goal_rank(file, rank,
                       fmt::format("operation {} has size {}: at most {} is allowed", number,
                                   op.size, kMostGoalSize));
    }
    if (op.kind == GoalKind::calc) {
        // They mean nothing, and text has no words for them.
        op.peer = 0;
        op.tag = 0;
        op.nic = 0;
    } else if (op.peer >= ranks && !(op.kind == GoalKind::recv && op.peer == kGoalAny)) {
        fail_goal_rank(file, rank,
                       fmt::format("operation {} names rank {}; there are 0 to {}", number, op.peer,
                                   ranks - 1));
    } else if (op.kind == GoalKind::send && op.tag == kGoalAny) {
        fail_goal_rank(file, rank, fmt::format("operation {} is a send with any tag", number));
    }
    return result;
}

}  // namespace sluice
