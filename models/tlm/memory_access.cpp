// SPDX-License-Identifier: Apache-2.0
#include "models/tlm/memory_access.h"

#include <cstring>
#include <iterator>
#include <string>

#include "models/report.h"
#include "models/sim_time.h"
#include "models/tlm/requester.h"

namespace sluice {

void copy_enabled(const tlm::tlm_generic_payload& payload, const unsigned char* from,
                  unsigned char* to) {
    const unsigned int length = payload.get_data_length();
    const unsigned char* const enables = payload.get_byte_enable_ptr();
    if (enables == nullptr) {
        std::memcpy(to, from, length);
        return;
    }
    for (unsigned int i = 0; i < length; ++i) {
        if (enables[i % payload.get_byte_enable_length()] == TLM_BYTE_ENABLED) {
            to[i] = from[i];
        }
    }
}

MemoryAccess::MemoryAccess(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_METHOD(serve);
    sensitive << instant_;
    dont_initialize();
    SC_THREAD(call_memory);
}

void MemoryAccess::deliver(Transfer& transfer, Tick at) {
    due_.push({at, transfer.requester.host(), delivered_++, &transfer});
    if (due_.top().transfer == &transfer) {
        instant_.notify(until(at));
    }
}

/// Everything that is due, up to one for which the memory must be called.
void MemoryAccess::serve() {
    const Tick now = to_ticks(sc_core::sc_time_stamp());
    while (in_service_ == nullptr && !due_.empty() && due_.top().at <= now) {
        Transfer& transfer = *due_.top().transfer;
        due_.pop();
        if (access_directly(transfer)) {
            transfer.answer(tlm::TLM_OK_RESPONSE);
        } else {
            in_service_ = &transfer;
            call_.notify(sc_core::SC_ZERO_TIME);
        }
    }
    if (in_service_ == nullptr && !due_.empty()) {
        instant_.notify(until(due_.top().at));
    }
}

void MemoryAccess::call_memory() {
    while (true) {
        wait(call_);
        Transfer& transfer = *in_service_;
        set_up(transfer);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        memory_->b_transport(access_, delay);
        if (delay != sc_core::SC_ZERO_TIME) {
            wait(delay);
        }
        const tlm::tlm_response_status status = access_.get_response_status();
        if (access_.is_dmi_allowed()) {
            ask_for_direct_access(transfer);
        }
        in_service_ = nullptr;
        transfer.answer(status == tlm::TLM_INCOMPLETE_RESPONSE ? tlm::TLM_GENERIC_ERROR_RESPONSE
                                                               : status);
        serve();
    }
}

/// The access that a transfer makes, as a payload.
void MemoryAccess::set_up(Transfer& transfer) {
    const tlm::tlm_generic_payload& payload = *transfer.payload;
    access_.set_command(payload.get_command());
    access_.set_address(transfer.offset);
    access_.set_data_ptr(payload.get_data_ptr());
    access_.set_data_length(payload.get_data_length());
    access_.set_streaming_width(payload.get_data_length());
    access_.set_byte_enable_ptr(payload.get_byte_enable_ptr());
    access_.set_byte_enable_length(payload.get_byte_enable_length());
    access_.set_dmi_allowed(false);
    access_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    if (payload.is_read()) {
        transfer.fetched.resize(payload.get_data_length());
        access_.set_data_ptr(transfer.fetched.data());
    }
}

/// False: no region that the memory has offered holds the access.
bool MemoryAccess::access_directly(Transfer& transfer) {
    const tlm::tlm_generic_payload& payload = *transfer.payload;
    const auto after = regions_.upper_bound(transfer.offset);
    if (after == regions_.begin()) {
        return false;
    }
    const tlm::tlm_dmi& dmi = std::prev(after)->second;
    if (transfer.offset + (payload.get_data_length() - 1) > dmi.get_end_address()) {
        return false;
    }
    unsigned char* const bytes = dmi.get_dmi_ptr() + (transfer.offset - dmi.get_start_address());
    if (payload.is_read() && dmi.is_read_allowed()) {
        transfer.fetched.resize(payload.get_data_length());
        copy_enabled(payload, bytes, transfer.fetched.data());
        return true;
    }
    if (payload.is_write() && dmi.is_write_allowed()) {
        copy_enabled(payload, payload.get_data_ptr(), bytes);
        return true;
    }
    return false;
}

/// Where direct access would take time, the memory is called, and says how much.
void MemoryAccess::ask_for_direct_access(Transfer& transfer) {
    set_up(transfer);
    tlm::tlm_dmi dmi;
    if (memory_->get_direct_mem_ptr(access_, dmi) &&
        dmi.get_read_latency() == sc_core::SC_ZERO_TIME &&
        dmi.get_write_latency() == sc_core::SC_ZERO_TIME) {
        regions_.insert_or_assign(dmi.get_start_address(), dmi);
    }
}

void MemoryAccess::invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) {
    for (auto region = regions_.begin(); region != regions_.end();) {
        const bool within = region->first <= end && begin <= region->second.get_end_address();
        region = within ? regions_.erase(region) : std::next(region);
    }
}

tlm::tlm_sync_enum MemoryAccess::nb_transport_bw(tlm::tlm_generic_payload& /*payload*/,
                                                 tlm::tlm_phase& /*phase*/,
                                                 sc_core::sc_time& /*delay*/) {
    refuse("sluice/tlm", std::string(name()) +
                             ": nb_transport_bw() was called; memories are accessed by "
                             "b_transport() alone");
}

unsigned int MemoryAccess::debug(const tlm::tlm_generic_payload& payload, std::uint64_t offset,
                                 unsigned int length) {
    if (memory_ == nullptr) {
        return 0;
    }
    tlm::tlm_generic_payload access;
    access.set_command(payload.get_command());
    access.set_address(offset);
    access.set_data_ptr(payload.get_data_ptr());
    access.set_data_length(length);
    access.set_streaming_width(length);
    return memory_->transport_dbg(access);
}

}  // namespace sluice
