// SPDX-License-Identifier: Apache-2.0
#include "core/results/run_writer.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/results/output_folder.h"
#include "core/results/resources.h"
#include "core/results/summary.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFlushInterval{1};

}  // namespace

struct RunWriter::Impl {
    Impl(RunInfo run_info, const std::vector<FlowSpec>& specs)
        : info(std::move(run_info)), flows(specs) {
        totals.flows = flows.size();
        for (const FlowSpec& flow : flows) totals.bytes += flow.size;
        last_flush = Clock::now();
    }

    void open(const std::string& directory, const Topology& network,
              const std::vector<std::string>& wanted) {
        folder.emplace(directory);
        try {
            open(network, wanted);
        } catch (...) {
            close_unfinished();
            throw;
        }
    }

    void open(const Topology& network, const std::vector<std::string>& wanted) {
        const bool used = fs::exists(fs::symlink_status(path(kSummaryFile))) ||
                          fs::exists(fs::symlink_status(partial_name(path(kSummaryFile))));
        // First of all, and given its name last: it is what locks the folder.
        summary = std::make_unique<OutputFile>(path(kSummaryFile));
        const OutputContext context{info, network, flows};
        for (const OutputType& type : output_types()) {
            const bool asked = type.key == nullptr ||
                               std::find(wanted.begin(), wanted.end(), type.key) != wanted.end();
            if (asked && type.applies(info)) outputs.push_back(type.make(path(type.name), context));
        }
        // Elsewhere such names are files of the user's.
        if (used) remove_old(run_file_names());
    }

    /// Once all that this run writes is open: a run that is refused leaves the old results whole.
    void remove_old(const std::vector<std::string>& names) {
        std::set<std::string> being_written;
        const auto add = [&](const OutputFile& file) { being_written.insert(file.written()); };
        add(*summary);
        for_each_file(add);
        folder->remove_old(names, being_written);
    }

    /// Without finish(): each file decides whether it is worth keeping; so does the folder.
    void close_unfinished() {
        outputs.clear();
        others.clear();
        summary.reset();
        if (folder) folder->remove_if_empty();
    }

    std::string path(const std::string& name) const { return folder->file(name); }

    template <typename Action>
    void for_each_file(const Action& action) {
        for (const auto& output : outputs) action(output->file());
        for (const auto& file : others) action(*file);
    }

    std::optional<OutputFolder> folder;  ///< none: nothing is written
    RunInfo info;
    const std::vector<FlowSpec>& flows;
    std::vector<std::unique_ptr<RunOutput>> outputs;
    std::vector<std::unique_ptr<OutputFile>> others;
    std::unique_ptr<OutputFile> summary;
    FlowTotals totals;
    Clock::time_point last_flush;
    bool finished = false;
};

RunWriter::RunWriter(const std::string& directory, const RunInfo& info, const Topology& topology,
                     const std::vector<FlowSpec>& flows, const std::vector<std::string>& wanted)
    : impl_(std::make_unique<Impl>(info, flows)) {
    impl_->open(directory, topology, wanted);
}

RunWriter::RunWriter(const RunInfo& info, const std::vector<FlowSpec>& flows)
    : impl_(std::make_unique<Impl>(info, flows)) {}

RunWriter::~RunWriter() {
    if (!impl_->finished) {
        impl_->close_unfinished();
    }
}

void RunWriter::flow_finished(const FlowRecord& flow, Tick ideal, std::string_view label) {
    const FlowSpec& spec = flow.spec;
    const FlowResult& result = flow.result;
    const FlowReport report{flow, ideal, label};
    for (const auto& output : impl_->outputs) output->flow_finished(report);
    FlowTotals& totals = impl_->totals;
    totals.bytes_completed += spec.size;
    totals.completion_times.add(result.finish - result.start);
    totals.first_start = std::min(totals.first_start, result.start);
    totals.last_finish = std::max(totals.last_finish, result.finish);
    flush_if_due();
}

void RunWriter::collective_finished(const CollectiveRecord& record) {
    for (const auto& output : impl_->outputs) output->collective_finished(record);
}

void RunWriter::span(const TraceSpan& span) {
    for (const auto& output : impl_->outputs) output->span(span);
}

bool RunWriter::wants_flows() const {
    return std::any_of(impl_->outputs.begin(), impl_->outputs.end(),
                       [](const auto& output) { return output->wants_flows(); });
}

bool RunWriter::wants_spans() const {
    return std::any_of(impl_->outputs.begin(), impl_->outputs.end(),
                       [](const auto& output) { return output->wants_spans(); });
}

void RunWriter::sample(const PortSample& sample) {
    for (const auto& output : impl_->outputs) output->sample(sample);
    flush_if_due();
}

bool RunWriter::wants_samples() const {
    return std::any_of(impl_->outputs.begin(), impl_->outputs.end(),
                       [](const auto& output) { return output->wants_samples(); });
}

void RunWriter::round_trip(const RoundTrip& trip) {
    for (const auto& output : impl_->outputs) output->round_trip(trip);
}

bool RunWriter::wants_round_trips() const {
    return std::any_of(impl_->outputs.begin(), impl_->outputs.end(),
                       [](const auto& output) { return output->wants_round_trips(); });
}

void RunWriter::flow_open(const FlowRecord& flow) {
    for (const auto& output : impl_->outputs) output->flow_open(flow);
}

void RunWriter::phase(const PhaseRecord& record) {
    if (!has_phases(impl_->info.mode)) {
        throw InternalError("a phase in a mode without phases");
    }
    for (const auto& output : impl_->outputs) output->phase(record);
    flush_if_due();
}

OutputFile& RunWriter::add_file(const std::string& name) {
    if (!impl_->folder) throw InternalError("a file of a run that writes none");
    if (name.empty() || fs::path(name).filename() != name || name == "." || name == "..") {
        throw ConfigError("\"" + name + "\" is not a plain file name for an output");
    }
    const std::string path = impl_->path(name);
    bool taken = impl_->summary->path() == path;
    impl_->for_each_file([&](const OutputFile& file) { taken = taken || file.path() == path; });
    if (taken) throw ConfigError("two outputs are called " + name + "; give one another name");
    impl_->others.push_back(std::make_unique<OutputFile>(path));
    impl_->remove_old({name});
    return *impl_->others.back();
}

void RunWriter::flush_if_due() {
    const Clock::time_point now = Clock::now();
    if (now - impl_->last_flush < kFlushInterval) {
        return;
    }
    impl_->last_flush = now;
    impl_->for_each_file([](OutputFile& file) { file.flush(); });
}

Summary RunWriter::finish(const RunOutcome& outcome) {
    impl_->totals.flows += outcome.opened_flows;
    impl_->totals.bytes += outcome.opened_bytes;
    Summary summary = summarize(impl_->totals, outcome);
    if (!impl_->folder) {
        impl_->finished = true;
        return summary;
    }
    summary.peak_rss_bytes = resource_usage().peak_rss_bytes;
    for (const auto& output : impl_->outputs) output->finish(outcome);
    *impl_->summary << summary_json(impl_->info, outcome, summary);
    // A full disk shows here, before the first file has its name.
    impl_->for_each_file([](OutputFile& file) { file.flush(); });
    impl_->summary->flush();
    impl_->for_each_file([](OutputFile& file) { file.commit(); });
    impl_->summary->commit();  // last: its presence says that the folder is complete
    impl_->finished = true;
    return summary;
}

}  // namespace sluice
