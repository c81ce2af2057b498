// SPDX-License-Identifier: Apache-2.0
/// Admission by a static threshold: the same bytes for every queue, however full the pool is, as long
/// as the pool has them.
#pragma once

#include "core/packet/state.h"

namespace sluice::step {

struct StaticThreshold {
    static constexpr const char* kWord = "static";

    SLUICE_HD static std::int64_t ingress_limit(const BufferConfig& buffer, const Ingress&,
                                                std::int64_t left) {
        const std::int64_t limit = buffer.static_threshold.count;
        return left < limit ? (left > 0 ? left : 0) : limit;
    }

    SLUICE_HD static double egress_limit(const BufferConfig& buffer, std::int64_t) {
        return static_cast<double>(buffer.static_threshold.count);
    }
};

}  // namespace sluice::step
