// SPDX-License-Identifier: Apache-2.0
/// The folder that a run leaves behind: the outputs of the table in output_table.cpp, flows.csv among
/// them, and summary.json. Columns and units: docs/outputs.md. What a mode does not have is absent
/// from them: a key of the summary, or an empty field.
/// Every file is written as NAME.partial while the run goes on, flushed about once a second so that
/// it can be read meanwhile, and renamed to NAME by finish(), summary.json last. An interrupted
/// run calls finish() too, with RunOutcome::interrupted. A writer that dies without finish() keeps
/// its .partial files if they hold results, and removes them if they do not.
/// Bytes written are a function of what is passed in, except the resource figures of the summary.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/output_file.h"
#include "core/results/phase_record.h"
#include "core/results/run_output.h"
#include "core/results/run_records.h"
#include "core/topology/topology.h"

namespace sluice {

class RunWriter {
  public:
    /// Creates `directory` (with its parents) and opens the files: throws ConfigError if it cannot,
    /// so that a long run does not find out at its end. `wanted`: the optional outputs, by key.
    /// `topology` and `flows` must outlive this.
    RunWriter(const std::string& directory, const RunInfo& info, const Topology& topology,
              const std::vector<FlowSpec>& flows,
              const std::vector<std::string>& wanted = usual_outputs());
    /// Writes nothing: finish() only sums up.
    RunWriter(const RunInfo& info, const std::vector<FlowSpec>& flows);
    ~RunWriter();
    RunWriter(const RunWriter&) = delete;
    RunWriter& operator=(const RunWriter&) = delete;

    /// A flow finished: the fields of FlowReport. Rows are in the order of the calls.
    void flow_finished(const FlowRecord& flow, Tick ideal, std::string_view label);
    void collective_finished(const CollectiveRecord& record);
    void span(const TraceSpan& span);
    /// Whether an output has a row per flow; if none does, nobody looks at its ideal time.
    bool wants_flows() const;
    /// Whether an output shows spans; if none does, span() need not be called.
    bool wants_spans() const;
    /// Queues of all ports, at every step of RunInfo::queues.
    void sample(const PortSample& sample);
    /// Whether an output records queues; if none does, sample() need not be called.
    bool wants_samples() const;
    void round_trip(const RoundTrip& trip);
    /// Whether an output records round trips.
    bool wants_round_trips() const;
    /// A flow that has started and not finished, once the run is over.
    void flow_open(const FlowRecord& flow);
    /// A phase of a partition ended (hybrid mode only, else InternalError).
    void phase(const PhaseRecord& record);

    /// Another text file of this run under the same rules (pfc.txt, qlen.txt, ...). Stays valid
    /// until finish(). Throws ConfigError like the constructor.
    OutputFile& add_file(const std::string& name);

    /// Call now and then (each progress hook): makes what was written readable.
    void flush_if_due();

    /// Hands the outcome to every output, writes summary.json and gives every file its name. Call
    /// once.
    Summary finish(const RunOutcome& outcome);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace sluice
