// SPDX-License-Identifier: Apache-2.0
/// Which bytes of a collective's data a message carries: what tests follow through an algorithm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/job/job_graph.h"

namespace sluice {

/// Bytes [offset, offset + bytes) of the data that a collective is about: the tensor, or for an
/// all-to-all all members' buffers, member after member, each in order of destination.
struct Slice {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
};

/// Part `index` of `parts` that differ by at most one byte, the longer ones first.
Slice part_of(Slice whole, std::size_t parts, std::size_t index);

/// One message of a collective. Its sender reads the pieces when `from` starts; when `to` completes
/// the receiver has them, added to what it had (`reduce`) or in its place.
struct Transfer {
    OpId from = kNone;
    OpId to = kNone;
    bool reduce = false;
    std::vector<Slice> pieces;
};

using TransferWatcher = std::function<void(const Transfer&)>;

}  // namespace sluice
