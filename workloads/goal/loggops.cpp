// SPDX-License-Identifier: Apache-2.0
#include "workloads/goal/loggops.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

#include <fmt/core.h>

#include "core/error.h"
#include "workloads/goal/message_queues.h"
#include "workloads/goal/posted_recvs.h"

namespace sluice {

namespace {

constexpr std::int64_t kLatest = std::int64_t{1} << 62;
/// CPUs and NICs of all ranks, 8 bytes each.
constexpr std::uint64_t kMostClocks = std::uint64_t{1} << 28;
/// Of the events that wait for the same CPU and NIC, so many are tried again whenever these become
/// free, as LogGOPSim does with all; the others follow first come, first served.
constexpr std::uint32_t kCrowd = 1024;

/// An operation that is ready, or the message of a send on its way to `host`.
struct Event {
    std::int64_t at;
    GoalOp op;
    std::uint32_t host;
    GoalOp recv;  ///< that a message took which waits for the recv's CPU or the NIC; or kNoGoalOp
    bool message;
    bool waited;  ///< for a CPU or a NIC, and is one of those that do
};

/// Events by time. LogGOPSim's times depend on the order in which events of one time leave its
/// std::priority_queue, which compares times only; so this is the binary heap of GNU's library,
/// whose order of ties is fixed by what was pushed and popped before.
class EventHeap {
  public:
    bool empty() const { return events_.empty(); }

    void push(const Event& event) {
        events_.emplace_back();
        rise(events_.size() - 1, event);
    }

    Event pop() {
        const Event top = events_.front();
        const Event last = events_.back();
        events_.pop_back();
        if (!events_.empty()) rise(sink(), last);
        return top;
    }

