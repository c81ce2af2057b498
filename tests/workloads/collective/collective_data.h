// SPDX-License-Identifier: Apache-2.0
/// Follows data through a collective: a graph's operations in a random order that its dependencies
/// allow, every message with what its sender had when it started. What a byte holds is how often
/// each member's contribution is in it, so that a sum that lacks one or has one twice shows.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <unordered_map>
#include <vector>

#include "workloads/collective/collective_library.h"

namespace sluice::collective_data {

/// contributions[member]: how often
using Byte = std::vector<std::uint8_t>;

class DataFlow {
  public:
    /// `space`: bytes of the data that the collective is about (Slice).
    DataFlow(std::vector<RankId> ranks, std::int64_t space)
        : ranks_(std::move(ranks)),
          held_(ranks_.size(),
                std::vector<Byte>(static_cast<std::size_t>(space), Byte(ranks_.size(), 0))) {}

    TransferWatcher watcher() {
        return [this](const Transfer& transfer) {
            starts_[transfer.from].push_back(transfers_.size());
            ends_[transfer.to] = transfers_.size();
            transfers_.push_back(transfer);
        };
    }

    Byte& at(std::size_t member, std::int64_t byte) {
        return held_[member][static_cast<std::size_t>(byte)];
    }
    const std::vector<Transfer>& transfers() const { return transfers_; }

    /// Calls `completed` for every operation. Returns whether all completed.
    bool run(const JobGraph& graph, std::uint64_t seed,
             const std::function<void(OpId)>& completed) {
        std::mt19937_64 random(seed);
        std::vector<std::uint32_t> waiting(graph.op_count());
        std::vector<std::uint32_t> absent;
        for (const JobGraph::Meeting& meeting : graph.meetings()) absent.push_back(meeting.parts);
        std::vector<OpId> ready;
        const auto release = [&](OpId op) {
            if (graph.kind(op) != OpKind::meet) {
                ready.push_back(op);
                return;
            }
            const JobGraph::Meeting& meeting = graph.meetings()[graph.target(op)];
            if (--absent[graph.target(op)] > 0) return;
            for (OpId part = 0; part < meeting.parts; ++part) ready.push_back(meeting.first + part);
        };
        for (OpId op = 0; op < graph.op_count(); ++op) {
            const OpKind kind = graph.kind(op);
            waiting[op] = graph.dependency_count(op);
            if (kind == OpKind::recv || kind == OpKind::await) ++waiting[op];
        }
        for (OpId op = 0; op < graph.op_count(); ++op) {
            if (waiting[op] == 0) release(op);
        }
        std::size_t done = 0;
        while (!ready.empty()) {
            std::swap(ready[random() % ready.size()], ready.back());
            const OpId op = ready.back();
            ready.pop_back();
            ++done;
            start(op, graph.rank(op));
            end(op, graph.rank(op));
            completed(op);
            for (const OpId next : graph.successors(op)) {
                if (--waiting[next] == 0) release(next);
            }
            OpId remote = kNone;
            if (graph.kind(op) == OpKind::send) remote = graph.messages()[graph.target(op)].recv;
            if (graph.kind(op) == OpKind::signal) remote = graph.target(op);
            if (remote != kNone && --waiting[remote] == 0) release(remote);
        }
        return done == graph.op_count();
    }

  private:
    std::size_t member_of(RankId rank) const {
        for (std::size_t member = 0; member < ranks_.size(); ++member) {
            if (ranks_[member] == rank) return member;
        }
        return ranks_.size();
    }

    void start(OpId op, RankId rank) {
        const auto found = starts_.find(op);
        if (found == starts_.end()) return;
        const std::size_t member = member_of(rank);
        for (const std::size_t index : found->second) {
            std::vector<Byte>& carried = carried_[index];
            for (const Slice& piece : transfers_[index].pieces) {
                for (std::int64_t i = 0; i < piece.bytes; ++i) {
                    carried.push_back(at(member, piece.offset + i));
                }
            }
        }
    }

    void end(OpId op, RankId rank) {
        const auto found = ends_.find(op);
        if (found == ends_.end()) return;
        const Transfer& transfer = transfers_[found->second];
        const std::vector<Byte>& carried = carried_[found->second];
        const std::size_t member = member_of(rank);
        std::size_t next = 0;
        for (const Slice& piece : transfer.pieces) {
            for (std::int64_t i = 0; i < piece.bytes; ++i) {
                const Byte& byte = carried[next++];
                Byte& mine = at(member, piece.offset + i);
                if (!transfer.reduce) {
                    mine = byte;
                    continue;
                }
                for (std::size_t who = 0; who < mine.size(); ++who) {
                    mine[who] = static_cast<std::uint8_t>(mine[who] + byte[who]);
                }
            }
        }
    }

    std::vector<RankId> ranks_;
    std::vector<std::vector<Byte>> held_;  ///< by member and byte
    std::vector<Transfer> transfers_;
    std::unordered_map<OpId, std::vector<std::size_t>> starts_;
    std::unordered_map<OpId, std::size_t> ends_;
    std::unordered_map<std::size_t, std::vector<Byte>> carried_;
};

}  // namespace sluice::collective_data
