// SPDX-License-Identifier: Apache-2.0
/// The kinds of collectives, and what each puts on a member's wire by the bus-bandwidth convention of
/// nccl-tests.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

enum class CollectiveKind : std::uint8_t {
    all_reduce,
    reduce_scatter,
    all_gather,
    all_to_all,
    broadcast,
    reduce,
    send,
};
inline constexpr std::size_t kCollectiveKinds = 7;

const char* to_string(CollectiveKind kind);

/// Bytes on a member's wire per byte of the tensor (Collective::bytes), for n members.
double wire_factor(CollectiveKind kind, std::uint32_t members);

}  // namespace sluice
