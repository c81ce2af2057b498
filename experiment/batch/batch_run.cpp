// SPDX-License-Identifier: Apache-2.0
#include "experiment/batch/batch_run.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include <fmt/core.h>

#include "core/error.h"
#include "core/memo/digest.h"
#include "experiment/build_experiment.h"
#include "experiment/run_memo.h"
#include "experiment/run_to_folder.h"
#include "experiment/version.h"
#include "scenario/scenario.h"
#include "scenario/unused_keys.h"

namespace sluice {

namespace {

/// Results are known again to the same program only.
std::string known_by(const ConfigValue& scenario) {
    return digest_of(scenario) + " " + program_version();
}

/// The same of one whose keys may not fit its base: "" then.
std::string known_by(const Batch& batch, std::size_t experiment) {
    try {
        return known_by(batch.scenario(experiment));
    } catch (const ConfigError&) {
        return "";
    }
}

double seconds_of(const BatchRow& row, const char* name, double without) {
    const BatchFigure figure = figure_of(row, name);
    const double* const seconds = std::get_if<double>(&figure);
    return seconds != nullptr ? *seconds : without;
}

double jct_of(const BatchRow& row) { return seconds_of(row, "jct_s", -1); }
double cpu_of(const BatchRow& row) { return seconds_of(row, "cpu_s", 0); }

}  // namespace

BatchRun::BatchRun(const Batch& batch, const BatchSettings& settings)
    : batch_(batch),
      settings_(settings),
      folder_(settings.directory),
      table_(folder_.file(kBatchTable)),
      store_(folder_.file(kBatchDatabase)) {
    position_.experiments = batch.size();
    const std::size_t there = store_.size();
    if (there > 0 && !settings_.resume && !settings_.anew) {
        throw ConfigError(
            settings_.directory, 0,
            fmt::format("holds {} results of a batch: --resume goes on with it, --anew "
                        "replaces them, --out names another folder",
                        there));
    }
    take_up();
}

/// What an earlier run knows, under its new numbers.
void BatchRun::take_up() {
    is_known_.resize(batch_.size());
    std::vector<BatchRow> kept;
    if (settings_.resume) {
        const std::unordered_map<std::string, BatchRow> known = store_.known();
        for (std::size_t i = 0; !known.empty() && i < batch_.size(); ++i) {
            const auto found = known.find(known_by(batch_, i));
            if (found == known.end()) continue;
            is_known_[i] = true;
            kept.push_back(found->second);
            kept.back().experiment = i;
            kept.back().values = batch_.values(i);
            kept.back().digest = found->first;
        }
    }
    store_.begin(batch_.columns(), kept);
    table_ << batch_csv_header(batch_.columns());
    table_.preamble_done();
    position_.known = kept.size();
    for (const BatchRow& row : kept) {
        count(row);
        table(row);
    }
}

void BatchRun::run(const MayGoOn& go_on, const OnRow& on_row) {
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
        if (!is_known_[i]) unknown.push_back(i);
    }
    const auto begin = std::chrono::steady_clock::now();
    run_all(unknown, false, go_on, [&](const BatchRow& row) {
        store_.add(row);
        count(row);
        table(row);
        table_.flush();
        on_row(position_);
    });
    close_table();
    wall_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!interrupted_ && settings_.checks > 0) run_checks(go_on, on_row);
}

/// On the threads; what comes of each is taken by one at a time.
void BatchRun::run_all(const std::vector<std::size_t>& experiments, bool checking,
                       const MayGoOn& go_on, const Take& take) {
    next_ = 0;
    std::vector<std::thread> threads;
    const std::size_t useful = std::min<std::size_t>(settings_.threads, experiments.size());
    for (std::size_t i = 1; i < useful; ++i) {
        threads.emplace_back([&] { work(experiments, checking, go_on, take); });
    }
    work(experiments, checking, go_on, take);
    for (std::thread& thread : threads) thread.join();
    if (error_ != nullptr) std::rethrow_exception(error_);
}

void BatchRun::work(const std::vector<std::size_t>& experiments, bool checking,
                    const MayGoOn& go_on, const Take& take) {
    while (!interrupted_) {
        const std::size_t next = next_++;
        if (next >= experiments.size()) return;
        BatchRow row;
        if (!go_on() || !execute(experiments[next], checking, go_on, row)) {
            interrupted_ = true;
            return;
        }
        const std::lock_guard lock(mutex_);
        if (error_ != nullptr) return;
        try {
            take(row);
        } catch (...) {
            error_ = std::current_exception();
            interrupted_ = true;
            return;
        }
    }
}

/// False if it was interrupted.
bool BatchRun::execute(std::size_t experiment, bool checking, const MayGoOn& go_on,
                       BatchRow& row) const {
    bool whole = true;
    try {
        row = simulate(experiment, checking, go_on, whole);
    } catch (const OutOfMemoryError& error) {
        row = row_of_error(experiment, BatchStatus::oom, error.what());
    } catch (const ConfigError& error) {
        row = row_of_error(experiment, BatchStatus::refused, error.what());
    } catch (const std::bad_alloc&) {
        row = row_of_error(experiment, BatchStatus::failed, "not enough memory on this machine");
    } catch (const std::exception& error) {
        row = row_of_error(experiment, BatchStatus::failed, error.what());
    }
    row.values = batch_.values(experiment);
    if (row.digest.empty()) row.digest = known_by(batch_, experiment);
    return whole;
}

