// SPDX-License-Identifier: Apache-2.0
/// `sluice astra`: ASTRA-sim by its own options, on its analytical networks or on ours.
#include <algorithm>
#include <memory>
#include <numeric>

#include <fmt/core.h>
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output/terminal.h"
#include "cli/print_check.h"
#include "cli/progress.h"
#include "core/error.h"
#include "core/job/job_checks.h"
#include "core/job/job_report.h"
#include "experiment/astra_inputs.h"
#include "experiment/run.h"
#include "scenario/workload/import_notes.h"

namespace sluice {

namespace {

/// Of --compute-scale and the like.
constexpr double kMostScale = 1e6;

/// A cycle of ASTRA-sim is a nanosecond.
std::int64_t cycles(Tick time) { return time / kNanosecond; }

void print_rank(RankId rank, const chakra::RankStatistics& of, bool roofline) {
    print("sys[{}] finished, {} cycles, exposed communication {} cycles.\n", rank,
          cycles(of.finish), cycles(of.exposed));
    print("sys[{}], Wall time: {}\n", rank, cycles(of.finish));
    print("sys[{}], CPU time: {}\n", rank, cycles(of.cpu));
    print("sys[{}], GPU time: {}\n", rank, cycles(of.gpu));
    print("sys[{}], Comm time: {}\n", rank, cycles(of.comm));
    print("sys[{}], Remote mem time: {}\n", rank, cycles(of.remote_memory));
    print("sys[{}], Total compute-communication overlap: {}\n", rank, cycles(of.overlap));
    if (!roofline) return;
    print("sys[{}], Compute bound percentage: {:.3f}%\n", rank, of.compute_bound * 100);
    print("sys[{}], Average compute utilization: {:.3f}%\n", rank, of.compute_utilization * 100);
    print("sys[{}], Average memory utilization: {:.3f}%\n", rank, of.memory_utilization * 100);
    print("sys[{}], Average operation intensity: {:.3f}\n", rank, of.operation_intensity);
}

class AstraRun {
  public:
    AstraRun(const AstraOptions& options, AstraInputs& inputs,
             std::unique_ptr<chakra::ChakraJob> job)
        : options_(options), inputs_(inputs), job_(std::move(job)) {
        std::vector<NodeId> hosts(inputs_.traces.size());
        if (inputs_.experiment) {
            const std::vector<NodeId>& all = inputs_.experiment->topology.hosts();
            std::copy_n(all.begin(), hosts.size(), hosts.begin());
        } else {
            std::iota(hosts.begin(), hosts.end(), 0);
        }
        flows_ = job_->graph.flows(hosts);
        if (inputs_.experiment) check_signals(job_->graph, 1);
        application_ = std::make_unique<JobApplication>(std::move(job_->graph), std::move(hosts));
    }

    void run() {
        const InterruptGuard guard;
        Progress progress(options_.quiet);
        if (inputs_.analytical) {
            run_analytical(progress);
        } else {
            run_network(progress);
        }
        progress.clear();
    }

    bool at_rest_unfinished() const { return !interrupted_ && !application_->complete(); }

    int finish() const {
        report();
        if (interrupted_) return kExitInterrupted;
        if (application_->complete()) return kExitDone;
        print_error("sluice: the job stopped with {} of {} operations unfinished\n",
                    application_->graph().op_count() - application_->completed_count(),
                    application_->graph().op_count());
        for (const BlockedOperation& op : unfinished(*application_)) {
            print_error("  {}\n", op.text);
        }
        return kExitWorkLeft;
    }

  private:
    bool keep_going(Progress& progress, Tick now, std::size_t finished) {
        progress.tick([&] { return ProgressSample{now, finished, flows_.size(), 0, 0}; });
        interrupted_ = InterruptGuard::requested();
        return !interrupted_;
    }

    void run_analytical(Progress& progress) {
        flowlevel::AnalyticalRun run(*inputs_.analytical, flows_, *application_);
        run.run([&](Tick now) { return keep_going(progress, now, run.delivered()); });
    }

    void run_network(Progress& progress) {
        Experiment& experiment = *inputs_.experiment;
        JobApplication* const application = application_.get();
        experiment.flows = flows_;
        assign_source_ports(experiment.flows);
        experiment.application = std::move(application_);
        RunPlan plan;
        plan.mode = parse_mode(options_.mode, "astra --mode");
        plan.go_on = [&](const RunPosition& at) {
            return keep_going(progress, at.now, at.flows_finished);
        };
        plan.give_up_stalled = false;  // its networks lose no link
        run_experiment(experiment, plan);
        // The run is over: the application is read from here on.
        experiment.application.release();
        application_.reset(application);
    }

    /// Ranks in the order in which they finished.
    void report() const {
        std::vector<chakra::RankStatistics> statistics;
        std::vector<RankId> order;
        for (RankId rank = 0; rank < inputs_.traces.size(); ++rank) {
            statistics.push_back(chakra::rank_statistics(*job_, *application_, inputs_.traces[rank],
                                                         inputs_.system, rank));
            bool done = true;
            for (const OpId op : application_->graph().ops_of(rank)) {
                done = done && application_->end(op) != kNever;
            }
            if (done) order.push_back(rank);
        }
        std::stable_sort(order.begin(), order.end(), [&](RankId a, RankId b) {
            return statistics[a].finish < statistics[b].finish;
        });
        for (const RankId rank : order) {
            print_rank(rank, statistics[rank], inputs_.system.roofline);
        }
    }

