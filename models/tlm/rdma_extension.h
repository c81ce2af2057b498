// SPDX-License-Identifier: Apache-2.0
/// What a transaction may say of its RDMA operation. An ignorable extension of the generic payload: without it the
/// defaults of Post are used. Written by the initiator only.
#pragma once

#include <cstdint>
#include <tlm>

namespace sluice {

struct RdmaExtension : tlm::tlm_extension<RdmaExtension> {
    std::uint32_t queue_pair = 0;  ///< of the initiator's host and the addressed one, by number
    std::uint8_t priority = 3;     ///< traffic class, 1 to 7; else TLM_GENERIC_ERROR_RESPONSE
    std::uint64_t tag = 0;         ///< the initiator's own

    tlm::tlm_extension_base* clone() const override { return new RdmaExtension(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        *this = static_cast<const RdmaExtension&>(other);
    }
};

}  // namespace sluice
