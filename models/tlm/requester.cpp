// SPDX-License-Identifier: Apache-2.0
#include "models/tlm/requester.h"

#include <algorithm>
#include <string>

#include "models/report.h"
#include "models/tlm/memory_access.h"
#include "models/tlm/rdma_extension.h"

namespace sluice {

namespace {

[[noreturn]] void refuse_call(const sc_core::sc_object& at, const std::string& what) {
    refuse("sluice/tlm", std::string(at.name()) + ": " + what);
}

bool has_other_byte_enables(const tlm::tlm_generic_payload& payload) {
    const unsigned char* const enables = payload.get_byte_enable_ptr();
    return enables != nullptr &&
           !std::all_of(enables, enables + payload.get_byte_enable_length(), [](unsigned char one) {
               return one == TLM_BYTE_ENABLED || one == TLM_BYTE_DISABLED;
           });
}

}  // namespace

void Transfer::on_reached(Tick at) { memory->deliver(*this, at); }

void Transfer::on_completed(const Completion& /*completion*/) {
    completed = true;
    if (answered) {
        requester.over(*this);
    }
}

void Transfer::answer(tlm::tlm_response_status given) {
    status = given;
    answered = true;
    if (completed) {
        requester.over(*this);
    }
}

Requester::Requester(const sc_core::sc_module_name& name, HostPort& port, const AddressMap& map,
                     const std::vector<MemoryAccess*>& memories)
    : sc_module(name), port_(port), map_(map), memories_(memories) {
    SC_METHOD(accept);
    sensitive << accept_;
    dont_initialize();
    SC_METHOD(next_response);
    sensitive << next_response_;
    dont_initialize();
}

tlm::tlm_response_status Requester::resolve(const tlm::tlm_generic_payload& payload, Post& post,
                                            const AddressWindow*& window) const {
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
        return tlm::TLM_OK_RESPONSE;
    }
    if (!payload.is_read() && !payload.is_write()) {
        return tlm::TLM_COMMAND_ERROR_RESPONSE;
    }
    if (payload.get_data_length() == 0 ||
        payload.get_streaming_width() < payload.get_data_length()) {
        return tlm::TLM_BURST_ERROR_RESPONSE;
    }
    if (payload.get_data_ptr() == nullptr) {
        return tlm::TLM_GENERIC_ERROR_RESPONSE;
    }
    if (payload.get_byte_enable_ptr() != nullptr &&
        (payload.get_byte_enable_length() == 0 || has_other_byte_enables(payload))) {
        return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    }
    window = map_.find(payload.get_address());
    if (window == nullptr ||
        payload.get_data_length() - 1 > window->last() - payload.get_address() ||
        window->host == port_.host() || !memories_[window->host]->is_bound()) {
        return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    }
    post.operation = payload.is_read() ? Operation::read : Operation::write;
    post.peer = window->host;
    post.bytes = payload.get_data_length();
    if (const RdmaExtension* const rdma = payload.get_extension<RdmaExtension>()) {
        if (rdma->priority < 1 || rdma->priority > 7) {
            return tlm::TLM_GENERIC_ERROR_RESPONSE;
        }
        post.queue_pair = rdma->queue_pair;
        post.priority = rdma->priority;
        post.tag = rdma->tag;
    }
    return tlm::TLM_INCOMPLETE_RESPONSE;
}

Transfer& Requester::take(tlm::tlm_generic_payload& payload, const Post& post,
                          const AddressWindow& window) {
    if (free_.empty()) {
        free_.push_back(&transfers_.emplace_back(*this));
    }
    Transfer& transfer = *free_.back();
    free_.pop_back();
    transfer.payload = &payload;
    transfer.memory = memories_[window.host];
    transfer.offset = payload.get_address() - window.base;
    transfer.post = post;
    transfer.answered = false;
    transfer.completed = false;
    transfer.blocking = false;
    return transfer;
}

tlm::tlm_sync_enum Requester::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                              tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_REQ) {
        return begin_request(payload, phase, delay);
    }
    if (phase == tlm::END_RESP) {
        if (responding_ == nullptr || responding_->payload != &payload) {
            refuse_call(*this, "END_RESP of a transaction without a response in progress");
        }
        end_response(*responding_);
        next_response_.notify(delay);
        return tlm::TLM_COMPLETED;
    }
    if (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP || phase == tlm::UNINITIALIZED_PHASE) {
        refuse_call(*this, std::string("an initiator sent ") + phase.get_name() +
                               "; allowed: BEGIN_REQ and END_RESP");
    }
    return tlm::TLM_ACCEPTED;  // an ignorable phase of others
}

