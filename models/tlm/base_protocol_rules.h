// SPDX-License-Identifier: Apache-2.0
/// The rules of the TLM-2.0 base protocol (IEEE 1666-2011, clauses 11, 14 and 15) at one socket, told of every call before
/// and after it is made.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <unordered_map>
#include <utility>

namespace sluice {

enum class BaseProtocolRule : std::uint8_t {
    phase_order,  ///< a phase out of sequence, on the wrong path, twice, or none (15.2.3, 15.2.4)
    request_exclusion,   ///< BEGIN_REQ before the request before it has ended (15.2.6)
    response_exclusion,  ///< BEGIN_RESP before the response before it has ended (15.2.6)
    return_value,        ///< what a call may answer, and change (11.1.2)
    timing,              ///< a transaction's time goes back (15.2.7)
    initial_attributes,  ///< what an initiator must set (14.7 to 14.17)
    fixed_attributes,    ///< what nobody may change on the way (14.7)
    response_status,     ///< none in a response, or changed after it (14.17)
    memory_management,   ///< no memory manager, or nobody holds the transaction (14.5)
    process,             ///< b_transport() from an SC_METHOD (11.1.1)
    lost,                ///< no response, although there is no more to come
};
const char* rule_name(BaseProtocolRule rule);

struct BaseProtocolViolation {
    BaseProtocolRule rule = BaseProtocolRule::phase_order;
    std::string what;
    sc_core::sc_time at;
};

class BaseProtocolRules {
  public:
    using Handler = std::function<void(const BaseProtocolViolation&)>;

    /// Told of every violation.
    void on_violation(Handler handler) { handler_ = std::move(handler); }
    /// Of transactions that go on after the call returns it holds a reference.
    void before_forward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase,
                        const sc_core::sc_time& delay);
    void after_forward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& sent,
                       const sc_core::sc_time& sent_delay, const tlm::tlm_phase& phase,
                       const sc_core::sc_time& delay, tlm::tlm_sync_enum answer);
    void before_backward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase,
                         const sc_core::sc_time& delay);
    void after_backward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& sent,
                        const sc_core::sc_time& sent_delay, const tlm::tlm_phase& phase,
                        const sc_core::sc_time& delay, tlm::tlm_sync_enum answer);
    void before_blocking(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
    void after_blocking(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
    /// When no more is to come: every transaction in progress is a lost one.
    void check_lost();

    std::size_t in_progress() const { return running_.size(); }
    std::uint64_t completed() const { return completed_; }

  private:
    enum class Stage : std::uint8_t { blocking, request, accepted, response };
    /// A transaction in progress, as it was when it began.
    struct Running {
        Stage stage = Stage::request;
        bool held = false;      ///< with a reference of ours
        sc_core::sc_time time;  ///< of its last phase, with what was annotated
        tlm::tlm_command command = tlm::TLM_IGNORE_COMMAND;
        unsigned char* data = nullptr;
        unsigned int length = 0;
        unsigned char* enables = nullptr;
        unsigned int enables_length = 0;
        unsigned int width = 0;
        std::size_t contents = 0;  ///< of what is written, and of byte enables
        tlm::tlm_response_status response = tlm::TLM_INCOMPLETE_RESPONSE;
    };

    void report(BaseProtocolRule rule, const std::string& what) const;
    Running* find(const tlm::tlm_generic_payload& payload);
    void begin(tlm::tlm_generic_payload& payload, Stage stage);
    void check_initial(const tlm::tlm_generic_payload& payload) const;
    void check_fixed(const tlm::tlm_generic_payload& payload, const Running& running) const;
    void check_held(const tlm::tlm_generic_payload& payload, int least) const;
    void check_accepted(const tlm::tlm_phase& sent, const sc_core::sc_time& sent_delay,
                        const tlm::tlm_phase& phase, const sc_core::sc_time& delay) const;
    void advance(Running& running, const sc_core::sc_time& delay, const char* where) const;
    void end_request(const tlm::tlm_generic_payload& payload, Running& running);
    void begin_response(const tlm::tlm_generic_payload& payload, Running& running);
    void check_response(const tlm::tlm_generic_payload& payload, Running& running) const;
    void end_response(const tlm::tlm_generic_payload& payload, Running& running);
    void complete(tlm::tlm_generic_payload& payload);

    Handler handler_;
    std::unordered_map<const tlm::tlm_generic_payload*, Running> running_;
    const tlm::tlm_generic_payload* requesting_ = nullptr;
    const tlm::tlm_generic_payload* responding_ = nullptr;
    std::uint64_t completed_ = 0;
};

}  // namespace sluice
