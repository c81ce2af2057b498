// SPDX-License-Identifier: Apache-2.0
#include "core/results/run_writer.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "core/error.h"
#include "core/results/fct_line.h"
#include "core/results/output_folder.h"
#include "core/results/summary.h"
#include "core/results/trace_writer.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFlushInterval{1};

/// Partitions with a track in trace.json: more cannot be taken in, and phases.csv has them all. Ids
/// are given again when partitions end, so the low ones are most of the work.
constexpr std::uint32_t kTracedPartitions = 64;

/// A CSV field, quoted where it must be.
std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == text.npos) {
        return std::string(text);
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c;
        if (c == '"') {
            quoted += c;
        }
    }
    return quoted + '"';
}

__extension__ typedef __int128 Wide;

/// part / whole with six decimals, truncated, by integers only; empty if whole is not positive.
std::string ratio(Wide part, Wide whole) {
    if (whole <= 0) {
        return "";
    }
    std::string decimals = std::to_string(static_cast<int>(part % whole * 1'000'000 / whole));
    decimals.insert(0, 6 - decimals.size(), '0');
    return std::to_string(static_cast<std::int64_t>(part / whole)) + "." + decimals;
}

const char* kind_name(NodeKind kind) {
    switch (kind) {
        case NodeKind::host: return "host";
        case NodeKind::ethernet: return "switch";
        case NodeKind::nvswitch: return "nvswitch";
    }
    throw InternalError("unknown node kind");
}

const char* lane_name(TraceLane lane) {
    switch (lane) {
        case TraceLane::compute: return "compute";
        case TraceLane::tensor: return "TP";
        case TraceLane::expert: return "EP";
        case TraceLane::data: return "DP";
        case TraceLane::pipeline: return "PP";
        case TraceLane::flows: return "flows";
    }
    throw InternalError("unknown trace lane");
}

}  // namespace

struct RunWriter::Impl {
    Impl(const std::string& directory, RunInfo run_info, const Topology& network,
         const std::vector<FlowSpec>& specs, const RunFiles& files)
        : folder(directory), info(std::move(run_info)), topology(network), flows(specs) {
        try {
            open(files);
        } catch (...) {
            close_unfinished();
            throw;
        }
        totals.flows = flows.size();
        for (const FlowSpec& flow : flows) {
            totals.bytes += flow.size;
            // Flows that an application starts have no planned start: then time counts from 0.
            count_from = std::min(count_from, flow.start == kNever ? 0 : flow.start);
        }
        if (flows.empty()) count_from = 0;
        last_flush = Clock::now();
    }

    void open(const RunFiles& files) {
        if (files.flows) {
            flow_rows = std::make_unique<OutputFile>(path("flows.csv"));
            *flow_rows << "flow,src,dst,sport,dport,priority,label,size_bytes,start_ps,"
                          "received_ps,finish_ps,fct_ps,ideal_ps,slowdown,retransmitted_bytes\n";
            flow_rows->preamble_done();
        }
        collective_rows = std::make_unique<OutputFile>(path("collectives.csv"));
        *collective_rows << "job,collective,kind,group,ranks,flows,bytes,start_ps,"
                            "finish_ps,duration_ps\n";
        collective_rows->preamble_done();
        port_rows = std::make_unique<OutputFile>(path("ports.csv"));
        summary = std::make_unique<OutputFile>(path("summary.json"));
        if (info.mode == Mode::hybrid) {
            phase_rows = std::make_unique<OutputFile>(path("phases.csv"));
            *phase_rows << "partition,phase,start_ps,end_ps,ended_by,flows,bytes_skipped,"
                           "hops_saved\n";
            phase_rows->preamble_done();
        }
        if (files.trace) {
            trace = std::make_unique<TraceWriter>(path("trace.json"));
        }
        if (files.fct) {
            fct = std::make_unique<OutputFile>(path("fct.txt"));
        }
    }

    /// Without finish(): each file decides whether it is worth keeping; so does the folder.
    void close_unfinished() {
        flow_rows.reset();
        collective_rows.reset();
        port_rows.reset();
        phase_rows.reset();
        summary.reset();
        trace.reset();
        fct.reset();
        others.clear();
        folder.remove_if_empty();
    }

    std::string path(const std::string& name) const { return folder.file(name); }

    void write_ports(const RunOutcome& outcome);
    void write_row(const FlowRecord& flow, Tick ideal, std::string_view label);

    /// The processes that hold the collectives and the phases stand after the hosts.
    std::uint32_t collectives_process() const {
        return static_cast<std::uint32_t>(topology.node_count());
    }
    std::uint32_t phases_process() const { return collectives_process() + 1; }
    void name_process(std::uint32_t process) {
        if (named.size() <= process) {
            named.resize(topology.node_count() + 2, false);
        }
        if (named[process]) {
            return;
        }
        named[process] = true;
        trace->name_process(process, process == collectives_process() ? "collectives"
                                     : process == phases_process()
                                         ? "phases"
                                         : "host " + std::to_string(process));
    }

