// SPDX-License-Identifier: Apache-2.0
#include "core/results/output_folder.h"

#include "core/error.h"

namespace sluice {

namespace fs = std::filesystem;

OutputFolder::OutputFolder(const std::string& directory) : directory_(directory) {
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
    fs::create_directories(wanted, error);
    if (error) {
        throw ConfigError(directory, 0, "cannot make this output folder: " + error.message());
    }
    if (!fs::is_directory(wanted, error)) {
        throw ConfigError(directory, 0, "is not a folder; outputs need one");
    }
}

std::string OutputFolder::file(const std::string& name) const {
    return (fs::path(directory_) / name).string();
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
