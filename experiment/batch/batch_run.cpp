// SPDX-License-Identifier: Apache-2.0
#include "experiment/batch/batch_run.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <limits>
#include <system_error>

#include <fmt/core.h>

#include "core/error.h"
#include "core/results/output_file.h"
#include "core/thread_group.h"
#include "experiment/version.h"

namespace sluice {

namespace {

/// How often an experiment that is under way says where it stands.
constexpr std::chrono::milliseconds kBetweenPositions{100};

double seconds_of(const BatchRow& row, const char* name, double without) {
    const BatchFigure figure = figure_of(row, name);
    const double* const seconds = std::get_if<double>(&figure);
    return seconds != nullptr ? *seconds : without;
}

double jct_of(const BatchRow& row) { return seconds_of(row, "jct_s", -1); }
double cpu_of(const BatchRow& row) { return seconds_of(row, "cpu_s", 0); }

/// A shard keeps the snapshot of the whole batch, even if it begins its own folder anew. A batch without results takes a
/// new snapshot: what lies there is of a run that was killed before its first row.
std::optional<BatchMemo> memo_of(const BatchSettings& settings) {
    if (settings.memo.empty()) return std::nullopt;
    const bool whole = !settings.shard && !settings.merge;
    const bool first = !settings.resume && shard_databases(settings.directory).empty();
    return BatchMemo(settings.directory, settings.memo, whole && (settings.anew || first));
}

/// The same for all spellings of a file, from whatever folder.
std::string whole_path(const std::string& file) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(file, ignored), ignored)
        .string();
}

}  // namespace

std::string folder_of(const BatchSettings& settings) {
    return settings.shard ? shard_folder(settings.directory, *settings.shard) : settings.directory;
}

BatchRun::BatchRun(const Batch& batch, const BatchSettings& settings)
    : batch_(batch),
      settings_(settings),
      memo_(memo_of(settings)),
      folder_(folder_of(settings), OutputFolder::Use::alone),
      table_(folder_.file(kBatchTable), batch.columns(), batch.size()),
      store_(folder_.file(kBatchDatabase), program_version(), settings.anew),
      host_turns_(settings.host_lanes) {
    position_.experiments = settings_.shard ? settings_.shard->size(batch.size()) : batch.size();
    const std::size_t there = store_.size();
    std::int64_t last_before = std::numeric_limits<std::int64_t>::max();
    if (settings_.merge) {
        last_before = store_.last_result();
        settings_.resume = true;
        take_shards();
    }
    if (there > 0 && !settings_.resume && !settings_.anew) {
        throw ConfigError(settings_.directory, 0,
                          fmt::format("holds {} results of a batch: --resume continues it, --anew "
                                      "replaces them, --out names another folder",
                                      there));
    }
    if (memo_) {
        memo_->keep(directory());
    } else if (settings_.anew && !settings_.shard) {
        std::error_code ignored;
        std::filesystem::remove(std::filesystem::path(directory()) / kStartMemo, ignored);
    }
    take_up(last_before);
    if (settings_.merge) aside_.gaps = gaps();
}

/// By which its result is known again.
std::string BatchRun::digest(std::size_t experiment) const {
    return digest_of(batch_, experiment, memo_ ? memo_->digest() : "");
}

/// Into the database; what of it is the batch's, take_up() finds.
void BatchRun::take_shards() {
    const std::vector<std::string> shards = shard_databases(settings_.directory);
    if (shards.empty()) {
        throw ConfigError(
            settings_.directory, 0,
            "has no shards to merge: run them first, by --shard I/N with the same --out");
    }
    for (const std::string& shard : shards) aside_.merged += store_.take(shard);
}

/// Of shards, what the batch does not know after their merge.
std::vector<ShardGap> BatchRun::gaps() const {
    std::vector<bool> missing(batch_.size());
    for (std::size_t i = 0; i < batch_.size(); ++i) missing[i] = !is_known_[i] && !to_run(i);
    return shard_gaps(settings_.directory, missing);
}

/// What an earlier run knows, under its new numbers. Results up to `last_before` were there before a merge.
void BatchRun::take_up(std::int64_t last_before) {
    is_known_.resize(batch_.size());
    std::vector<BatchStore::Known> kept;
    if (settings_.resume) {
        const std::unordered_map<std::string, BatchStore::Known> known =
            store_.known(settings_.allow_oom, settings_.merge);
        const std::unordered_set<std::string> others = store_.known_to_others();
        const bool any = !known.empty() || !others.empty();
        for (std::size_t i = 0; any && i < batch_.size(); ++i) {
            if (settings_.shard && !settings_.shard->has(i)) continue;
            const std::string digest = this->digest(i);
            const auto found = known.find(digest);
            if (found == known.end()) {
                aside_.to_redo += others.count(digest);
                continue;
            }
            is_known_[i] = true;
            kept.push_back(found->second);
            kept.back().row.experiment = i;
            kept.back().row.values = batch_.values(i);
            aside_.known += found->second.result <= last_before ? 1 : 0;
        }
    } else {
        store_.clear();
        folder_.remove_old({kCheckTable}, {});
    }
    check_folders();
    store_.begin(batch_.columns(), kept, memo_ ? memo_->digest() : "", settings_.merge);
    aside_.results = store_.aside();
    aside_.other_memos = store_.with_other_memos();
    if (memo_) {
        const std::string file = whole_path(memo_->file());
        const std::string noted = store_.memo_file(file);
        if (noted != file) aside_.first_memo = noted;
    }
    position_.known = kept.size();
    for (const BatchStore::Known& known : kept) {
        count(known.row);
        table_.add(known.row);
    }
    table_.write();
}

