// SPDX-License-Identifier: Apache-2.0
/// Checks the TLM-2.0 base protocol between an initiator and a target, to which it passes every call on as it is. Bind
/// the initiator to `target` and `initiator` to the target. It keeps references to transactions in progress.
#pragma once

#include <utility>

#include "models/tlm/base_protocol_rules.h"

namespace sluice {

/// Without the sockets, which depend on the bus width.
class BaseProtocolCheckerBase : public sc_core::sc_module,
                                public tlm::tlm_fw_transport_if<>,
                                public tlm::tlm_bw_transport_if<> {
  public:
    explicit BaseProtocolCheckerBase(const sc_core::sc_module_name& name);

    /// In place of an SC_ERROR for each violation.
    void on_violation(BaseProtocolRules::Handler handler) {
        rules_.on_violation(std::move(handler));
    }
    /// When no more is to come, at the end of the simulation: transactions in progress are violations.
    void check_lost() { rules_.check_lost(); }
    std::size_t in_progress() const { return rules_.in_progress(); }
    std::uint64_t completed() const { return rules_.completed(); }

    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
    unsigned int transport_dbg(tlm::tlm_generic_payload& payload) override;
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) override;

  protected:
    void attach(tlm::tlm_fw_transport_if<>* forward, tlm::tlm_bw_transport_if<>* backward) {
        forward_ = forward;
        backward_ = backward;
    }

  private:
    BaseProtocolRules rules_;
    tlm::tlm_fw_transport_if<>* forward_ = nullptr;
    tlm::tlm_bw_transport_if<>* backward_ = nullptr;
};

template <unsigned int BUSWIDTH>
class BasicBaseProtocolChecker : public BaseProtocolCheckerBase {
  public:
    explicit BasicBaseProtocolChecker(const sc_core::sc_module_name& name)
        : BaseProtocolCheckerBase(name), target("target"), initiator("initiator") {
        target.bind(*this);
        initiator.bind(*this);
    }
    tlm::tlm_target_socket<BUSWIDTH> target;
    tlm::tlm_initiator_socket<BUSWIDTH> initiator;

  private:
    void end_of_elaboration() override { attach(initiator.operator->(), target.operator->()); }
};

using BaseProtocolChecker = BasicBaseProtocolChecker<32>;

}  // namespace sluice
