// SPDX-License-Identifier: Apache-2.0
/// A part of a batch that one of several machines runs, in a folder of its own below the batch's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

/// Every `count`th experiment, so that long and short ones are spread evenly.
struct BatchShard {
    std::size_t number = 1;  ///< from 1
    std::size_t count = 1;

    bool has(std::size_t experiment) const { return experiment % count == number - 1; }
    /// Of a batch of so many.
    std::size_t size(std::size_t experiments) const;
};

/// "3/8". ConfigError naming `option`.
BatchShard parse_shard(const std::string& text, const std::string& option);

/// "shards/3-of-8" in the batch's folder.
std::string shard_folder(const std::string& directory, const BatchShard& shard);

/// Databases of all shards that there are in a batch's folder, in the order of their paths.
std::vector<std::string> shard_databases(const std::string& directory);

/// A shard that others of its batch miss.
struct ShardGap {
    BatchShard shard;
    std::size_t missing = 0;  ///< experiments of it
    bool begun = false;       ///< it has a database
};

/// Whose the missing experiments are (by number), if the batch was divided as most shards in its folder say.
std::vector<ShardGap> shard_gaps(const std::string& directory, const std::vector<bool>& missing);

}  // namespace sluice
