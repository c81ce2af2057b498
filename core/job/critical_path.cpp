// SPDX-License-Identifier: Apache-2.0
#include "core/job/critical_path.h"

#include <algorithm>

namespace sluice {

JobTiming::JobTiming(const JobApplication& application, Tick begin)
    : application_(application),
      graph_(application.graph()),
      begin_(begin),
      blocker_(graph_.op_count(), kNone) {
    for (OpId op = 0; op < graph_.op_count(); ++op) {
        const Tick end = application.end(op);
        if (end == kNever) continue;
        if (last_ == kNone || end > end_) {
            end_ = end;
            last_ = op;
        }
        for (const OpId next : graph_.successors(op)) {
            OpId& best = blocker_[next];
            if (best == kNone || end > application.end(best)) best = op;
        }
    }
    end_ = std::max(end_, begin_);
}

/// The part of the meeting of `op` that started last.
OpId JobTiming::last_part(OpId op) const {
    const JobGraph::Meeting& meeting = graph_.meetings()[graph_.target(op)];
    OpId last = meeting.first;
    for (OpId part = meeting.first; part < meeting.first + meeting.parts; ++part) {
        if (application_.start(part) > application_.start(last)) last = part;
    }
    return last;
}

/// Backwards from the completion of `op`, step by step, until `visit` returns false or the job's
/// beginning is reached. Steps without duration are passed over.
void JobTiming::walk(OpId op, const Visit& visit) const {
    while (op != kNone) {
        CriticalStep step{op, application_.start(op), application_.end(op), kNone};
        OpId before = blocker_[op];
        const Tick ready = before == kNone ? begin_ : application_.end(before);
        switch (graph_.kind(op)) {
            case OpKind::recv: {
                const OpId send = graph_.messages()[graph_.target(op)].send;
                if (step.end > ready) {
                    step.start = application_.start(send);
                    step.message = graph_.target(op);
                    before = blocker_[send];
                } else {
                    step.start = step.end;
                }
                break;
            }
            case OpKind::await: {
                const OpId signal = graph_.target(op);
                if (step.end > ready) {
                    step.start = application_.start(signal);
                    before = blocker_[signal];
                } else {
                    step.start = step.end;
                }
                break;
            }
            case OpKind::send: step.message = graph_.target(op); break;
            case OpKind::meet: {
                const OpId last = last_part(op);
                step.start = application_.start(last);
                before = blocker_[last];
                break;
            }
            case OpKind::task:
            case OpKind::acquire: {
                const OpId holder = step.start > ready ? application_.served_after(op) : kNone;
                if (holder != kNone) before = holder;
                break;
            }
            case OpKind::compute:
            case OpKind::delay:
            case OpKind::signal:
            case OpKind::release: break;
        }
        if (step.end > step.start && !visit(step)) return;
        op = before;
    }
}

std::vector<CriticalStep> JobTiming::critical_path() const {
    std::vector<CriticalStep> steps;
    walk(last_, [&](const CriticalStep& step) {
        steps.push_back(step);
        return true;
    });
    return steps;
}

/// The rank's operations that compute, in order of their start.
std::vector<OpId> JobTiming::computations(RankId rank) const {
    std::vector<OpId> ops;
    for (const OpId op : graph_.ops_of(rank)) {
        const bool timed = graph_.kind(op) == OpKind::compute || graph_.kind(op) == OpKind::task ||
                           graph_.kind(op) == OpKind::delay;
        if (!timed || graph_.label(op).cls != OpClass::compute) continue;
        if (application_.end(op) == kNever) continue;
        if (application_.end(op) > application_.start(op)) ops.push_back(op);
    }
    std::stable_sort(ops.begin(), ops.end(),
                     [&](OpId a, OpId b) { return application_.start(a) < application_.start(b); });
    return ops;
}

/// Gives [from, to), in which the rank of `after` computes nothing and at whose end `after` starts
/// or has completed, to what `after` waited for.
void JobTiming::attribute(OpId after, Tick from, Tick to, RankTimes& times) const {
    Tick open = to;  // what is not attributed yet is [from, open)
    walk(after, [&](const CriticalStep& step) {
        const OpClass cls = graph_.label(step.op).cls;
        const Tick end = std::min(step.end, open);
        const Tick start = std::max(step.start, from);
        // A step that computes lies outside the gap, or on another rank: that one is waited for.
        if (start < end && cls == OpClass::compute && step.message == kNone) return false;
        if (start < end) {
            times.exposed[static_cast<std::size_t>(cls)] += end - start;
            open = start;
        }
        return open > from;
    });
    times.waiting += open - from;
}

RankTimes JobTiming::rank_times(RankId rank) const {
    RankTimes times;
    Tick busy = begin_;  // the rank's time is accounted for until here
    for (const OpId op : computations(rank)) {
        const Tick start = application_.start(op);
        if (start > busy) {
            // What the computation itself takes is cut away by [busy, start).
            attribute(op, busy, start, times);
            busy = start;
        }
        const Tick end = std::max(application_.end(op), busy);
        times.compute += end - busy;
        busy = end;
    }
    OpId last = kNone;
    for (const OpId op : graph_.ops_of(rank)) {
        const Tick end = application_.end(op);
        if (end != kNever && (last == kNone || end > application_.end(last))) last = op;
    }
    if (last != kNone && application_.end(last) > busy) {
        attribute(last, busy, application_.end(last), times);
        busy = application_.end(last);
    }
    times.idle = end_ - busy;
    return times;
}

}  // namespace sluice
