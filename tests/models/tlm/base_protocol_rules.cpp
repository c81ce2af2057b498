// SPDX-License-Identifier: Apache-2.0
/// The base-protocol checker finds every violation that is planted, and none where there is none: all sequences of calls
/// on two transactions, and each other rule.
#include "models/tlm/base_protocol_rules.h"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <vector>

#include "tests/models/tlm/fabric_bench.h"

namespace sluice::test {
namespace {

DECLARE_EXTENDED_PHASE(OWN_PHASE);

using Rule = BaseProtocolRule;
const sc_core::sc_time kNow = sc_core::SC_ZERO_TIME;  // no delay is annotated

/// A call and what it is answered.
struct Step {
    std::size_t transaction;
    bool forward;
    tlm::tlm_phase_enum phase;
    tlm::tlm_sync_enum answer;
    tlm::tlm_phase_enum updated;  ///< the phase that TLM_UPDATED brings
};

/// Every call on either path with every answer.
std::vector<Step> all_steps() {
    const tlm::tlm_phase_enum phases[] = {tlm::UNINITIALIZED_PHASE, tlm::BEGIN_REQ, tlm::END_REQ,
                                          tlm::BEGIN_RESP, tlm::END_RESP};
    std::vector<Step> steps;
    for (std::size_t transaction = 0; transaction < 2; ++transaction) {
        for (const bool forward : {true, false}) {
            for (const tlm::tlm_phase_enum phase : phases) {
                steps.push_back({transaction, forward, phase, tlm::TLM_ACCEPTED, phase});
                steps.push_back({transaction, forward, phase, tlm::TLM_COMPLETED, phase});
                for (const tlm::tlm_phase_enum updated : phases) {
                    steps.push_back({transaction, forward, phase, tlm::TLM_UPDATED, updated});
                }
            }
        }
    }
    return steps;
}

/// The protocol as a table of what each transaction may do next, written down anew: what the rules must agree with.
struct Reference {
    enum State : std::uint8_t { idle, requested, accepted, responding };
    std::array<State, 2> state = {idle, idle};

