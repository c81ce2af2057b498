// SPDX-License-Identifier: Apache-2.0
#include "workloads/goal/goal_binary.h"

#include <vector>

#include <fmt/format.h>

#include "core/error.h"
#include "workloads/goal/goal_layout.h"

namespace sluice {

namespace {

template <typename T>
void put(std::string& out, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    }
}

class BinaryReader {
  public:
    BinaryReader(std::istream& input, const std::string& file) : input_(input), file_(file) {}

    GoalSchedule read() {
        input_.seekg(0, std::ios::end);
        const std::streamoff size = input_.tellg();
        if (size < 0) throw ConfigError(file_, 0, "cannot be read");
        const GoalLayoutTable table =
            read_goal_layout(file_, static_cast<std::uint64_t>(size),
                             [this](std::uint64_t at, std::uint64_t count, std::string& into) {
                                 fetch(at, count, into);
                             });
        ranks_ = static_cast<std::uint32_t>(table.ranks.size());
        // Of a node's 39 bytes the schedule keeps 23, so blocks bound what is allocated.
        GoalOp operations = 0;
        for (const GoalBlock& block : table.ranks) operations += block.node_count;
        builder_.reserve(operations);
        for (rank_ = 0; rank_ < ranks_; ++rank_) read_rank(table.ranks[rank_]);
        return builder_.finish();
    }

  private:
    [[noreturn]] void fail_rank(const std::string& message) const {
        fail_goal_rank(file_, rank_, message);
    }

    void fetch(std::uint64_t at, std::uint64_t count, std::string& into) {
        into.resize(count);
        input_.clear();
        input_.seekg(static_cast<std::streamoff>(at));
        input_.read(into.data(), static_cast<std::streamsize>(count));
        if (static_cast<std::uint64_t>(input_.gcount()) != count) {
            throw ConfigError(file_, 0, "cannot be read to its end");
        }
    }

    void read_rank(const GoalBlock& block) {
        fetch(block.nodes, kGoalNode * block.node_count + 4 * block.entry_count, bytes_);
        block_ = &block;
        entered_ = 0;
        expected_.assign(block.node_count, 0);
        for (std::uint32_t i = 0; i < block.node_count; ++i) builder_.add(node(i).operation);
        for (std::uint32_t i = 0; i < block.node_count; ++i) {
            const GoalNode on = node(i);
            read_edges(i, on.first_end, on.ends, false);
            read_edges(i, on.first_start, on.starts, true);
        }
        for (std::uint32_t i = 0; i < block.node_count; ++i) {
            const std::uint32_t said = node(i).dependencies;
            if (expected_[i] == said) continue;
            fail_rank(fmt::format("operation {} says that it has {} dependencies, there are {}", i,
                                  said, expected_[i]));
        }
        builder_.end_rank();
    }

    GoalNode node(std::uint32_t number) const {
        return read_goal_node(bytes_.data() + kGoalNode * number, file_, ranks_, rank_, number);
    }

    void read_edges(std::uint32_t on, std::uint64_t first, std::uint64_t count, bool start) {
        // Without dependents the index means nothing. Nodes do not share entries.
        entered_ += count;
        const std::uint64_t entries = block_->entry_count;
        if (count > 0 && (first > entries || count > entries - first || entered_ > entries)) {
            fail_rank(fmt::format("operation {}: dependents {} to {} of an appendix of {}", on,
                                  first, first + count, entries));
        }
        const char* const appendix = bytes_.data() + kGoalNode * block_->node_count;
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto op = get_little_endian<std::uint32_t>(appendix + 4 * (first + i));
            if (op >= block_->node_count) {
                fail_rank(fmt::format("operation {} names dependent {}; there are {} operations",
                                      on, op, block_->node_count));
            }
            ++expected_[op];
            builder_.add_edge(op, on, start);
        }
    }

    std::istream& input_;
    const std::string& file_;
    std::uint32_t ranks_ = 0;
    std::uint32_t rank_ = 0;
    const GoalBlock* block_ = nullptr;  ///< of the rank
    std::string bytes_;                 ///< the rank's nodes and appendix
    std::uint64_t entered_ = 0;         ///< entries of the appendix that nodes have named
    std::vector<std::uint32_t> expected_;
    GoalBuilder builder_;
};

