// SPDX-License-Identifier: Apache-2.0
#include "models/tlm/base_protocol_checker.h"

#include <string>

namespace sluice {

BaseProtocolCheckerBase::BaseProtocolCheckerBase(const sc_core::sc_module_name& name)
    : sc_module(name) {
    rules_.on_violation([this](const BaseProtocolViolation& violation) {
        const std::string text =
            std::string(this->name()) + ": " + rule_name(violation.rule) + ": " + violation.what;
        SC_REPORT_ERROR("sluice/tlm-checker", text.c_str());
    });
}

tlm::tlm_sync_enum BaseProtocolCheckerBase::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                                            tlm::tlm_phase& phase,
                                                            sc_core::sc_time& delay) {
    const tlm::tlm_phase sent = phase;
    const sc_core::sc_time sent_delay = delay;
    rules_.before_forward(payload, phase, delay);
    const tlm::tlm_sync_enum answer = forward_->nb_transport_fw(payload, phase, delay);
    rules_.after_forward(payload, sent, sent_delay, phase, delay, answer);
    return answer;
}

tlm::tlm_sync_enum BaseProtocolCheckerBase::nb_transport_bw(tlm::tlm_generic_payload& payload,
                                                            tlm::tlm_phase& phase,
                                                            sc_core::sc_time& delay) {
    const tlm::tlm_phase sent = phase;
    const sc_core::sc_time sent_delay = delay;
    rules_.before_backward(payload, phase, delay);
    const tlm::tlm_sync_enum answer = backward_->nb_transport_bw(payload, phase, delay);
    rules_.after_backward(payload, sent, sent_delay, phase, delay, answer);
    return answer;
}

void BaseProtocolCheckerBase::b_transport(tlm::tlm_generic_payload& payload,
                                          sc_core::sc_time& delay) {
    rules_.before_blocking(payload, delay);
    forward_->b_transport(payload, delay);
    rules_.after_blocking(payload, delay);
}

bool BaseProtocolCheckerBase::get_direct_mem_ptr(tlm::tlm_generic_payload& payload,
                                                 tlm::tlm_dmi& dmi) {
    return forward_->get_direct_mem_ptr(payload, dmi);
}

unsigned int BaseProtocolCheckerBase::transport_dbg(tlm::tlm_generic_payload& payload) {
    return forward_->transport_dbg(payload);
}

void BaseProtocolCheckerBase::invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) {
    backward_->invalidate_direct_mem_ptr(begin, end);
}

}  // namespace sluice
