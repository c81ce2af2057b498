// SPDX-License-Identifier: Apache-2.0
#include "models/tlm/tlm_memory.h"

#include <algorithm>
#include <cstring>

namespace sluice {

TlmMemoryBase::Page& TlmMemoryBase::page(std::uint64_t address) {
    std::unique_ptr<Page>& place = pages_[address / kPage];
    if (place == nullptr) {
        place = std::make_unique<Page>();
        place->fill(0);
    }
    return *place;
}

void TlmMemoryBase::copy(tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                         std::uint64_t length) {
    while (length > 0) {
        const std::uint64_t begin = address % kPage;
        const std::uint64_t part = std::min(length, kPage - begin);
        unsigned char* const bytes = page(address).data() + begin;
        if (command == tlm::TLM_WRITE_COMMAND) {
            std::memcpy(bytes, data, part);
        } else {
            std::memcpy(data, bytes, part);
        }
        address += part;
        data += part;
        length -= part;
    }
}

tlm::tlm_response_status TlmMemoryBase::access(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    const std::uint64_t length = payload.get_data_length();
    const std::uint64_t width = payload.get_streaming_width();
    unsigned char* const data = payload.get_data_ptr();
    const unsigned char* const enables = payload.get_byte_enable_ptr();
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
        return tlm::TLM_OK_RESPONSE;
    }
    if (!payload.is_read() && !payload.is_write()) {
        return tlm::TLM_COMMAND_ERROR_RESPONSE;
    }
    if (length == 0 || width == 0) {
        return tlm::TLM_BURST_ERROR_RESPONSE;
    }
    if (address >= options_.size || std::min(length, width) > options_.size - address) {
        return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    }
    if (enables != nullptr && payload.get_byte_enable_length() == 0) {
        return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    }
    if (enables == nullptr && width >= length) {
        copy(payload.get_command(), address, data, length);
        return tlm::TLM_OK_RESPONSE;
    }
    for (std::uint64_t i = 0; i < length; ++i) {
        if (enables == nullptr ||
            enables[i % payload.get_byte_enable_length()] != TLM_BYTE_DISABLED) {
            copy(payload.get_command(), address + i % width, data + i, 1);
        }
    }
    return tlm::TLM_OK_RESPONSE;
}

void TlmMemoryBase::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    payload.set_response_status(access(payload));
    payload.set_dmi_allowed(options_.dmi && options_.latency == sc_core::SC_ZERO_TIME);
    delay += options_.latency;
}

tlm::tlm_sync_enum TlmMemoryBase::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                                  tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) {
        return tlm::TLM_ACCEPTED;  // an ignorable phase of others: all is over with BEGIN_REQ
    }
    b_transport(payload, delay);
    return tlm::TLM_COMPLETED;
}

bool TlmMemoryBase::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    dmi.init();
    const std::uint64_t address = payload.get_address();
    if (!options_.dmi || options_.latency != sc_core::SC_ZERO_TIME || address >= options_.size) {
        return false;
    }
    const std::uint64_t begin = address - address % kPage;
    dmi.set_dmi_ptr(page(address).data());
    dmi.set_start_address(begin);
    dmi.set_end_address(std::min(begin + (kPage - 1), options_.size - 1));
    dmi.allow_read_write();
    return true;
}

unsigned int TlmMemoryBase::transport_dbg(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    if (address >= options_.size || (!payload.is_read() && !payload.is_write())) {
        return 0;
    }
    const std::uint64_t length =
        std::min<std::uint64_t>(payload.get_data_length(), options_.size - address);
    copy(payload.get_command(), address, payload.get_data_ptr(), length);
    return static_cast<unsigned int>(length);
}

}  // namespace sluice