    bool other_is(std::size_t transaction, State wanted) const {
        return state[1 - transaction] == wanted;
    }
    /// The rule that the step breaks, if any; else the step is made.
    std::optional<Rule> make(const Step& step) {
        State& mine = state[step.transaction];
        const bool other_responds = other_is(step.transaction, responding);
        if (step.forward && step.phase == tlm::BEGIN_REQ) {
            if (mine != idle) return Rule::phase_order;
            if (other_is(step.transaction, requested)) return Rule::request_exclusion;
            mine = requested;
            if (step.answer == tlm::TLM_COMPLETED) mine = idle;
            if (step.answer != tlm::TLM_UPDATED) return std::nullopt;
            if (step.updated == tlm::END_REQ) {
                mine = accepted;
            } else if (step.updated == tlm::BEGIN_RESP) {
                if (other_responds) return Rule::response_exclusion;
                mine = responding;
            } else {
                return Rule::return_value;
            }
            return std::nullopt;
        }
        if (step.forward) {
            if (step.phase != tlm::END_RESP || mine != responding) return Rule::phase_order;
            if (step.answer == tlm::TLM_UPDATED) return Rule::return_value;
            mine = idle;
            return std::nullopt;
        }
        if (step.phase == tlm::END_REQ) {
            if (mine != requested) return Rule::phase_order;
            if (step.answer != tlm::TLM_ACCEPTED) return Rule::return_value;
            mine = accepted;
            return std::nullopt;
        }
        if (step.phase != tlm::BEGIN_RESP || (mine != requested && mine != accepted)) {
            return Rule::phase_order;
        }
        if (other_responds) return Rule::response_exclusion;
        mine = responding;
        if (step.answer == tlm::TLM_ACCEPTED) return std::nullopt;
        if (step.answer == tlm::TLM_UPDATED && step.updated != tlm::END_RESP) {
            return Rule::return_value;
        }
        mine = idle;
        return std::nullopt;
    }
};

/// Two transactions at rules that note what they find.
struct Observed {
    Observed() {
        rules.on_violation([this](const BaseProtocolViolation& one) { found.push_back(one.rule); });
        for (tlm::tlm_generic_payload*& one : payloads) {
            one = &pool.take();
            one->acquire();
            set_up(*one, tlm::TLM_WRITE_COMMAND, 64, data.data(), 64);
        }
    }
    void make(const Step& step) {
        tlm::tlm_generic_payload& payload = *payloads[step.transaction];
        if (step.forward && step.phase == tlm::BEGIN_REQ) {
            payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        }
        const auto give_response = [&](bool due) {
            if (due) {
                payload.set_response_status(tlm::TLM_OK_RESPONSE);
            }
        };
        give_response(!step.forward && step.phase == tlm::BEGIN_RESP);
        const tlm::tlm_phase sent = step.phase;
        const tlm::tlm_phase updated = step.updated;
        if (step.forward) {
            rules.before_forward(payload, sent, kNow);
            give_response(step.phase == tlm::BEGIN_REQ &&
                          (step.answer == tlm::TLM_COMPLETED ||
                           (step.answer == tlm::TLM_UPDATED && step.updated == tlm::BEGIN_RESP)));
            rules.after_forward(payload, sent, kNow, updated, kNow, step.answer);
        } else {
            rules.before_backward(payload, sent, kNow);
            rules.after_backward(payload, sent, kNow, updated, kNow, step.answer);
        }
    }
    std::vector<unsigned char> data = std::vector<unsigned char>(64, 1);
    PayloadPool pool;
    std::array<tlm::tlm_generic_payload*, 2> payloads{};
    BaseProtocolRules rules;
    std::vector<Rule> found;
};

/// Tries every step after every legal sequence of at most `depth` steps. Returns how many sequences there were.
std::size_t explore(std::vector<Step>& before, const std::vector<Step>& steps, int depth,
                    std::size_t& violations) {
    std::size_t sequences = 0;
    for (const Step& step : steps) {
        Reference reference;
        Observed observed;
        for (const Step& one : before) {
            REQUIRE_FALSE(reference.make(one));
            observed.make(one);
        }
        REQUIRE(observed.found.empty());
        const std::optional<Rule> broken = reference.make(step);
        observed.make(step);
        ++sequences;
        if (broken) {
            ++violations;
            REQUIRE_FALSE(observed.found.empty());
            REQUIRE(observed.found.front() == *broken);
            continue;
        }
        REQUIRE(observed.found.empty());
        const bool both_idle =
            reference.state[0] == Reference::idle && reference.state[1] == Reference::idle;
        REQUIRE((observed.rules.in_progress() == 0) == both_idle);
        if (depth > 1) {
            before.push_back(step);
            sequences += explore(before, steps, depth - 1, violations);
            before.pop_back();
        }
    }
    return sequences;
}

/// One transaction, whose calls a test makes with a fault.
struct Single : Observed {
    tlm::tlm_generic_payload& payload = *payloads[0];

