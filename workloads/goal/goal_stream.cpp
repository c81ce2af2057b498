// SPDX-License-Identifier: Apache-2.0
#include "workloads/goal/goal_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "workloads/goal/goal_binary.h"
#include "workloads/goal/goal_layout.h"
#include "workloads/goal/goal_text.h"

namespace sluice {

namespace {

/// A file that is read, or written, at any place.
class File {
  public:
    File(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {
        if (descriptor_ < 0) fail();
    }
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    File(File&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)), name_(std::move(other.name_)) {}
    File& operator=(File&&) = delete;

    std::uint64_t size() const {
        struct stat status {};
        if (::fstat(descriptor_, &status) != 0) fail();
        return static_cast<std::uint64_t>(status.st_size);
    }
    void read(std::uint64_t at, std::uint64_t count, std::string& into) const {
        into.resize(count);
        for (std::uint64_t done = 0; done < count;) {
            const ssize_t got = ::pread(descriptor_, into.data() + done, count - done,
                                        static_cast<off_t>(at + done));
            if (got < 0 && errno != EINTR) fail();
            if (got == 0) throw ConfigError(name_, 0, "cannot be read to its end");
            done += got > 0 ? static_cast<std::uint64_t>(got) : 0;
        }
    }
    void write(std::uint64_t at, const std::string& bytes) const {
        for (std::size_t done = 0; done < bytes.size();) {
            const ssize_t put = ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done,
                                         static_cast<off_t>(at + done));
            if (put < 0 && errno != EINTR) fail();
            done += put > 0 ? static_cast<std::size_t>(put) : 0;
        }
    }

  private:
    [[noreturn]] void fail() const { throw ConfigError(name_, 0, std::strerror(errno)); }

