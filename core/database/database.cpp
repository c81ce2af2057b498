// SPDX-License-Identifier: Apache-2.0
#include "core/database/database.h"

#include <sqlite3.h>

#include <filesystem>
#include <system_error>

#include "core/error.h"

namespace sluice {

namespace {

constexpr int kPatienceMilliseconds = 10'000;

/// The path without links in its folders, for SQLite takes all links for followed; the file itself may
/// be none. Also a name that means nothing to SQLite but a file.
std::string resolved(const std::string& path) {
    namespace fs = std::filesystem;
    if (path.empty()) throw ConfigError("a database without a name cannot be used");
    std::error_code error;
    const fs::path whole = fs::absolute(path, error);
    const fs::path folder = fs::canonical(whole.parent_path(), error);
    if (error)
        throw ConfigError(path, 0, "cannot be used as a database: its folder: " + error.message());
    return (folder / whole.filename()).string();
}

}  // namespace

Database::Database(const std::string& path, bool create) : path_(path) {
    const std::string name = resolved(path);
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW |
                      (create ? SQLITE_OPEN_CREATE : 0);
    try {
        check(sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr));
        check(sqlite3_busy_timeout(handle_, kPatienceMilliseconds));
        // A damaged file must not be believed.
        check(sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr));
        run("PRAGMA trusted_schema=OFF");
        run("PRAGMA cell_size_check=ON");
        // Smallish pages: most memos are small. A new file's, without effect on others.
        run("PRAGMA page_size=2048");
        run("PRAGMA synchronous=NORMAL");
    } catch (const ConfigError&) {
        sqlite3_close_v2(handle_);
        throw;
    }
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::fail(int code) {
    switch (code & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            throw ConfigError(path_, 0, "another process holds it for more than 10 s");
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_FORMAT:
            throw ConfigError(path_, 0, "is damaged; remove it, or give another file");
        default:
            throw ConfigError(
                path_, 0,
                std::string("cannot be used as a database: ") +
                    (handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(code)));
    }
}

void Database::check(int code) {
    if (code != SQLITE_OK) fail(code);
}

void Database::run(const char* sql) {
    check(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr));
}

std::int64_t Database::number(const char* sql) {
    Statement statement(*this, sql);
    return statement.step() ? statement.number(0) : 0;
}

std::string Database::text(const char* sql) {
    Statement statement(*this, sql);
    return statement.step() ? std::string(statement.bytes(0)) : std::string();
}

void Database::reset() {
    check(sqlite3_db_config(handle_, SQLITE_DBCONFIG_RESET_DATABASE, 1, nullptr));
    run("VACUUM");
    check(sqlite3_db_config(handle_, SQLITE_DBCONFIG_RESET_DATABASE, 0, nullptr));
}

Transaction::Transaction(Database& database, const char* begin) : database_(database) {
    database.run(begin);
}

Transaction::Transaction(Database& database, Statement& begin, Statement& commit)
    : database_(database), commit_(&commit) {
    begin.step();
}

Transaction::~Transaction() {
    // Fails only if SQLite has rolled back already.
    if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
    if (commit_ != nullptr) {
        commit_->step();
    } else {
        database_.run("COMMIT");
    }
    open_ = false;
}

Statement::Statement(Database& database, const char* sql) : database_(database) {
    const int code = sqlite3_prepare_v2(database.handle(), sql, -1, &statement_, nullptr);
    if (code != SQLITE_OK) database.fail(code);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::bind(int parameter, std::string_view bytes) {
    const int code =
        sqlite3_bind_blob64(statement_, parameter, bytes.data(), bytes.size(), SQLITE_STATIC);
    if (code != SQLITE_OK) database_.fail(code);
}

void Statement::bind(int parameter, std::int64_t number) {
    const int code = sqlite3_bind_int64(statement_, parameter, number);
    if (code != SQLITE_OK) database_.fail(code);
}

void Statement::bind(int parameter, double number) {
    const int code = sqlite3_bind_double(statement_, parameter, number);
    if (code != SQLITE_OK) database_.fail(code);
}

void Statement::bind_text(int parameter, std::string_view text) {
    const int code = sqlite3_bind_text64(statement_, parameter, text.data(), text.size(),
                                         SQLITE_STATIC, SQLITE_UTF8);
    if (code != SQLITE_OK) database_.fail(code);
}

void Statement::bind_null(int parameter) {
    const int code = sqlite3_bind_null(statement_, parameter);
    if (code != SQLITE_OK) database_.fail(code);
}

bool Statement::step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) database_.fail(code);
    sqlite3_reset(statement_);
    return false;
}

std::int64_t Statement::number(int column) const {
    return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

bool Statement::null(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::string_view Statement::bytes(int column) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    const int size = sqlite3_column_bytes(statement_, column);
    return data == nullptr ? std::string_view()
                           : std::string_view(data, static_cast<std::size_t>(size));
}

}  // namespace sluice
