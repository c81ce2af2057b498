// SPDX-License-Identifier: Apache-2.0
#include "core/memo/memo_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/memo/store.h"
#include "core/memo/version.h"

namespace sluice::memo {

namespace {

/// What a database begins with: file format of SQLite 3, section 1.3.
constexpr char kMagic[16] = "SQLite format 3";
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kApplicationAt = 68;

/// False if there is nothing. ConfigError if there is something else than a file, a link to one
/// included.
bool is_file(const std::string& path, struct stat& facts) {
    if (::lstat(path.c_str(), &facts) != 0) {
        if (errno == ENOENT) return false;
        throw ConfigError(path, 0, std::string("cannot be read: ") + std::strerror(errno));
    }
    if (S_ISLNK(facts.st_mode)) {
        throw ConfigError(path, 0,
                          "is a symbolic link, which a memo does not follow; give the name that it "
                          "stands for");
    }
    if (!S_ISREG(facts.st_mode)) {
        throw ConfigError(path, 0, "is not a regular file; a memo is a file of its own");
    }
    return true;
}

bool has_our_header(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    char header[kHeaderBytes] = {};
    if (!file) throw ConfigError(path, 0, std::string("cannot be read: ") + std::strerror(errno));
    if (!file.read(header, sizeof header)) return file.gcount() == 0;
    std::int64_t application = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        application = application << 8 | static_cast<unsigned char>(header[kApplicationAt + i]);
    }
    return std::memcmp(header, kMagic, sizeof kMagic) == 0 && application == kApplicationId;
}

/// SQLite takes what has this name for its own, and deletes it when it is done or finds it out of use. ConfigError
/// unless it begins as one of `begins`, or there is nothing.
void require_sqlites(const std::string& path, const std::vector<std::string>& begins) {
    struct stat facts {};
    if (!is_file(path, facts)) return;
    std::ifstream file(path, std::ios::binary);
    std::string first(begins.front().size(), '\0');
    file.read(first.data(), static_cast<std::streamsize>(first.size()));
    first.resize(static_cast<std::size_t>(file.gcount()));
    const bool known = std::any_of(begins.begin(), begins.end(), [&](const std::string& begin) {
        return begin.compare(0, first.size(), first) == 0;
    });
    if (!known) {
        throw ConfigError(
            path, 0,
            "is not SQLite's, which would delete what has this name; move it, or give "
            "the memo another name");
    }
}

/// File format of SQLite 3, sections 3 and 4.1. A journal's beginning is zero before it is valid, and after.
void check_beside(const std::string& path) {
    require_sqlites(path + "-journal", {"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", std::string(8, '\0')});
    require_sqlites(path + "-wal", {"\x37\x7f\x06\x82", "\x37\x7f\x06\x83"});
}

}  // namespace

MemoFile look_at(const std::string& path) {
    struct stat facts {};
    struct stat journal {};
    const bool there = is_file(path, facts);
    check_beside(path);
    if (!there) return {};
    // While a first save is under way, or after it was killed, the header is still being written:
    // SQLite restores it from the journal.
    for (int tries = 0; !has_our_header(path) && !is_file(path + "-journal", journal); ++tries) {
        if (tries == 3) {
            throw ConfigError(path, 0,
                              "is not a memo of sluice, or its header is damaged; give another "
                              "file, or remove it");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    check_beside(path);
    return {true, static_cast<std::uint64_t>(facts.st_size)};
}

void make_folders(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw ConfigError(folder.string(), 0, "cannot be made: " + error.message());
}

std::string default_path() {
    const std::string name = std::string("/sluice/memo-") + kResultsVersion + ".sqlite";
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr && *cache == '/') return std::string(cache) + name;
    const char* home = std::getenv("HOME");
    if (home != nullptr && *home == '/') return std::string(home) + "/.cache" + name;
    return {};
}

}  // namespace sluice::memo
