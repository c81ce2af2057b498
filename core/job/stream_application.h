// SPDX-License-Identifier: Apache-2.0
/// Executes a job whose operations are read as the ranks get to them and forgotten when they are over.
/// What an operation does is what JobApplication does with it; so are the instants at which each starts
/// and ends. Messages become flows that are opened when their send starts.
/// Memory is bounded by what is going on: operations that are in progress or wait for some of their
/// dependencies, messages on their way or arrived before their recv, and sends and recvs of which one
/// end has been read and not the other. Each keeps at most a block of 64 operations.
/// Of a source that is not indexed, `window` operations of a rank that are not over are in memory, and
/// one further on cannot start before it is read: late_operations() counts those that found everything
/// done that they wait for.
/// State of two ranks meets where a message does, so its callbacks are for one thread; which host is
/// called first at one instant changes nothing.
/// Errors, while it runs: ConfigError of the source; a send that no recv takes; ends of one message that
/// differ in size, where the source says that they must not.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/flow/application.h"
#include "core/job/message_matches.h"
#include "core/job/operation_source.h"
#include "core/job/pair_counts.h"
#include "core/job/stream_memory.h"
#include "core/job/stream_resources.h"

namespace sluice {

struct StreamOptions {
    /// Operations of a rank, of a source that is not indexed. 0: as many as let all ranks together
    /// have 2^19 (32 MiB), from 64 to 4096.
    std::uint32_t window = 0;
    std::uint8_t priority = 3;  ///< of every flow
    Tick start = 0;
};

class StreamApplication final : public Application {
  public:
    /// Rank r runs on hosts[r], all different.
    StreamApplication(std::unique_ptr<OperationSource> source, std::vector<NodeId> hosts,
                      const StreamOptions& options = {});

    bool for_one_thread() const override { return true; }
    bool waits_at(NodeId host) const override { return rank_of(host) != kNone; }
    void on_begin(NodeId host, HostServices& services) override;
    void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) override;

    RankId rank_count() const { return static_cast<RankId>(ranks_.size()); }
    /// Of all ranks; of a source that is not indexed as far as it has been read.
    std::uint64_t operation_count() const;
    std::uint64_t completed_count() const;
    std::uint64_t message_count() const { return messages_; }  ///< flows opened
    std::int64_t message_bytes() const { return bytes_; }
    bool complete() const;
    Tick start() const { return options_.start; }
    /// Before the first run.
    void set_start(Tick start) { options_.start = start; }
    void set_priority(std::uint8_t priority) { options_.priority = priority; }
    Tick last_end() const { return last_end_; }
    std::uint64_t late_operations() const { return late_; }
    /// The most blocks that have been in memory at a time.
    std::size_t most_blocks() const { return memory_.most_blocks(); }
    /// Operations that are in memory and not over, and what they wait for: at most `limit` lines.
    std::vector<std::string> unfinished(std::size_t limit) const;

  private:
    struct Rank {
        std::uint64_t completed = 0;
        bool begun = false;
        std::vector<StreamOp> ready;
        StreamResources resources;
        PairCounts sent;      ///< messages to a peer
        PairCounts received;  ///< messages from a peer of a higher rank
    };
    using Place = StreamMemory::Place;
    struct Sender {
        RankId rank;
        StreamOp op;
    };

    void begin(RankId rank, Tick now, HostServices& services);
    void refill(RankId rank, Tick now);
    void drain(RankId rank, Tick now, HostServices& services);
    void start_op(RankId rank, StreamOp op, Tick now, HostServices& services);
    void grant_resources(RankId rank, Tick now, HostServices& services);
    void finish_op(RankId rank, StreamOp op, Tick now);
    void release(RankId rank, StreamOp op);

    void register_next(RankId rank);
    void register_end(RankId rank, StreamOp op, Place at);
    void join_ends(RankId src, StreamOp send, RankId dst, StreamOp recv, std::uint16_t port);
    void send(RankId rank, StreamOp op, Tick now, HostServices& services);
    void send_to_self(RankId rank, Place at, Tick now);
    void arrive(RankId rank, StreamOp recv, Tick now);
    FlowId flow_id(RankId src, StreamOp op, const Place& at) const;
    Sender sender_of(FlowId flow);
    /// A recv that waits for nothing but its message.
    bool is_posted(const StreamOperation& given) const {
        return indexed_ && given.kind == StreamKind::recv && given.dependencies == 0;
    }

    RankId rank_of(NodeId host) const { return host < rank_of_.size() ? rank_of_[host] : kNone; }
    std::string waits_for(RankId rank, StreamOp op, const StreamBlock& block) const;

    std::unique_ptr<OperationSource> source_;
    std::vector<NodeId> hosts_;
    std::vector<RankId> rank_of_;  ///< by node id
    StreamOptions options_;
    bool indexed_ = false;
    FlowNumbering numbering_ = FlowNumbering::first_end;
    StreamMemory memory_;
    std::vector<Rank> ranks_;
    MessageMatches matches_;
    std::uint64_t messages_ = 0;
    std::int64_t bytes_ = 0;
    std::uint64_t late_ = 0;
    Tick last_end_ = 0;
};

}  // namespace sluice
