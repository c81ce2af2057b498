// SPDX-License-Identifier: Apache-2.0
/// What all experiments of a batch know when they begin, whatever their order and their shards: a memo as it was when the
/// batch began. The batch's folder keeps it (memo-start.sqlite) for shards and resumed runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/memo/memo.h"

namespace sluice {

inline constexpr const char* kStartMemo = "memo-start.sqlite";

/// What a batch has added to its memo.
struct MemoAdded {
    std::uint64_t entries = 0;
    std::uint64_t samples = 0;
    std::string fault;  ///< why nothing was added, one line
};

class BatchMemo {
  public:
    /// Reads what the folder keeps, or, where it keeps nothing or the batch begins `anew`, `file`; one that does not exist
    /// has no entries. ConfigError if it is no memo, is damaged or of another version, or could not be made later.
    BatchMemo(const std::string& directory, std::string file, bool anew);

    /// Leaves it in the folder, unless another shard has: then that one's is taken. `own`: a folder in which nobody else
    /// writes. ConfigError if it cannot be written.
    void keep(const std::string& own);

    /// Adds to the file what was learned. A fault is told by added().
    void add(const memo::Content& learned);
    /// Nothing before add().
    const std::optional<MemoAdded>& added() const { return added_; }

    const std::shared_ptr<const memo::Snapshot>& snapshot() const { return snapshot_; }
    /// Of the content: 32 digits.
    const std::string& digest() const { return digest_; }
    std::size_t entries() const { return entries_; }
    /// Of the file; they are passed over.
    std::uint64_t damaged() const { return damaged_; }
    const std::string& file() const { return file_; }

  private:
    void take(memo::Content content);
    void take_kept();

    std::string file_;
    std::string kept_;  ///< the folder's
    bool anew_;
    bool is_kept_ = false;
    memo::Content content_;  ///< until keep()
    std::shared_ptr<const memo::Snapshot> snapshot_;
    std::string digest_;
    std::size_t entries_ = 0;
    std::uint64_t damaged_ = 0;
    std::optional<MemoAdded> added_;
};

}  // namespace sluice
