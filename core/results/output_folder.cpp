// SPDX-License-Identifier: Apache-2.0
#include "core/results/output_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"
#include "core/results/output_file.h"

namespace sluice {

namespace fs = std::filesystem;

OutputFolder::OutputFolder(const std::string& directory, Use use) : directory_(directory) {
    if (directory.empty()) {
        throw ConfigError("the output folder has no name");
    }
    const fs::path wanted = fs::absolute(directory).lexically_normal();
    std::error_code error;
    for (fs::path at = wanted; !at.empty() && !fs::exists(at, error); at = at.parent_path()) {
        created_ = at;
        if (at == at.parent_path()) {
            break;
        }
    }
    std::vector<fs::path> made;
    for (fs::path at = wanted; !created_.empty(); at = at.parent_path()) {
        if (at.has_filename()) made.push_back(at);
        if (at == created_) break;
    }
    fs::create_directories(wanted, error);
    if (error) {
        throw ConfigError(directory, 0, "cannot make this output folder: " + error.message());
    }
    if (!fs::is_directory(wanted, error)) {
        throw ConfigError(directory, 0, "is not a folder; outputs need one");
    }
    for (const fs::path& folder : made) {
        leftovers_.emplace_back().watch(folder.string(), Leftover::Kind::folder);
    }
    if (use == Use::alone) {
        lock();
    }
}

OutputFolder::~OutputFolder() {
    if (lock_ >= 0) {
        ::close(lock_);
    }
}

void OutputFolder::lock() {
    lock_ = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // A file system that knows no locks has no say.
    if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ::close(lock_);
        throw ConfigError(directory_, 0,
                          "another run is writing into this folder; give another one");
    }
}

std::string OutputFolder::file(const std::string& name) const {
    return (fs::path(directory_) / name).string();
}

void OutputFolder::remove_old(const std::vector<std::string>& names,
                              const std::set<std::string>& being_written) const {
    std::vector<std::string> old;
    for (const std::string& name : names) {
        for (const std::string& path : {file(name), partial_name(file(name))}) {
            std::error_code error;
            const fs::file_type type = fs::symlink_status(path, error).type();
            if (type == fs::file_type::not_found || being_written.count(path) > 0) continue;
            if (type != fs::file_type::regular) {
                throw ConfigError(path, 0,
                                  "exists, and is not a file of an earlier run; remove it, or give "
                                  "another folder");
            }
            old.push_back(path);
        }
    }
    for (const std::string& path : old) {
        std::error_code error;
        if (!fs::remove(path, error) && error) {
            throw ConfigError(path, 0,
                              "is of an earlier run and cannot be removed: " + error.message());
        }
    }
}

void OutputFolder::remove_if_empty() const {
    if (created_.empty()) {
        return;
    }
    fs::path at = fs::absolute(directory_).lexically_normal();
    if (!at.has_filename()) {
        at = at.parent_path();
    }
    std::error_code error;
    while (fs::remove(at, error) && at != created_) {
        at = at.parent_path();
    }
}

}  // namespace sluice
