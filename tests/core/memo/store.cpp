// SPDX-License-Identifier: Apache-2.0
#include "core/memo/store.h"

#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/memo/entry_bytes.h"
#include "core/memo/version.h"
#include "core/random.h"
#include "tests/support/memo_support.h"
#include "tests/support/test_folder.h"

using namespace sluice;
using namespace sluice::memo;
using sluice::memo::test::stored;
using sluice::test::read_bytes;
using sluice::test::TestFolder;
using sluice::test::write_bytes;

namespace fs = std::filesystem;

namespace {

Content some_content() {
    Content content;
    for (std::uint64_t n = 1; n <= 20; ++n) {
        std::vector<Sample> samples;
        for (std::uint64_t k = 0; k <= n % 4; ++k) {
            Sample sample;
            for (std::uint64_t i = 0; i < 5 * n; ++i) {
                sample.values.push_back(
                    static_cast<std::int64_t>(random_bits(n, k, i) >> (i % 60)));
            }
            samples.push_back(std::move(sample));
        }
        content.push_back(stored(n, samples, {Audit{{1.5, static_cast<double>(n)}}}));
    }
    std::sort(content.begin(), content.end(),
              [](const Stored& a, const Stored& b) { return a.digest < b.digest; });
    return content;
}

/// The message of the ConfigError that `work` ends with; empty if it does not. One line.
std::string refusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const ConfigError& error) {
        CHECK(std::string(error.what()).find('\n') == std::string::npos);
        return error.what();
    }
    return "";
}

void check_refused(const std::string& path, const std::string& says) {
    for (const auto& work : {std::function<void()>([&] { load(path); }),
                             std::function<void()>([&] { save(path, some_content()); }),
                             std::function<void()>([&] { prune(path, {}); })}) {
        const std::string message = refusal(work);
        CHECK_MESSAGE(message.find(says) != std::string::npos, message);
        CHECK(message.rfind(path + ": ", 0) == 0);
    }
}

