// SPDX-License-Identifier: Apache-2.0
#include "experiment/hpcc/hpcc_outputs.h"

#include <optional>
#include <utility>

#include "core/results/fct_line.h"
#include "core/routing/base_rtt.h"
#include "experiment/hpcc/queue_monitor.h"
#include "experiment/version.h"

namespace sluice {
namespace {

/// The analysis scripts' convention: flows to port 200 are incast.
constexpr std::uint16_t kIncastPort = 200;

/// `<time ns> <node> <1 switch, 0 host> <interface> <1 pause, 0 resume>`
void write_pfc(OutputFile& file, const Topology& topology, const PfcEvent& event) {
    const NodeId node = topology.node_of(event.port);
    file << event.at / kNanosecond << ' ' << std::int64_t{node} << ' '
         << (topology.is_host(node) ? '0' : '1') << ' '
         << std::int64_t{event.port - topology.first_port(node) + 1} << ' '
         << (event.pause ? '1' : '0') << '\n';
}

/// ns-3's standalone completion time of every flow: its pair's base round trip, then all packets
/// with their headers, but no INT, at the least rate on the way; nanoseconds, truncated.
std::vector<Tick> standalone_times(const Experiment& experiment) {
    __extension__ typedef unsigned __int128 Wide;
    const PacketFormat& format = experiment.network.format;
    std::vector<std::pair<NodeId, NodeId>> pairs;
    pairs.reserve(experiment.flows.size());
    for (const FlowSpec& flow : experiment.flows) {
        pairs.emplace_back(flow.src, flow.dst);
    }
    const std::vector<BaseRtt> base =
        pair_base_rtts(experiment.topology, {format.payload, Arithmetic::ns3}, pairs);
    std::vector<Tick> times(pairs.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
        const std::int64_t size = experiment.flows[i].size;
        const std::int64_t packets = (size + format.payload - 1) / format.payload;
        const auto bytes = static_cast<Wide>(size + packets * format.header);
        const auto nanoseconds = static_cast<Tick>(
            bytes * 8'000'000'000U / static_cast<Wide>(base[i].bottleneck.bits_per_second));
        times[i] = base[i].rtt + nanoseconds * kNanosecond;
    }
    return times;
}

/// The outputs of one run, fed by its hooks.
class Outputs {
  public:
    Outputs(const HpccRequest& request, const HpccImport& import)
        : experiment_(import.experiment),
          standalone_(standalone_times(experiment_)),
          writer_(request.directory,
                  {Mode::packet, experiment_.name, program_version(), experiment_.network.seed,
                   import.config_json},
                  experiment_.topology, experiment_.flows, request.outputs),
          fct_(writer_.add_file(import.fct_file)),
          pfc_(writer_.add_file(import.pfc_file)) {
        if (!import.queue_monitor.file.empty()) {
            monitor_.emplace(experiment_.topology, writer_.add_file(import.queue_monitor.file),
                             import.queue_monitor.from, import.queue_monitor.to);
        }
    }

    RunHooks hooks() {
        RunHooks hooks;
        hooks.on_finish = [this](const FlowRecord& flow) { flow_finished(flow); };
        hooks.on_pfc = [this](const PfcEvent& event) {
            write_pfc(pfc_, experiment_.topology, event);
        };
        hooks.on_progress = [this](Tick now) {
            writer_.flush_if_due();
            return !only_sampling_left(now);
        };
        if (monitor_) {
            hooks.sample_every = QueueMonitor::kSamplePeriod;
            hooks.sample_from = monitor_->first_sample();
            hooks.sample_to = monitor_->last_sample();
            hooks.on_sample = [this](Tick now, const std::vector<std::int64_t>& queue_bytes) {
                monitor_->sample(now, queue_bytes);
            };
        }
        return hooks;
    }

    Summary finish(const RunOutcome& outcome) {
        if (monitor_ && !outcome.interrupted) {
            monitor_->idle_until(experiment_.stop == kNever ? kNever : experiment_.stop - 1);
        }
        return writer_.finish(outcome);
    }

  private:
    void flow_finished(const FlowRecord& flow) {
        const Tick standalone = standalone_[flow.id];
        writer_.flow_finished(flow, standalone, flow.spec.dport == kIncastPort ? "incast" : "");
        fct_ << fct_line(flow.spec, flow.result, standalone);
        ++finished_;
        last_finish_ = flow.result.finish;
    }

    /// The network is at rest long since, and only the queue monitor would keep the run going:
    /// finish() counts the rest of its samples at once.
    bool only_sampling_left(Tick now) const {
        return monitor_ && finished_ == experiment_.flows.size() &&
               now >= last_finish_ + kMillisecond;
    }

    const Experiment& experiment_;
    std::vector<Tick> standalone_;
    RunWriter writer_;
    OutputFile& fct_;
    OutputFile& pfc_;
    std::optional<QueueMonitor> monitor_;
    std::size_t finished_ = 0;
    Tick last_finish_ = 0;
};

}  // namespace

RunReport run_hpcc(const HpccImport& import, const HpccRequest& request) {
    Outputs outputs(request, import);
    RunPlan plan;
    plan.watchers.push_back(outputs.hooks());
    plan.go_on = request.go_on;
    plan.give_up_stalled = false;  // as ns-3, which waits for its stop time
    FinishedRun done = run_experiment(import.experiment, plan);
    RunReport report;
    report.outcome = std::move(done.outcome);
    report.summary = outputs.finish(report.outcome);
    // A stop time that comes first is how the experiment ends, as in ns-3.
    report.cut_off = done.run->cut_off();
    const std::size_t unfinished = report.summary.flows - report.summary.flows_completed;
    if (unfinished > 0 && !report.cut_off) {
        report.work_left.push_back(std::to_string(unfinished) + " of " +
                                   std::to_string(report.summary.flows) + " flows did not finish");
    }
    return report;
}

}  // namespace sluice
