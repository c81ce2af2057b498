// SPDX-License-Identifier: Apache-2.0
/// What lies at the path of a memo, before SQLite opens it: opening some other file, a device or a
/// pipe may block, change it, or leave files beside it.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::memo {

/// Stands in the header of every file of ours: "SluM".
inline constexpr std::int64_t kApplicationId = 0x536c754d;

struct MemoFile {
    bool exists = false;
    std::uint64_t bytes = 0;
};

/// ConfigError for what is not a regular file, or has content that is no memo's.
MemoFile look_at(const std::string& path);
/// Makes the folders above `path`. ConfigError if that is not possible.
void make_folders(const std::string& path);

}  // namespace sluice::memo
