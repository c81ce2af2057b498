// SPDX-License-Identifier: Apache-2.0
/// An SQLite database and its statements. Every failure is a ConfigError that names the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace sluice {

class Database {
  public:
    /// Opens a file, for writing where the system allows it; an absent one is made if `create`.
    Database(const std::string& path, bool create);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    void run(const char* sql);
    /// The first column of the first row.
    std::int64_t number(const char* sql);
    std::string text(const char* sql);
    /// Makes it as empty as a new one, whatever it holds.
    void reset();
    [[noreturn]] void fail(int code);

    sqlite3* handle() const { return handle_; }
    const std::string& path() const { return path_; }

  private:
    void check(int code);

    std::string path_;
    sqlite3* handle_ = nullptr;
};

class Statement;

/// What is done in its life is done whole or, without commit(), not at all.
class Transaction {
  public:
    /// `begin`: "BEGIN" to read, "BEGIN IMMEDIATE" to write.
    Transaction(Database& database, const char* begin);
    /// The same by statements that are prepared: `begin`, and "COMMIT".
    Transaction(Database& database, Statement& begin, Statement& commit);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    void commit();

  private:
    Database& database_;
    Statement* commit_ = nullptr;
    bool open_ = true;
};

class Statement {
  public:
    Statement(Database& database, const char* sql);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    /// Parameters count from 1. Bytes must live until the statement is done.
    void bind(int parameter, std::string_view bytes);
    void bind(int parameter, std::int64_t number);
    void bind(int parameter, double number);
    /// As a text, not as bytes: for those who look at the file by other means.
    void bind_text(int parameter, std::string_view text);
    void bind_null(int parameter);
    /// The next row; false after the last, when it can be bound and begun anew.
    bool step();
    /// Columns count from 0. Bytes are valid until the next step.
    std::int64_t number(int column) const;
    double real(int column) const;
    bool null(int column) const;
    std::string_view bytes(int column) const;

  private:
    Database& database_;
    sqlite3_stmt* statement_ = nullptr;
};

}  // namespace sluice
