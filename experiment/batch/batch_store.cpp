// SPDX-License-Identifier: Apache-2.0
#include "experiment/batch/batch_store.h"

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "core/error.h"
#include "core/memo/entry_bytes.h"
#include "core/memo/version.h"

namespace sluice {

namespace {

constexpr std::int64_t kApplicationId = 0x536c4261;  // "SlBa"
/// Of the tables; another one, too, if batch_figures() are others.
constexpr std::int64_t kFormat = 3;
constexpr std::size_t kMostKeys = 500;

constexpr const char* kFailed = "status IN ('refused', 'failed')";

constexpr std::array kStatuses = {BatchStatus::done, BatchStatus::cut_off, BatchStatus::left,
                                  BatchStatus::oom,  BatchStatus::refused, BatchStatus::failed};

/// A name as SQL quotes it.
std::string in_quotes(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
    return text + "\"";
}

/// ", jct_s, ...", after each what `after` says of it.
template <typename After>
std::string figure_names(const After& after) {
    std::string text;
    for (const BatchFigureType& figure : batch_figures()) {
        text += std::string(", ") + figure.name + after(figure);
    }
    return text;
}

/// By which program an entry of a memo can be read and used.
std::string memo_version() {
    return fmt::format("{}.{}", memo::kFormatVersion, memo::kResultsVersion);
}

std::string figure_names() {
    return figure_names([](const BatchFigureType&) { return ""; });
}

BatchStatus status_in(const Statement& row, int column) {
    const std::string_view name = row.bytes(column);
    for (const BatchStatus status : kStatuses) {
        if (status_name(status) == name) return status;
    }
    return BatchStatus::failed;
}

/// "seed = 3, topology.k = 8": what a result is of, for those who find it without its batch.
std::string varied(const std::vector<std::string>& keys, const std::vector<std::string>& values) {
    std::string text;
    for (std::size_t i = 0; i < keys.size() && i < values.size(); ++i) {
        if (values[i].empty()) continue;
        text += (text.empty() ? "" : ", ") + keys[i] + " = " + values[i];
    }
    return text;
}

void bind_figure(Statement& statement, int parameter, const BatchFigure& figure) {
    if (const auto* whole = std::get_if<std::int64_t>(&figure)) {
        statement.bind(parameter, *whole);
    } else if (const auto* real = std::get_if<double>(&figure)) {
        statement.bind(parameter, *real);
    } else {
        statement.bind_null(parameter);
    }
}

BatchFigure figure_in(const Statement& row, int column, const BatchFigureType& type) {
    if (row.null(column)) return {};
    if (type.whole) return row.number(column);
    return row.real(column);
}

}  // namespace

BatchStore::BatchStore(const std::string& path, std::string version, bool anew)
    : database_(path, true), version_(std::move(version)) {
    check_ours(anew);
    database_.run("PRAGMA journal_mode=WAL");
}

void BatchStore::check_ours(bool anew) {
    const std::int64_t tables = database_.number("SELECT count(*) FROM sqlite_master");
    const std::int64_t id = database_.number("PRAGMA application_id");
    if (tables == 0 && id == 0) return;
    if (id != kApplicationId) {
        throw ConfigError(database_.path(), 0,
                          "is a database of something else; give another folder");
    }
    if (database_.number("PRAGMA user_version") == kFormat) return;
    if (!anew) {
        throw ConfigError(database_.path(), 0,
                          "was written by another version of the program; allowed: --anew, which "
                          "replaces it (of a shard with its --shard I/N), or another folder");
    }
    clear();
}

bool BatchStore::has_results() {
    return database_.number("SELECT count(*) FROM sqlite_master WHERE name = 'results'") > 0;
}

std::size_t BatchStore::size() {
    return has_results()
               ? static_cast<std::size_t>(database_.number("SELECT count(*) FROM results"))
               : 0;
}

std::int64_t BatchStore::last_result() {
    return has_results() ? database_.number("SELECT max(id) FROM results") : 0;
}

void BatchStore::clear() {
    Transaction whole(database_, "BEGIN IMMEDIATE");
    database_.run("DROP VIEW IF EXISTS experiments");
    for (const char* const table : {"numbers", "results", "checks", "learned", "memos"}) {
        database_.run(fmt::format("DROP TABLE IF EXISTS {}", table).c_str());
    }
    whole.commit();
}

std::unordered_map<std::string, BatchStore::Known> BatchStore::known(bool allow_oom,
                                                                     bool failures) {
    std::unordered_map<std::string, Known> rows;
    if (!has_results()) return rows;
    // A file that was missing may be there now, and so may memory.
    Statement select(database_, ("SELECT id, digest, over_memory, status, reason" + figure_names() +
                                 " FROM results WHERE version = ? AND digest <> ''" +
                                 (failures ? "" : std::string(" AND NOT ") + kFailed))
                                    .c_str());
    select.bind_text(1, version_);
    while (select.step()) {
        Known known;
        known.result = select.number(0);
        BatchRow& row = known.row;
        row.digest = select.bytes(1);
        row.over_memory = select.number(2) != 0;
        row.status = status_in(select, 3);
        row.reason = select.bytes(4);
        const bool oom = row.status == BatchStatus::oom;
        if ((oom && allow_oom) || (row.over_memory && !allow_oom)) continue;
        int column = 5;
        for (const BatchFigureType& type : batch_figures()) {
            if (!oom) row.figures.push_back(figure_in(select, column++, type));
        }
        std::string digest = row.digest;
        rows.emplace(std::move(digest), std::move(known));
    }
    return rows;
}

std::unordered_set<std::string> BatchStore::known_to_others() {
    std::unordered_set<std::string> digests;
    if (!has_results()) return digests;
    Statement select(database_,
                     "SELECT digest FROM results WHERE version <> ? AND status NOT IN "
                     "('refused', 'failed')");
    select.bind_text(1, version_);
    while (select.step()) digests.emplace(select.bytes(0));
    return digests;
}

std::unordered_set<std::size_t> BatchStore::folders() {
    std::unordered_set<std::size_t> numbers;
    if (!has_results()) return numbers;
    Statement select(database_,
                     "SELECT folder FROM results WHERE folder IS NOT NULL AND status NOT IN "
                     "('refused', 'failed')");
    while (select.step()) numbers.insert(static_cast<std::size_t>(select.number(0)));
    return numbers;
}

void BatchStore::make_tables() {
    database_.run(fmt::format("PRAGMA application_id={}", kApplicationId).c_str());
    database_.run(fmt::format("PRAGMA user_version={}", kFormat).c_str());
    const std::string figures = figure_names(
        [](const BatchFigureType& figure) { return figure.whole ? " INTEGER" : " REAL"; });
    database_.run(("CREATE TABLE IF NOT EXISTS results(id INTEGER PRIMARY KEY, digest TEXT, "
                   "version TEXT, memo TEXT, varied TEXT, over_memory INTEGER, status TEXT" +
                   figures + ", reason TEXT, folder INTEGER)")
                      .c_str());
    database_.run(
        "CREATE TABLE IF NOT EXISTS checks(digest TEXT, version TEXT, packet_jct_s REAL, "
        "packet_cpu_s REAL, PRIMARY KEY(digest, version))");
    database_.run(
        "CREATE TABLE IF NOT EXISTS learned(digest BLOB, content BLOB, version TEXT, bytes BLOB, "
        "PRIMARY KEY(digest, content, version)) WITHOUT ROWID");
    database_.run("CREATE TABLE IF NOT EXISTS memos(digest TEXT PRIMARY KEY, file TEXT)");
}

/// The batch's results under its numbers, with what varies.
void BatchStore::make_view() {
    database_.run("DROP VIEW IF EXISTS experiments");
    database_.run("DROP TABLE IF EXISTS numbers");
    std::string columns;
    std::string shown;
    std::string places = "?, ?";
    for (const std::string& key : keys_) {
        columns += ", " + in_quotes(key) + " TEXT";
        shown += ", " + in_quotes(key);
        places += ", ?";
    }
    database_.run(
        ("CREATE TABLE numbers(experiment INTEGER PRIMARY KEY, result INTEGER" + columns + ")")
            .c_str());
    database_.run(("CREATE VIEW experiments AS SELECT experiment, digest, status" + shown +
                   figure_names() +
                   ", reason, folder FROM numbers JOIN results ON results.id = numbers.result")
                      .c_str());
    begin_ = std::make_unique<Statement>(database_, "BEGIN IMMEDIATE");
    commit_ = std::make_unique<Statement>(database_, "COMMIT");
    insert_number_ = std::make_unique<Statement>(
        database_, ("INSERT INTO numbers VALUES(" + places + ")").c_str());
    std::string figures;
    for (std::size_t i = 0; i < batch_figures().size(); ++i) figures += ", ?";
    insert_result_ = std::make_unique<Statement>(
        database_,
        ("INSERT INTO results VALUES(?, ?, ?, ?, ?, ?, ?" + figures + ", ?, ?)").c_str());
    insert_learned_ =
        std::make_unique<Statement>(database_, "INSERT OR IGNORE INTO learned VALUES(?, ?, ?, ?)");
}

std::size_t BatchStore::take(const std::string& path) {
    // By its own means first: ATTACH takes any database, and makes one where there is none.
    const bool any = BatchStore(path, version_).size() > 0;
    if (!any) return 0;
    const std::string whole_path = std::filesystem::canonical(path).string();
    {
        Statement attach(database_, "ATTACH DATABASE ? AS shard");
        attach.bind_text(1, whole_path);
        attach.step();
    }
    Transaction whole(database_, "BEGIN IMMEDIATE");
    make_tables();
    database_.run((std::string("DELETE FROM main.results WHERE ") + kFailed +
                   " AND (digest, version) IN (SELECT digest, version FROM shard.results)")
                      .c_str());
    const std::string columns =
        "digest, version, memo, varied, over_memory, status" + figure_names() + ", reason";
    database_.run(("INSERT INTO main.results SELECT NULL, " + columns +
                   ", NULL FROM shard.results WHERE digest <> '' AND (digest, version, "
                   "status = 'oom') NOT IN (SELECT digest, version, status = 'oom' FROM "
                   "main.results) GROUP BY digest, version, status = 'oom'")
                      .c_str());
    const auto taken = static_cast<std::size_t>(database_.number("SELECT changes()"));
    database_.run("INSERT OR IGNORE INTO main.checks SELECT * FROM shard.checks");
    database_.run("INSERT OR IGNORE INTO main.learned SELECT * FROM shard.learned");
    if (database_.number("SELECT count(*) FROM shard.sqlite_master WHERE name = 'memos'") > 0) {
        database_.run("INSERT OR IGNORE INTO main.memos SELECT * FROM shard.memos");
    }
    whole.commit();
    database_.run("DETACH DATABASE shard");
    return taken;
}

void BatchStore::begin(const std::vector<std::string>& keys, const std::vector<Known>& rows,
                       const std::string& memo, bool failures) {
    if (keys.size() > kMostKeys) {
        throw ConfigError(
            fmt::format("a batch varies at most {} keys; this one {}", kMostKeys, keys.size()));
    }
    keys_ = keys;
    memo_ = memo;
    insert_number_.reset();
    insert_result_.reset();
    insert_learned_.reset();
    Transaction whole(database_, "BEGIN IMMEDIATE");
    make_tables();
    const std::string forgotten = failures ? "digest = ''" : kFailed;
    database_.run(("DELETE FROM results WHERE " + forgotten).c_str());
    next_result_ = last_result() + 1;
    make_view();
    for (const Known& known : rows) add_number(known.row, known.result);
    whole.commit();
}

void BatchStore::add_number(const BatchRow& row, std::int64_t result) {
    int parameter = 1;
    insert_number_->bind(parameter++, static_cast<std::int64_t>(row.experiment));
    insert_number_->bind(parameter++, result);
    for (const std::string& value : row.values) insert_number_->bind_text(parameter++, value);
    insert_number_->step();
}

void BatchStore::add(const BatchRow& row) {
    Transaction whole(database_, *begin_, *commit_);
    const std::string what = varied(keys_, row.values);
    int parameter = 1;
    insert_result_->bind(parameter++, next_result_);
    insert_result_->bind_text(parameter++, row.digest);
    insert_result_->bind_text(parameter++, version_);
    insert_result_->bind_text(parameter++, memo_);
    insert_result_->bind_text(parameter++, what);
    insert_result_->bind(parameter++, std::int64_t{row.over_memory});
    insert_result_->bind_text(parameter++, status_name(row.status));
    for (std::size_t i = 0; i < batch_figures().size(); ++i) {
        bind_figure(*insert_result_, parameter++,
                    i < row.figures.size() ? row.figures[i] : BatchFigure{});
    }
    insert_result_->bind_text(parameter++, row.reason);
    if (row.folder) {
        insert_result_->bind(parameter, static_cast<std::int64_t>(row.experiment));
    } else {
        insert_result_->bind_null(parameter);
    }
    insert_result_->step();
    add_number(row, next_result_++);
    add_learned(row.learned);
    whole.commit();
}

void BatchStore::add_learned(const memo::Content& learned) {
    if (learned.empty()) return;
    const std::string version = memo_version();
    for (const memo::Stored& stored : learned) {
        const std::string digest = stored.digest.bytes();
        const std::string content = memo::digest_of(stored.entry).bytes();
        const std::string bytes = memo::entry_to_bytes(stored.entry);
        insert_learned_->bind(1, digest);
        insert_learned_->bind(2, content);
        insert_learned_->bind_text(3, version);
        insert_learned_->bind(4, bytes);
        insert_learned_->step();
    }
}

memo::Content BatchStore::learned() {
    memo::Content content;
    const std::string version = memo_version();
    Statement select(database_,
                     "SELECT digest, content, bytes FROM learned WHERE version = ? "
                     "ORDER BY digest, content");
    select.bind_text(1, version);
    while (select.step()) {
        const std::optional<memo::Digest> digest = memo::digest_from_bytes(select.bytes(0));
        std::optional<memo::Entry> entry = memo::entry_from_bytes(select.bytes(2));
        if (!digest || !entry || memo::digest_of(*entry).bytes() != select.bytes(1)) continue;
        content.push_back({*digest, std::move(*entry), 0});
    }
    return content;
}

std::size_t BatchStore::aside() {
    return static_cast<std::size_t>(database_.number(
        "SELECT count(*) FROM results WHERE id NOT IN (SELECT result FROM numbers)"));
}

std::size_t BatchStore::with_other_memos() {
    Statement count(database_,
                    "SELECT count(*) FROM results WHERE id NOT IN (SELECT result FROM numbers) "
                    "AND version = ? AND memo <> ?");
    count.bind_text(1, version_);
    count.bind_text(2, memo_);
    count.step();
    return static_cast<std::size_t>(count.number(0));
}

std::string BatchStore::memo_file(const std::string& file) {
    {
        Statement note(database_, "INSERT OR IGNORE INTO memos VALUES(?, ?)");
        note.bind_text(1, memo_);
        note.bind_text(2, file);
        note.step();
    }
    Statement noted(database_, "SELECT file FROM memos WHERE digest = ?");
    noted.bind_text(1, memo_);
    noted.step();
    return std::string(noted.bytes(0));
}

std::unordered_map<std::string, BatchStore::Reference> BatchStore::references() {
    std::unordered_map<std::string, Reference> known;
    Statement select(database_,
                     "SELECT digest, packet_jct_s, packet_cpu_s FROM checks WHERE version = ?");
    select.bind_text(1, version_);
    while (select.step()) {
        known[std::string(select.bytes(0))] = {select.real(1), select.real(2)};
    }
    return known;
}

void BatchStore::add_reference(const std::string& digest, const Reference& reference) {
    Statement insert(database_, "INSERT OR REPLACE INTO checks VALUES(?, ?, ?, ?)");
    insert.bind_text(1, digest);
    insert.bind_text(2, version_);
    insert.bind(3, reference.jct_s);
    insert.bind(4, reference.cpu_s);
    insert.step();
}

}  // namespace sluice
