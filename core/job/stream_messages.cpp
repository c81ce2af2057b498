// SPDX-License-Identifier: Apache-2.0
/// The messages of a streamed job: which send meets which recv, and their flows.
#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/job/stream_application.h"

namespace sluice {

namespace {

constexpr std::uint16_t kFirstPort = 10000;

}  // namespace

/// Takes one more operation of the rank's program as it stands there.
void StreamApplication::register_next(RankId rank) {
    const StreamOp op = memory_.registered(rank);
    const Place at = memory_.place(rank, op);
    memory_.set_registered(rank, op + 1);
    if (at.given.kind == StreamKind::send || at.given.kind == StreamKind::recv) {
        register_end(rank, op, at);
    }
    if ((op + 1) % kBlockSize == 0 || memory_.all_registered(rank)) {
        memory_.release_unheld(rank, at.block);
    }
}

void StreamApplication::register_end(RankId rank, StreamOp op, Place at) {
    const bool sends = at.given.kind == StreamKind::send;
    const RankId peer = at.given.peer;
    MessageMatches::End end{op, 0, false};
    // As in a list of flows: a pair's messages are counted in the order of the end that stands first.
    if (numbering_ == FlowNumbering::tag ? sends : rank <= peer) {
        PairCounts& counts = sends ? ranks_[rank].sent : ranks_[rank].received;
        end.port = counts.next(peer, rank_count());
    }
    const std::optional<MessageMatches::End> other =
        matches_.meet(sends ? rank : peer, sends ? peer : rank, at.given.tag, sends, end);
    if (sends) at.state.port = end.port;
    if (!other) return;
    const std::uint16_t port = std::max(end.port, other->port);
    if (sends) {
        join_ends(rank, op, peer, other->op, port);
        return;
    }
    if (!other->arrived) {
        join_ends(peer, other->op, rank, op, port);
        return;
    }
    // Its message is there already, and its sender may be done with it.
    at.state.arrived = true;
}

/// Both ends know each other, and stay in memory until the message is over.
void StreamApplication::join_ends(RankId src, StreamOp send, RankId dst, StreamOp recv,
                                  std::uint16_t port) {
    const Place from = memory_.place(src, send);
    memory_.hold(from);
    const Place to = memory_.place(dst, recv);
    memory_.hold(to);
    from.state.partner = recv;
    from.state.port = port;
    to.state.partner = send;
    source_->check_message({src, send, from.given}, {dst, recv, to.given});
}

FlowId StreamApplication::flow_id(RankId src, StreamOp op, const Place& at) const {
    if (numbering_ == FlowNumbering::tag) {
        const auto tag = static_cast<std::uint64_t>(at.given.tag) & 0xffffU;
        return tag << 48 | std::uint64_t{src} << 32 | op;
    }
    const RankId dst = at.given.peer;
    return src < dst ? std::uint64_t{src} << 32 | op : std::uint64_t{dst} << 32 | at.state.partner;
}

void StreamApplication::send(RankId rank, StreamOp op, Tick now, HostServices& services) {
    while (memory_.registered(rank) <= op) register_next(rank);
    const Place at = memory_.place(rank, op);
    const RankId peer = at.given.peer;
    if (numbering_ == FlowNumbering::first_end) {
        while (at.state.partner == kNoStreamOp && !memory_.all_registered(peer)) {
            register_next(peer);
        }
        if (at.state.partner == kNoStreamOp) {
            throw ConfigError(source_->describe(rank, op) +
                              " has no recv that takes it; the job cannot end");
        }
    }
    if (peer == rank) {
        send_to_self(rank, at, now);
        return;
    }
    FlowSpec spec;
    spec.src = hosts_[rank];
    spec.dst = hosts_[peer];
    spec.size = at.given.amount;
    spec.sport = static_cast<std::uint16_t>(kFirstPort + at.state.port);
    spec.priority = options_.priority;
    spec.id = flow_id(rank, op, at);
    ++messages_;
    bytes_ += spec.size;
    services.open_flow(spec, now);
}

/// What stays on its host takes no time.
void StreamApplication::send_to_self(RankId rank, Place at, Tick now) {
    const StreamOp recv = at.state.partner;
    const StreamOp op = memory_.place(rank, recv).state.partner;
    finish_op(rank, op, now);
    arrive(rank, recv, now);
    memory_.let_go(rank, memory_.place(rank, recv).block);
    memory_.let_go(rank, at.block);
}

/// The message of `recv` is there.
void StreamApplication::arrive(RankId rank, StreamOp recv, Tick now) {
    const Place at = memory_.place(rank, recv);
    memory_.touch(at);
    at.state.arrived = true;
    if (at.state.started || is_posted(at.given)) finish_op(rank, recv, now);
}

}  // namespace sluice
