// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/chakra_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "core/error.h"
#include "workloads/chakra/et_file.h"
#include "workloads/chakra/node_times.h"

namespace sluice::chakra {

namespace {

constexpr std::size_t kStreamPiece = std::size_t{16} << 10;

/// Messages of a file from an offset on. Files are opened for a block at a time: there may be more
/// ranks than a process may have open files.
class Frames {
  public:
    Frames(const std::string& path, std::uint64_t offset, std::string& buffer)
        : path_(path), offset_(offset), buffer_(buffer) {
        descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptor_ < 0) throw ConfigError(path + ": cannot be read: " + std::strerror(errno));
        buffer_.clear();
    }
    ~Frames() { ::close(descriptor_); }
    Frames(const Frames&) = delete;
    Frames& operator=(const Frames&) = delete;

    /// The next message, valid until the next call; false at the end of the file.
    bool next(std::string_view& message) {
        fill(10);
        if (at_ == buffer_.size()) return false;
        std::uint64_t length = 0;
        try {
            length = take_length(buffer_, at_);
        } catch (const WireError& error) {
            fail(error.what());
        }
        fill(length);
        if (buffer_.size() - at_ < length) fail("ends with the file before it is whole");
        message = std::string_view(buffer_).substr(at_, length);
        at_ += length;
        return true;
    }
    /// Behind the last message.
    std::uint64_t offset() const { return offset_ + at_; }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw ConfigError(path_ + ": the message at byte " + std::to_string(offset()) + ": " +
                          what);
    }

    void fill(std::size_t wanted) {
        while (buffer_.size() - at_ < wanted) {
            const std::size_t had = buffer_.size();
            buffer_.resize(had + std::max(kStreamPiece, wanted));
            const ssize_t got = ::pread(descriptor_, buffer_.data() + had, buffer_.size() - had,
                                        static_cast<off_t>(offset_ + had));
            buffer_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
            if (got < 0 && errno != EINTR) {
                throw ConfigError(path_ + ": cannot be read: " + std::strerror(errno));
            }
            if (got == 0) return;
        }
    }

    const std::string& path_;
    std::uint64_t offset_;
    std::string& buffer_;
    std::size_t at_ = 0;
    int descriptor_ = -1;
};

class ChakraStream final : public OperationSource {
  public:
    ChakraStream(std::vector<std::string> files, AstraSystem system, const StreamScales& scales)
        : files_(std::move(files)), system_(std::move(system)), scales_(scales) {
        if (system_.replay_only)
            throw ConfigError("a replay cannot be streamed: it has no messages");
        for (const std::string& file : files_) {
            if (file.size() < 3 || file.compare(file.size() - 3, 3, ".et") != 0) {
                throw ConfigError(file + ": only .et files can be streamed");
            }
        }
        ranks_.resize(files_.size());
    }

    RankId rank_count() const override { return static_cast<RankId>(files_.size()); }
    bool indexed() const override { return false; }
    FlowNumbering numbering() const override { return FlowNumbering::tag; }
    std::uint16_t resource_count() const override { return kResources; }
    std::uint64_t operation_count(RankId rank) const override { return ranks_[rank].taken; }
    std::vector<StreamOp> roots(RankId /*rank*/) override { return {}; }

    void load(RankId rank, std::uint32_t /*index*/, OperationBlock& block) override {
        Position& position = ranks_[rank];
        Frames frames(files_[rank], position.offset, buffer_);
        std::string_view message;
        if (position.offset == 0) skip_metadata(rank, frames);
        block.count = 0;
        block.links.clear();
        while (block.count < kBlockSize && frames.next(message)) {
            try {
                parse_node(message, node_);
            } catch (const WireError& error) {
                throw ConfigError(files_[rank] + ":message " + std::to_string(position.taken + 1) +
                                  ": is not a Chakra Node: " + error.what());
            }
            if (position.taken == 0) position.first_id = node_.id;
            take(rank, block);
            ++position.taken;
            ++block.count;
        }
        position.offset = frames.offset();
    }

    void check_message(const MessageEnd& send, const MessageEnd& recv) const override {
        if (send.given.amount == recv.given.amount) return;
        throw ConfigError(describe(send.rank, send.op) + " sends " +
                          std::to_string(send.given.amount) + " bytes, " +
                          describe(recv.rank, recv.op) + " receives " +
                          std::to_string(recv.given.amount));
    }

    std::string describe(RankId rank, StreamOp op) const override {
        return files_[rank] + ":node " + std::to_string(ranks_[rank].first_id + op);
    }

  private:
    struct Position {
        std::uint64_t offset = 0;
        std::uint64_t taken = 0;
        std::uint64_t first_id = 0;
    };

    void skip_metadata(RankId rank, Frames& frames) {
        std::string_view message;
        if (!frames.next(message)) {
            throw ConfigError(files_[rank] +
                              ": is empty: a Chakra trace begins with a GlobalMetadata message");
        }
        MetadataView metadata;
        try {
            parse_metadata(message, metadata);
        } catch (const WireError& error) {
            throw ConfigError(files_[rank] +
                              ":message 1: is not Chakra's GlobalMetadata: " + error.what());
        }
    }

    [[noreturn]] void fail(RankId rank, const std::string& what) const {
        throw ConfigError(files_[rank] + ":node " + std::to_string(node_.id) + ": " + what);
    }

