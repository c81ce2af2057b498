// SPDX-License-Identifier: Apache-2.0
#include "workloads/goal/goal_binary.h"

#include <vector>

#include <fmt/format.h>

#include "core/error.h"

namespace sluice {

namespace {

constexpr std::uint64_t kMagic = 4223;
constexpr std::uint64_t kInvalidated = 2342;
constexpr std::uint64_t kOffsetBase = 8;
constexpr std::uint64_t kHeader = 6;  ///< ranks, largest cpu and nic
constexpr std::uint64_t kNode = 39;

template <typename T>
T get(const char* at) {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value = static_cast<T>(
            value | static_cast<T>(static_cast<T>(static_cast<unsigned char>(at[i])) << (8 * i)));
    }
    return value;
}

template <typename T>
void put(std::string& out, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    }
}

struct Span {
    std::uint64_t start;
    std::uint64_t end;
};

class BinaryReader {
  public:
    BinaryReader(std::istream& input, const std::string& file) : input_(input), file_(file) {}

    GoalSchedule read() {
        input_.seekg(0, std::ios::end);
        const std::streamoff size = input_.tellg();
        if (size < 0) fail("cannot be read");
        size_ = static_cast<std::uint64_t>(size);
        read_header();
        reserve();
        for (rank_ = 0; rank_ < ranks_; ++rank_) read_rank();
        return builder_.finish();
    }

  private:
    [[noreturn]] void fail(const std::string& message) const {
        throw ConfigError(file_, 0, message);
    }
    [[noreturn]] void fail_rank(const std::string& message) const {
        fail(fmt::format("rank {}: {}", rank_, message));
    }

    void fetch(std::uint64_t at, std::uint64_t count, std::string& into) {
        into.resize(count);
        input_.clear();
        input_.seekg(static_cast<std::streamoff>(at));
        input_.read(into.data(), static_cast<std::streamsize>(count));
        if (static_cast<std::uint64_t>(input_.gcount()) != count) fail("cannot be read to its end");
    }

    void read_header() {
        if (size_ < kOffsetBase + kHeader) fail("is too short to be a GOAL schedule");
        std::string header;
        fetch(0, kOffsetBase + kHeader, header);
        const auto magic = get<std::uint64_t>(header.data());
        if (magic == kInvalidated) {
            fail(
                "was made invalid by a simulation that ran in place (magic 2342); convert it "
                "again");
        }
        if (magic != kMagic) fail("is no GOAL binary: it does not begin with 4223");
        ranks_ = get<std::uint32_t>(header.data() + 8);
        if (ranks_ == 0) fail("has no ranks");
        if (ranks_ > kMostGoalRanks) {
            fail(fmt::format("{} ranks: at most {} are allowed", ranks_, kMostGoalRanks));
        }
        const std::uint64_t table = std::uint64_t{16} * ranks_;
        if (size_ - kOffsetBase - kHeader < table) {
            fail(fmt::format("is too short for the {} ranks that it names", ranks_));
        }
        fetch(kOffsetBase + kHeader, table, header);
        spans_.reserve(ranks_);
        std::uint64_t last = kHeader + table;
        for (rank_ = 0; rank_ < ranks_; ++rank_) {
            const Span span{get<std::uint64_t>(header.data() + 16 * std::size_t{rank_}),
                            get<std::uint64_t>(header.data() + 16 * std::size_t{rank_} + 8)};
            if (span.start < last || span.end < span.start || span.end - span.start < 8 ||
                span.end > size_ - kOffsetBase) {
                fail_rank(
                    fmt::format("offsets {} to {} are not a block between {} and the file's "
                                "end at {}",
                                span.start, span.end, last, size_ - kOffsetBase));
            }
            last = span.end;
            spans_.push_back(span);
        }
    }

    /// Of a node's 39 bytes the schedule keeps 23, so blocks bound what is allocated.
    void reserve() {
        GoalOp operations = 0;
        std::string count;
        for (rank_ = 0; rank_ < ranks_; ++rank_) {
            fetch(kOffsetBase + spans_[rank_].start, 4, count);
            const std::uint64_t nodes = get<std::uint32_t>(count.data());
            if (nodes > (spans_[rank_].end - spans_[rank_].start - 8) / kNode) {
                fail_rank(fmt::format("{} operations do not fit its {} bytes", nodes,
                                      spans_[rank_].end - spans_[rank_].start));
            }
            operations += nodes;
        }
        builder_.reserve(operations);
    }

