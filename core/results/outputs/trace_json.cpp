// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/results/run_output.h"
#include "core/results/trace_writer.h"

namespace sluice {
namespace {

/// Partitions with a track: more cannot be taken in, and phases.csv has them all. Ids are given again
/// when partitions end, so the low ones are most of the work.
constexpr std::uint32_t kTracedPartitions = 64;

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

class TraceJson : public RunOutput {
  public:
    TraceJson(const std::string& path, const OutputContext& context)
        : trace_(path),
          collectives_(static_cast<std::uint32_t>(context.topology.node_count())),
          phases_(collectives_ + 1),
          network_(phases_ + 1),
          roles_(context.info.host_roles),
          named_(context.topology.node_count() + 3, false) {}

    bool wants_flows() const override { return true; }
    void flow_finished(const FlowReport& report) override {
        const FlowSpec& spec = report.flow.spec;
        name_process(spec.src);
        std::string name = std::to_string(report.flow.id) + ": " + std::to_string(spec.src) +
                           " to " + std::to_string(spec.dst);
        if (!report.label.empty()) name.insert(0, std::string(report.label) + " ");
        trace_.span(spec.src, static_cast<std::uint32_t>(TraceLane::flows),
                    lane_name(TraceLane::flows), name, report.flow.result.start,
                    report.flow.result.finish, spec.size);
    }

    void collective_finished(const CollectiveRecord& record) override {
        name_process(collectives_);
        trace_.span(collectives_, 0, record.group, record.kind, record.start, record.finish,
                    record.bytes);
    }

    void span(const TraceSpan& span) override {
        name_process(span.host);
        trace_.span(span.host, static_cast<std::uint32_t>(span.lane), lane_name(span.lane),
                    span.name, span.start, span.end, -1);
    }
    bool wants_spans() const override { return true; }

    void phase(const PhaseRecord& record) override {
        if (record.partition >= kTracedPartitions) return;
        name_process(phases_);
        trace_.span(phases_, record.partition, "partition " + std::to_string(record.partition),
                    phase_name(record.phase), record.start, record.end, record.bytes_skipped,
                    phase_end_name(record.ended_by));
    }

    void finish(const RunOutcome& outcome) override {
        for (const TraceMark& mark : outcome.marks) {
            name_process(network_);
            trace_.instant(network_, mark.text, mark.at);
        }
        trace_.finish();
    }
    OutputFile& file() override { return trace_.file(); }

  private:
    void name_process(std::uint32_t process) {
        if (named_[process]) return;
        named_[process] = true;
        trace_.name_process(process, process == collectives_ ? "collectives"
                                     : process == phases_    ? "phases"
                                     : process == network_   ? "network"
                                                             : host_name(process));
    }

    /// "host 5: training rank 3"
    std::string host_name(std::uint32_t host) const {
        const std::string name = "host " + std::to_string(host);
        return host < roles_.size() && !roles_[host].empty() ? name + ": " + roles_[host] : name;
    }

    TraceWriter trace_;
    std::uint32_t collectives_;  ///< the process that holds the collectives, after the hosts
    std::uint32_t phases_;       ///< the one that holds the phases
    std::uint32_t network_;      ///< the one that holds what happened to links
    const std::vector<std::string>& roles_;  ///< by host
    std::vector<bool> named_;                ///< processes of the trace
};

}  // namespace

extern const OutputType kTraceJson{"trace.json", "trace", true, every_run, make_output<TraceJson>};

}  // namespace sluice
