// SPDX-License-Identifier: Apache-2.0
#include "core/job/job_report.h"

#include <algorithm>
#include <unordered_map>

#include "core/text/quantity.h"

namespace sluice {

namespace {

constexpr Tick kDay = 86'400 * kSecond;

/// A span that grows by operations; `complete` until one is found undone.
void extend(CollectiveSpan& span, const JobApplication& application, OpId op) {
    const JobGraph& graph = application.graph();
    const OpKind kind = graph.kind(op);
    if (kind != OpKind::recv && kind != OpKind::await) {
        span.start = std::min(span.start, application.start(op));
    }
    span.end = std::max(span.end, application.end(op));
    if (kind == OpKind::send) span.sent += graph.messages()[graph.target(op)].bytes;
}

/// A collective of which a rank only receives starts, there, when it was ready to receive.
void extend_with_waiting(CollectiveSpan& span, const JobApplication& application, OpId op) {
    if (span.start == kNever) span.start = application.start(op);
}

/// What a started operation waits for.
std::string outside_cause(const JobApplication& application, OpId op) {
    const JobGraph& graph = application.graph();
    const auto flow = [&](const JobGraph::Message& message) {
        return "flow " + std::to_string(application.first_flow() + graph.target(op)) + " (" +
               std::to_string(message.bytes) + " bytes, rank " +
               std::to_string(graph.rank(message.send)) + " to rank " +
               std::to_string(graph.rank(message.recv)) + ")";
    };
    switch (graph.kind(op)) {
        case OpKind::send: {
            const JobGraph::Message& message = graph.messages()[graph.target(op)];
            return "waits for the last acknowledgement of " + flow(message) + ", " +
                   (application.arrived(message.recv) ? "which has been received"
                                                      : "which has not been received whole");
        }
        case OpKind::recv: {
            const JobGraph::Message& message = graph.messages()[graph.target(op)];
            const Tick sent = application.start(message.send);
            return "waits for " + flow(message) + ", " +
                   (sent == kNever ? "which has not been sent" : "sent at " + format_time(sent));
        }
        case OpKind::await: {
            const OpId signal = graph.target(op);
            const Tick sent = application.start(signal);
            return "waits for " + graph.describe(signal) + ", " +
                   (sent == kNever ? "which has not been given" : "given at " + format_time(sent));
        }
        case OpKind::meet: {
            const JobGraph::Meeting& meeting = graph.meetings()[graph.target(op)];
            for (OpId part = meeting.first; part < meeting.first + meeting.parts; ++part) {
                if (application.start(part) == kNever) return "waits for " + graph.describe(part);
            }
            [[fallthrough]];
        }
        default: {
            const Tick left = kNever - application.start(op);
            if (graph.duration(op) >= left - kDay) return "would end after the end of time";
            return "would end at " + format_time(application.start(op) + graph.duration(op));
        }
    }
}

}  // namespace

std::vector<CollectiveSpan> collective_spans(const JobApplication& application) {
    const JobGraph& graph = application.graph();
    std::vector<CollectiveSpan> spans(graph.collectives().size());
    for (CollectiveId id = 0; id < spans.size(); ++id) {
        spans[id].collective = id;
        spans[id].end = 0;
    }
    for (OpId op = 0; op < graph.op_count(); ++op) {
        const CollectiveId id = graph.label(op).collective;
        if (id != kNone) extend(spans[id], application, op);
    }
    for (CollectiveSpan& span : spans) {
        if (span.start == kNever) span.end = kNever;
    }
    return spans;
}

std::vector<CollectiveSpan> rank_spans(const JobApplication& application, RankId rank) {
    const JobGraph& graph = application.graph();
    std::vector<CollectiveSpan> spans;
    std::unordered_map<CollectiveId, std::size_t> index;
    for (const OpId op : graph.ops_of(rank)) {
        const CollectiveId id = graph.label(op).collective;
        if (id == kNone) continue;
        const auto [it, fresh] = index.try_emplace(id, spans.size());
        if (fresh) spans.push_back({id, rank, kNever, 0, 0});
        extend(spans[it->second], application, op);
    }
    for (const OpId op : graph.ops_of(rank)) {
        const CollectiveId id = graph.label(op).collective;
        if (id != kNone) extend_with_waiting(spans[index[id]], application, op);
    }
    return spans;
}

std::vector<BlockedOperation> unfinished(const JobApplication& application, std::size_t limit) {
    const JobGraph& graph = application.graph();
    std::vector<BlockedOperation> blocked;
    std::vector<OpId> behind;
    for (OpId op = 0; op < graph.op_count() && blocked.size() < limit; ++op) {
        if (application.end(op) != kNever) continue;
        const OpId holder = application.holder_before(op);
        if (holder != kNone) {
            blocked.push_back({op, graph.describe(op) + " waits for resource " +
                                       std::to_string(graph.target(op)) + ", held by " +
                                       graph.describe(holder)});
            continue;
        }
        if (application.start(op) == kNever) {
            if (behind.size() < limit) behind.push_back(op);
            continue;
        }
        blocked.push_back({op, graph.describe(op) + " " + outside_cause(application, op)});
    }
    behind.resize(std::min(behind.size(), limit - blocked.size()));
    if (behind.empty()) return blocked;

    // Successors are what the graph stores: one pass finds an undone dependency of each.
    std::unordered_map<OpId, OpId> cause;
    for (const OpId op : behind) cause.emplace(op, kNone);
    for (OpId on = 0; on < graph.op_count(); ++on) {
        if (application.end(on) != kNever) continue;
        for (const OpId op : graph.successors(on)) {
            const auto it = cause.find(op);
            if (it != cause.end() && it->second == kNone) it->second = on;
        }
    }
    for (const OpId op : behind) {
        const std::uint32_t pending = application.pending_dependencies(op);
        std::string text = graph.describe(op) + " waits for ";
        if (cause[op] == kNone) {
            text += "its rank to begin";
        } else {
            text += graph.describe(cause[op]);
            if (pending > 1) text += " and " + std::to_string(pending - 1) + " more";
        }
        blocked.push_back({op, std::move(text)});
    }
    return blocked;
}

}  // namespace sluice