/// `checking`: in mode packet, whatever mode the batch is in.
BatchRow BatchRun::simulate(std::size_t experiment, bool checking, const MayGoOn& go_on,
                            bool& whole) const {
    std::string path;
    ConfigValue values = batch_.scenario(experiment, &path);
    const std::string digest = known_by(values);
    if (checking) set_config(values, "mode", text_value(mode_name(Mode::packet)), "--check");
    Scenario scenario = make_scenario(std::move(values), path);
    scenario.allow_oom = settings_.allow_oom;
    const bool folders = settings_.folders && !checking;
    RunRequest request;
    if (folders) request.keys_without_effect = keys_without_effect(scenario);
    BuiltExperiment built = build_experiment(scenario);
    built.experiment.threads = 1;
    request.mode = scenario.mode;
    request.name = scenario.name;
    request.config_json = scenario.effective->json();
    request.caller = Caller::loop;
    if (settings_.maker) {
        if (scenario.mode != Mode::packet) {
            throw ConfigError(fmt::format("mode = \"{}\": a device executes mode packet only",
                                          mode_name(scenario.mode)));
        }
        request.maker = settings_.maker;
    }
    request.only_summary = !folders;
    if (folders) {
        request.directory = folder_.file("runs/" + std::to_string(experiment));
        request.outputs = scenario.output.optional;
        request.series_step = scenario.output.series_step;
    }
    request.go_on = [&](const RunPosition&) { return !interrupted_ && go_on(); };
    // What it remembers it has seen itself: others run beside it, in no order.
    const RunMemo memo("", false, request.config_json, built.experiment);
    const RunReport report = run_to_folder(built, request);
    whole = !report.outcome.interrupted;
    BatchRow row = row_of(experiment, report, scenario.mode);
    row.digest = digest;
    return row;
}

/// Compares a random few with mode packet.
void BatchRun::run_checks(const MayGoOn& go_on, const OnRow& on_row) {
    std::vector<std::size_t> candidates;
    for (const auto& [experiment, pair] : comparable_) candidates.push_back(experiment);
    const std::vector<std::size_t> drawn = draw_checks(candidates, settings_.checks);
    const std::unordered_map<std::string, BatchStore::Reference> known = store_.references();
    std::map<std::size_t, CheckedPair> pairs;
    const auto add = [&](std::size_t experiment, const BatchStore::Reference& reference) {
        CheckedPair pair = comparable_[experiment];
        pair.packet_jct_s = reference.jct_s;
        pair.packet_cpu_s = reference.cpu_s;
        pairs[experiment] = pair;
        position_.checked = pairs.size();
    };
    std::vector<std::size_t> unknown;
    for (const std::size_t experiment : drawn) {
        const auto found = known.find(known_by(batch_, experiment));
        if (found == known.end()) {
            unknown.push_back(experiment);
        } else {
            add(experiment, found->second);
        }
    }
    position_.checks = drawn.size();
    run_all(unknown, true, go_on, [&](const BatchRow& row) {
        if (jct_of(row) > 0) {
            const BatchStore::Reference reference{jct_of(row), cpu_of(row)};
            store_.add_reference(row.digest, reference);
            add(row.experiment, reference);
        }
        on_row(position_);
    });
    std::vector<CheckedPair> ordered;
    for (const auto& [experiment, pair] : pairs) ordered.push_back(pair);
    if (ordered.empty()) return;
    check_ = check_of(ordered);
    write_output(folder_.file(kCheckTable), check_csv(ordered, *check_));
}

void BatchRun::count(const BatchRow& row) {
    ++position_.finished;
    ++position_.by_status[static_cast<std::size_t>(row.status)];
    if (!is_known_[row.experiment]) {
        const BatchFigure hops = figure_of(row, "packet_hops");
        if (const auto* number = std::get_if<std::int64_t>(&hops)) position_.packet_hops += *number;
        position_.cpu_s += cpu_of(row);
    }
    const bool ended = row.status == BatchStatus::done || row.status == BatchStatus::cut_off;
    if (!ended && (!not_done_ || row.experiment < not_done_->experiment)) not_done_ = row;
    if (row.status != BatchStatus::done || jct_of(row) <= 0) return;
    comparable_[row.experiment] = {row.experiment, jct_of(row), 0, cpu_of(row), 0};
    const auto before = [](const BatchRow& a, const BatchRow& b) {
        return std::make_pair(jct_of(a), a.experiment) < std::make_pair(jct_of(b), b.experiment);
    };
    quickest_.insert(std::upper_bound(quickest_.begin(), quickest_.end(), row, before), row);
    if (quickest_.size() > kQuickest) quickest_.pop_back();
}

/// Rows come to the table in the order of their numbers.
void BatchRun::table(const BatchRow& row) {
    early_.emplace(row.experiment, row);
    while (!early_.empty() && early_.begin()->first == tabled_) {
        table_ << batch_csv_line(early_.begin()->second);
        early_.erase(early_.begin());
        ++tabled_;
    }
}

void BatchRun::close_table() {
    for (const auto& [experiment, row] : early_) {
        table_ << batch_csv_line(row);
    }
    early_.clear();
    table_.commit();
}

}  // namespace sluice
