// SPDX-License-Identifier: Apache-2.0
/// A file that a run can leave behind. Each is a class and its OutputType in a file of outputs/, named
/// in output_table.cpp. It is told what happens; what it does not care for it leaves alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/results/output_file.h"
#include "core/results/phase_record.h"
#include "core/results/queue_facts.h"
#include "core/results/run_records.h"
#include "core/topology/topology.h"

namespace sluice {

/// What an output may look at from its first moment to its last.
struct OutputContext {
    const RunInfo& info;
    const Topology& topology;
    const std::vector<FlowSpec>& flows;
};

class RunOutput {
  public:
    virtual ~RunOutput() = default;
    /// In the order in which they finish.
    virtual void flow_finished(const FlowReport&) {}
    virtual void collective_finished(const CollectiveRecord&) {}
    virtual void span(const TraceSpan&) {}
    virtual bool wants_flows() const { return false; }
    virtual bool wants_spans() const { return false; }
    /// Queues of all ports, at every step of RunInfo::queues.
    virtual void sample(const PortSample&) {}
    virtual bool wants_samples() const { return false; }
    /// In the order of the windows in which the ACKs came.
    virtual void round_trip(const RoundTrip&) {}
    virtual bool wants_round_trips() const { return false; }
    /// A flow that has started and was not finished when the run ended.
    virtual void flow_open(const FlowRecord&) {}
    /// Hybrid mode only.
    virtual void phase(const PhaseRecord&) {}
    /// The run is over. Called once, before the files get their names.
    virtual void finish(const RunOutcome&) {}
    virtual OutputFile& file() = 0;
};

struct OutputType {
    const char* name;  ///< of the file
    /// The key of [output] that asks for it (docs/scenario.md); null: every run that `applies` has it.
    const char* key;
    bool usual;  ///< whether it is written where nothing is said of it
    bool (*applies)(const RunInfo& info);
    /// Opens the file at `path`. ConfigError if that fails.
    std::unique_ptr<RunOutput> (*make)(const std::string& path, const OutputContext& context);
};

/// For OutputType::applies.
bool every_run(const RunInfo& info);
bool in_packet_mode(const RunInfo& info);

/// For OutputType::make.
template <typename Output>
std::unique_ptr<RunOutput> make_output(const std::string& path, const OutputContext& context) {
    return std::make_unique<Output>(path, context);
}

/// Put in place last: if it is there, the folder is complete.
inline constexpr const char* kSummaryFile = "summary.json";

/// Every name that files of runs have, whatever the run: the summary's, then the others'.
std::vector<std::string> run_file_names();

/// What a run can leave behind beside summary.json, in the order in which the files get their names.
const std::vector<OutputType>& output_types();
/// The keys of the optional outputs that are usual.
std::vector<std::string> usual_outputs();

}  // namespace sluice
