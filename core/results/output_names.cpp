// SPDX-License-Identifier: Apache-2.0
#include "core/results/output_names.h"

#include <cstddef>
#include <filesystem>

#include "core/error.h"

namespace sluice {

namespace fs = std::filesystem;

bool same_file(const std::string& one, const std::string& other) {
    if (one.empty() || other.empty()) return false;
    std::error_code error;
    if (fs::equivalent(one, other, error)) return true;
    const fs::path first = fs::weakly_canonical(fs::absolute(one, error), error);
    if (error) return one == other;
    const fs::path second = fs::weakly_canonical(fs::absolute(other, error), error);
    return error ? one == other : first == second;
}

void require_different(const NamedFiles& files) {
    for (std::size_t i = 0; i < files.size(); ++i) {
        for (std::size_t j = i + 1; j < files.size(); ++j) {
            const std::string& path = files[j].second;
            std::error_code error;
            if (!same_file(files[i].second, path) || fs::is_character_file(path, error)) continue;
            throw ConfigError(path, 0,
                              "is both " + files[i].first + " and " + files[j].first +
                                  "; give one of them another name");
        }
    }
}

}  // namespace sluice
