// SPDX-License-Identifier: Apache-2.0
#include "core/memo/store.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/checksum.h"
#include "core/database/database.h"
#include "core/error.h"
#include "core/memo/entry_bytes.h"
#include "core/memo/memo_file.h"
#include "core/memo/version.h"

namespace sluice::memo {

namespace {

constexpr const char* kMetaTable =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID";
constexpr const char* kEntryTable =
    "CREATE TABLE entries(digest BLOB PRIMARY KEY, saved INTEGER, bytes BLOB, checksum INTEGER)";
/// Statements of the schema, as SQLite keeps them, in the order of their names.
constexpr const char* kSchemaQuery =
    "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_master ORDER BY name)";

void put_word(std::string& bytes, std::uint64_t word) {
    for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(word >> shift));
}

/// Of the whole row: a row that is damaged, or another entry's, does not have it.
std::int64_t row_checksum(std::string_view key, std::int64_t saved, std::string_view bytes) {
    std::string row(key);
    put_word(row, static_cast<std::uint64_t>(saved));
    row += bytes;
    return static_cast<std::int64_t>(checksum(row));
}

/// A row of "digest, saved, bytes, checksum"; nothing if it is damaged.
std::optional<Stored> stored_in(const Statement& row) {
    const std::optional<Digest> digest = digest_from_bytes(row.bytes(0));
    const std::int64_t saved = row.number(1);
    if (!digest || row.number(3) != row_checksum(row.bytes(0), saved, row.bytes(2))) {
        return std::nullopt;
    }
    std::optional<Entry> entry = entry_from_bytes(row.bytes(2));
    if (!entry) return std::nullopt;
    return Stored{*digest, std::move(*entry), saved};
}

void make_tables(Database& database) {
    database.run(("PRAGMA application_id=" + std::to_string(kApplicationId)).c_str());
    database.run(("PRAGMA user_version=" + std::to_string(kFormatVersion)).c_str());
    database.run(kMetaTable);
    database.run(kEntryTable);
    Statement insert(database, "INSERT INTO meta VALUES('results', CAST(? AS TEXT))");
    insert.bind(1, std::string_view(kResultsVersion));
    insert.step();
}

void check_owner(Database& database) {
    if (database.number("PRAGMA application_id") != kApplicationId) {
        throw ConfigError(database.path(), 0, "is another program's database; give another file");
    }
}

void check_tables(Database& database) {
    check_owner(database);
    const std::int64_t format = database.number("PRAGMA user_version");
    const std::string remedy = "; 'sluice memo prune --all' empties it";
    if (format != kFormatVersion) {
        throw ConfigError(database.path(), 0,
                          "is a memo of format " + std::to_string(format) + ", not " +
                              std::to_string(kFormatVersion) + remedy);
    }
    const bool whole = database.text(kSchemaQuery) == std::string(kEntryTable) + ";" + kMetaTable &&
                       database.text("PRAGMA integrity_check") == "ok";
    if (!whole) {
        throw ConfigError(database.path(), 0, "is damaged; remove it, or give another file");
    }
    const std::string results = database.text("SELECT value FROM meta WHERE key='results'");
    if (results != kResultsVersion) {
        throw ConfigError(database.path(), 0,
                          "has results of version " + results + " of the engine, not " +
                              kResultsVersion + remedy);
    }
}

/// A new file, or one whose first save was killed. In a transaction, so that it stays one.
bool is_blank(Database& database) {
    // Reading anything restores what a killed process left.
    database.number("PRAGMA schema_version");
    std::error_code error;
    return std::filesystem::file_size(database.path(), error) == 0;
}

/// Adds what `entry` lacks of `more`.
void merge(Entry& entry, const Entry& more, Saved& saved) {
    std::uint32_t room = kMostSamples - entry.sample_count();
    for (const SampleCount& one : more.samples) {
        const auto place = std::lower_bound(
            entry.samples.begin(), entry.samples.end(), one,
            [](const SampleCount& a, const SampleCount& b) { return *a.sample < *b.sample; });
        const bool known = place != entry.samples.end() && *place->sample == *one.sample;
        const std::uint32_t seen = known ? place->count : 0;
        const std::uint32_t added = std::min(room, one.count - std::min(one.count, seen));
        if (added == 0) continue;
        room -= added;
        saved.samples += added;
        if (known) {
            place->count += added;
        } else {
            entry.samples.insert(place, {one.sample, added});
        }
    }
    for (const Audit& audit : more.audits) {
        const auto place = std::lower_bound(entry.audits.begin(), entry.audits.end(), audit);
        if (place != entry.audits.end() && *place == audit) continue;
        if (entry.audits.size() >= kMostAudits) break;
        entry.audits.insert(place, audit);
        ++saved.audits;
    }
}

/// Statements of a save, prepared once.
class Rows {
  public:
    explicit Rows(Database& database)
        : select_(database, "SELECT digest, saved, bytes, checksum FROM entries WHERE digest=?"),
          replace_(database, "INSERT OR REPLACE INTO entries VALUES(?, ?, ?, ?)") {}