void sql(const std::string& path, const std::string& text) {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
    REQUIRE(sqlite3_exec(database, text.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(database);
}

/// Every entry of `part` is one of `whole`.
bool within(const Content& part, const Content& whole) {
    for (const Stored& one : part) {
        bool found = false;
        for (const Stored& other : whole) {
            found =
                found || (one.digest == other.digest && memo::test::same(one.entry, other.entry));
        }
        if (!found) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("unit.memo.store.round_trip") {
    const TestFolder folder;
    const std::string path = folder.file("memo.sqlite");
    CHECK(load(path).content.empty());
    CHECK_FALSE(fs::exists(path));
    const Content content = some_content();
    const Saved saved = save(path, content);
    CHECK(saved.entries == 20);
    CHECK(saved.audits == 20);
    CHECK(saved.samples == 5 * (1 + 2 + 3 + 4));
    const Loaded loaded = load(path);
    CHECK(memo::test::same(loaded.content, content));
    CHECK(loaded.damaged == 0);
    CHECK(loaded.bytes == fs::file_size(path));
    CHECK(loaded.content[0].saved <= std::time(nullptr));
    CHECK(loaded.content[0].saved > std::time(nullptr) - 100);
}

TEST_CASE("unit.memo.store.saving_twice_adds_nothing") {
    const TestFolder folder;
    const std::string path = folder.file("memo.sqlite");
    save(path, some_content());
    const std::string bytes = read_bytes(path);
    const Saved again = save(path, some_content());
    CHECK(again.entries + again.samples + again.audits + again.replaced == 0);
    CHECK(memo::test::same(load(path).content, some_content()));
    CHECK(fs::file_size(path) == bytes.size());
}

TEST_CASE("unit.memo.store.contents_merge") {
    const TestFolder folder;
    const std::string path = folder.file("memo.sqlite");
    save(path, {stored(2, {Sample{{1}}, Sample{{1}}, Sample{{5}}}, {Audit{{1}}})});
    Content more = {stored(2, {Sample{{1}}, Sample{{3}}, Sample{{5}}, Sample{{5}}}, {Audit{{2}}})};
    more[0].entry.facts = std::make_shared<const Numbers>(Numbers{99});
    const Saved saved = save(path, more);
    CHECK(saved.entries == 0);
    CHECK(saved.samples == 2);
    CHECK(saved.audits == 1);
    const Content expected = {
        stored(2, {Sample{{1}}, Sample{{1}}, Sample{{3}}, Sample{{5}}, Sample{{5}}},
               {Audit{{1}}, Audit{{2}}})};
    CHECK(memo::test::same(load(path).content, expected));
}

TEST_CASE("unit.memo.store.caps_hold") {
    const TestFolder folder;
    const std::string path = folder.file("memo.sqlite");
    for (std::int64_t part = 0; part < 3; ++part) {
        std::vector<Sample> samples;
        std::vector<Audit> audits;
        for (std::int64_t i = 0; i < 120; ++i) {
            samples.push_back(Sample{{1000 * part + i / 2}});
            audits.push_back(Audit{{static_cast<double>(1000 * part + i)}});
        }
        save(path, {stored(2, samples, audits)});
    }
    const Content content = load(path).content;
    REQUIRE(content.size() == 1);
    CHECK(content[0].entry.sample_count() == kMostSamples);
    CHECK(content[0].entry.audits.size() == kMostAudits);
}

TEST_CASE("unit.memo.store.random_damage_gives_no_wrong_sample") {
    const TestFolder folder;
    const std::string path = folder.file("memo.sqlite");
    const Content content = some_content();
    save(path, content);
    const std::string whole = read_bytes(path);
    int refused = 0;
    int passed_over = 0;
    for (std::uint64_t round = 0; round < 500; ++round) {
        std::string bytes = whole;
        const std::uint32_t changes = round % 5 == 4 ? 20 : 1;
        for (std::uint32_t i = 0; i < changes; ++i) {
            const std::uint32_t at =
                uniform_below(1, round, 2 * i, static_cast<std::uint32_t>(bytes.size()));
            bytes[at] =
                static_cast<char>(bytes[at] ^ (1 + uniform_below(1, round, 2 * i + 1, 255)));
        }
        if (round % 10 == 9) bytes.resize(uniform_below(2, 0, round, bytes.size()));
        write_bytes(path, bytes);
        fs::remove(path + "-journal");
        const std::string message = refusal([&] {
            const Loaded loaded = load(path);
            CHECK(within(loaded.content, content));
            passed_over += loaded.damaged != 0;
        });
        refused += !message.empty();
        // A save leaves a file that is whole, or refuses.
        const std::string unsaved = refusal([&] {
            save(path, content);
            CHECK(memo::test::same(load(path).content, content));
        });
        CHECK(unsaved.empty() == message.empty());
    }
    CHECK(refused > 50);
    CHECK(passed_over > 50);
}

TEST_CASE("unit.memo.store.entries_cannot_change_places") {
    const TestFolder folder;
    const std::string path = folder.file("memo.sqlite");
    save(path, {stored(2, {Sample{{1}}}), stored(4, {Sample{{2}}})});
    sql(path,
        "CREATE TEMP TABLE t AS SELECT rowid r, bytes b, checksum c FROM entries;"
        "UPDATE entries SET bytes=(SELECT b FROM t WHERE r<>rowid),"
        " checksum=(SELECT c FROM t WHERE r<>rowid)");
    CHECK(load(path).content.empty());
    CHECK(load(path).damaged == 2);
    const Saved saved = save(path, {stored(2, {Sample{{1}}})});
    CHECK(saved.replaced == 1);
    CHECK(load(path).content.size() == 1);
    CHECK(prune(path, {}) == 1);
    CHECK(load(path).damaged == 0);
}

TEST_CASE("unit.memo.store.foreign_files_are_refused_and_stay") {
    const TestFolder folder;
    const std::string path = folder.file("other");
    const std::vector<std::string> foreign = {"x", "name = \"a scenario\"\n",
                                              std::string(5000, '\0'), "SQLite format 3"};
    for (const std::string& bytes : foreign) {
        write_bytes(path, bytes);
        check_refused(path, "is not a memo of sluice");
        CHECK(read_bytes(path) == bytes);
    }
    fs::remove(path);
    for (const char* mode : {"", "PRAGMA journal_mode=WAL;"}) {
        sql(path, mode + std::string("CREATE TABLE entries(digest, saved, bytes, checksum)"));
        const std::string bytes = read_bytes(path);
        check_refused(path, "is not a memo of sluice");
        CHECK_MESSAGE(refusal([&] { clear(path); }).find("is not a memo") != std::string::npos,
                      mode);
        CHECK(read_bytes(path) == bytes);
        CHECK_FALSE(fs::exists(path + "-wal"));
        fs::remove(path);
    }
}

TEST_CASE("unit.memo.store.other_versions_are_refused_until_cleared") {
    const TestFolder folder;
    const std::string path = folder.file("memo.sqlite");
    save(path, some_content());
    sql(path, "UPDATE meta SET value='0' WHERE key='results'");
    check_refused(path, "has results of version 0 of the engine, not");
    sql(path, "PRAGMA user_version=99");
    check_refused(path, "is a memo of format 99, not 1");
    clear(path);
    CHECK(load(path).content.empty());
    CHECK(save(path, some_content()).entries == 20);
    // Tables that we did not make are nobody's to trust.
    sql(path, "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END");
    check_refused(path, "is damaged");
    clear(path);
    CHECK(save(path, some_content()).entries == 20);
}

TEST_CASE("unit.memo.store.only_regular_files") {
    const TestFolder folder;
    const std::string path = folder.file("memo.sqlite");
    const std::string regular = "is not a regular file";
    check_refused("/dev/full", regular);
    check_refused("/dev/null", regular);
    fs::create_symlink("/dev/full", path);
    check_refused(path, "is a symbolic link");
    CHECK(fs::is_symlink(path));
    fs::remove(path);
    fs::create_directory(path);
    check_refused(path, regular);
    fs::remove(path);
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    check_refused(path, regular);
    fs::remove(path);
    // What SQLite would open beside it.
    save(path, some_content());
    REQUIRE(mkfifo((path + "-journal").c_str(), 0600) == 0);
    CHECK(refusal([&] { load(path); }).find(path + "-journal: " + regular) == 0);
    fs::remove(path + "-journal");
    // Not even one to a file of ours is followed; a folder may be one.
    fs::create_symlink(path, folder.file("link"));
    check_refused(folder.file("link"), "is a symbolic link");
    fs::create_directory_symlink(folder.file("."), folder.file("here"));
    CHECK(load(folder.file("here/memo.sqlite")).content.size() == 20);
    check_refused(path + "/below", "cannot be read");
    CHECK(refusal([&] { save(folder.file("none/memo.sqlite"), {}); }).find("cannot be used") !=
          std::string::npos);
    CHECK(refusal([&] { save("", {}); }).find("cannot be used") != std::string::npos);
}

TEST_CASE("unit.memo.store.names_are_files") {
    const TestFolder folder;
    fs::current_path(folder.file(""));
    for (const std::string name : {":memory:", "file:a?mode=memory", "a b%20\"'"}) {
        save(name, some_content());
        CHECK(fs::is_regular_file(name));
        CHECK(load(name).content.size() == 20);
    }
    fs::current_path("/");
}

TEST_CASE("unit.memo.store.a_full_disk_harms_nothing") {
    const TestFolder folder;
    const std::string path = folder.file("memo.sqlite");
    save(path, {stored(2, {Sample{{1}}})});
    const Content before = load(path).content;
    rlimit limit{};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    const rlimit old = limit;
    std::signal(SIGXFSZ, SIG_IGN);
    limit.rlim_cur = fs::file_size(path) + 1024;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    const std::string message = refusal([&] { save(path, some_content()); });
    REQUIRE(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK(message.find("cannot be used as a database") != std::string::npos);
    CHECK(memo::test::same(load(path).content, before));
    CHECK(save(path, some_content()).entries == 19);
}

TEST_CASE("unit.memo.store.threads_share_a_file") {
    const TestFolder folder;
    const std::string path = folder.file("memo.sqlite");
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            for (std::uint64_t k = 0; k < 5; ++k) {
                save(path, {stored(100 + k, {Sample{{static_cast<std::int64_t>(i)}}}),
                            stored(1000 + 5 * i + k, {Sample{{7}}})});
                load(path);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    const Content content = load(path).content;
    CHECK(content.size() == 25);
    for (const Stored& one : content) {
        CHECK(one.entry.sample_count() == (one.digest.low < 1000 ? 4U : 1U));
    }
}

TEST_CASE("unit.memo.store.prune") {
    const TestFolder folder;
    const std::string path = folder.file("memo.sqlite");
    CHECK(prune(path, {}) == 0);
    save(path, some_content());
    CHECK(prune(path, {}) == 0);
    const auto size = fs::file_size(path);
    CHECK(prune(path, {std::numeric_limits<std::int64_t>::min(), 5}) == 15);
    CHECK(load(path).content.size() == 5);
    CHECK(fs::file_size(path) < size);
    CHECK(prune(path, {std::time(nullptr) - 100, 100}) == 0);
    CHECK(prune(path, {std::time(nullptr) + 100, 100}) == 5);
    CHECK(load(path).content.empty());
    clear(path);
    CHECK(load(path).content.empty());
}

TEST_CASE("unit.memo.store.default_path_is_in_the_cache_folder") {
    const TestFolder folder;
    setenv("XDG_CACHE_HOME", folder.file("cache").c_str(), 1);
    setenv("HOME", folder.file("home").c_str(), 1);
    CHECK(default_path() == folder.file("cache/sluice/memo-7.sqlite"));
    save(default_path(), some_content());
    CHECK(load(default_path()).content.size() == 20);
    setenv("XDG_CACHE_HOME", "relative", 1);
    CHECK(default_path() == folder.file("home/.cache/sluice/memo-7.sqlite"));
    unsetenv("XDG_CACHE_HOME");
    CHECK(default_path() == folder.file("home/.cache/sluice/memo-7.sqlite"));
    unsetenv("HOME");
    CHECK(default_path().empty());
}

TEST_CASE("unit.memo.store.told_by_several_runs") {
    const TestFolder folder;
    const std::string one = folder.file("one.sqlite");
    const std::string two = folder.file("two.sqlite");
    const Stored first = stored(3, {Sample{{1}}, Sample{{2}}});
    const Stored second = stored(3, {Sample{{2}}, Sample{{5}}}, {Audit{{1.0}}});
    const Saved saved = save(one, {first, second, stored(6, {Sample{{4}}})});
    CHECK(saved.entries == 2);
    CHECK(saved.samples == 4);
    CHECK(saved.audits == 1);
    save(two, {first});
    save(two, {second});
    save(two, {stored(6, {Sample{{4}}})});
    CHECK(memo::test::same(load(one).content, load(two).content));
}
