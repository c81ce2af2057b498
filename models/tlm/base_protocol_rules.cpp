// SPDX-License-Identifier: Apache-2.0
#include "models/tlm/base_protocol_rules.h"

#include <functional>
#include <string_view>

namespace sluice {

namespace {

using Rule = BaseProtocolRule;

std::size_t contents_of(const tlm::tlm_generic_payload& payload) {
    const auto hash = [](const unsigned char* bytes, unsigned int count) {
        return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes), count});
    };
    std::size_t contents = 0;
    if (payload.is_write() && payload.get_data_ptr() != nullptr) {
        contents = hash(payload.get_data_ptr(), payload.get_data_length());
    }
    if (payload.get_byte_enable_ptr() != nullptr) {
        contents =
            contents * 31 + hash(payload.get_byte_enable_ptr(), payload.get_byte_enable_length());
    }
    return contents;
}

/// Phases beyond the base protocol's may be ignored.
bool is_extended(const tlm::tlm_phase& phase) {
    return static_cast<unsigned int>(phase) > static_cast<unsigned int>(tlm::END_RESP);
}

}  // namespace

const char* rule_name(BaseProtocolRule rule) {
    switch (rule) {
        case Rule::phase_order: return "phase order";
        case Rule::request_exclusion: return "request exclusion";
        case Rule::response_exclusion: return "response exclusion";
        case Rule::return_value: return "return value";
        case Rule::timing: return "timing annotation";
        case Rule::initial_attributes: return "initial attributes";
        case Rule::fixed_attributes: return "fixed attributes";
        case Rule::response_status: return "response status";
        case Rule::memory_management: return "memory management";
        case Rule::process: return "calling process";
        case Rule::lost: return "lost transaction";
    }
    return "";
}

void BaseProtocolRules::report(BaseProtocolRule rule, const std::string& what) const {
    handler_({rule, what, sc_core::sc_time_stamp()});
}

BaseProtocolRules::Running* BaseProtocolRules::find(const tlm::tlm_generic_payload& payload) {
    const auto found = running_.find(&payload);
    return found == running_.end() ? nullptr : &found->second;
}

void BaseProtocolRules::check_initial(const tlm::tlm_generic_payload& payload) const {
    const auto wrong = [&](const char* what) { report(Rule::initial_attributes, what); };
    if (payload.get_command() != tlm::TLM_IGNORE_COMMAND) {
        if (payload.get_data_ptr() == nullptr) {
            wrong("the data pointer is null");
        }
        if (payload.get_data_length() == 0) {
            wrong("the data length is 0");
        }
    }
    if (payload.get_streaming_width() == 0) {
        wrong("the streaming width is 0");
    }
    if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0) {
        wrong("there are byte enables, and their length is 0");
    }
    if (payload.is_dmi_allowed()) {
        wrong("the DMI hint is set");
    }
    if (payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) {
        wrong("the response status is not TLM_INCOMPLETE_RESPONSE");
    }
}

void BaseProtocolRules::begin(tlm::tlm_generic_payload& payload, Stage stage) {
    check_initial(payload);
    Running& running = running_[&payload];
    running.stage = stage;
    running.time = sc_core::SC_ZERO_TIME;
    running.command = payload.get_command();
    running.data = payload.get_data_ptr();
    running.length = payload.get_data_length();
    running.enables = payload.get_byte_enable_ptr();
    running.enables_length = payload.get_byte_enable_length();
    running.width = payload.get_streaming_width();
    running.contents = contents_of(payload);
    running.response = tlm::TLM_INCOMPLETE_RESPONSE;
    running.held = payload.has_mm();
    if (running.held) {
        payload.acquire();
    }
}

/// Not the address, which interconnects downstream may change.
void BaseProtocolRules::check_fixed(const tlm::tlm_generic_payload& payload,
                                    const Running& running) const {
    const auto changed = [&](bool is, const char* what) {
        if (is) {
            report(Rule::fixed_attributes, std::string(what) + " has changed on the way");
        }
        return is;
    };
    bool other = changed(payload.get_command() != running.command, "the command");
    other |= changed(payload.get_data_ptr() != running.data, "the data pointer");
    other |= changed(payload.get_data_length() != running.length, "the data length");
    other |= changed(payload.get_byte_enable_ptr() != running.enables, "the byte enable pointer");
    other |= changed(payload.get_byte_enable_length() != running.enables_length,
                     "the byte enable length");
    other |= changed(payload.get_streaming_width() != running.width, "the streaming width");
    if (!other) {
        changed(contents_of(payload) != running.contents, "what is written, or a byte enable,");
    }
}