    void read_rank() {
        const std::uint64_t length = spans_[rank_].end - spans_[rank_].start;
        fetch(kOffsetBase + spans_[rank_].start, length, block_);
        nodes_ = get<std::uint32_t>(block_.data());
        const std::uint64_t roots = get<std::uint32_t>(block_.data() + 4);
        const std::uint64_t appendix = 8 + 4 * roots + kNode * nodes_;
        if (appendix > length || nodes_ > kMostGoalOps || roots > nodes_) {
            fail_rank(fmt::format("{} operations and {} roots do not fit its {} bytes", nodes_,
                                  roots, length));
        }
        const char* const nodes = block_.data() + 8 + 4 * roots;
        appendix_ = block_.data() + appendix;
        entries_ = (length - appendix) / 4;
        entered_ = 0;
        expected_.assign(nodes_, 0);
        for (std::uint32_t node = 0; node < nodes_; ++node) read_node(nodes + kNode * node);
        for (std::uint32_t node = 0; node < nodes_; ++node) read_edges(node, nodes + kNode * node);
        for (std::uint32_t node = 0; node < nodes_; ++node) {
            if (expected_[node] != get<std::uint32_t>(nodes + kNode * node)) {
                fail_rank(fmt::format("operation {} says that it has {} dependencies, there are {}",
                                      node, get<std::uint32_t>(nodes + kNode * node),
                                      expected_[node]));
            }
        }
        builder_.end_rank();
    }

    void read_node(const char* node) {
        GoalOperation op;
        const auto type = get<std::uint8_t>(node + 4);
        if (type < 1 || type > 3) {
            fail_rank(fmt::format("operation {} has type {}; 1 send, 2 recv, 3 calc",
                                  builder_.op_count(), type));
        }
        op.kind = static_cast<GoalKind>(type);
        op.peer = get<std::uint32_t>(node + 5);
        op.size = get<std::uint64_t>(node + 9);
        op.tag = get<std::uint32_t>(node + 17);
        op.cpu = get<std::uint8_t>(node + 21);
        op.nic = get<std::uint8_t>(node + 22);
        if (op.size > kMostGoalSize) {
            fail_rank(fmt::format("operation {} has size {}: at most {} is allowed",
                                  builder_.op_count(), op.size, kMostGoalSize));
        }
        if (op.kind == GoalKind::calc) {
            // They mean nothing, and text has no words for them.
            op.peer = 0;
            op.tag = 0;
            op.nic = 0;
        } else if (op.peer >= ranks_ && !(op.kind == GoalKind::recv && op.peer == kGoalAny)) {
            fail_rank(fmt::format("operation {} names rank {}; there are 0 to {}",
                                  builder_.op_count(), op.peer, ranks_ - 1));
        } else if (op.kind == GoalKind::send && op.tag == kGoalAny) {
            fail_rank(fmt::format("operation {} is a send with any tag", builder_.op_count()));
        }
        builder_.add(op);
    }

    void read_edges(std::uint32_t on, const char* node) {
        for (const bool start : {false, true}) {
            const std::uint64_t count = get<std::uint32_t>(node + (start ? 31 : 23));
            const std::uint64_t first = get<std::uint32_t>(node + (start ? 35 : 27));
            // Without dependents the index means nothing. Nodes do not share entries.
            entered_ += count;
            if (count > 0 &&
                (first > entries_ || count > entries_ - first || entered_ > entries_)) {
                fail_rank(fmt::format("operation {}: dependents {} to {} of an appendix of {}", on,
                                      first, first + count, entries_));
            }
            for (std::uint64_t i = 0; i < count; ++i) {
                const auto op = get<std::uint32_t>(appendix_ + 4 * (first + i));
                if (op >= nodes_) {
                    fail_rank(
                        fmt::format("operation {} names dependent {}; there are {} operations", on,
                                    op, nodes_));
                }
                ++expected_[op];
                builder_.add_edge(op, on, start);
            }
        }
    }

    std::istream& input_;
    const std::string& file_;
    std::uint64_t size_ = 0;
    std::uint32_t ranks_ = 0;
    std::uint32_t rank_ = 0;
    std::uint32_t nodes_ = 0;
    std::uint64_t entries_ = 0;  ///< of the rank's appendix
    std::uint64_t entered_ = 0;  ///< of these, how many nodes have named
    const char* appendix_ = nullptr;
    std::vector<Span> spans_;
    std::string block_;
    std::vector<std::uint32_t> expected_;
    GoalBuilder builder_;
};

/// Bytes of a rank's block.
std::uint64_t block_size(const GoalSchedule& schedule, std::uint32_t rank) {
    std::uint64_t words = 2;
    for (const std::uint32_t count : schedule.dependency_counts(rank)) {
        words += count == 0 ? 1 : count;
    }
    return 4 * words + kNode * (schedule.first(rank + 1) - schedule.first(rank));
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
    const auto value = get<std::uint64_t>(magic.data());
    return value == kMagic || value == kInvalidated;
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
    std::string out;
    put(out, kMagic);
    put(out, schedule.rank_count());
    put(out, schedule.max_cpu());
    put(out, schedule.max_nic());
    std::uint64_t at = kHeader + std::uint64_t{16} * schedule.rank_count();
    for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
        put(out, at);
        at += block_size(schedule, rank);
        put(out, at);
    }
    write(out);
    for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
        out.clear();
        append_block(out, schedule, rank);
        write(out);
    }
}

}  // namespace sluice
