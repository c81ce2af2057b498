// SPDX-License-Identifier: Apache-2.0
/// Reads the numbers of a sample one by one. They come from a file, and may be anything.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/memo/memo.h"

namespace sluice::memo {

class NumberReader {
  public:
    static constexpr std::int64_t kMost = std::int64_t{1} << 60;

    /// `numbers` must outlive this.
    explicit NumberReader(const Numbers& numbers) : numbers_(numbers) {}

    /// The next one, if it is `least` to `most`. Else `least`, and no longer is_whole().
    std::int64_t take(std::int64_t most = kMost, std::int64_t least = 0) {
        if (next_ >= numbers_.size() || numbers_[next_] < least || numbers_[next_] > most) {
            is_whole_ = false;
            return least;
        }
        return numbers_[next_++];
    }
    /// Nothing was missing or out of range so far.
    bool is_whole() const { return is_whole_; }
    bool at_end() const { return next_ == numbers_.size(); }

  private:
    const Numbers& numbers_;
    std::size_t next_ = 0;
    bool is_whole_ = true;
};

}  // namespace sluice::memo
