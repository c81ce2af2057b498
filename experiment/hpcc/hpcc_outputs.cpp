// SPDX-License-Identifier: Apache-2.0
#include "experiment/hpcc/hpcc_outputs.h"

#include <cstdio>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "experiment/hpcc/hpcc_import.h"
#include "experiment/exit_codes.h"
#include "experiment/lossless.h"
#include "experiment/modes/packet_run.h"
#include "experiment/hpcc/queue_monitor.h"
#include "core/results/fct_line.h"
#include "core/results/resources.h"
#include "core/routing/base_rtt.h"

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

void print_summary(const Summary& summary, const RunOutcome& outcome, const std::string& folder) {
    std::printf(
        "%zu of %zu flows finished, simulated %.9f s, %llu packet-hops in %.2f s user time"
        " (%.2f M/s)\n",
        summary.flows_completed, summary.flows,
        static_cast<double>(outcome.simulated) / static_cast<double>(kSecond),
        static_cast<unsigned long long>(outcome.counters.packet_hops), outcome.user_s,
        summary.packet_hops_per_s * 1e-6);
    if (summary.flows_completed > 0) {
        const auto microseconds = [](Tick time) {
            return static_cast<double>(time) / static_cast<double>(kMicrosecond);
        };
        std::printf("FCT mean %.3f us, p50 %.3f us, p99 %.3f us, max %.3f us\n",
                    summary.fct_mean_s * 1e6, microseconds(summary.fct_p50),
                    microseconds(summary.fct_p99), microseconds(summary.fct_max));
    }
    std::printf("Results in %s\n", folder.c_str());
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

/// The outputs of one run, fed by its hooks. A hook that fails ends the run; its exception waits
/// for finish(), since it may not pass through the engine.
class Outputs {
  public:
    Outputs(const HpccOptions& options, const HpccImport& import)
        : options_(options),
          experiment_(import.experiment),
          standalone_(standalone_times(experiment_)),
          writer_(options.out,
                  {Mode::packet, experiment_.name, options.version, experiment_.network.seed,
                   import.config_json},
                  experiment_.topology, experiment_.flows, {options.trace, false}),
          fct_(writer_.add_file(import.fct_file)),
          pfc_(writer_.add_file(import.pfc_file)) {
        if (!import.queue_monitor.file.empty()) {
            monitor_.emplace(experiment_.topology, writer_.add_file(import.queue_monitor.file),
                             import.queue_monitor.from, import.queue_monitor.to);
        }
    }

    RunHooks hooks() {
        RunHooks hooks;
        hooks.on_finish = [this](const FlowRecord& flow) {
            guarded([&] { flow_finished(flow); });
        };
        hooks.on_pfc = [this](const PfcEvent& event) {
            guarded([&] { write_pfc(pfc_, experiment_.topology, event); });
        };
        hooks.on_progress = [this](Tick now) {
            guarded([&] { go_on(now); });
            return !interrupted_ && !failure_ && !only_sampling_left(now);
        };
        if (monitor_) {
            hooks.sample_every = QueueMonitor::kSamplePeriod;
            hooks.sample_from = monitor_->first_sample();
            hooks.sample_to = monitor_->last_sample();
            hooks.on_sample = [this](Tick now, const std::vector<std::int64_t>& queue_bytes) {
                guarded([&] { monitor_->sample(now, queue_bytes); });
            };
        }
        return hooks;
    }

    /// Rethrows what a hook threw.
    Summary finish(RunOutcome& outcome) {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        if (monitor_ && !interrupted_) {
            monitor_->idle_until(experiment_.stop == kNever ? kNever : experiment_.stop - 1);
        }
        outcome.interrupted = interrupted_;
        return writer_.finish(outcome);
    }

    bool interrupted() const { return interrupted_; }

  private:
    template <typename Action>
    void guarded(const Action& action) {
        if (failure_) {
            return;
        }
        try {
            action();
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

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

    void go_on(Tick now) {
        writer_.flush_if_due();
        interrupted_ =
            options_.on_progress && !options_.on_progress(now, finished_, experiment_.flows.size());
    }

    const HpccOptions& options_;
    const Experiment& experiment_;
    std::vector<Tick> standalone_;
    RunWriter writer_;
    OutputFile& fct_;
    OutputFile& pfc_;
    std::optional<QueueMonitor> monitor_;
    std::size_t finished_ = 0;
    Tick last_finish_ = 0;
    bool interrupted_ = false;
    std::exception_ptr failure_;
};

}  // namespace

int run_hpcc(const HpccOptions& options) {
    const HpccImport import = import_hpcc(options.config, options.paths, options.seed);
    for (std::size_t i = 0; !options.quiet && i < import.notes.size(); ++i) {
        std::fprintf(stderr, "note: %s\n", import.notes[i].c_str());
    }
    Outputs outputs(options, import);
    const ResourceUsage unbuilt = resource_usage();
    PacketRun run(import.experiment);
    const ResourceUsage before = resource_usage();
    run.run(outputs.hooks());
    const ResourceUsage after = resource_usage();
    if (options.on_end) {
        options.on_end();
    }

    RunOutcome outcome;
    outcome.counters = run.counters();
    outcome.ports = run.port_statistics();
    outcome.simulated = run.now();
    outcome.elaboration_s = run.elaboration_seconds();
    outcome.elaboration_user_s = before.user_s - unbuilt.user_s;
    outcome.wall_s = after.wall_s - before.wall_s;
    outcome.user_s = after.user_s - before.user_s;
    const Summary summary = outputs.finish(outcome);
    if (!options.quiet) {
        print_summary(summary, outcome, options.out);
    }
    if (outputs.interrupted()) {
        return kExitInterrupted;
    }
    const std::size_t unfinished = summary.flows - summary.flows_completed;
    if (unfinished > 0 && !options.quiet) {
        std::fprintf(stderr, "note: %zu of %zu flows did not finish\n", unfinished, summary.flows);
    }
    const std::string lost = lossless_warning(import.experiment, outcome.counters);
    if (!lost.empty() && !options.quiet) {
        std::fprintf(stderr, "warning: %s\n", lost.c_str());
    }
    // A stop time that comes first is how the experiment ends, as in ns-3.
    return unfinished > 0 && !run.cut_off() ? kExitWorkLeft : kExitDone;
}

}  // namespace sluice