    int descriptor_;
    std::string name_;
};

/// A file without a name, gone when it is closed.
File temporary_file() {
    std::string name = (std::filesystem::temp_directory_path() / "sluice-goal-XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    File file(descriptor, name);
    ::unlink(name.c_str());
    return file;
}

File binary_of_text(const std::string& path) {
    File binary = temporary_file();
    std::ifstream input(path, std::ios::binary);
    std::vector<std::uint64_t> bytes;
    std::uint8_t max_cpu = 0;
    std::uint8_t max_nic = 0;
    std::uint64_t at = 0;
    read_goal_ranks(input, path, [&](std::uint32_t ranks, const GoalSchedule& schedule) {
        const std::string block = goal_binary_block(schedule, 0);
        if (bytes.empty()) {
            at = kGoalOffsetBase + kGoalHeader + std::uint64_t{16} * ranks;
        }
        binary.write(at, block);
        at += block.size();
        bytes.push_back(block.size());
        max_cpu = std::max(max_cpu, schedule.max_cpu());
        max_nic = std::max(max_nic, schedule.max_nic());
    });
    binary.write(0, goal_binary_header(bytes, max_cpu, max_nic));
    return binary;
}

File open_binary(const std::string& path) {
    if (goal_file_is_binary(path)) return {::open(path.c_str(), O_RDONLY | O_CLOEXEC), path};
    return binary_of_text(path);
}

class GoalStream final : public OperationSource {
  public:
    explicit GoalStream(const std::string& path)
        : path_(path),
          file_(open_binary(path)),
          table_(read_goal_layout(path, file_.size(),
                                  [this](std::uint64_t at, std::uint64_t count, std::string& into) {
                                      file_.read(at, count, into);
                                  })) {
        if (table_.max_nic > 0) {
            throw ConfigError(path, 0,
                              "names NICs other than 0: a streamed schedule has one host per rank");
        }
    }

    RankId rank_count() const override { return static_cast<RankId>(table_.ranks.size()); }
    bool indexed() const override { return true; }
    FlowNumbering numbering() const override { return FlowNumbering::first_end; }
    std::uint16_t resource_count() const override {
        return static_cast<std::uint16_t>(table_.max_cpu + 1U);
    }
    std::uint64_t operation_count(RankId rank) const override {
        return table_.ranks[rank].node_count;
    }

    std::vector<StreamOp> roots(RankId rank) override {
        const GoalBlock& where = table_.ranks[rank];
        file_.read(where.roots, std::uint64_t{4} * where.root_count, bytes_);
        std::vector<StreamOp> roots;
        roots.reserve(where.root_count);
        for (std::uint32_t i = 0; i < where.root_count; ++i) {
            roots.push_back(get_little_endian<std::uint32_t>(bytes_.data() + 4 * std::size_t{i}));
            const bool ascends = i == 0 || roots[i - 1] < roots[i];
            if (!ascends || roots.back() >= where.node_count) {
                fail_goal_rank(path_, rank, "its roots are not operations in ascending order");
            }
        }
        return roots;
    }

    void load(RankId rank, std::uint32_t index, OperationBlock& block) override {
        const GoalBlock& where = table_.ranks[rank];
        const std::uint64_t first = std::uint64_t{index} * kBlockSize;
        block.count = 0;
        block.links.clear();
        if (first >= where.node_count) return;
        block.count = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(kBlockSize, where.node_count - first));
        file_.read(where.nodes + kGoalNode * first, kGoalNode * block.count, bytes_);
        std::array<GoalNode, kBlockSize> nodes;
        for (std::uint32_t i = 0; i < block.count; ++i) {
            nodes[i] = read_goal_node(bytes_.data() + kGoalNode * i, path_, rank_count(), rank,
                                      static_cast<std::uint32_t>(first + i));
            block.operation(i) = operation(rank, static_cast<StreamOp>(first + i), nodes[i]);
        }
        add_links(rank, nodes, block);
    }

    std::string describe(RankId rank, StreamOp op) const override {
        return fmt::format("{}: rank {} operation {}", path_, rank, op);
    }

  private:
    StreamOperation operation(RankId rank, StreamOp op, const GoalNode& node) const {
        StreamOperation result;
        const GoalOperation& given = node.operation;
        result.dependencies = node.dependencies;
        result.amount = static_cast<std::int64_t>(given.size);
        if (given.kind == GoalKind::calc) {
            if (result.amount > kMostCalc) {
                fail_goal_rank(
                    path_, rank,
                    fmt::format("calc {}: at most {} ns are allowed", given.size, kMostCalc));
            }
            result.kind = given.size == 0 ? StreamKind::join : StreamKind::compute;
            result.amount *= kNanosecond;
            if (given.size > 0) result.resource = given.cpu;
            return result;
        }
        if (given.peer == kGoalAny || given.tag == kGoalAny) {
            throw ConfigError(describe(rank, op) +
                              " takes messages from any rank or with any tag: run it without "
                              "`stream`");
        }
        result.kind = given.kind == GoalKind::send ? StreamKind::send : StreamKind::recv;
        result.amount = std::max<std::int64_t>(1, result.amount);
        result.peer = given.peer;
        result.tag = given.tag;
        return result;
    }

    /// The nodes' dependents, which mostly stand in the appendix as the nodes do in the block.
    void add_links(RankId rank, const std::array<GoalNode, kBlockSize>& nodes,
                   OperationBlock& block) {
        const GoalBlock& where = table_.ranks[rank];
        std::uint64_t low = where.entry_count;
        std::uint64_t high = 0;
        std::uint64_t entries = 0;
        const auto widen = [&](std::uint64_t first, std::uint64_t count) {
            if (count == 0) return;
            low = std::min(low, first);
            high = std::max(high, first + count);
            entries += count;
        };
        for (std::uint32_t i = 0; i < block.count; ++i) {
            widen(nodes[i].first_end, nodes[i].ends);
            widen(nodes[i].first_start, nodes[i].starts);
        }
        if (entries == 0) return;
        if (high > where.entry_count || entries > where.entry_count) {
            fail_goal_rank(path_, rank,
                           fmt::format("dependents {} to {} of an appendix of {}", low, high,
                                       where.entry_count));
        }
        const bool together = high - low <= 2 * entries + kBlockSize;
        if (together) file_.read(where.appendix + 4 * low, 4 * (high - low), bytes_);
        for (std::uint32_t i = 0; i < block.count; ++i) {
            StreamOperation& op = block.operation(i);
            op.first_link = static_cast<std::uint32_t>(block.links.size());
            op.ends = nodes[i].ends;
            op.starts = nodes[i].starts;
            add_entries(rank, nodes[i].first_end, op.ends, together ? low : kNotRead, block);
            add_entries(rank, nodes[i].first_start, op.starts, together ? low : kNotRead, block);
        }
    }

    void add_entries(RankId rank, std::uint64_t first, std::uint32_t count, std::uint64_t low,
                     OperationBlock& block) {
        if (count == 0) return;
        const GoalBlock& where = table_.ranks[rank];
        if (low == kNotRead) {
            file_.read(where.appendix + 4 * first, std::uint64_t{4} * count, bytes_);
            low = first;
        }
        const char* const at = bytes_.data() + 4 * (first - low);
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto op = get_little_endian<std::uint32_t>(at + 4 * std::size_t{i});
            if (op >= where.node_count) {
                fail_goal_rank(
                    path_, rank,
                    fmt::format("a dependent is operation {}; there are {}", op, where.node_count));
            }
            block.links.push_back(op);
        }
    }

    static constexpr std::uint64_t kNotRead = ~std::uint64_t{0};
    static constexpr std::int64_t kMostCalc = std::numeric_limits<Tick>::max() / 16 / kNanosecond;

    std::string path_;
    File file_;
    GoalLayoutTable table_;
    std::string bytes_;
};

}  // namespace

std::unique_ptr<OperationSource> open_goal_stream(const std::string& path) {
    return std::make_unique<GoalStream>(path);
}

}  // namespace sluice