    std::int64_t integer(RankId rank, const char* name, std::int64_t fallback, std::int64_t lowest,
                         std::int64_t highest) const {
        const AttributeView* attribute = node_.find(name);
        if (attribute == nullptr) return fallback;
        const std::optional<std::int64_t> value = attribute->integer();
        if (!value || *value < lowest || *value > highest) {
            fail(rank, std::string(name) + " is not a whole number from " + std::to_string(lowest) +
                           " to " + std::to_string(highest));
        }
        return *value;
    }

    void take(RankId rank, OperationBlock& block) {
        const Position& position = ranks_[rank];
        if (node_.id != position.first_id + position.taken) {
            fail(rank, "follows node " + std::to_string(position.first_id + position.taken - 1) +
                           ": a streamed trace has consecutive ids; run it without `stream`");
        }
        StreamOperation& op = block.operation(block.count);
        op = {};
        op.first_link = static_cast<std::uint32_t>(block.links.size());
        for (const auto* list : {&node_.ctrl_deps, &node_.data_deps}) {
            for (const std::uint64_t on : *list) {
                if (on < position.first_id || on >= node_.id) {
                    fail(rank, "waits for node " + std::to_string(on) +
                                   ", which is not before it in the file; run it without `stream`");
                }
                block.links.push_back(static_cast<StreamOp>(on - position.first_id));
                ++op.dependencies;
            }
        }
        describe_node(rank, op);
    }

    void describe_node(RankId rank, StreamOperation& op) {
        const bool cpu = integer(rank, "is_cpu_op", 0, 0, 1) != 0;
        switch (node_.type) {
            case NodeType::invalid:
            case NodeType::metadata: return;
            case NodeType::comp: computation(rank, cpu, op); return;
            case NodeType::comm_send:
            case NodeType::comm_recv:
            case NodeType::comm_coll:
                if (cpu) fail(rank, "is a communication on the CPU: is_cpu_op must be false");
                communication(rank, op);
                return;
            case NodeType::mem_load:
            case NodeType::mem_store: break;
        }
        fail(rank, "accesses remote memory: run it without `stream`");
    }

    static void occupy(Resource resource, Tick time, StreamOperation& op) {
        op.kind = StreamKind::compute;
        op.resource = resource;
        op.amount = time;
    }

    void computation(RankId rank, bool cpu, StreamOperation& op) {
        constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
        Work work;
        work.operations = integer(rank, "num_ops", 0, 0, kMost);
        work.bytes = integer(rank, "tensor_size", 0, 0, kMost);
        occupy(cpu ? kCpu : kGpuCompute,
               compute_time(system_, cpu, node_.duration_us, &work, scales_.compute), op);
    }

    void communication(RankId rank, StreamOperation& op) {
        const std::int64_t bytes = integer(rank, "comm_size", 0, 0, kLargestMessage.count);
        if (node_.type == NodeType::comm_coll) {
            const auto type = static_cast<CollectiveType>(
                integer(rank, "comm_type", 0, 0, static_cast<std::int64_t>(kCollectiveTypes) - 1));
            if (is_simulated(type)) {
                fail(rank, std::string(to_string(type)) +
                               " is a collective that is simulated: run it without `stream`");
            }
            occupy(kGpuComm, replayed_time(node_.duration_us), op);
            return;
        }
        message(rank, bytes, op);
    }

    void message(RankId rank, std::int64_t bytes, StreamOperation& op) {
        const bool send = node_.type == NodeType::comm_send;
        constexpr std::int64_t kNoRank = kNone;
        const std::int64_t src = integer(rank, "comm_src", kNoRank, 0, kNoRank - 1);
        const std::int64_t dst = integer(rank, "comm_dst", kNoRank, 0, kNoRank - 1);
        const std::int64_t peer = send ? dst : src;
        const std::int64_t own = send ? src : dst;
        if (peer == kNoRank) {
            fail(rank, send ? "is a send without comm_dst" : "is a recv without comm_src");
        }
        if ((own != kNoRank && own != rank) || peer >= rank_count() || peer == rank) {
            fail(rank, "is not between its rank and another one: there are ranks 0 to " +
                           std::to_string(rank_count() - 1));
        }
        op.kind = send ? StreamKind::send : StreamKind::recv;
        if (send) op.resource = kGpuComm;
        op.peer = static_cast<RankId>(peer);
        op.tag = integer(rank, "comm_tag", 0, std::numeric_limits<std::int64_t>::min(),
                         std::numeric_limits<std::int64_t>::max());
        op.amount = std::max<std::int64_t>(
            1, scaled_bytes(static_cast<std::uint64_t>(bytes), scales_.comm));
    }

    static bool is_simulated(CollectiveType type) {
        return type == CollectiveType::all_reduce || type == CollectiveType::all_gather ||
               type == CollectiveType::reduce_scatter || type == CollectiveType::all_to_all;
    }

    std::vector<std::string> files_;
    AstraSystem system_;
    StreamScales scales_;
    std::vector<Position> ranks_;
    std::string buffer_;
    NodeView node_;
};

}  // namespace

std::unique_ptr<OperationSource> open_chakra_stream(std::vector<std::string> files,
                                                    const AstraSystem& system,
                                                    const StreamScales& scales) {
    return std::make_unique<ChakraStream>(std::move(files), system, scales);
}

}  // namespace sluice::chakra