    OutputFolder folder;
    RunInfo info;
    const Topology& topology;
    const std::vector<FlowSpec>& flows;
    std::unique_ptr<OutputFile> flow_rows;
    std::unique_ptr<OutputFile> collective_rows;
    std::unique_ptr<OutputFile> port_rows;
    std::unique_ptr<OutputFile> phase_rows;  ///< hybrid mode
    std::unique_ptr<OutputFile> summary;
    std::unique_ptr<TraceWriter> trace;
    std::unique_ptr<OutputFile> fct;
    std::vector<std::unique_ptr<OutputFile>> others;
    FlowTotals totals;
    Tick count_from = kNever;  ///< utilization's time
    std::vector<bool> named;   ///< processes of the trace, by node
    Clock::time_point last_flush;
    bool finished = false;
};

void RunWriter::Impl::write_ports(const RunOutcome& outcome) {
    *port_rows << "port,node,kind,interface,peer,rate_bps,tx_bytes,tx_packets,utilization,"
                  "max_queue_bytes,ecn_marks,drops,pauses_sent,paused_ps\n";
    const Tick span = std::max<Tick>(outcome.simulated - count_from, 0);
    const bool packets = moves_packets(info.mode);
    for (PortId port = 0; port < outcome.ports.size(); ++port) {
        const PortStatistics& counts = outcome.ports[port];
        const NodeId node = topology.node_of(port);
        const std::int64_t rate = topology.rate(port).bits_per_second;
        *port_rows << std::int64_t{port} << ',' << std::int64_t{node} << ','
                   << kind_name(topology.kind(node)) << ','
                   << std::int64_t{port - topology.first_port(node) + 1} << ','
                   << std::int64_t{topology.neighbor(port)} << ',' << rate << ',' << counts.tx_bytes
                   << ',' << counts.tx_packets << ','
                   << ratio(static_cast<Wide>(counts.tx_bytes) * 8 * kSecond,
                            static_cast<Wide>(rate) * span)
                   << ',';
        if (packets) {
            *port_rows << counts.max_queue_bytes << ',' << counts.ecn_marks << ',' << counts.drops
                       << ',' << counts.pauses_sent << ',' << counts.paused_ticks;
        } else {
            *port_rows << ",,,,";
        }
        *port_rows << '\n';
    }
}

void RunWriter::Impl::write_row(const FlowRecord& flow, Tick ideal, std::string_view label) {
    const FlowSpec& spec = flow.spec;
    const FlowResult& result = flow.result;
    const Tick time = result.finish - result.start;
    OutputFile& rows = *flow_rows;
    rows << static_cast<std::int64_t>(flow.id) << ',' << std::int64_t{spec.src} << ','
         << std::int64_t{spec.dst} << ',' << std::int64_t{spec.sport} << ','
         << std::int64_t{spec.dport} << ',' << std::int64_t{spec.priority} << ','
         << csv_field(label) << ',' << spec.size << ',' << result.start << ',' << result.received
         << ',' << result.finish << ',' << time << ',';
    if (ideal > 0) {
        rows << ideal;
    }
    rows << ',' << ratio(time, ideal) << ',';
    if (moves_packets(info.mode)) {
        rows << result.retransmitted;
    }
    rows << '\n';
}

RunWriter::RunWriter(const std::string& directory, const RunInfo& info, const Topology& topology,
                     const std::vector<FlowSpec>& flows, const RunFiles& files)
    : impl_(std::make_unique<Impl>(directory, info, topology, flows, files)) {}

RunWriter::~RunWriter() {
    if (!impl_->finished) {
        impl_->close_unfinished();
    }
}

void RunWriter::flow_finished(const FlowRecord& flow, Tick ideal, std::string_view label) {
    const FlowSpec& spec = flow.spec;
    const FlowResult& result = flow.result;
    const Tick fct = result.finish - result.start;
    if (impl_->flow_rows) impl_->write_row(flow, ideal, label);
    if (impl_->fct) {
        if (ideal <= 0) {
            throw InternalError("fct.txt needs every flow's ideal completion time");
        }
        *impl_->fct << fct_line(spec, result, ideal);
    }
    if (impl_->trace) {
        impl_->name_process(spec.src);
        std::string name = std::to_string(flow.id) + " to " + std::to_string(spec.dst);
        if (!label.empty()) {
            name.insert(0, std::string(label) + " ");
        }
        impl_->trace->span(spec.src, static_cast<std::uint32_t>(TraceLane::flows),
                           lane_name(TraceLane::flows), name, result.start, result.finish,
                           spec.size);
    }
    FlowTotals& totals = impl_->totals;
    totals.bytes_completed += spec.size;
    totals.completion_times.add(fct);
    totals.first_start = std::min(totals.first_start, result.start);
    totals.last_finish = std::max(totals.last_finish, result.finish);
    flush_if_due();
}