/// No experiment is to write where another one, or another version, has left its outputs.
void BatchRun::check_folders() {
    if (!settings_.folders || !settings_.resume) return;
    const std::unordered_set<std::size_t> taken = store_.folders();
    for (std::size_t i = 0; !taken.empty() && i < batch_.size(); ++i) {
        if (is_known_[i] || taken.count(i) == 0) continue;
        throw ConfigError(
            settings_.directory, 0,
            fmt::format("runs/{} belongs to an earlier experiment of this number; allowed: new "
                        "values at the end, --anew, another --out, or no --folders",
                        i));
    }
}

void BatchRun::run(const MayGoOn& go_on, const OnChange& on_change) {
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
        if (!is_known_[i] && to_run(i)) unknown.push_back(i);
    }
    const auto begin = std::chrono::steady_clock::now();
    run_all({unknown, false, go_on, on_change, [&](const BatchRow& row) {
                 store_.add(row);
                 table_.add(row);
                 count(row);
             }});
    guarded([&] { table_.write(); });
    if (error_ != nullptr) std::rethrow_exception(error_);
    // What earlier runs and merged shards have learned, too: adding it again changes nothing.
    if (memo_ && !settings_.shard) memo_->add(store_.learned());
    wall_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!interrupted_ && settings_.checks > 0) run_checks(go_on, on_change);
}

/// A merge only finds out anew what cannot be known by a digest: experiments whose keys do not fit their base, which are
/// refused at once.
bool BatchRun::to_run(std::size_t experiment) const {
    if (settings_.merge) return digest(experiment).empty();
    return !settings_.shard || settings_.shard->has(experiment);
}

/// On the threads; what comes of each is taken by one at a time. What goes wrong is in error_ afterwards.
void BatchRun::run_all(const Round& round) {
    next_ = 0;
    const std::size_t useful = std::min<std::size_t>(settings_.threads, round.experiments.size());
    ThreadGroup group;
    {
        const std::lock_guard none_works(start_);
        try {
            while (group.size() + 1 < useful) group.add([&] { work(round); });
        } catch (const std::exception& error) {
            interrupted_ = true;
            const ConfigError refusal(fmt::format(
                "the system makes only {} of {} threads here ({}); allowed: fewer (--threads, on "
                "devices --lanes)",
                group.size() + 1, useful, error.what()));
            error_ = std::make_exception_ptr(refusal);
        }
    }
    work(round);
    group.join();
}

void BatchRun::work(const Round& round) {
    { const std::lock_guard all_are_there(start_); }
    KnownRouting routing;
    bool goes_on = true;
    while (goes_on && !interrupted_) {
        const std::size_t next = next_++;
        if (next >= round.experiments.size()) return;
        try {
            goes_on = round.go_on() && execute(round.experiments[next], round, routing);
        } catch (...) {
            const std::exception_ptr error = std::current_exception();
            goes_on = guarded([&] { std::rethrow_exception(error); });
        }
    }
    if (!goes_on) interrupted_ = true;
}

/// Does it while no other thread does anything so. What it throws ends the batch: false.
bool BatchRun::guarded(const std::function<void()>& action) {
    const std::lock_guard lock(mutex_);
    try {
        action();
        return true;
    } catch (...) {
        if (error_ == nullptr) error_ = std::current_exception();
        interrupted_ = true;
        return false;
    }
}

/// False if it was interrupted.
bool BatchRun::execute(std::size_t experiment, const Round& round, KnownRouting& routing) {
    LaneRequest request;
    if (settings_.folders && !round.checking) {
        request.directory = folder_.file("runs/" + std::to_string(experiment));
    }
    request.checking = round.checking;
    request.allow_oom = settings_.allow_oom;
    request.maker = settings_.maker;
    request.fall_back = settings_.fall_back;
    request.host_turns = &host_turns_;
    request.routing = &routing;
    if (memo_) {
        request.memo = memo_->snapshot();
        request.memo_digest = memo_->digest();
    }
    const auto tell = [&](const LanePosition& at) {
        return guarded([&] {
            position_.under_way[experiment] = at;
            table_.write_if_due();
            round.on_change(position_);
        });
    };
    auto told = std::chrono::steady_clock::now();
    request.go_on = [&](const LanePosition& at) {
        if (interrupted_ || !round.go_on()) return false;
        const auto now = std::chrono::steady_clock::now();
        if (now - told < kBetweenPositions) return true;
        told = now;
        return tell(at);
    };
    bool whole = true;
    if (!tell({})) return false;
    const BatchRow row = run_lane(batch_, experiment, request, whole);
    return guarded([&] {
               position_.under_way.erase(experiment);
               if (!whole) return;
               round.take(row);
               table_.write_if_due();
               round.on_change(position_);
           }) &&
           whole;
}

/// Compares a random few with mode packet.
void BatchRun::run_checks(const MayGoOn& go_on, const OnChange& on_change) {
    std::vector<std::size_t> candidates;
    candidates.reserve(comparable_.size());
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
        const auto found = known.find(digest(experiment));
        if (found == known.end()) {
            unknown.push_back(experiment);
        } else {
            add(experiment, found->second);
        }
    }
    position_.checks = drawn.size();
    run_all({unknown, true, go_on, on_change, [&](const BatchRow& row) {
                 if (jct_of(row) <= 0) return;
                 const BatchStore::Reference reference{jct_of(row), cpu_of(row)};
                 store_.add_reference(row.digest, reference);
                 add(row.experiment, reference);
             }});
    if (error_ != nullptr) std::rethrow_exception(error_);
    std::vector<CheckedPair> ordered;
    ordered.reserve(pairs.size());
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
        position_.recalled_skips += row.recalled_skips;
    }
    if (!row.declined.empty() && position_.declined++ == 0) position_.why_declined = row.declined;
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

}  // namespace sluice
