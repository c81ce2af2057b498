// SPDX-License-Identifier: Apache-2.0
#include "workloads/goal/goal_graph.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "core/error.h"
#include "workloads/goal/message_queues.h"

namespace sluice {

namespace {

/// Sends and recvs meet in file order.
std::vector<GoalOp> match_in_order(const GoalSchedule& schedule) {
    std::vector<GoalOp> partner(schedule.op_count(), kNoGoalOp);
    MessageQueues sends(schedule.rank_count());
    for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
        for (GoalOp op = schedule.first(rank); op < schedule.first(rank + 1); ++op) {
            if (schedule.kind(op) != GoalKind::send) continue;
            sends.add(schedule.peer(op), rank, schedule.tag(op), {op, 0});
        }
    }
    for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
        for (GoalOp op = schedule.first(rank); op < schedule.first(rank + 1); ++op) {
            if (schedule.kind(op) != GoalKind::recv) continue;
            MessageQueues::Entry send;
            if (!sends.take(rank, schedule.peer(op), schedule.tag(op), send)) continue;
            partner[op] = send.op;
            partner[send.op] = op;
        }
    }
    return partner;
}

class GraphBuilder {
  public:
    GraphBuilder(const GoalSchedule& schedule, const GoalGraphOptions& options)
        : schedule_(schedule),
          options_(options),
          hosts_per_rank_(hosts_per_rank(schedule, options.layout)),
          partner_(match_goal(schedule, options.matching)),
          graph_(checked_hosts()) {
        calc_ = {graph_.intern("calc"), OpClass::compute, kNone};
        send_ = {graph_.intern("message"), OpClass::other, kNone};
        join_ = {graph_.intern("start"), OpClass::other, kNone};
    }

