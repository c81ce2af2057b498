// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "workloads/aicb/aicb_workload.h"

namespace sluice::aicb {

inline AicbWorkload parse(const std::string& text, ImportReport* report = nullptr) {
    ImportReport own;
    TokenReader reader("input", text);
    return parse_aicb(reader, report != nullptr ? *report : own);
}

/// The folder of reference files; empty: there is none.
inline std::string reference() {
    const char* folder = std::getenv("SLUICE_REFERENCE");
    return folder != nullptr && std::filesystem::exists(folder) ? folder : "";
}

/// Every workload among the reference files.
inline std::vector<std::string> samples() {
    std::vector<std::string> files;
    if (reference().empty()) return files;
    for (const char* part : {"/samples/aicb", "/samples/simai"}) {
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(reference() + part)) {
            const std::string path = entry.path().string();
            // The one .txt that is a profile of compute times.
            if (entry.path().extension() == ".txt" &&
                path.find("Example.txt") == std::string::npos) {
                files.push_back(path);
            }
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace sluice::aicb