void BaseProtocolRules::check_held(const tlm::tlm_generic_payload& payload, int least) const {
    if (!payload.has_mm()) {
        report(Rule::memory_management, "the transaction has no memory manager");
    } else if (payload.get_ref_count() < least) {
        report(Rule::memory_management, "nobody holds a reference to the transaction");
    }
}

/// A phase takes effect at now + `delay`.
void BaseProtocolRules::advance(Running& running, const sc_core::sc_time& delay,
                                const char* where) const {
    const sc_core::sc_time time = sc_core::sc_time_stamp() + delay;
    if (time < running.time) {
        report(Rule::timing, std::string(where) + " at " + time.to_string() + ", after " +
                                 running.time.to_string());
    }
    running.time = time;
}

void BaseProtocolRules::check_accepted(const tlm::tlm_phase& sent,
                                       const sc_core::sc_time& sent_delay,
                                       const tlm::tlm_phase& phase,
                                       const sc_core::sc_time& delay) const {
    if (phase != sent || delay != sent_delay) {
        report(Rule::return_value, "TLM_ACCEPTED, but the phase or the delay has changed");
    }
}

void BaseProtocolRules::end_request(const tlm::tlm_generic_payload& payload, Running& running) {
    if (running.stage != Stage::request) {
        report(Rule::phase_order, "END_REQ without a request in progress");
        return;
    }
    running.stage = Stage::accepted;
    if (requesting_ == &payload) {
        requesting_ = nullptr;
    }
}

void BaseProtocolRules::check_response(const tlm::tlm_generic_payload& payload,
                                       Running& running) const {
    running.response = payload.get_response_status();
    if (running.response == tlm::TLM_INCOMPLETE_RESPONSE) {
        report(Rule::response_status, "a response with TLM_INCOMPLETE_RESPONSE");
    }
}

void BaseProtocolRules::begin_response(const tlm::tlm_generic_payload& payload, Running& running) {
    if (running.stage != Stage::request && running.stage != Stage::accepted) {
        report(Rule::phase_order, "BEGIN_RESP out of sequence");
        return;
    }
    if (requesting_ == &payload) {
        requesting_ = nullptr;  // it implies END_REQ
    }
    if (responding_ != nullptr) {
        report(Rule::response_exclusion, "BEGIN_RESP before the response before it has ended");
    }
    running.stage = Stage::response;
    responding_ = &payload;
    check_response(payload, running);
}

void BaseProtocolRules::end_response(const tlm::tlm_generic_payload& payload, Running& running) {
    if (running.stage != Stage::response) {
        report(Rule::phase_order, "END_RESP without a response in progress");
        return;
    }
    if (payload.get_response_status() != running.response) {
        report(Rule::response_status, "the response status has changed after the response");
    }
}

void BaseProtocolRules::complete(tlm::tlm_generic_payload& payload) {
    if (requesting_ == &payload) {
        requesting_ = nullptr;
    }
    if (responding_ == &payload) {
        responding_ = nullptr;
    }
    const auto found = running_.find(&payload);
    const bool held = found->second.held;
    running_.erase(found);
    ++completed_;
    if (held) {
        payload.release();
    }
}

void BaseProtocolRules::before_forward(tlm::tlm_generic_payload& payload,
                                       const tlm::tlm_phase& phase, const sc_core::sc_time& delay) {
    if (is_extended(phase)) {
        return;
    }
    Running* running = find(payload);
    if (phase == tlm::BEGIN_REQ) {
        if (running != nullptr) {
            report(Rule::phase_order, "BEGIN_REQ of a transaction in progress");
            return;
        }
        check_held(payload, 1);
        if (requesting_ != nullptr) {
            report(Rule::request_exclusion, "BEGIN_REQ before the request before it has ended");
        }
        requesting_ = &payload;
        begin(payload, Stage::request);
        advance(*find(payload), delay, "BEGIN_REQ");
        return;
    }
    if (phase != tlm::END_RESP) {
        report(Rule::phase_order, std::string(phase.get_name()) + " on the forward path");
        return;
    }
    if (running == nullptr) {
        report(Rule::phase_order, "END_RESP of no transaction in progress");
        return;
    }
    check_held(payload, 2);
    check_fixed(payload, *running);
    advance(*running, delay, "END_RESP");
    end_response(payload, *running);
}