    const AstraOptions& options_;
    AstraInputs& inputs_;
    std::unique_ptr<chakra::ChakraJob> job_;  ///< its graph is the application's from then on
    std::vector<FlowSpec> flows_;
    std::unique_ptr<JobApplication> application_;
    bool interrupted_ = false;
};

int check(const AstraOptions& options) {
    ImportReport report;
    try {
        const AstraInputs inputs = read_astra_inputs(options, report);
        const bool whole = !inputs.traces.empty() && !inputs.job.expansion.dims.empty();
        const auto job =
            whole ? chakra::build_job(inputs.traces, inputs.system, inputs.job, report) : nullptr;
        if (job) {
            report.read(options.workload,
                        fmt::format("{} operations, {} messages", job->graph.op_count(),
                                    job->graph.messages().size()));
        }
    } catch (const ConfigError& error) {
        report.misfit_line(error.what(), "astra");
    }
    return print_check(report);
}

std::unique_ptr<AstraRun> run_job(const AstraOptions& options, AstraInputs& inputs,
                                  ImportReport& report) {
    auto job = chakra::build_job(inputs.traces, inputs.system, inputs.job, report);
    refuse_misfits(report);
    auto run = std::make_unique<AstraRun>(options, inputs, std::move(job));
    run->run();
    return run;
}

int astra_command(const AstraOptions& options) {
    require_offered(parse_mode(options.mode, "astra --mode"), "astra --mode " + options.mode);
    if (options.check) return check(options);
    ImportReport report;
    AstraInputs inputs = read_astra_inputs(options, report);
    refuse_misfits(report);
    std::unique_ptr<AstraRun> run = run_job(options, inputs, report);
    if (!options.quiet) tell(note_lines(report, "--check"));
    if (inputs.analytical && run->at_rest_unfinished()) {
        ImportReport again;
        inputs.job.expansion.chunk_order = chakra::ChunkOrder::fixed;
        std::unique_ptr<AstraRun> second = run_job(options, inputs, again);
        if (!second->at_rest_unfinished()) {
            print_error(
                "sluice: ranks that take chunks as they come block each other here, as in "
                "ASTRA-sim (its issue #137): run again with one order on all ranks\n");
            run = std::move(second);
        }
    }
    return run->finish();
}

}  // namespace

Command add_astra_command(CommandLine program) {
    auto options = std::make_shared<AstraOptions>();
    CommandLine app =
        program.add_subcommand("astra", "Run Chakra traces as ASTRA-sim does, with its options");
    app.add_option("--workload-configuration", options->workload,
                   "Prefix of the traces PREFIX.0.et, PREFIX.1.et, ..., or their folder")
        .type_name("PREFIX");
    app.add_option("--system-configuration", options->system,
                   "How collectives, memory and compute behave")
        .type_name("system.json");
    app.add_option("--network-configuration", options->network,
                   "An analytical network.yml, or an ns-3 config.txt for Sluice's packet engine")
        .type_name("FILE");
    app.add_option("--remote-memory-configuration", options->remote_memory,
                   "Remote memory (default: none)")
        .type_name("FILE");
    app.add_option("--logical-topology-configuration", options->logical,
                   "Logical dimensions, with an ns-3 config.txt")
        .type_name("FILE");
    app.add_option("--comm-group-configuration", options->comm_group,
                   "Communicator groups (a file name that contains \"empty\": none)")
        .type_name("FILE");
    const auto ignore = [](const std::string&) {};
    app.add_option_for("--logging-configuration", ignore, "Accepted, without effect")
        .type_name("FILE");
    app.add_option_for("--logging-folder", ignore, "Accepted, without effect").type_name("DIR");
    app.add_option("--num-queues-per-dim", options->queues_per_dim,
                   "Collectives that run at the same time per dimension (default: 1)")
        .type_name("N")
        .range(1, 65536);
    app.add_option("--compute-scale", options->compute_scale,
                   "Factor of compute times (default: 1)")
        .type_name("X")
        .range(0.0, kMostScale);
    app.add_option("--comm-scale", options->comm_scale,
                   "Factor of communication sizes (default: 1)")
        .type_name("X")
        .range(0.0, kMostScale);
    app.add_option("--injection-scale", options->injection_scale,
                   "Factor of endpoint-delay (default: 1)")
        .type_name("X")
        .range(0.0, kMostScale);
    app.add_option("--rendezvous-protocol", options->rendezvous,
                   "Messages wait for their receivers: true or false (default)")
        .type_name("BOOL")
        .offers({"true", "false"});
    app.add_option("--network-backend", options->backend,
                   "With a network.yml: congestion-aware (default) or congestion-unaware")
        .type_name("NAME")
        .offers({"congestion-aware", "congestion-unaware"});
    app.add_option("--mode", options->mode, "With an ns-3 config.txt: the mode (default: packet)")
        .type_name("MODE")
        .offers({"packet", "hybrid", "flow"});
    app.add_flag("--check", options->check,
                 "Report what was read, what was skipped and what does not fit; run nothing");
    app.add_flag("--quiet", options->quiet, "Print nothing but results and errors");
    return {app, [options] { return astra_command(*options); }};
}

}  // namespace sluice
