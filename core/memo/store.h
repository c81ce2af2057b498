// SPDX-License-Identifier: Apache-2.0
/// The file of a memo, shared by runs and processes: an SQLite database. A run loads a snapshot and
/// saves what it added; saving the same twice adds nothing. Any number of threads and processes may do
/// so at a time, and be killed while they do: a save is there whole or not at all. Every entry has a
/// checksum, and one that is damaged is passed over.
/// Errors: ConfigError, in one line, for a file that is damaged, another program's, of another
/// version, in use for more than ten seconds, not readable or writable, or not a regular file (a
/// device is never opened); the file stays as it is, and a run may go on without it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "core/memo/memo.h"

namespace sluice::memo {

/// $XDG_CACHE_HOME/sluice/memo-VERSION.sqlite, by kResultsVersion, or that of ~/.cache; empty if neither variable has
/// an absolute path.
std::string default_path();

struct Loaded {
    Content content;
    std::uint64_t damaged = 0;  ///< entries passed over
    std::uint64_t bytes = 0;    ///< of the file
};

/// All entries, as of one instant. A file that does not exist or is empty has none.
Loaded load(const std::string& path);

struct Saved {
    std::uint64_t entries = 0;  ///< that the file did not have
    std::uint64_t samples = 0;  ///< repetitions included
    std::uint64_t audits = 0;
    std::uint64_t replaced = 0;  ///< damaged entries that are whole again
};

/// Merges `content` into the file, which is made if it does not exist (and at default_path() its
/// folder). An entry that the file has keeps its kind and facts, and gets the samples and audits that
/// it lacks, as far as there is room (kMostSamples, kMostAudits). A sample that both have was seen as
/// often as the larger of the two counts says: they may be of the same simulation. Entries of one digest, which several
/// runs have told, follow each other, and are merged in this order.
Saved save(const std::string& path, const Content& content);

struct PruneRule {
    /// Entries go to which nothing was added since, seconds since 1970.
    std::int64_t before = std::numeric_limits<std::int64_t>::min();
    /// Of the rest so many stay, those added to last.
    std::uint64_t most = std::numeric_limits<std::int64_t>::max();
};

/// Removes entries, damaged ones first, and gives their room back. Returns how many.
std::uint64_t prune(const std::string& path, const PruneRule& rule);
/// Makes a memo of any version, damaged or not, an empty one of this version.
void clear(const std::string& path);

}  // namespace sluice::memo
