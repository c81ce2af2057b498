// SPDX-License-Identifier: Apache-2.0
/// Where a streamed job's operations come from: a file that is read as the ranks get to it, or a rule
/// that makes them. What executes them: core/job/stream_application.h.
/// Operations of a rank are numbered 0, 1, ... in the order of its program, and are handed out in
/// blocks of 64: block b has operations 64 b to 64 b + 63, the last block fewer.
/// Two kinds of sources. One that is *indexed* gives any block as often as it is asked, and says of an
/// operation who waits for it; one that is not gives each rank's blocks once and in order, and says of
/// an operation which earlier ones it waits for.
/// Errors: ConfigError that names the file and the operation.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/job/job_graph.h"
#include "core/units.h"

namespace sluice {

/// An operation by its number within its rank.
using StreamOp = std::uint32_t;

inline constexpr StreamOp kNoStreamOp = 0xffffffffU;
inline constexpr StreamOp kBlockSize = 64;

enum class StreamKind : std::uint8_t {
    compute,  ///< occupies its resource for `amount` ticks
    join,     ///< takes no time
    send,     ///< a flow of `amount` bytes to rank `peer`, ends with its last ACK
    recv,     ///< the end of a flow from rank `peer`
};

struct StreamOperation {
    static constexpr std::uint16_t kNoResource = 0xffff;

    std::int64_t amount = 0;
    std::int64_t tag = 0;
    RankId peer = 0;
    std::uint32_t dependencies = 0;  ///< how many operations it waits for
    /// In the block's links: of an indexed source, `ends` operations that wait for this one's end and
    /// then `starts` that wait for its start; of another, the `dependencies` that it waits for.
    std::uint32_t first_link = 0;
    std::uint32_t ends = 0;
    std::uint32_t starts = 0;
    /// compute: what it occupies; send: what it takes before it starts and gives back at its end.
    std::uint16_t resource = kNoResource;
    StreamKind kind = StreamKind::join;
};

/// An operation and what its execution knows of it: a cache line.
struct alignas(64) StreamEntry {
    StreamOperation given;
    std::uint32_t pending = 0;       ///< operations that it waits for, once it is touched
    StreamOp partner = kNoStreamOp;  ///< the other end of a message
    std::uint32_t waiters = kNone;   ///< first of who waits for it, of a source in order
    std::uint16_t port = 0;          ///< of a send: which of its pair's source ports
    bool touched = false;
    bool started = false;
    bool arrived = false;  ///< recv: the message is there
    bool finished = false;
};

/// What a source fills: the operations, as far as they are given, and who waits for whom.
struct OperationBlock {
    std::array<StreamEntry, kBlockSize> entries;
    std::uint32_t count = 0;
    std::vector<StreamOp> links;

    StreamOperation& operation(std::uint32_t i) { return entries[i].given; }
    const StreamOperation& operation(std::uint32_t i) const { return entries[i].given; }
};

/// How messages get the ids of their flows. The order of ids decides who is first at one instant; each
/// is that of a graph which is made of the same job as a whole.
enum class FlowNumbering : std::uint8_t {
    /// By the end that stands first: the lower rank's, by its place in that rank's program.
    first_end,
    /// By the tag's low 16 bits, the sender (below 65536) and the send's place in its program.
    tag,
};

class OperationSource {
  public:
    virtual ~OperationSource() = default;

    virtual RankId rank_count() const = 0;
    virtual bool indexed() const = 0;
    virtual FlowNumbering numbering() const = 0;
    /// Resources of every rank are 0 to this - 1.
    virtual std::uint16_t resource_count() const = 0;
    /// Of an indexed source: how many operations `rank` has.
    virtual std::uint64_t operation_count(RankId rank) const = 0;
    /// Of an indexed source: the operations of `rank` that wait for nothing, in order.
    virtual std::vector<StreamOp> roots(RankId rank) = 0;
    /// Fills the block; `count` is 0 behind the rank's last operation.
    virtual void load(RankId rank, std::uint32_t index, OperationBlock& block) = 0;
    struct MessageEnd {
        RankId rank;
        StreamOp op;
        const StreamOperation& given;
    };
    /// Called as the two ends of a message meet. ConfigError if they may not be so.
    virtual void check_message(const MessageEnd& /*send*/, const MessageEnd& /*recv*/) const {}
    /// For messages to users: `FILE: rank 3 operation 17`.
    virtual std::string describe(RankId rank, StreamOp op) const = 0;
};

}  // namespace sluice
