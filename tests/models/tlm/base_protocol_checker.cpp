// SPDX-License-Identifier: Apache-2.0
/// The base-protocol checker as a module between an initiator and a target.
#include "models/tlm/base_protocol_checker.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/models/tlm/fabric_bench.h"

namespace sluice::test {
namespace {

/// Calls b_transport() from where it must not be called.
class Faulty : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Faulty);
    Faulty(const sc_core::sc_module_name& name, Cpu& cpu) : sc_module(name), cpu_(cpu) {
        SC_METHOD(call);
    }

  private:
    void call() {
        tlm::tlm_generic_payload payload;
        unsigned char byte = 0;
        set_up(payload, tlm::TLM_WRITE_COMMAND, 0, &byte, 1);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        cpu_.socket->b_transport(payload, delay);
    }
    Cpu& cpu_;
};

/// A checker between an initiator and a memory.
struct Between {
    Between() : memory("memory"), checker("checker"), cpu("cpu") {
        throw_reports();
        cpu.socket.bind(checker.target);
        checker.initiator.bind(memory.socket);
    }
    TlmMemory memory;
    BaseProtocolChecker checker;
    Cpu cpu;
};

}  // namespace

TEST_CASE("models.tlm.base_protocol_checker.a_method_that_blocks_is_found") {
    Between between;
    std::vector<BaseProtocolRule> found;
    between.checker.on_violation(
        [&](const BaseProtocolViolation& one) { found.push_back(one.rule); });
    const Faulty faulty("faulty", between.cpu);
    sc_core::sc_start();
    CHECK(found == std::vector<BaseProtocolRule>{BaseProtocolRule::process});
}

TEST_CASE("models.tlm.base_protocol_checker.without_a_handler_a_violation_is_an_error") {
    Between between;
    bool caught = false;
    between.cpu.program = [&] {
        tlm::tlm_generic_payload payload;
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        try {
            between.cpu.socket->nb_transport_fw(payload, phase, delay);
        } catch (const sc_core::sc_report& report) {
            caught = std::string(report.get_msg()).find("memory management") != std::string::npos;
        }
    };
    sc_core::sc_start();
    CHECK(caught);
}

TEST_CASE("models.tlm.base_protocol_checker.calls_pass") {
    Between between;
    between.cpu.program = [&] {
        std::vector<unsigned char> data(100, 7);
        CHECK(between.cpu.access(tlm::TLM_WRITE_COMMAND, 5, data) == tlm::TLM_OK_RESPONSE);
        data.assign(100, 0);
        CHECK(between.cpu.access(tlm::TLM_READ_COMMAND, 5, data) == tlm::TLM_OK_RESPONSE);
        CHECK(data == std::vector<unsigned char>(100, 7));
    };
    sc_core::sc_start();
    CHECK(between.checker.completed() == 2);
    CHECK(between.checker.in_progress() == 0);
}

}  // namespace sluice::test
