// SPDX-License-Identifier: Apache-2.0
/// Messages that wait at each host for a recv. They have a source and a tag, and are taken in order
/// of addition.
/// Costs a hash look-up per operation; an `any` that looks among many entries costs a walk over the
/// host's.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "workloads/goal/goal_schedule.h"

namespace sluice {

/// What a message is found by.
struct MessageKey {
    std::uint32_t host;
    std::uint32_t source;
    std::uint32_t tag;

    friend bool operator==(const MessageKey& a, const MessageKey& b) {
        return a.host == b.host && a.source == b.source && a.tag == b.tag;
    }
    /// splitmix64's finalizer (Steele, Lea, Flood, OOPSLA 2014) over the three numbers.
    struct Hash {
        std::size_t operator()(const MessageKey& key) const {
            std::uint64_t x = (std::uint64_t{key.host} << 32 | key.source) ^
                              (std::uint64_t{key.tag} * 0x9e3779b97f4a7c15U);
            x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
            x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
            return static_cast<std::size_t>(x ^ (x >> 31));
        }
    };
};

class MessageQueues {
  public:
    explicit MessageQueues(std::uint32_t hosts) : head_(hosts, kNil), tail_(hosts, kNil) {}

    struct Entry {
        GoalOp op = kNoGoalOp;
        std::int64_t since = 0;  ///< whatever the caller keeps
    };

    void add(std::uint32_t host, std::uint32_t source, std::uint32_t tag, const Entry& entry) {
        const std::uint32_t id = allocate();
        Node& node = nodes_[id];
        node = {entry, next_order_++, source, tag, kNil, kNil, tail_[host]};
        (tail_[host] == kNil ? head_[host] : nodes_[tail_[host]].host_next) = id;
        tail_[host] = id;
        const auto [queue, fresh] = queues_.try_emplace({host, source, tag}, Queue{id, id});
        if (!fresh) {
            nodes_[queue->second.last].next = id;
            queue->second.last = id;
        }
    }

    /// Takes the first entry whose source and tag are these; exact on both sides.
    bool take(std::uint32_t host, std::uint32_t source, std::uint32_t tag, Entry& entry) {
        const auto queue = queues_.find({host, source, tag});
        if (queue == queues_.end()) return false;
        take(host, queue, entry);
        return true;
    }

    /// Takes the first entry that fits `source` and `tag`, which may be kGoalAny.
    bool take_any(std::uint32_t host, std::uint32_t source, std::uint32_t tag, Entry& entry) {
        for (std::uint32_t id = head_[host]; id != kNil; id = nodes_[id].host_next) {
            const Node& node = nodes_[id];
            if ((source == kGoalAny || source == node.source) &&
                (tag == kGoalAny || tag == node.tag)) {
                // The first that fits is the first of its own source and tag.
                return take(host, node.source, node.tag, entry);
            }
        }
        return false;
    }

    template <typename Visit>
    void for_each(std::uint32_t host, Visit visit) const {
        for (std::uint32_t id = head_[host]; id != kNil; id = nodes_[id].host_next) {
            visit(nodes_[id].entry.op);
        }
    }

  private:
    static constexpr std::uint32_t kNil = 0xffffffff;

    struct Node {
        Entry entry;
        std::uint64_t order = 0;
        std::uint32_t source = 0;
        std::uint32_t tag = 0;
        std::uint32_t next = kNil;       ///< of its source and tag
        std::uint32_t host_next = kNil;  ///< of its host
        std::uint32_t host_last = kNil;
    };
    struct Queue {
        std::uint32_t first;
        std::uint32_t last;
    };
    using Map = std::unordered_map<MessageKey, Queue, MessageKey::Hash>;

    std::uint32_t allocate() {
        if (free_ == kNil) {
            nodes_.emplace_back();
            return static_cast<std::uint32_t>(nodes_.size() - 1);
        }
        const std::uint32_t id = free_;
        free_ = nodes_[id].next;
        return id;
    }

    void take(std::uint32_t host, Map::iterator queue, Entry& entry) {
        const std::uint32_t id = queue->second.first;
        const Node node = nodes_[id];
        entry = node.entry;
        if (node.next == kNil) {
            queues_.erase(queue);
        } else {
            queue->second.first = node.next;
        }
        (node.host_last == kNil ? head_[host] : nodes_[node.host_last].host_next) = node.host_next;
        (node.host_next == kNil ? tail_[host] : nodes_[node.host_next].host_last) = node.host_last;
        nodes_[id].next = free_;
        free_ = id;
    }

    std::vector<std::uint32_t> head_;
    std::vector<std::uint32_t> tail_;
    std::vector<Node> nodes_;
    std::uint32_t free_ = kNil;
    std::uint64_t next_order_ = 0;
    Map queues_;
};

}  // namespace sluice
