// SPDX-License-Identifier: Apache-2.0
#include "models/observe/transaction_database.h"

#include <algorithm>

namespace sluice {
namespace {

// Types of events, which are those of attributes, too.
constexpr std::int64_t kBegin = 0;
constexpr std::int64_t kEnd = 2;
// Types of values, by SCV's numbers.
constexpr std::int64_t kInteger = 2;
constexpr std::int64_t kUnsigned = 3;
constexpr std::int64_t kString = 12;

constexpr const char* kTables =
    "PRAGMA journal_mode = MEMORY;"  // the file has no name yet
    "PRAGMA synchronous = OFF;"
    "CREATE TABLE ScvStream(id INTEGER NOT NULL PRIMARY KEY, name TEXT, kind TEXT);"
    "CREATE TABLE ScvGenerator(id INTEGER NOT NULL PRIMARY KEY, stream INTEGER REFERENCES "
    "ScvStream(id), name TEXT,"
    " begin_attr INTEGER, end_attr INTEGER);"
    "CREATE TABLE ScvTx(id INTEGER NOT NULL PRIMARY KEY, generator INTEGER REFERENCES "
    "ScvGenerator(id),"
    " stream INTEGER REFERENCES ScvStream(id), concurrencyLevel INTEGER);"
    "CREATE TABLE ScvTxEvent(tx INTEGER REFERENCES ScvTx(id), type INTEGER, time INTEGER);"
    "CREATE TABLE ScvTxAttribute(tx INTEGER REFERENCES ScvTx(id), type INTEGER, name TEXT, "
    "data_type INTEGER,"
    " data_value TEXT);"
    "CREATE TABLE ScvTxRelation(name TEXT, src INTEGER REFERENCES ScvTx(id), sink INTEGER "
    "REFERENCES ScvTx(id));"
    "CREATE TABLE ScvSimProps(time_resolution INTEGER);"  // in fs
    "INSERT INTO ScvSimProps VALUES(1000);";

Database& with_tables(Database& database) {
    database.run(kTables);
    return database;
}

void insert(Statement& statement) {
    while (statement.step()) {
    }
}

std::int64_t scv_type(AttributeType type) {
    switch (type) {
        case AttributeType::integer: return kInteger;
        case AttributeType::text: return kString;
        case AttributeType::whole:
        case AttributeType::time: break;
    }
    return kUnsigned;
}

std::string scv_text(const TransactionAttribute& attribute) {
    switch (attribute.type) {
        case AttributeType::text: return attribute.text;
        case AttributeType::whole:
            return std::to_string(static_cast<std::uint64_t>(attribute.value));
        case AttributeType::integer:
        case AttributeType::time: break;
    }
    return std::to_string(attribute.value);
}

}  // namespace

TransactionDatabase::Tables::Tables(const std::string& path)
    : database(path, true),
      changes(with_tables(database), "BEGIN IMMEDIATE"),
      stream(database, "INSERT INTO ScvStream(id, name, kind) VALUES(?, ?, ?)"),
      generator(database, "INSERT INTO ScvGenerator(id, stream, name) VALUES(?, ?, ?)"),
      transaction(database,
                  "INSERT INTO ScvTx(id, generator, stream, concurrencyLevel) VALUES(?, ?, ?, ?)"),
      event(database, "INSERT INTO ScvTxEvent(tx, type, time) VALUES(?, ?, ?)"),
      attribute(database,
                "INSERT INTO ScvTxAttribute(tx, type, name, data_type, data_value) VALUES(?, ?, ?, "
                "?, ?)") {}

TransactionDatabase::TransactionDatabase(const std::string& path)
    : file_(path), tables_(std::make_unique<Tables>(file_.written())), rows_(1), stream_of_(1) {}

std::uint64_t TransactionDatabase::add_stream(const std::string& name, const std::string& kind) {
    const std::uint64_t id = rows_.size();
    rows_.emplace_back();
    tables_->stream.bind(1, static_cast<std::int64_t>(id));
    tables_->stream.bind_text(2, name);
    tables_->stream.bind_text(3, kind);
    insert(tables_->stream);
    return id;
}

std::uint64_t TransactionDatabase::add_generator(const std::string& name, std::uint64_t stream) {
    const std::uint64_t id = stream_of_.size();
    stream_of_.push_back(stream);
    tables_->generator.bind(1, static_cast<std::int64_t>(id));
    tables_->generator.bind(2, static_cast<std::int64_t>(stream));
    tables_->generator.bind_text(3, name);
    insert(tables_->generator);
    return id;
}

/// The first in which nothing else is drawn from `begin` on.
std::int64_t TransactionDatabase::free_row(std::uint64_t stream, Tick begin, Tick end) {
    std::vector<Tick>& rows = rows_.at(stream);
    auto row = std::find_if(rows.begin(), rows.end(), [&](Tick until) { return until <= begin; });
    if (row == rows.end()) {
        row = rows.insert(row, end);
    }
    *row = end;
    return row - rows.begin();
}

void TransactionDatabase::add_event(std::int64_t type, Tick time) {
    tables_->event.bind(1, transactions_);
    tables_->event.bind(2, type);
    tables_->event.bind(3, time);
    insert(tables_->event);
}

void TransactionDatabase::add(std::uint64_t generator, Tick begin, Tick end,
                              const std::vector<TransactionAttribute>& attributes) {
    const std::uint64_t stream = stream_of_.at(generator);
    tables_->transaction.bind(1, ++transactions_);
    tables_->transaction.bind(2, static_cast<std::int64_t>(generator));
    tables_->transaction.bind(3, static_cast<std::int64_t>(stream));
    tables_->transaction.bind(4, free_row(stream, begin, end));
    insert(tables_->transaction);
    add_event(kBegin, begin);
    add_event(kEnd, end);
    for (const TransactionAttribute& attribute : attributes) {
        const std::string value = scv_text(attribute);
        tables_->attribute.bind(1, transactions_);
        tables_->attribute.bind(2, static_cast<std::int64_t>(attribute.moment));
        tables_->attribute.bind_text(3, attribute.name);
        tables_->attribute.bind(4, scv_type(attribute.type));
        tables_->attribute.bind_text(5, value);
        insert(tables_->attribute);
    }
}

void TransactionDatabase::finish() {
    tables_->changes.commit();
    tables_.reset();
    file_.commit();
}

}  // namespace sluice
