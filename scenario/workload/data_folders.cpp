// SPDX-License-Identifier: Apache-2.0
#include "scenario/workload/data_folders.h"

#include <filesystem>
#include <system_error>

namespace sluice {

std::vector<std::string> data_folders(const std::string& kind, const std::string& beside) {
    namespace fs = std::filesystem;
    std::vector<std::string> folders;
    const std::string own = fs::path(beside).parent_path().string();
    if (!own.empty()) folders.push_back(own);
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
        folders.push_back((program.parent_path().parent_path() / "share/sluice" / kind).string());
    }
    folders.push_back(std::string(SLUICE_DATA_DIR) + "/" + kind);
    return folders;
}

}  // namespace sluice