/// Bytes of a rank's block.
std::uint64_t block_size(const GoalSchedule& schedule, std::uint32_t rank) {
    std::uint64_t words = 2;
    for (const std::uint32_t count : schedule.dependency_counts(rank)) {
        words += count == 0 ? 1 : count;
    }
    return 4 * words + kGoalNode * (schedule.first(rank + 1) - schedule.first(rank));
}

void append_block(std::string& out, const GoalSchedule& schedule, std::uint32_t rank) {
    const GoalOp first = schedule.first(rank);
    const std::vector<std::uint32_t> counts = schedule.dependency_counts(rank);
    std::uint32_t roots = 0;
    for (const std::uint32_t count : counts) roots += count == 0 ? 1U : 0U;
    put(out, static_cast<std::uint32_t>(counts.size()));
    put(out, roots);
    for (std::uint32_t op = 0; op < counts.size(); ++op) {
        if (counts[op] == 0) put(out, op);
    }
    std::uint32_t appended = 0;
    for (GoalOp op = first; op < schedule.first(rank + 1); ++op) {
        const GoalSchedule::Edges edges = schedule.edges(rank, op);
        std::uint32_t starts = 0;
        for (std::size_t i = 0; i < edges.size(); ++i) starts += edges[i].start ? 1U : 0U;
        const auto ends = static_cast<std::uint32_t>(edges.size()) - starts;
        put(out, counts[op - first]);
        put(out, static_cast<std::uint8_t>(schedule.kind(op)));
        put(out, schedule.peer(op));
        put(out, schedule.size(op));
        put(out, schedule.tag(op));
        put(out, schedule.cpu(op));
        put(out, schedule.nic(op));
        put(out, ends);
        put(out, appended);
        put(out, starts);
        put(out, appended + ends);
        appended += ends + starts;
    }
    for (GoalOp op = first; op < schedule.first(rank + 1); ++op) {
        const GoalSchedule::Edges edges = schedule.edges(rank, op);
        for (std::size_t i = 0; i < edges.size(); ++i) {
            put(out, static_cast<std::uint32_t>(edges[i].op - first));
        }
    }
}

}  // namespace

bool is_goal_binary(std::string_view magic) {
    if (magic.size() < 8) return false;
    const auto value = get_little_endian<std::uint64_t>(magic.data());
    return value == kGoalMagic || value == kGoalInvalidated;
}

GoalSchedule read_goal_binary(std::istream& input, const std::string& file, ImportReport& report) {
    GoalSchedule schedule = BinaryReader(input, file).read();
    report.read(file,
                fmt::format("GOAL binary, {} ranks, {} operations, {} dependencies",
                            schedule.rank_count(), schedule.op_count(), schedule.edge_count()));
    return schedule;
}

void write_goal_binary(const GoalSchedule& schedule,
                       const std::function<void(std::string_view)>& write) {
    std::vector<std::uint64_t> bytes;
    for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
        bytes.push_back(block_size(schedule, rank));
    }
    write(goal_binary_header(bytes, schedule.max_cpu(), schedule.max_nic()));
    for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
        write(goal_binary_block(schedule, rank));
    }
}

std::string goal_binary_header(const std::vector<std::uint64_t>& block_bytes, std::uint8_t max_cpu,
                               std::uint8_t max_nic) {
    std::string out;
    put(out, kGoalMagic);
    put(out, static_cast<std::uint32_t>(block_bytes.size()));
    put(out, max_cpu);
    put(out, max_nic);
    std::uint64_t at = kGoalHeader + std::uint64_t{16} * block_bytes.size();
    for (const std::uint64_t bytes : block_bytes) {
        put(out, at);
        at += bytes;
        put(out, at);
    }
    return out;
}

std::string goal_binary_block(const GoalSchedule& schedule, std::uint32_t rank) {
    std::string out;
    append_block(out, schedule, rank);
    return out;
}

}  // namespace sluice