void BaseProtocolRules::after_forward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& sent,
                                      const sc_core::sc_time& sent_delay,
                                      const tlm::tlm_phase& phase, const sc_core::sc_time& delay,
                                      tlm::tlm_sync_enum answer) {
    Running* const running = find(payload);
    if (is_extended(sent) || running == nullptr) {
        return;
    }
    check_fixed(payload, *running);
    if (answer == tlm::TLM_ACCEPTED) {
        check_accepted(sent, sent_delay, phase, delay);
    }
    if (sent == tlm::END_RESP) {
        if (answer == tlm::TLM_UPDATED) {
            report(Rule::return_value, "END_RESP was answered by TLM_UPDATED");
        }
        if (running->stage == Stage::response) {
            complete(payload);
        }
        return;
    }
    if (sent != tlm::BEGIN_REQ || answer == tlm::TLM_ACCEPTED) {
        return;
    }
    advance(*running, delay, "the return of BEGIN_REQ");
    if (answer == tlm::TLM_COMPLETED) {
        check_response(payload, *running);
        complete(payload);
    } else if (phase == tlm::END_REQ) {
        end_request(payload, *running);
    } else if (phase == tlm::BEGIN_RESP) {
        begin_response(payload, *running);
    } else if (!is_extended(phase)) {
        report(Rule::return_value,
               std::string("BEGIN_REQ was answered by TLM_UPDATED with ") + phase.get_name());
    }
}

void BaseProtocolRules::before_backward(tlm::tlm_generic_payload& payload,
                                        const tlm::tlm_phase& phase,
                                        const sc_core::sc_time& delay) {
    if (is_extended(phase)) {
        return;
    }
    Running* const running = find(payload);
    if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) {
        report(Rule::phase_order, std::string(phase.get_name()) + " on the backward path");
        return;
    }
    if (running == nullptr || running->stage == Stage::blocking) {
        report(Rule::phase_order, std::string(phase.get_name()) + " of no transaction in progress");
        return;
    }
    check_held(payload, 2);
    check_fixed(payload, *running);
    advance(*running, delay, phase.get_name());
    if (phase == tlm::END_REQ) {
        end_request(payload, *running);
    } else {
        begin_response(payload, *running);
    }
}

void BaseProtocolRules::after_backward(tlm::tlm_generic_payload& payload,
                                       const tlm::tlm_phase& sent,
                                       const sc_core::sc_time& sent_delay,
                                       const tlm::tlm_phase& phase, const sc_core::sc_time& delay,
                                       tlm::tlm_sync_enum answer) {
    Running* const running = find(payload);
    if (is_extended(sent) || running == nullptr) {
        return;
    }
    if (answer == tlm::TLM_ACCEPTED) {
        check_accepted(sent, sent_delay, phase, delay);
        return;
    }
    check_fixed(payload, *running);
    if (sent == tlm::END_REQ) {
        report(Rule::return_value, "END_REQ was not answered by TLM_ACCEPTED");
        return;
    }
    if (sent != tlm::BEGIN_RESP || running->stage != Stage::response) {
        return;
    }
    advance(*running, delay, "the return of BEGIN_RESP");
    if (answer == tlm::TLM_UPDATED && phase != tlm::END_RESP) {
        if (!is_extended(phase)) {
            report(Rule::return_value,
                   std::string("BEGIN_RESP was answered by TLM_UPDATED with ") + phase.get_name());
        }
        return;
    }
    end_response(payload, *running);
    complete(payload);
}

void BaseProtocolRules::before_blocking(tlm::tlm_generic_payload& payload,
                                        const sc_core::sc_time& delay) {
    if (sc_core::sc_get_current_process_handle().proc_kind() == sc_core::SC_METHOD_PROC_) {
        report(Rule::process, "b_transport() was called from an SC_METHOD");
    }
    if (find(payload) != nullptr) {
        report(Rule::phase_order, "b_transport() of a transaction in progress");
        return;
    }
    begin(payload, Stage::blocking);
    advance(*find(payload), delay, "b_transport()");
}

void BaseProtocolRules::after_blocking(tlm::tlm_generic_payload& payload,
                                       const sc_core::sc_time& delay) {
    Running* const running = find(payload);
    if (running == nullptr || running->stage != Stage::blocking) {
        return;
    }
    check_fixed(payload, *running);
    advance(*running, delay, "the return of b_transport()");
    check_response(payload, *running);
    complete(payload);
}

void BaseProtocolRules::check_lost() {
    for (std::size_t left = running_.size(); left > 0; --left) {
        report(Rule::lost, "a transaction has no response");
    }
}

}  // namespace sluice
