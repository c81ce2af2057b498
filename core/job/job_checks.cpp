// SPDX-License-Identifier: Apache-2.0
#include "core/job/job_checks.h"

#include <string>
#include <utility>

#include "core/error.h"
#include "core/text/quantity.h"

namespace sluice {

namespace {

class CycleSearch {
  public:
    explicit CycleSearch(const JobGraph& graph) : graph_(graph), waiting_(graph.op_count()) {
        for (OpId op = 0; op < graph.op_count(); ++op) waiting_[op] = graph.dependency_count(op);
        for (const JobMeeting& meeting : graph.meetings()) absent_.push_back(meeting.parts);
    }

    /// Throws ConfigError if there is one.
    void run();

  private:
    void release(OpId op);
    OpId remote_successor(OpId op) const;
    std::vector<OpId> find_cycle(const std::vector<bool>& done) const;
    std::string describe_cycle(const std::vector<OpId>& cycle) const;

    const JobGraph& graph_;
    std::vector<std::uint32_t> waiting_;  ///< by operation: what it still waits for
    std::vector<std::uint32_t> absent_;   ///< by meeting: parts that cannot start yet
    std::vector<OpId> next_ready_;
};

/// Takes operations away that wait for nothing, all that one round makes ready in the next round:
/// graphs are built step by step over all ranks, so that a round's operations are neighbours in
/// memory.
void CycleSearch::run() {
    for (OpId op = 0; op < graph_.op_count(); ++op) {
        if (graph_.kind(op) == OpKind::recv || graph_.kind(op) == OpKind::await) ++waiting_[op];
        if (waiting_[op] == 0) release(op);
    }
    std::vector<OpId> ready;
    std::size_t ordered = 0;
    while (!next_ready_.empty()) {
        std::swap(ready, next_ready_);
        next_ready_.clear();
        ordered += ready.size();
        for (const OpId op : ready) {
            for (const OpId next : graph_.successors(op)) {
                if (--waiting_[next] == 0) release(next);
            }
            const OpId remote = remote_successor(op);
            if (remote != kNone && --waiting_[remote] == 0) release(remote);
        }
    }
    if (ordered == graph_.op_count()) return;
    std::vector<bool> done(graph_.op_count(), false);
    for (OpId op = 0; op < graph_.op_count(); ++op) {
        done[op] = waiting_[op] == 0 &&
                   (graph_.kind(op) != OpKind::meet || absent_[graph_.target(op)] == 0);
    }
    throw ConfigError(describe_cycle(find_cycle(done)));
}

/// A part of a meeting completes when all parts can start.
void CycleSearch::release(OpId op) {
    if (graph_.kind(op) != OpKind::meet) {
        next_ready_.push_back(op);
    } else if (--absent_[graph_.target(op)] == 0) {
        const JobMeeting& meeting = graph_.meetings()[graph_.target(op)];
        for (std::uint32_t i = 0; i < meeting.parts; ++i) {
            next_ready_.push_back(meeting.first + i);
        }
    }
}

/// A recv cannot complete before its send has started, nor an await before its signal.
OpId CycleSearch::remote_successor(OpId op) const {
    if (graph_.kind(op) == OpKind::send) return graph_.messages()[graph_.target(op)].recv;
    if (graph_.kind(op) == OpKind::signal) return graph_.target(op);
    return kNone;
}

/// Every operation that is not done waits for another such one: a dependency, its message or
/// signal, or a part of its meeting. Walking backwards from any of them must run into a cycle.
std::vector<OpId> CycleSearch::find_cycle(const std::vector<bool>& done) const {
    std::vector<OpId> predecessor(graph_.op_count(), kNone);
    OpId at = kNone;
    for (OpId op = 0; op < graph_.op_count(); ++op) {
        if (done[op]) continue;
        at = op;
        for (const OpId next : graph_.successors(op)) predecessor[next] = op;
        const OpId remote = remote_successor(op);
        if (remote != kNone) predecessor[remote] = op;
    }
    for (const JobMeeting& meeting : graph_.meetings()) {
        OpId missing = kNone;
        for (OpId op = meeting.first; op < meeting.first + meeting.parts; ++op) {
            if (waiting_[op] != 0) missing = op;
        }
        for (OpId op = meeting.first; op < meeting.first + meeting.parts; ++op) {
            if (waiting_[op] == 0) predecessor[op] = missing;
        }
    }
    std::vector<bool> seen(graph_.op_count(), false);
    while (!seen[at]) {
        seen[at] = true;
        at = predecessor[at];
    }
    std::vector<OpId> cycle = {at};
    for (OpId op = predecessor[at]; op != at; op = predecessor[op]) cycle.push_back(op);
    return cycle;
}

std::string CycleSearch::describe_cycle(const std::vector<OpId>& cycle) const {
    std::string text = "the job can never finish, operations wait for each other in a cycle: ";
    constexpr std::size_t kShown = 6;
    for (std::size_t i = 0; i < cycle.size() && i < kShown; ++i) {
        text += graph_.describe(cycle[i]) + " waits for ";
    }
    if (cycle.size() > kShown) {
        text += "... " + std::to_string(cycle.size() - kShown) + " more ... ";
    }
    return text + graph_.describe(cycle.front());
}

}  // namespace

void check_dependencies(const JobGraph& graph, const std::vector<Dependency>& dependencies) {
    if (dependencies.size() >= kNone)
        throw ConfigError("a job holds at most 4294967295 dependencies");
    const std::size_t count = graph.op_count();
    for (const Dependency& dependency : dependencies) {
        if (dependency.op >= count) {
            throw ConfigError("operation " + std::to_string(dependency.op) +
                              " has dependencies but does not exist");
        }
        if (dependency.on >= count) {
            throw ConfigError(graph.describe(dependency.op) + " depends on operation " +
                              std::to_string(dependency.on) + ", which does not exist");
        }
        if (graph.rank(dependency.op) != graph.rank(dependency.on)) {
            throw ConfigError(graph.describe(dependency.op) + " depends on " +
                              graph.describe(dependency.on) +
                              ": ranks may depend on each other only by a message or a signal");
        }
    }
}

void check_signals(const JobGraph& graph, Tick lookahead) {
    const auto check = [&](OpId op, const std::string& what, Tick least) {
        if (graph.duration(op) >= least) return;
        throw ConfigError(graph.describe(op) + what + " after " + format_time(graph.duration(op)) +
                          ": at least " + format_time(least) + " is needed");
    };
    for (OpId op = 0; op < graph.op_count(); ++op) {
        if (graph.kind(op) == OpKind::signal && graph.rank(op) != graph.rank(graph.target(op))) {
            check(op, " reaches rank " + std::to_string(graph.rank(graph.target(op))), lookahead);
        }
    }
    for (const JobMeeting& meeting : graph.meetings()) {
        if (meeting.parts > 1) {
            check(meeting.first, " of " + std::to_string(meeting.parts) + " ranks completes",
                  2 * lookahead);
        }
    }
}

void refuse_cycles(const JobGraph& graph) { CycleSearch(graph).run(); }

}  // namespace sluice
