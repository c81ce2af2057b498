// SPDX-License-Identifier: Apache-2.0
#include "experiment/batch/batch_store.h"

#include <array>

#include <fmt/core.h>

#include "core/error.h"

namespace sluice {

namespace {

constexpr std::int64_t kApplicationId = 0x536c4261;  // "SlBa"
constexpr std::int64_t kFormat = 1;
constexpr std::size_t kMostKeys = 500;

constexpr std::array kStatuses = {BatchStatus::done, BatchStatus::cut_off, BatchStatus::left,
                                  BatchStatus::oom,  BatchStatus::refused, BatchStatus::failed};

/// A name as SQL quotes it.
std::string quoted(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
    return text + "\"";
}

std::string figure_names() {
    std::string text;
    for (const BatchFigureType& figure : batch_figures()) text += std::string(", ") + figure.name;
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

BatchStore::BatchStore(const std::string& path) : database_(path, true) {
    check_ours();
    database_.run("PRAGMA journal_mode=WAL");
}

void BatchStore::check_ours() {
    const std::int64_t tables = database_.number("SELECT count(*) FROM sqlite_master");
    const std::int64_t id = database_.number("PRAGMA application_id");
    if (tables == 0 && id == 0) return;
    if (id != kApplicationId) {
        throw ConfigError(database_.path(), 0,
                          "is a database of something else; give another folder");
    }
    if (database_.number("PRAGMA user_version") != kFormat) {
        throw ConfigError(database_.path(), 0,
                          "was written by another version of the program; give another folder");
    }
}

std::size_t BatchStore::size() {
    if (database_.number("SELECT count(*) FROM sqlite_master WHERE name = 'experiments'") == 0)
        return 0;
    return static_cast<std::size_t>(database_.number("SELECT count(*) FROM experiments"));
}

std::unordered_map<std::string, BatchRow> BatchStore::known() {
    std::unordered_map<std::string, BatchRow> rows;
    if (size() == 0) return rows;
    Statement select(
        database_,
        ("SELECT digest, status, reason" + figure_names() + " FROM experiments").c_str());
    while (select.step()) {
        BatchRow row;
        const std::string_view name = select.bytes(1);
        for (const BatchStatus status : kStatuses) {
            if (status_name(status) == name) row.status = status;
        }
        // A file that was missing may be there now, and so may memory.
        if (row.status == BatchStatus::refused || row.status == BatchStatus::failed) continue;
        row.reason = select.bytes(2);
        if (row.status != BatchStatus::oom) {
            int column = 3;
            for (const BatchFigureType& type : batch_figures()) {
                row.figures.push_back(figure_in(select, column++, type));
            }
        }
        rows.emplace(select.bytes(0), std::move(row));
    }
    return rows;
}

void BatchStore::begin(const std::vector<std::string>& keys, const std::vector<BatchRow>& rows) {
    if (keys.size() > kMostKeys) {
        throw ConfigError(
            fmt::format("a batch varies at most {} keys; this one {}", kMostKeys, keys.size()));
    }
    insert_.reset();
    Transaction whole(database_, "BEGIN IMMEDIATE");
    database_.run(fmt::format("PRAGMA application_id={}", kApplicationId).c_str());
    database_.run(fmt::format("PRAGMA user_version={}", kFormat).c_str());
    database_.run("DROP TABLE IF EXISTS experiments");
    std::string columns = "experiment INTEGER PRIMARY KEY, digest TEXT, status TEXT";
    std::string places = "?, ?, ?";
    for (const std::string& key : keys) {
        columns += ", " + quoted(key) + " TEXT";
        places += ", ?";
    }
    for (const BatchFigureType& figure : batch_figures()) {
        columns += std::string(", ") + figure.name + (figure.whole ? " INTEGER" : " REAL");
        places += ", ?";
    }
    database_.run(("CREATE TABLE experiments(" + columns + ", reason TEXT)").c_str());
    insert_ = std::make_unique<Statement>(
        database_, ("INSERT INTO experiments VALUES(" + places + ", ?)").c_str());
    if (rows.empty()) database_.run("DROP TABLE IF EXISTS checks");
    database_.run(
        "CREATE TABLE IF NOT EXISTS checks(digest TEXT PRIMARY KEY, packet_jct_s REAL, "
        "packet_cpu_s REAL)");
    for (const BatchRow& row : rows) add(row);
    whole.commit();
}

void BatchStore::add(const BatchRow& row) {
    int parameter = 1;
    insert_->bind(parameter++, static_cast<std::int64_t>(row.experiment));
    insert_->bind_text(parameter++, row.digest);
    insert_->bind_text(parameter++, status_name(row.status));
    for (const std::string& value : row.values) insert_->bind_text(parameter++, value);
    for (std::size_t i = 0; i < batch_figures().size(); ++i) {
        bind_figure(*insert_, parameter++, i < row.figures.size() ? row.figures[i] : BatchFigure{});
    }
    insert_->bind_text(parameter, row.reason);
    insert_->step();
}

std::unordered_map<std::string, BatchStore::Reference> BatchStore::references() {
    std::unordered_map<std::string, Reference> known;
    Statement select(database_, "SELECT digest, packet_jct_s, packet_cpu_s FROM checks");
    while (select.step()) {
        known[std::string(select.bytes(0))] = {select.real(1), select.real(2)};
    }
    return known;
}

void BatchStore::add_reference(const std::string& digest, const Reference& reference) {
    Statement insert(database_, "INSERT OR REPLACE INTO checks VALUES(?, ?, ?)");
    insert.bind_text(1, digest);
    insert.bind(2, reference.jct_s);
    insert.bind(3, reference.cpu_s);
    insert.step();
}

}  // namespace sluice