    /// Those from `first` to `last` are of one digest.
    void add(const Stored* first, const Stored* last, std::int64_t now, Saved& saved) {
        const std::string key = first->digest.bytes();
        select_.bind(1, key);
        Saved added;
        Entry entry;
        if (select_.step()) {
            std::optional<Stored> known = stored_in(select_);
            while (select_.step()) {
            }
            if (known) {
                entry = std::move(known->entry);
            } else {
                added.replaced = 1;
            }
        } else {
            added.entries = 1;
        }
        if (entry.facts == nullptr) {
            entry.kind = first->entry.kind;
            entry.facts = first->entry.facts;
        }
        for (const Stored* stored = first; stored != last; ++stored) {
            merge(entry, stored->entry, added);
        }
        if (added.samples + added.audits == 0) return;
        write(key, now, entry_to_bytes(entry));
        saved.entries += added.entries;
        saved.samples += added.samples;
        saved.audits += added.audits;
        saved.replaced += added.replaced;
    }

  private:
    void write(const std::string& key, std::int64_t now, const std::string& bytes) {
        replace_.bind(1, key);
        replace_.bind(2, now);
        replace_.bind(3, bytes);
        replace_.bind(4, row_checksum(key, now, bytes));
        replace_.step();
    }

    Statement select_;
    Statement replace_;
};

std::uint64_t delete_damaged(Database& database) {
    std::vector<std::int64_t> damaged;
    Statement select(database, "SELECT digest, saved, bytes, checksum, rowid FROM entries");
    while (select.step()) {
        if (!stored_in(select)) damaged.push_back(select.number(4));
    }
    Statement remove(database, "DELETE FROM entries WHERE rowid=?");
    for (const std::int64_t row : damaged) {
        remove.bind(1, row);
        remove.step();
    }
    return damaged.size();
}

}  // namespace

Loaded load(const std::string& path) {
    const MemoFile file = look_at(path);
    Loaded loaded;
    if (!file.exists) return loaded;
    Database database(path, false);
    Transaction reading(database, "BEGIN");
    if (is_blank(database)) return loaded;
    check_tables(database);
    loaded.bytes = file.bytes;
    Statement select(database,
                     "SELECT digest, saved, bytes, checksum FROM entries ORDER BY digest");
    while (select.step()) {
        if (std::optional<Stored> stored = stored_in(select)) {
            loaded.content.push_back(std::move(*stored));
        } else {
            ++loaded.damaged;
        }
    }
    return loaded;
}

Saved save(const std::string& path, const Content& content) {
    look_at(path);
    if (path == default_path()) make_folders(path);
    Database database(path, true);
    Transaction writing(database, "BEGIN IMMEDIATE");
    if (is_blank(database)) {
        make_tables(database);
    } else {
        check_tables(database);
    }
    Saved saved;
    {
        Rows rows(database);
        const std::int64_t now = std::time(nullptr);
        const Stored* const end = content.data() + content.size();
        for (const Stored* first = content.data(); first != end;) {
            const Stored* const last = std::find_if(
                first, end, [&](const Stored& other) { return other.digest != first->digest; });
            rows.add(first, last, now, saved);
            first = last;
        }
    }
    writing.commit();
    return saved;
}

std::uint64_t prune(const std::string& path, const PruneRule& rule) {
    if (!look_at(path).exists) return 0;
    Database database(path, false);
    std::uint64_t removed = 0;
    {
        Transaction writing(database, "BEGIN IMMEDIATE");
        if (is_blank(database)) return 0;
        check_tables(database);
        removed = delete_damaged(database);
        {
            const std::int64_t before = database.number("SELECT COUNT(*) FROM entries");
            Statement old(database, "DELETE FROM entries WHERE saved < ?");
            old.bind(1, rule.before);
            old.step();
            Statement surplus(database,
                              "DELETE FROM entries WHERE rowid NOT IN (SELECT rowid FROM entries "
                              "ORDER BY saved DESC, digest LIMIT ?)");
            surplus.bind(1, static_cast<std::int64_t>(std::min<std::uint64_t>(
                                rule.most, std::numeric_limits<std::int64_t>::max())));
            surplus.step();
            removed += static_cast<std::uint64_t>(before -
                                                  database.number("SELECT COUNT(*) FROM entries"));
        }
        writing.commit();
    }
    database.run("VACUUM");
    return removed;
}

void clear(const std::string& path) {
    if (!look_at(path).exists) return;
    Database database(path, false);
    if (is_blank(database)) return;
    check_owner(database);
    database.reset();
    Transaction writing(database, "BEGIN IMMEDIATE");
    // Unless another process has begun to fill it again.
    if (database.text(kSchemaQuery).empty()) make_tables(database);
    writing.commit();
}

}  // namespace sluice::memo