tlm::tlm_sync_enum Requester::begin_request(tlm::tlm_generic_payload& payload,
                                            tlm::tlm_phase& phase, const sc_core::sc_time& delay) {
    if (requesting_ != nullptr) {
        refuse_call(*this, "BEGIN_REQ before the END_REQ of the transaction before it");
    }
    if (!payload.has_mm()) {
        refuse_call(*this, "BEGIN_REQ of a transaction without a memory manager");
    }
    payload.set_dmi_allowed(false);
    Post post;
    const AddressWindow* window = nullptr;
    const tlm::tlm_response_status status = resolve(payload, post, window);
    if (status != tlm::TLM_INCOMPLETE_RESPONSE) {
        payload.set_response_status(status);
        return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    Transfer& transfer = take(payload, post, *window);
    if (delay == sc_core::SC_ZERO_TIME && port_.try_post(transfer.post, &transfer)) {
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    requesting_ = &transfer;
    accept_.notify(delay);
    return tlm::TLM_ACCEPTED;
}

/// The request has come in time: it ends as there is room for its operation.
void Requester::accept() {
    Transfer& transfer = *requesting_;
    if (!port_.try_post(transfer.post, &transfer)) {
        next_trigger(port_.room());
        return;
    }
    requesting_ = nullptr;
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (initiator_->nb_transport_bw(*transfer.payload, phase, delay) != tlm::TLM_ACCEPTED) {
        refuse_call(*this, "END_REQ was not answered by TLM_ACCEPTED");
    }
}

void Requester::over(Transfer& transfer) {
    tlm::tlm_generic_payload& payload = *transfer.payload;
    if (payload.is_read() && transfer.status == tlm::TLM_OK_RESPONSE) {
        copy_enabled(payload, transfer.fetched.data(), payload.get_data_ptr());
    }
    payload.set_response_status(transfer.status);
    if (transfer.blocking) {
        transfer.done.notify(sc_core::SC_ZERO_TIME);
        return;
    }
    responses_.push_back(&transfer);
    respond();
}

void Requester::respond() {
    while (!response_in_progress_ && !responses_.empty()) {
        Transfer& transfer = *responses_.front();
        responses_.pop_front();
        response_in_progress_ = true;
        responding_ = &transfer;
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        const tlm::tlm_sync_enum answer =
            initiator_->nb_transport_bw(*transfer.payload, phase, delay);
        if (answer == tlm::TLM_ACCEPTED) {
            continue;  // END_RESP comes by a call, if it has not come within this one
        }
        if (answer == tlm::TLM_UPDATED && phase != tlm::END_RESP) {
            refuse_call(*this, std::string("BEGIN_RESP was answered by ") + phase.get_name() +
                                   "; allowed: END_RESP");
        }
        end_response(transfer);
        if (delay == sc_core::SC_ZERO_TIME) {
            response_in_progress_ = false;
        } else {
            next_response_.notify(delay);
        }
    }
}

void Requester::end_response(Transfer& transfer) {
    responding_ = nullptr;
    transfer.payload->release();
    put_back(transfer);
}

void Requester::next_response() {
    response_in_progress_ = false;
    respond();
}

void Requester::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    payload.set_dmi_allowed(false);
    Post post;
    const AddressWindow* window = nullptr;
    const tlm::tlm_response_status status = resolve(payload, post, window);
    if (status != tlm::TLM_INCOMPLETE_RESPONSE) {
        payload.set_response_status(status);
        return;
    }
    if (delay != sc_core::SC_ZERO_TIME) {
        wait(delay);
        delay = sc_core::SC_ZERO_TIME;
    }
    Transfer& transfer = take(payload, post, *window);
    transfer.blocking = true;
    while (!port_.try_post(transfer.post, &transfer)) {
        wait(port_.room());
    }
    wait(transfer.done);
    put_back(transfer);
}

bool Requester::get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& dmi) {
    dmi.init();
    return false;
}

unsigned int Requester::transport_dbg(tlm::tlm_generic_payload& payload) {
    const AddressWindow* const window = map_.find(payload.get_address());
    if (window == nullptr || payload.get_data_length() == 0 || payload.get_data_ptr() == nullptr ||
        (!payload.is_read() && !payload.is_write())) {
        return 0;
    }
    const std::uint64_t left = window->last() - payload.get_address();
    const auto length =
        static_cast<unsigned int>(std::min<std::uint64_t>(payload.get_data_length() - 1, left) + 1);
    return memories_[window->host]->debug(payload, payload.get_address() - window->base, length);
}

}  // namespace sluice
