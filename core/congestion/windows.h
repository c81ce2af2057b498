// SPDX-License-Identifier: Apache-2.0
/// Windows of a law that ends one with the first ACK beyond a mark in the sequence space and sets the
/// mark anew, to what had been sent by then: how many end while a steady phase lasts.
#pragma once

#include <cstdint>

#include "core/congestion/arithmetic.h"
#include "core/congestion/types.h"
#include "core/hd.h"

namespace sluice::congestion {

struct Windows {
    std::int64_t ended = 0;
    std::int64_t mark = 0;  ///< of the open window, where its flow resumes
    std::int64_t open = 0;  ///< packets acknowledged in the open window
};

/// Of the phase `seen`, in packets of `payload` bytes, whose first window ends beyond `mark`. Exact
/// with an ACK per packet, where what is in flight does not change.
SLUICE_HD inline Windows windows_ended(std::int64_t mark, const Observed& seen,
                                       std::int64_t payload) {
    const std::int64_t first = larger((mark - seen.acked) / payload + 1, 1);
    Windows windows;
    windows.mark = mark - seen.packets * payload;
    if (seen.packets < first) {
        windows.open = seen.packets;
        return windows;
    }
    const std::int64_t each = seen.flight / payload + 1;
    windows.ended = 1 + (seen.packets - first) / each;
    windows.open = (seen.packets - first) % each;
    windows.mark = seen.acked - windows.open * payload + seen.flight;
    return windows;
}

}  // namespace sluice::congestion
