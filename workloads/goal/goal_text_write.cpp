// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include <fmt/format.h>

#include "workloads/goal/goal_text.h"

namespace sluice {

namespace {

void append_operation(fmt::memory_buffer& out, const GoalSchedule& s, GoalOp op,
                      std::uint64_t number) {
    const auto to = std::back_inserter(out);
    if (s.kind(op) == GoalKind::calc) {
        fmt::format_to(to, "l{}: calc {}", number, s.size(op));
        if (s.cpu(op) > 0) fmt::format_to(to, " cpu {}", s.cpu(op));
    } else {
        fmt::format_to(to, "l{}: {} {}b {} ", number, to_string(s.kind(op)), s.size(op),
                       s.kind(op) == GoalKind::send ? "to" : "from");
        s.peer(op) == kGoalAny ? fmt::format_to(to, "-1") : fmt::format_to(to, "{}", s.peer(op));
        s.tag(op) == kGoalAny ? fmt::format_to(to, " tag -1")
                              : fmt::format_to(to, " tag {}", s.tag(op));
        if (s.cpu(op) > 0) fmt::format_to(to, " cpu {}", s.cpu(op));
        if (s.nic(op) > 0) fmt::format_to(to, " nic {}", s.nic(op));
    }
    out.push_back('\n');
}

}  // namespace

void write_goal_text(const GoalSchedule& schedule,
                     const std::function<void(std::string_view)>& write) {
    fmt::memory_buffer out;
    fmt::format_to(std::back_inserter(out), "num_ranks {}\n", schedule.rank_count());
    for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
        fmt::format_to(std::back_inserter(out), "\nrank {} {{\n", rank);
        const GoalOp first = schedule.first(rank);
        for (GoalOp op = first; op < schedule.first(rank + 1); ++op) {
            append_operation(out, schedule, op, op - first + 1);
        }
        for (GoalOp op = first; op < schedule.first(rank + 1); ++op) {
            const GoalSchedule::Edges edges = schedule.edges(rank, op);
            for (std::size_t i = 0; i < edges.size(); ++i) {
                fmt::format_to(std::back_inserter(out), "l{} {} l{}\n", edges[i].op - first + 1,
                               edges[i].start ? "irequires" : "requires", op - first + 1);
            }
        }
        out.push_back('}');
        out.push_back('\n');
        write({out.data(), out.size()});
        out.clear();
    }
    if (out.size() > 0) write({out.data(), out.size()});
}

}  // namespace sluice