    JobGraph build() {
        refuse_lone_ends();
        end_.assign(schedule_.op_count(), kNone);
        start_.assign(schedule_.op_count(), kNone);
        place_cpus();
        for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) add_operations(rank);
        for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) add_edges(rank);
        graph_.finish();
        return std::move(graph_);
    }

  private:
    RankId checked_hosts() const {
        const std::uint64_t hosts = std::uint64_t{schedule_.rank_count()} * hosts_per_rank_;
        if (hosts > kMostGoalRanks) {
            throw ConfigError(fmt::format("{}: {} ranks of {} NICs are more than {} hosts",
                                          options_.file, schedule_.rank_count(), hosts_per_rank_,
                                          kMostGoalRanks));
        }
        // An operation becomes up to two, a dependency across hosts a signal's two ends.
        if (2 * (schedule_.op_count() + schedule_.edge_count()) >= kNone) {
            throw ConfigError(options_.file +
                              ": more than 2^30 operations and dependencies; LogGOPS can run them, "
                              "a network simulation cannot");
        }
        return static_cast<RankId>(hosts);
    }

    void refuse_lone_ends() const {
        for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
            for (GoalOp op = schedule_.first(rank); op < schedule_.first(rank + 1); ++op) {
                if (schedule_.kind(op) == GoalKind::calc || partner_[op] != kNoGoalOp) continue;
                throw ConfigError(options_.file + ": " + schedule_.describe(rank, op) +
                                  (schedule_.kind(op) == GoalKind::send
                                       ? " has no recv that takes it"
                                       : " waits for a message that nobody sends") +
                                  "; the job cannot end");
            }
        }
    }

    /// The NIC at which a CPU's calculations run: that of its first message.
    void place_cpus() {
        if (hosts_per_rank_ == 1) return;
        const std::size_t cpus = schedule_.max_cpu() + std::size_t{1};
        cpu_nic_.assign(cpus * schedule_.rank_count(), 0);
        std::vector<bool> placed(cpu_nic_.size(), false);
        for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
            for (GoalOp op = schedule_.first(rank); op < schedule_.first(rank + 1); ++op) {
                const std::size_t cpu = rank * cpus + schedule_.cpu(op);
                if (schedule_.kind(op) == GoalKind::calc || placed[cpu]) continue;
                placed[cpu] = true;
                cpu_nic_[cpu] = schedule_.nic(op);
            }
        }
    }

    RankId host(std::uint32_t rank, GoalOp op) const {
        if (hosts_per_rank_ == 1) return rank;
        const std::uint8_t nic =
            schedule_.kind(op) == GoalKind::calc
                ? cpu_nic_[rank * (schedule_.max_cpu() + std::size_t{1}) + schedule_.cpu(op)]
                : schedule_.nic(op);
        return rank * hosts_per_rank_ + nic;
    }

    void add_operations(std::uint32_t rank) {
        for (GoalOp op = schedule_.first(rank); op < schedule_.first(rank + 1); ++op) {
            if (schedule_.kind(op) == GoalKind::calc) {
                add_calc(host(rank, op), op);
            } else if (end_[op] == kNone) {
                add_message(rank, op);
            }
            const GoalSchedule::Edges edges = schedule_.edges(rank, op);
            // Those that wait for the start stand last.
            if (edges.size() > 0 && edges[edges.size() - 1].start) {
                start_[op] = graph_.add_delay(host(rank, op), 0, join_);
                graph_.add_dependency(end_[op], start_[op]);
            }
        }
    }

    void add_calc(RankId where, GoalOp op) {
        const std::uint64_t ns = schedule_.size(op);
        if (ns > static_cast<std::uint64_t>(kLongest / kNanosecond)) {
            throw ConfigError(fmt::format("{}: calc {}: at most {} ns are allowed", options_.file,
                                          ns, kLongest / kNanosecond));
        }
        const Tick duration = static_cast<Tick>(ns) * kNanosecond;
        end_[op] = duration == 0 ? graph_.add_delay(where, 0, calc_)
                                 : graph_.add_task(where, schedule_.cpu(op), duration, calc_);
    }

    void add_message(std::uint32_t rank, GoalOp op) {
        const GoalOp other = partner_[op];
        const bool sends = schedule_.kind(op) == GoalKind::send;
        const GoalOp send = sends ? op : other;
        const GoalOp recv = sends ? other : op;
        const RankId from = host(sends ? rank : schedule_.rank_of(send), send);
        const RankId to = host(schedule_.peer(send), recv);
        if (from == to) {
            end_[send] = graph_.add_delay(from, 0, send_);
            end_[recv] = graph_.add_delay(to, 0, send_);
            graph_.add_dependency(end_[recv], end_[send]);
            return;
        }
        const auto bytes =
            std::max<std::int64_t>(1, static_cast<std::int64_t>(schedule_.size(send)));
        const JobGraph::Pair pair = graph_.add_message(from, to, bytes, send_);
        end_[send] = pair.from;
        end_[recv] = pair.to;
    }

    void add_edges(std::uint32_t rank) {
        for (GoalOp op = schedule_.first(rank); op < schedule_.first(rank + 1); ++op) {
            const GoalSchedule::Edges edges = schedule_.edges(rank, op);
            for (std::size_t i = 0; i < edges.size(); ++i) {
                const GoalOp next = edges[i].op;
                const OpId entry = start_[next] != kNone ? start_[next] : end_[next];
                join(entry, host(rank, next), edges[i].start ? start_[op] : end_[op],
                     host(rank, op));
            }
        }
    }

    void join(OpId op, RankId op_host, OpId on, RankId on_host) {
        if (op_host != on_host) {
            const JobGraph::Pair signal =
                graph_.add_signal(on_host, op_host, options_.signal_delay, join_);
            graph_.add_dependency(signal.from, on);
            on = signal.to;
        }
        graph_.add_dependency(op, on);
    }

    static constexpr Tick kLongest = std::numeric_limits<Tick>::max() / 16;

    const GoalSchedule& schedule_;
    const GoalGraphOptions& options_;
    const std::uint32_t hosts_per_rank_;
    const std::vector<GoalOp> partner_;
    JobGraph graph_;
    Label calc_;
    Label send_;
    Label join_;
    std::vector<OpId> end_;              ///< what an operation became
    std::vector<OpId> start_;            ///< the delay before it, where others wait for its start
    std::vector<std::uint8_t> cpu_nic_;  ///< by rank and CPU, where hosts are NICs
};

}  // namespace

std::vector<GoalOp> match_goal(const GoalSchedule& schedule, const LogGopsParameters& parameters) {
    if (!schedule.has_wildcards()) return match_in_order(schedule);
    LogGopsParameters eager = parameters;
    eager.largest_eager = static_cast<std::int64_t>(kMostGoalSize);
    return simulate_loggops(schedule, eager, true).partner;
}

void report_matches(const GoalSchedule& schedule, const std::vector<GoalOp>& partner,
                    const std::string& file, ImportReport& report) {
    for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
        for (GoalOp op = schedule.first(rank); op < schedule.first(rank + 1); ++op) {
            if (schedule.kind(op) == GoalKind::calc) continue;
            if (partner[op] == kNoGoalOp) {
                report.misfit(file, schedule.describe(rank, op) +
                                        (schedule.kind(op) == GoalKind::send
                                             ? " has no recv that takes it"
                                             : " waits for a message that nobody sends"));
            } else if (schedule.kind(op) == GoalKind::recv &&
                       schedule.size(op) != schedule.size(partner[op])) {
                report.doubtful(
                    file, fmt::format("{} takes a message of {} bytes", schedule.describe(rank, op),
                                      schedule.size(partner[op])));
            }
        }
    }
}

std::uint32_t hosts_per_rank(const GoalSchedule& schedule, GoalLayout layout) {
    return layout == GoalLayout::gpu ? 1 : schedule.max_nic() + 1U;
}

JobGraph build_goal_graph(const GoalSchedule& schedule, const GoalGraphOptions& options) {
    return GraphBuilder(schedule, options).build();
}

}  // namespace sluice