void RunWriter::collective_finished(const CollectiveRecord& record) {
    *impl_->collective_rows << csv_field(record.job) << ',' << std::int64_t{record.id} << ','
                            << csv_field(record.kind) << ',' << csv_field(record.group) << ','
                            << std::int64_t{record.ranks} << ',' << std::int64_t{record.flows}
                            << ',' << record.bytes << ',' << record.start << ',' << record.finish
                            << ',' << record.finish - record.start << '\n';
    if (impl_->trace) {
        impl_->name_process(impl_->collectives_process());
        impl_->trace->span(impl_->collectives_process(), 0, record.group, record.kind, record.start,
                           record.finish, record.bytes);
    }
}

void RunWriter::span(const TraceSpan& span) {
    if (!impl_->trace) {
        return;
    }
    impl_->name_process(span.host);
    impl_->trace->span(span.host, static_cast<std::uint32_t>(span.lane), lane_name(span.lane),
                       span.name, span.start, span.end, -1);
}

void RunWriter::phase(const PhaseRecord& record) {
    if (!impl_->phase_rows) {
        throw InternalError("a phase in a mode without phases");
    }
    const char* name = phase_name(record.phase);
    const char* ended_by = phase_end_name(record.ended_by);
    *impl_->phase_rows << std::int64_t{record.partition} << ',' << name << ',' << record.start
                       << ',' << record.end << ',' << ended_by << ',' << std::int64_t{record.flows}
                       << ',' << record.bytes_skipped << ',' << record.hops_saved << '\n';
    if (impl_->trace && record.partition < kTracedPartitions) {
        impl_->name_process(impl_->phases_process());
        impl_->trace->span(impl_->phases_process(), record.partition,
                           "partition " + std::to_string(record.partition), name, record.start,
                           record.end, record.bytes_skipped, ended_by);
    }
    flush_if_due();
}

OutputFile& RunWriter::add_file(const std::string& name) {
    if (name.empty() || fs::path(name).filename() != name || name == "." || name == "..") {
        throw ConfigError("\"" + name + "\" is not a plain file name for an output");
    }
    const auto taken = [&](const std::unique_ptr<OutputFile>& file) {
        return file && file->path() == impl_->path(name);
    };
    if (taken(impl_->flow_rows) || taken(impl_->collective_rows) || taken(impl_->port_rows) ||
        taken(impl_->phase_rows) || taken(impl_->summary) || taken(impl_->fct) ||
        name == "trace.json" || std::any_of(impl_->others.begin(), impl_->others.end(), taken)) {
        throw ConfigError("two outputs are called " + name + "; give one another name");
    }
    impl_->others.push_back(std::make_unique<OutputFile>(impl_->path(name)));
    return *impl_->others.back();
}

void RunWriter::flush_if_due() {
    const Clock::time_point now = Clock::now();
    if (now - impl_->last_flush < kFlushInterval) {
        return;
    }
    impl_->last_flush = now;
    if (impl_->flow_rows) {
        impl_->flow_rows->flush();
    }
    impl_->collective_rows->flush();
    if (impl_->phase_rows) {
        impl_->phase_rows->flush();
    }
    if (impl_->trace) {
        impl_->trace->file().flush();
    }
    if (impl_->fct) {
        impl_->fct->flush();
    }
    for (const auto& file : impl_->others) {
        file->flush();
    }
}

Summary RunWriter::finish(const RunOutcome& outcome) {
    impl_->totals.flows += outcome.opened_flows;
    impl_->totals.bytes += outcome.opened_bytes;
    const Summary summary = summarize(impl_->totals, outcome);
    impl_->write_ports(outcome);
    *impl_->summary << summary_json(impl_->info, outcome, summary);
    if (impl_->flow_rows) {
        impl_->flow_rows->commit();
    }
    impl_->collective_rows->commit();
    impl_->port_rows->commit();
    if (impl_->phase_rows) {
        impl_->phase_rows->commit();
    }
    if (impl_->trace) {
        impl_->trace->commit();
    }
    if (impl_->fct) {
        impl_->fct->commit();
    }
    for (const auto& file : impl_->others) {
        file->commit();
    }
    impl_->summary->commit();  // last: its presence says that the folder is complete
    impl_->finished = true;
    return summary;
}

}  // namespace sluice
