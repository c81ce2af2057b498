// SPDX-License-Identifier: Apache-2.0
#include "experiment/job_results.h"

#include <vector>

#include "core/job/job_report.h"
#include "experiment/explain.h"
#include "experiment/incidents.h"

namespace sluice {

namespace {

TraceLane lane_of(OpClass cls) {
    switch (cls) {
        case OpClass::compute: return TraceLane::compute;
        case OpClass::tp: return TraceLane::tensor;
        case OpClass::ep: return TraceLane::expert;
        case OpClass::dp: return TraceLane::data;
        case OpClass::pp: return TraceLane::pipeline;
        case OpClass::cp:
        case OpClass::embedding:
        case OpClass::collective:
        case OpClass::other: return TraceLane::flows;
    }
    return TraceLane::flows;
}

void write_collectives(const BuiltJob& built, RunWriter& writer) {
    const JobApplication& job = *built.application;
    const JobGraph& graph = job.graph();
    std::vector<std::uint32_t> flows(graph.collectives().size(), 0);
    for (const JobGraph::Message& message : graph.messages()) {
        const CollectiveId collective = graph.label(message.send).collective;
        if (collective != kNone) ++flows[collective];
    }
    for (const CollectiveSpan& span : collective_spans(job)) {
        if (span.start == kNever || span.end == kNever) continue;
        const Collective& collective = graph.collectives()[span.collective];
        CollectiveRecord record;
        record.job = built.name;
        record.id = span.collective;
        record.kind = graph.name(collective.name);
        record.group = graph.name(collective.group);
        record.ranks = collective.members;
        record.bytes = span.sent;
        record.flows = flows[span.collective];
        record.start = span.start;
        record.finish = span.end;
        writer.collective_finished(record);
    }
}

void write_rank(const JobApplication& job, RankId rank, RunWriter& writer) {
    const JobGraph& graph = job.graph();
    const NodeId host = job.host(rank);
    for (const OpId op : graph.ops_of(rank)) {
        const Label label = graph.label(op);
        const bool timed = graph.kind(op) == OpKind::compute || graph.kind(op) == OpKind::delay;
        if (!timed || label.collective != kNone || graph.duration(op) == 0) continue;
        if (job.end(op) == kNever) continue;
        writer.span({host, lane_of(label.cls), graph.name(label.name), job.start(op), job.end(op)});
    }
    for (const CollectiveSpan& span : rank_spans(job, rank)) {
        if (span.start == kNever || span.end == kNever) continue;
        const Collective& collective = graph.collectives()[span.collective];
        writer.span(
            {host, lane_of(collective.cls), graph.name(collective.name), span.start, span.end});
    }
}

}  // namespace

void write_job_results(const BuiltJob& job, RunWriter& writer) {
    write_collectives(job, writer);
    if (!writer.wants_spans()) return;
    const RankId ranks = job.application->graph().rank_count();
    for (RankId rank = 0; rank < ranks; ++rank) write_rank(*job.application, rank, writer);
}

namespace {

/// What is known of a job that is forgotten as it goes: no critical path, no ranks' time.
JobRecord stream_record(const BuiltExperiment& built) {
    const StreamApplication& stream = *built.stream;
    JobRecord record;
    record.name = built.stream_name;
    record.ranks = stream.rank_count();
    record.start = stream.start();
    record.operations = stream.operation_count();
    record.operations_completed = stream.completed_count();
    if (stream.complete()) record.jct = stream.last_end() - stream.start();
    record.flows = stream.message_count();
    record.bytes = stream.message_bytes();
    return record;
}

}  // namespace

std::vector<JobRecord> job_records(const BuiltExperiment& built) {
    std::vector<JobRecord> records;
    if (built.stream != nullptr) records.push_back(stream_record(built));
    for (const BuiltJob& job : built.jobs) {
        const JobGraph& graph = job.application->graph();
        JobRecord record;
        record.name = job.name;
        record.ranks = graph.rank_count();
        std::vector<NodeId> hosts;
        for (RankId rank = 0; rank < record.ranks; ++rank) {
            hosts.push_back(job.application->host(rank));
        }
        record.hosts = node_list(hosts);
        record.start = job.start;
        record.operations = graph.op_count();
        record.operations_completed = job.application->completed_count();
        if (job.application->complete()) record.jct = job.application->last_end() - job.start;
        record.flows = graph.messages().size();
        for (const JobGraph::Message& message : graph.messages()) record.bytes += message.bytes;
        explain_job(built, job, record);
        records.push_back(std::move(record));
    }
    return records;
}

}  // namespace sluice