    void forward(tlm::tlm_phase_enum phase, const sc_core::sc_time& delay = kNow) {
        rules.before_forward(payload, phase, delay);
        rules.after_forward(payload, phase, delay, phase, delay, tlm::TLM_ACCEPTED);
    }
    void backward(tlm::tlm_phase_enum phase, const sc_core::sc_time& delay = kNow) {
        rules.before_backward(payload, phase, delay);
        rules.after_backward(payload, phase, delay, phase, delay, tlm::TLM_ACCEPTED);
    }
    void respond(tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE) {
        payload.set_response_status(status);
        backward(tlm::BEGIN_RESP);
    }
    bool only(Rule rule) const { return found == std::vector<Rule>{rule}; }
};

}  // namespace

TEST_CASE("models.tlm.base_protocol_rules.every_sequence_of_calls_is_judged_as_the_table_says") {
    std::vector<Step> before;
    std::size_t violations = 0;
    const std::size_t sequences = explore(before, all_steps(), 4, violations);
    MESSAGE(sequences << " sequences, " << violations << " with a violation");
    CHECK(violations > 10'000);
    CHECK(sequences - violations > 1000);
}

TEST_CASE("models.tlm.base_protocol_rules.initial_attributes") {
    const std::vector<std::function<void(tlm::tlm_generic_payload&)>> faults = {
        [](auto& payload) { payload.set_data_ptr(nullptr); },
        [](auto& payload) { payload.set_data_length(0); },
        [](auto& payload) { payload.set_streaming_width(0); },
        [](auto& payload) { payload.set_byte_enable_ptr(payload.get_data_ptr()); },
        [](auto& payload) { payload.set_dmi_allowed(true); },
        [](auto& payload) { payload.set_response_status(tlm::TLM_OK_RESPONSE); },
    };
    for (const auto& fault : faults) {
        Single single;
        fault(single.payload);
        single.forward(tlm::BEGIN_REQ);
        CHECK(single.only(Rule::initial_attributes));
    }
    Single ignored;
    ignored.payload.set_command(tlm::TLM_IGNORE_COMMAND);
    ignored.payload.set_data_ptr(nullptr);
    ignored.payload.set_data_length(0);
    ignored.forward(tlm::BEGIN_REQ);
    CHECK(ignored.found.empty());
}

TEST_CASE("models.tlm.base_protocol_rules.fixed_attributes") {
    unsigned char enables[] = {0xff, 0xff, 0};
    const std::vector<std::function<void(tlm::tlm_generic_payload&)>> faults = {
        [](auto& payload) { payload.set_command(tlm::TLM_READ_COMMAND); },
        [](auto& payload) { payload.set_data_ptr(payload.get_data_ptr() + 1); },
        [](auto& payload) { payload.set_data_length(63); },
        [](auto& payload) { payload.set_streaming_width(65); },
        [&](auto& payload) { payload.set_byte_enable_ptr(enables + 1); },
        [](auto& payload) { payload.set_byte_enable_length(2); },
        [](auto& payload) { ++payload.get_data_ptr()[63]; },
        [](auto& payload) { payload.get_byte_enable_ptr()[2] = 0xff; },
    };
    for (const auto& fault : faults) {
        enables[2] = 0;
        Single single;
        single.payload.set_byte_enable_ptr(enables);
        single.payload.set_byte_enable_length(3);
        single.forward(tlm::BEGIN_REQ);
        CHECK(single.found.empty());
        fault(single.payload);
        single.backward(tlm::END_REQ);
        CHECK(single.only(Rule::fixed_attributes));
    }
    Single read;
    read.payload.set_read();
    read.forward(tlm::BEGIN_REQ);
    ++read.payload.get_data_ptr()[0];
    read.payload.set_address(0);  // an interconnect has translated it
    read.respond();
    CHECK(read.found.empty());
}

TEST_CASE("models.tlm.base_protocol_rules.response_status") {
    Single none;
    none.forward(tlm::BEGIN_REQ);
    none.backward(tlm::BEGIN_RESP);
    CHECK(none.only(Rule::response_status));

    Single early;
    early.rules.before_forward(early.payload, tlm::BEGIN_REQ, kNow);
    early.rules.after_forward(early.payload, tlm::BEGIN_REQ, kNow, tlm::BEGIN_REQ, kNow,
                              tlm::TLM_COMPLETED);
    CHECK(early.only(Rule::response_status));

    Single changed;
    changed.forward(tlm::BEGIN_REQ);
    changed.respond(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(changed.found.empty());
    changed.payload.set_response_status(tlm::TLM_OK_RESPONSE);
    changed.forward(tlm::END_RESP);
    CHECK(changed.only(Rule::response_status));

    Single blocking;
    blocking.rules.before_blocking(blocking.payload, kNow);
    blocking.rules.after_blocking(blocking.payload, kNow);
    CHECK(blocking.only(Rule::response_status));
}

TEST_CASE("models.tlm.base_protocol_rules.timing") {
    const sc_core::sc_time early(5, sc_core::SC_NS);
    const sc_core::sc_time late(6, sc_core::SC_NS);
    Single forth;
    forth.forward(tlm::BEGIN_REQ, late);
    forth.backward(tlm::END_REQ, early);
    CHECK(forth.only(Rule::timing));

    Single back;
    back.rules.before_forward(back.payload, tlm::BEGIN_REQ, late);
    back.rules.after_forward(back.payload, tlm::BEGIN_REQ, late, tlm::END_REQ, early,
                             tlm::TLM_UPDATED);
    CHECK(back.only(Rule::timing));

    Single end;
    end.forward(tlm::BEGIN_REQ);
    end.payload.set_response_status(tlm::TLM_OK_RESPONSE);
    end.backward(tlm::BEGIN_RESP, late);
    end.forward(tlm::END_RESP, early);
    CHECK(end.only(Rule::timing));

    Single blocking;
    blocking.rules.before_blocking(blocking.payload, late);
    blocking.payload.set_response_status(tlm::TLM_OK_RESPONSE);
    blocking.rules.after_blocking(blocking.payload, early);
    CHECK(blocking.only(Rule::timing));

    Single steady;
    steady.forward(tlm::BEGIN_REQ, early);
    steady.backward(tlm::END_REQ, early);
    steady.payload.set_response_status(tlm::TLM_OK_RESPONSE);
    steady.backward(tlm::BEGIN_RESP, late);
    steady.forward(tlm::END_RESP, late);
    CHECK(steady.found.empty());
    CHECK(steady.rules.completed() == 1);
}

TEST_CASE("models.tlm.base_protocol_rules.what_accepted_calls_change") {
    const sc_core::sc_time other(5, sc_core::SC_NS);
    Single phase;
    phase.rules.before_forward(phase.payload, tlm::BEGIN_REQ, kNow);
    phase.rules.after_forward(phase.payload, tlm::BEGIN_REQ, kNow, tlm::END_REQ, kNow,
                              tlm::TLM_ACCEPTED);
    CHECK(phase.only(Rule::return_value));
    Single delay;
    delay.forward(tlm::BEGIN_REQ);
    delay.rules.before_backward(delay.payload, tlm::END_REQ, kNow);
    delay.rules.after_backward(delay.payload, tlm::END_REQ, kNow, tlm::END_REQ, other,
                               tlm::TLM_ACCEPTED);
    CHECK(delay.only(Rule::return_value));
}

TEST_CASE("models.tlm.base_protocol_rules.memory_management") {
    tlm::tlm_generic_payload unmanaged;
    Single none;
    set_up(unmanaged, tlm::TLM_WRITE_COMMAND, 0, none.data.data(), 64);
    none.rules.before_forward(unmanaged, tlm::BEGIN_REQ, kNow);
    CHECK(none.only(Rule::memory_management));

    Single unheld;
    unheld.payload.release();
    set_up(unheld.payload, tlm::TLM_WRITE_COMMAND, 0, unheld.data.data(), 64);
    unheld.forward(tlm::BEGIN_REQ);
    CHECK(unheld.only(Rule::memory_management));

    Single released;
    released.forward(tlm::BEGIN_REQ);
    released.payload.release();  // and so did nobody else hold it
    released.backward(tlm::END_REQ);
    CHECK(released.only(Rule::memory_management));

    Single held;
    held.forward(tlm::BEGIN_REQ);
    CHECK(held.payload.get_ref_count() == 2);
    held.respond();
    held.forward(tlm::END_RESP);
    CHECK(held.payload.get_ref_count() == 1);
    CHECK(held.found.empty());
}

TEST_CASE("models.tlm.base_protocol_rules.lost_and_doubled") {
    Single lost;
    lost.forward(tlm::BEGIN_REQ);
    lost.backward(tlm::END_REQ);
    lost.rules.check_lost();
    CHECK(lost.only(Rule::lost));

    Single doubled;
    doubled.forward(tlm::BEGIN_REQ);
    doubled.respond();
    doubled.backward(tlm::BEGIN_RESP);
    CHECK(doubled.only(Rule::phase_order));

    Single blocked;
    blocked.forward(tlm::BEGIN_REQ);
    blocked.rules.before_blocking(blocked.payload, kNow);
    CHECK(blocked.only(Rule::phase_order));

    Single calling;
    calling.rules.before_blocking(calling.payload, kNow);
    calling.forward(tlm::BEGIN_REQ);
    CHECK(calling.only(Rule::phase_order));

    Single extended;  // phases of others are passed on
    const tlm::tlm_phase own = OWN_PHASE;
    extended.forward(tlm::BEGIN_REQ);
    extended.rules.before_backward(extended.payload, own, kNow);
    extended.rules.after_backward(extended.payload, own, kNow, own, kNow, tlm::TLM_ACCEPTED);
    extended.backward(tlm::END_REQ);
    CHECK(extended.found.empty());
}

}  // namespace sluice::test
