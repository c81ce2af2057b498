// SPDX-License-Identifier: Apache-2.0
#include "eval/trials/trial_store.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/core.h>

#include "core/error.h"

namespace sluice::eval {

namespace {

constexpr std::int64_t kApplication = 0x534c4556;  // "SLEV"
/// No evaluation has more trials, nor as many candidates.
constexpr std::int64_t kMostTrials = 1'000'000'000;

std::string_view bytes_of(const std::vector<double>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

std::vector<double> values_of(std::string_view bytes) {
    std::vector<double> values(bytes.size() / sizeof(double));
    if (!values.empty()) {  // neither has an address then
        std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
    }
    return values;
}

}  // namespace

TrialStore::TrialStore(const std::string& path, const std::string& identity,
                       const std::vector<std::string>& metrics, bool anew)
    : database_(path, true), metrics_(metrics) {
    const std::int64_t application = database_.number("PRAGMA application_id");
    const bool empty = database_.number("SELECT count(*) FROM sqlite_master") == 0;
    if (!empty && application != kApplication) {
        throw ConfigError(path, 0, "is not a file of an evaluation's trials, and was not changed");
    }
    if (anew && !empty) database_.reset();
    if (empty || anew) {
        make_tables();
        set_note("identity", identity);
    }
    if (note("identity") != identity) {
        throw ConfigError(
            path, 0,
            "holds trials of other settings or metrics, or by another version; --anew "
            "replaces them, --out names another folder");
    }
    // A commit then does not wait for the disk: a killed process loses nothing, a machine without power the last trials.
    database_.run("PRAGMA journal_mode = WAL");
    insert_ = std::make_unique<Statement>(
        database_, "INSERT OR REPLACE INTO trials VALUES(?, ?, ?, ?, ?, ?, ?)");
    insert_figure_ = std::make_unique<Statement>(
        database_, "INSERT OR REPLACE INTO observations VALUES(?, ?, ?, ?, ?, ?)");
}

void TrialStore::make_tables() {
    Transaction whole(database_, "BEGIN IMMEDIATE");
    database_.run(fmt::format("PRAGMA application_id = {}", kApplication).c_str());
    database_.run("CREATE TABLE notes(key TEXT PRIMARY KEY, text TEXT)");
    database_.run(
        "CREATE TABLE trials(candidate INTEGER, trial INTEGER, attempts INTEGER, seed INTEGER, "
        "cpu_s REAL, packet_hops INTEGER, failure TEXT, PRIMARY KEY(candidate, trial)) "
        "WITHOUT ROWID");
    database_.run(
        "CREATE TABLE observations(candidate INTEGER, trial INTEGER, metric TEXT, value REAL, "
        "count REAL, bytes BLOB, PRIMARY KEY(candidate, trial, metric)) WITHOUT ROWID");
    whole.commit();
}

std::size_t TrialStore::size() {
    return static_cast<std::size_t>(database_.number("SELECT count(*) FROM trials"));
}

std::vector<StoredTrial> TrialStore::load() {
    std::vector<StoredTrial> trials;
    Statement all(
        database_,
        "SELECT candidate, trial, attempts, seed, cpu_s, packet_hops, failure FROM trials "
        "ORDER BY candidate, trial");
    while (all.step()) {
        for (const int column : {0, 1}) {
            if (all.number(column) >= 0 && all.number(column) < kMostTrials) continue;
            throw ConfigError(database_.path(), 0,
                              fmt::format("holds trial {} of candidate {}, which no evaluation "
                                          "has: it is damaged; --anew replaces it",
                                          all.number(1), all.number(0)));
        }
        StoredTrial trial;
        trial.candidate = static_cast<std::size_t>(all.number(0));
        trial.trial = static_cast<std::size_t>(all.number(1));
        trial.attempts = static_cast<std::size_t>(all.number(2));
        trial.seed = static_cast<std::uint64_t>(all.number(3));
        trial.cpu_s = all.real(4);
        trial.packet_hops = all.number(5);
        trial.failure = std::string(all.bytes(6));
        if (trial.failure.empty()) trial.observations.resize(metrics_.size());
        trials.push_back(std::move(trial));
    }
    for (std::size_t m = 0; m < metrics_.size(); ++m) {
        Statement figures(database_,
                          "SELECT value, count, bytes FROM observations WHERE metric = ? "
                          "ORDER BY candidate, trial");
        figures.bind_text(1, metrics_[m]);
        for (StoredTrial& trial : trials) {
            if (!trial.failure.empty()) continue;
            if (!figures.step()) throw ConfigError(database_.path(), 0, "lacks observations");
            // A value that is not finite is kept as none.
            const bool infinite = figures.null(0);
            trial.observations[m].value =
                infinite ? std::numeric_limits<double>::infinity() : figures.real(0);
            trial.observations[m].count = figures.real(1);
            trial.observations[m].values = values_of(figures.bytes(2));
        }
    }
    return trials;
}

void TrialStore::add(const StoredTrial& trial) {
    Transaction whole(database_, "BEGIN IMMEDIATE");
    const auto candidate = static_cast<std::int64_t>(trial.candidate);
    const auto number = static_cast<std::int64_t>(trial.trial);
    insert_->bind(1, candidate);
    insert_->bind(2, number);
    insert_->bind(3, static_cast<std::int64_t>(trial.attempts));
    insert_->bind(4, static_cast<std::int64_t>(trial.seed));
    insert_->bind(5, trial.cpu_s);
    insert_->bind(6, trial.packet_hops);
    insert_->bind_text(7, trial.failure);
    insert_->step();
    for (std::size_t m = 0; m < trial.observations.size(); ++m) {
        const Observation& observation = trial.observations[m];
        insert_figure_->bind(1, candidate);
        insert_figure_->bind(2, number);
        insert_figure_->bind_text(3, metrics_[m]);
        if (std::isfinite(observation.value)) {
            insert_figure_->bind(4, observation.value);
        } else {
            insert_figure_->bind_null(4);
        }
        insert_figure_->bind(5, observation.count);
        insert_figure_->bind(6, bytes_of(observation.values));
        insert_figure_->step();
    }
    whole.commit();
}

std::string TrialStore::note(const std::string& key) {
    Statement select(database_, "SELECT text FROM notes WHERE key = ?");
    select.bind_text(1, key);
    return select.step() ? std::string(select.bytes(0)) : "";
}

void TrialStore::set_note(const std::string& key, const std::string& text) {
    Statement insert(database_, "INSERT OR REPLACE INTO notes VALUES(?, ?)");
    insert.bind_text(1, key);
    insert.bind_text(2, text);
    insert.step();
}

}  // namespace sluice::eval
