// SPDX-License-Identifier: Apache-2.0
/// Admission by a dynamic threshold (Choudhury and Hahne, 1998; the HPCC ns-3 MMU): a part of what
/// is free of the shared pool.
#pragma once

#include "core/packet/policies/no_limit.h"
#include "core/packet/state.h"

namespace sluice::step {

struct DynamicThreshold {
    static constexpr const char* kWord = "dynamic";

    /// What is left, divided by 2^shift.
    SLUICE_HD static std::int64_t ingress_limit(const BufferConfig&, const Ingress& ingress,
                                                std::int64_t left) {
        return left > 0 ? left >> ingress.threshold_shift : 0;
    }

    /// Alpha x what is left; alpha 0: no bound.
    SLUICE_HD static double egress_limit(const BufferConfig& buffer, std::int64_t left) {
        return buffer.egress_alpha > 0 ? buffer.egress_alpha * static_cast<double>(left) : kNoLimit;
    }
};

}  // namespace sluice::step