  private:
    /// Moves the hole at `at` up past later events and puts `event` there.
    void rise(std::size_t at, const Event& event) {
        while (at > 0 && events_[(at - 1) / 2].at > event.at) {
            events_[at] = events_[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        events_[at] = event;
    }

    /// Moves the hole at the top to a leaf, along earlier children; of equal ones, the right.
    std::size_t sink() {
        std::size_t at = 0;
        for (;;) {
            std::size_t child = 2 * at + 2;
            if (child > events_.size()) return at;
            if (child == events_.size() || events_[child].at > events_[child - 1].at) --child;
            events_[at] = events_[child];
            at = child;
        }
    }

    std::vector<Event> events_;
};

class Simulation {
  public:
    Simulation(const GoalSchedule& schedule, const LogGopsParameters& parameters, bool record)
        : schedule_(schedule),
          p_(parameters),
          cpus_(schedule.max_cpu() + 1U),
          nics_(schedule.max_nic() + 1U),
          unexpected_(schedule.rank_count()),
          cpu_free_(std::size_t{cpus_} * schedule.rank_count(), 0),
          sender_free_(std::size_t{nics_} * schedule.rank_count(), 0),
          receiver_free_(std::size_t{nics_} * schedule.rank_count(), 0),
          ready_(schedule.op_count(), 0) {
        if (record) result_.partner.assign(schedule.op_count(), kNoGoalOp);
        waiting_.reserve(schedule.op_count());
        for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
            for (const std::uint32_t count : schedule.dependency_counts(rank)) {
                waiting_.push_back(count);
            }
        }
    }

    LogGopsResult run() {
        for (std::uint32_t host = 0; host < schedule_.rank_count(); ++host) {
            for (GoalOp op = schedule_.first(host); op < schedule_.first(host + 1); ++op) {
                if (waiting_[op] == 0) push(0, op, host, false);
            }
        }
        while (!events_.empty()) {
            const Event event = events_.pop();
            if (event.at > kLatest) throw ConfigError("LogGOPS: times beyond 2^62 ns");
            if (event.message) {
                arrive(event);
            } else {
                start(event);
            }
            release();
        }
        finish();
        return std::move(result_);
    }

  private:
    struct Crowd {
        std::uint32_t waiting = 0;
        std::queue<Event> behind;
    };
    /// A host where operations became free, and which.
    struct Freed {
        std::uint32_t host;
        GoalOp op;
        std::int64_t at;
    };

    std::int64_t& cpu(std::uint32_t host, std::uint8_t index) {
        return cpu_free_[std::size_t{host} * cpus_ + index];
    }
    std::int64_t& sender(std::uint32_t host, std::uint8_t nic) {
        return sender_free_[std::size_t{host} * nics_ + nic];
    }
    std::int64_t& receiver(std::uint32_t host, std::uint8_t nic) {
        return receiver_free_[std::size_t{host} * nics_ + nic];
    }
    /// Bytes beyond the first.
    std::int64_t beyond_first(GoalOp op) const {
        const std::uint64_t size = schedule_.size(op);
        return size == 0 ? 0 : static_cast<std::int64_t>(size - 1);
    }
    bool eager(GoalOp op) const {
        return schedule_.size(op) <= static_cast<std::uint64_t>(p_.largest_eager);
    }

    void push(std::int64_t at, GoalOp op, std::uint32_t host, bool message) {
        events_.push({at, op, host, kNoGoalOp, message, false});
    }

    /// Who waits for the same thing: the kind of event, its host, CPU (not of a message, which has
    /// none before it meets its recv) and NIC.
    std::uint64_t crowd_key(const Event& event) const {
        const std::uint64_t cpu = event.message ? 0 : schedule_.cpu(event.op);
        const std::uint64_t kind =
            event.message ? 0 : static_cast<std::uint64_t>(schedule_.kind(event.op));
        return std::uint64_t{event.host} << 24 | cpu << 16 |
               std::uint64_t{schedule_.nic(event.op)} << 8 | kind;
    }
    void wait(Event event, std::int64_t until) {
        event.at = until;
        if (!event.waited) {
            event.waited = true;
            Crowd& crowd = crowds_[crowd_key(event)];
            if (crowd.waiting == kCrowd) return crowd.behind.push(event);
            ++crowd.waiting;
        }
        events_.push(event);
    }
    /// The event waits no more.
    void leave(const Event& event) {
        if (!event.waited) return;
        const auto crowd = crowds_.find(crowd_key(event));
        std::queue<Event>& behind = crowd->second.behind;
        if (!behind.empty()) {
            Event next = behind.front();
            behind.pop();
            next.at = std::max(next.at, event.at);
            events_.push(next);
        } else if (--crowd->second.waiting == 0) {
            crowds_.erase(crowd);
        }
    }

    void started(std::uint32_t host, GoalOp op) { satisfy(host, op, true, 0); }
    void ended(std::uint32_t host, GoalOp op, std::int64_t at) {
        ++result_.completed;
        satisfy(host, op, false, at);
    }
    void satisfy(std::uint32_t host, GoalOp op, bool start, std::int64_t at) {
        const GoalSchedule::Edges edges = schedule_.edges(host, op);
        for (std::size_t i = 0; i < edges.size(); ++i) {
            if (edges[i].start != start) continue;
            const GoalOp next = edges[i].op;
            if (!start) ready_[next] = std::max(ready_[next], at);
            if (--waiting_[next] == 0) freed_.push_back({host, next, start ? 0 : ready_[next]});
        }
    }

    /// Makes events of what became free: the host that was touched last comes first, as LogGOPSim's
    /// set of hosts gives them.
    void release() {
        if (freed_.empty()) return;
        for (auto host = touched_.rbegin(); host != touched_.rend(); ++host) {
            for (const Freed& freed : freed_) {
                if (freed.host == *host) release(freed);
            }
        }
        freed_.clear();
    }
    void release(const Freed& freed) {
        std::int64_t at = freed.at;
        switch (schedule_.kind(freed.op)) {
            case GoalKind::calc: at = std::max(at, cpu(freed.host, schedule_.cpu(freed.op))); break;
            case GoalKind::send:
                at = std::max(at, sender(freed.host, schedule_.nic(freed.op)));
                break;
            case GoalKind::recv: break;
        }
        push(at, freed.op, freed.host, false);
    }
    void touch(std::uint32_t host) {
        if (std::find(touched_.begin(), touched_.end(), host) == touched_.end()) {
            touched_.push_back(host);
        }
    }

    void start(const Event& event) {
        touched_.clear();
        switch (schedule_.kind(event.op)) {
            case GoalKind::calc: return calc(event);
            case GoalKind::send: return send(event);
            case GoalKind::recv: return post(event);
        }
    }

    void calc(const Event& event) {
        std::int64_t& free = cpu(event.host, schedule_.cpu(event.op));
        if (free > event.at) return wait(event, free);
        leave(event);
        free = event.at + static_cast<std::int64_t>(schedule_.size(event.op));
        touch(event.host);
        started(event.host, event.op);
        ended(event.host, event.op, free);
    }

    void send(const Event& event) {
        const GoalOp op = event.op;
        std::int64_t& processor = cpu(event.host, schedule_.cpu(op));
        std::int64_t& nic = sender(event.host, schedule_.nic(op));
        if (std::max(processor, nic) > event.at) return wait(event, std::max(processor, nic));
        leave(event);
        touch(event.host);
        started(event.host, op);
        const std::uint32_t target = schedule_.peer(op);
        const bool intra =
            p_.ranks_per_node > 0 && event.host / p_.ranks_per_node == target / p_.ranks_per_node;
        const auto bytes = static_cast<double>(beyond_first(op));
        const double wire = bytes * (intra ? p_.intra_gap_per_byte : p_.gap_per_byte);
        if (!(wire < static_cast<double>(kLatest)))
            throw ConfigError("LogGOPS: G times the size is beyond 2^62 ns");
        const auto on_wire = static_cast<std::int64_t>(wire);
        processor = event.at + p_.overhead + beyond_first(op) * p_.overhead_per_byte;
        nic = event.at + p_.gap + on_wire;
        ++result_.messages;
        push(processor + (intra ? p_.intra_latency : p_.latency) + on_wire, op, target, true);
        if (eager(op)) ended(event.host, op, processor);
    }

    void post(const Event& event) {
        const GoalOp op = event.op;
        touch(event.host);
        started(event.host, op);
        const std::uint32_t source = schedule_.peer(op);
        const std::uint32_t tag = schedule_.tag(op);
        MessageQueues::Entry message;
        const bool exact = source != kGoalAny && tag != kGoalAny;
        if (!(exact ? unexpected_.take(event.host, source, tag, message)
                    : unexpected_.take_any(event.host, source, tag, message))) {
            posted_.add(event.host, source, tag, event.at, op);
            return;
        }
        const std::int64_t at = std::max(event.at, message.since);
        const std::int64_t nic = std::max(sender(event.host, schedule_.nic(op)), at) + p_.gap;
        const std::int64_t end = nic + p_.overhead + beyond_first(op) * p_.overhead_per_byte;
        cpu(event.host, schedule_.cpu(op)) = end;
        receiver(event.host, schedule_.nic(op)) = nic;
        // LogGOPSim takes the recv's CPU and NIC index at the sender, too.
        if (!eager(message.op)) end_rendezvous(message.op, op, nic, end);
        matched(message.op, op);
        ended(event.host, op, end);
    }

    void arrive(const Event& event) {
        touched_.clear();
        const GoalOp op = event.op;
        const std::uint32_t source = schedule_.rank_of(op);
        const std::uint32_t tag = schedule_.tag(op);
        // A message that waits keeps the recv that it took: another that is tried before it would
        // take that one, and leave it a recv that what follows does not wait for.
        const GoalOp recv = event.recv != kNoGoalOp
                                ? event.recv
                                : posted_.take(event.host, source, tag, schedule_.has_wildcards());
        if (recv == kNoGoalOp) {
            unexpected_.add(event.host, source, tag, {op, event.at});
            return;
        }
        std::int64_t& processor = cpu(event.host, schedule_.cpu(recv));
        std::int64_t& nic = receiver(event.host, schedule_.nic(op));
        if (std::max(processor, nic) > event.at) {
            Event later = event;
            later.recv = recv;
            return wait(later, std::max(processor, nic));
        }
        leave(event);
        nic = event.at + p_.gap;
        processor = nic + p_.overhead + beyond_first(op) * p_.overhead_per_byte;
        if (!eager(op)) end_rendezvous(op, op, nic, processor);
        matched(op, recv);
        touch(event.host);
        ended(event.host, recv, processor);
    }

    /// The sender's CPU and NIC, of `indices`' numbers, are busy until the receiver's are not.
    void end_rendezvous(GoalOp send, GoalOp indices, std::int64_t nic, std::int64_t end) {
        const std::uint32_t host = schedule_.rank_of(send);
        touch(host);
        ended(host, send, end);
        std::int64_t& processor = cpu(host, schedule_.cpu(indices));
        processor = std::max(processor, end);
        std::int64_t& port = sender(host, schedule_.nic(indices));
        port = std::max(port, nic);
    }

    void matched(GoalOp send, GoalOp recv) {
        if (result_.partner.empty()) return;
        result_.partner[send] = recv;
        result_.partner[recv] = send;
    }

    void block(const std::string& line) {
        ++result_.blocked_count;
        if (result_.blocked.size() < LogGopsResult::kMostBlocked) result_.blocked.push_back(line);
    }

    void finish() {
        const std::vector<GoalOp> posted = posted_.left();
        auto recv = posted.begin();
        result_.host_ns.reserve(schedule_.rank_count());
        for (std::uint32_t host = 0; host < schedule_.rank_count(); ++host) {
            const auto first = cpu_free_.begin() + static_cast<std::ptrdiff_t>(host) * cpus_;
            result_.host_ns.push_back(*std::max_element(first, first + cpus_));
            for (; recv != posted.end() && *recv < schedule_.first(host + 1); ++recv) {
                block(schedule_.describe(host, *recv) + " waits for a message that nobody sent");
            }
            unexpected_.for_each(host, [&](GoalOp op) {
                block(schedule_.describe(schedule_.rank_of(op), op) + " has no recv that takes it");
            });
        }
        for (std::uint32_t host = 0; host < schedule_.rank_count(); ++host) {
            for (GoalOp op = schedule_.first(host); op < schedule_.first(host + 1); ++op) {
                if (waiting_[op] == 0) continue;
                block(fmt::format("{} waits for {} of its dependencies",
                                  schedule_.describe(host, op), waiting_[op]));
            }
        }
    }

    const GoalSchedule& schedule_;
    const LogGopsParameters p_;
    const std::uint32_t cpus_;
    const std::uint32_t nics_;
    EventHeap events_;
    std::unordered_map<std::uint64_t, Crowd> crowds_;
    PostedRecvs posted_;
    MessageQueues unexpected_;
    std::vector<std::int64_t> cpu_free_;
    std::vector<std::int64_t> sender_free_;
    std::vector<std::int64_t> receiver_free_;
    std::vector<std::int64_t> ready_;  ///< latest end of what an operation requires
    std::vector<std::uint32_t> waiting_;
    std::vector<Freed> freed_;
    std::vector<std::uint32_t> touched_;  ///< hosts, in the order in which the event touched them
    LogGopsResult result_;
};

void check(const LogGopsParameters& p) {
    const auto require = [](bool good, const char* what) {
        if (!good) throw ConfigError(std::string("LogGOPS: ") + what);
    };
    constexpr std::int64_t kMost = 1'000'000'000'000;
    for (const std::int64_t value : {p.latency, p.overhead, p.gap, p.intra_latency}) {
        require(value >= 0 && value <= kMost, "L, o and g are 0 to 10^12 ns");
    }
    // 2^50 bytes at most, so that no product leaves 63 bits.
    require(p.overhead_per_byte >= 0 && p.overhead_per_byte <= 1000, "O is 0 to 1000 ns per byte");
    for (const double value : {p.gap_per_byte, p.intra_gap_per_byte}) {
        require(value >= 0 && value <= 1e9, "G is 0 to 10^9 ns per byte");
    }
    require(p.largest_eager >= 0, "S is at least 0 bytes");
    require(p.ranks_per_node >= 0, "ranks per node are at least 0");
}

}  // namespace

LogGopsResult simulate_loggops(const GoalSchedule& schedule, const LogGopsParameters& parameters,
                               bool record_partners) {
    check(parameters);
    const std::uint64_t clocks = schedule.max_cpu() + 1U + 2 * (schedule.max_nic() + 1U);
    if (clocks * schedule.rank_count() > kMostClocks) {
        throw ConfigError(fmt::format("LogGOPS: {} ranks of {} CPUs and {} NICs are too many",
                                      schedule.rank_count(), schedule.max_cpu() + 1,
                                      schedule.max_nic() + 1));
    }
    return Simulation(schedule, parameters, record_partners).run();
}

}  // namespace sluice
