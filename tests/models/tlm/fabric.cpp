// SPDX-License-Identifier: Apache-2.0
/// The TLM-2.0 interconnect: response codes, the instants at which bytes arrive, back-pressure, debug access.
#include "models/tlm/tlm_fabric.h"

#include <doctest/doctest.h>

#include <numeric>

#include "core/error.h"
#include "tests/models/tlm/fabric_bench.h"

namespace sluice::test {
namespace {

constexpr std::uint64_t kWindow = FabricBench::kWindow;

std::vector<unsigned char> counting(std::size_t length, unsigned char first) {
    std::vector<unsigned char> bytes(length);
    std::iota(bytes.begin(), bytes.end(), first);
    return bytes;
}

/// A payload that is refused, and how.
struct Refused {
    const char* why;
    tlm::tlm_response_status status;
    std::function<void(tlm::tlm_generic_payload&)> change;
};

std::vector<Refused> refusals(RdmaExtension& rdma, unsigned char* enables) {
    using Payload = tlm::tlm_generic_payload;
    return {
        {"no window", tlm::TLM_ADDRESS_ERROR_RESPONSE,
         [](Payload& payload) { payload.set_address(3 * kWindow); }},
        {"beyond the window", tlm::TLM_ADDRESS_ERROR_RESPONSE,
         [](Payload& payload) { payload.set_address(2 * kWindow - 63); }},
        {"its own window", tlm::TLM_ADDRESS_ERROR_RESPONSE,
         [](Payload& payload) { payload.set_address(64); }},
        {"a host without memory", tlm::TLM_ADDRESS_ERROR_RESPONSE,
         [](Payload& payload) { payload.set_address(2 * kWindow); }},
        {"no such command", tlm::TLM_COMMAND_ERROR_RESPONSE,
         [](Payload& payload) { payload.set_command(static_cast<tlm::tlm_command>(7)); }},
        {"no bytes", tlm::TLM_BURST_ERROR_RESPONSE,
         [](Payload& payload) { payload.set_data_length(0); }},
        {"streaming", tlm::TLM_BURST_ERROR_RESPONSE,
         [](Payload& payload) { payload.set_streaming_width(32); }},
        {"no streaming width", tlm::TLM_BURST_ERROR_RESPONSE,
         [](Payload& payload) { payload.set_streaming_width(0); }},
        {"no data", tlm::TLM_GENERIC_ERROR_RESPONSE,
         [](Payload& payload) { payload.set_data_ptr(nullptr); }},
        {"byte enables of no length", tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE,
         [enables](Payload& payload) { payload.set_byte_enable_ptr(enables); }},
        {"a byte enable of 1", tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE,
         [enables](Payload& payload) {
             payload.set_byte_enable_ptr(enables);
             payload.set_byte_enable_length(3);
         }},
        {"priority 8", tlm::TLM_GENERIC_ERROR_RESPONSE,
         [&rdma](Payload& payload) { payload.set_extension(&rdma); }},
        {"ignored", tlm::TLM_OK_RESPONSE,
         [](Payload& payload) { payload.set_command(tlm::TLM_IGNORE_COMMAND); }},
    };
}

}  // namespace

TEST_CASE("models.tlm.fabric.what_cannot_be_carried_has_its_response_at_once") {
    FabricBench bench;
    PayloadPool pool;
    RdmaExtension rdma;
    rdma.priority = 8;
    unsigned char enables[] = {TLM_BYTE_ENABLED, TLM_BYTE_DISABLED, 1};
    std::vector<unsigned char> data(64, 0x5a);
    int refused = 0;
    bench.cpu.program = [&] {
        for (const tlm::tlm_command command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
            for (const Refused& one : refusals(rdma, enables)) {
                INFO(one.why);
                const sc_core::sc_time annotated(7, sc_core::SC_NS);
                tlm::tlm_generic_payload blocking;
                set_up(blocking, command, kWindow, data.data(), 64);
                one.change(blocking);
                sc_core::sc_time delay = annotated;
                bench.cpu.socket->b_transport(blocking, delay);
                CHECK(blocking.get_response_status() == one.status);
                CHECK(delay == annotated);
                blocking.clear_extension<RdmaExtension>();

                tlm::tlm_generic_payload& payload = pool.take();
                payload.acquire();
                set_up(payload, command, kWindow, data.data(), 64);
                one.change(payload);
                tlm::tlm_phase phase = tlm::BEGIN_REQ;
                delay = annotated;
                CHECK(bench.cpu.socket->nb_transport_fw(payload, phase, delay) ==
                      tlm::TLM_COMPLETED);
                CHECK(payload.get_response_status() == one.status);
                CHECK(delay == annotated);
                payload.clear_extension<RdmaExtension>();
                payload.release();
                ++refused;
            }
        }
        CHECK(sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME);
    };
    sc_core::sc_start();
    CHECK(refused == 26);
    CHECK(pool.held() == 0);
    CHECK(data == std::vector<unsigned char>(64, 0x5a));
}

TEST_CASE("models.tlm.fabric.a_write_lands_as_its_last_byte_arrives") {
    FabricBench bench;
    std::vector<unsigned char> data = counting(10'000, 1);
    Completion known;
    bench.cpu.program = [&] {
        // The same write at the port, to learn its instants.
        Post post;
        post.peer = 1;
        post.bytes = 10'000;
        known = bench.fabric.port(0).post_and_wait(post);
        wait(sc_core::sc_time(1, sc_core::SC_MS));
        const Tick begin = sc_now();
        tlm::tlm_generic_payload payload;
        set_up(payload, tlm::TLM_WRITE_COMMAND, kWindow + 60'000, data.data(), 10'000);
        // In the local time of a decoupled initiator, 3 us ahead.
        sc_core::sc_time delay(3, sc_core::SC_US);
        bench.cpu.socket->b_transport(payload, delay);
        CHECK(payload.is_response_ok());
        CHECK(delay == sc_core::SC_ZERO_TIME);
        CHECK(sc_now() - begin == 3 * kMicrosecond + known.completed - known.effective);
    };
    const Tick begin = kMillisecond;
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    const Tick lands =
        begin + known.completed + 3 * kMicrosecond + known.received - known.effective;
    sc_core::sc_start(until(lands - 1));
    CHECK(bench.held(kWindow + 60'000, 10'000) == std::vector<unsigned char>(10'000, 0));
    sc_core::sc_start(until(lands + 1));
    CHECK(bench.held(kWindow + 60'000, 10'000) == data);
    sc_core::sc_start();
}

TEST_CASE("models.tlm.fabric.a_read_fetches_as_its_request_arrives") {
    FabricBench bench;
    std::vector<unsigned char> got(5000, 9);
    bool over = false;
    Completion request;
    bench.cpu.program = [&] {
        // What a request's packet carries, to learn how long it travels.
        Post post;
        post.peer = 1;
        post.bytes = HostPortOptions().read_request_bytes;
        request = bench.fabric.port(0).post_and_wait(post);
        wait(until(kMillisecond));
        CHECK(bench.cpu.access(tlm::TLM_READ_COMMAND, kWindow, got) == tlm::TLM_OK_RESPONSE);
        over = true;
    };
    const auto set_memory = [&](unsigned char value) {
        std::vector<unsigned char> bytes(5000, value);
        tlm::tlm_generic_payload payload;
        set_up(payload, tlm::TLM_WRITE_COMMAND, kWindow, bytes.data(), 5000);
        REQUIRE(bench.cpu.socket->transport_dbg(payload) == 5000);
    };
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    const Tick arrives = kMillisecond + request.received - request.effective;
    sc_core::sc_start(until(arrives - 1));
    set_memory(1);
    sc_core::sc_start(until(arrives + 1));
    set_memory(2);
    CHECK(got == std::vector<unsigned char>(5000, 9));
    sc_core::sc_start();
    CHECK(over);
    CHECK(got == std::vector<unsigned char>(5000, 1));
}

TEST_CASE("models.tlm.fabric.byte_enables_say_which_bytes_travel") {
    FabricBench bench;
    std::vector<unsigned char> ones(4096, 0x11);
    std::vector<unsigned char> data(4096, 0x22);
    std::vector<unsigned char> got(4096, 0x33);
    unsigned char enables[] = {TLM_BYTE_ENABLED, TLM_BYTE_DISABLED, TLM_BYTE_DISABLED};
    bool over = false;
    bench.cpu.program = [&] {
        bench.cpu.access(tlm::TLM_WRITE_COMMAND, kWindow, ones);
        for (const tlm::tlm_command command : {tlm::TLM_WRITE_COMMAND, tlm::TLM_READ_COMMAND}) {
            tlm::tlm_generic_payload payload;
            set_up(payload, command, kWindow,
                   command == tlm::TLM_WRITE_COMMAND ? data.data() : got.data(), 4096);
            payload.set_byte_enable_ptr(enables);
            payload.set_byte_enable_length(3);
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            bench.cpu.socket->b_transport(payload, delay);
            CHECK(payload.is_response_ok());
        }
        over = true;
    };
    sc_core::sc_start();
    REQUIRE(over);
    const std::vector<unsigned char> written = bench.held(kWindow, 4096);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 4096; ++i) {
        wrong += written[i] != (i % 3 == 0 ? 0x22 : 0x11) ? 1 : 0;
        wrong += got[i] != (i % 3 == 0 ? 0x22 : 0x33) ? 1 : 0;
    }
    CHECK(wrong == 0);
}

TEST_CASE("models.tlm.fabric.the_memory_answers_for_its_accesses") {
    TlmMemoryOptions small;
    small.size = 1000;
    small.latency = sc_core::sc_time(200, sc_core::SC_US);
    FabricBench bench({}, small);
    bool over = false;
    bench.cpu.program = [&] {
        std::vector<unsigned char> data(100, 7);
        CHECK(bench.cpu.access(tlm::TLM_WRITE_COMMAND, kWindow + 950, data) ==
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
        // It takes longer than the network.
        const Tick begin = sc_now();
        CHECK(bench.cpu.access(tlm::TLM_READ_COMMAND, kWindow + 900, data) == tlm::TLM_OK_RESPONSE);
        CHECK(sc_now() - begin > 200 * kMicrosecond);
        CHECK(sc_now() - begin < 210 * kMicrosecond);
        CHECK(data == std::vector<unsigned char>(100, 0));
        over = true;
    };
    sc_core::sc_start();
    CHECK(over);
}

TEST_CASE("models.tlm.fabric.debug_access_takes_no_time_and_dmi_is_refused") {
    FabricBench bench;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    std::vector<unsigned char> data = counting(100, 1);
    tlm::tlm_generic_payload payload;
    set_up(payload, tlm::TLM_WRITE_COMMAND, 2 * kWindow - 60, data.data(), 100);
    CHECK(bench.cpu.socket->transport_dbg(payload) == 60);  // up to the window's end
    CHECK(bench.held(2 * kWindow - 60, 60) ==
          std::vector<unsigned char>(data.begin(), data.begin() + 60));
    set_up(payload, tlm::TLM_WRITE_COMMAND, 64, data.data(), 100);
    CHECK(bench.cpu.socket->transport_dbg(payload) == 100);  // its own
    CHECK(bench.held(64, 100) == data);
    CHECK(bench.held(2 * kWindow, 10).empty());  // no memory
    CHECK(bench.held(3 * kWindow, 10).empty());  // no window
    tlm::tlm_dmi dmi;
    set_up(payload, tlm::TLM_READ_COMMAND, kWindow, data.data(), 100);
    CHECK_FALSE(bench.cpu.socket->get_direct_mem_ptr(payload, dmi));
    CHECK(dmi.is_none_allowed());
    CHECK(dmi.get_end_address() == ~sc_dt::uint64{0});
    CHECK(sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME);
    CHECK(bench.network.store().living_count() == 0);
}

TEST_CASE("models.tlm.fabric.a_full_queue_delays_end_req") {
    HostPortOptions options;
    options.depth = 2;
    FabricBench bench(options);
    PayloadPool pool;
    std::vector<unsigned char> data(8192, 3);
    std::vector<Tick> ended(3, kNever);
    std::vector<Tick> responded;
    sc_core::sc_event end_req;
    std::vector<tlm::tlm_generic_payload*> payloads;
    bench.cpu.backward = [&](tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time&) {
        if (phase == tlm::END_REQ) {
            CHECK(&payload == payloads[2]);
            ended[2] = sc_now();
            return tlm::TLM_ACCEPTED;
        }
        CHECK(phase == tlm::BEGIN_RESP);
        CHECK(payload.is_response_ok());
        responded.push_back(sc_now());
        payload.release();
        return tlm::TLM_COMPLETED;
    };
    bench.cpu.program = [&] {
        for (int i = 0; i < 3; ++i) {
            tlm::tlm_generic_payload& payload = pool.take();
            payload.acquire();
            payloads.push_back(&payload);
            set_up(payload, tlm::TLM_WRITE_COMMAND, kWindow, data.data(), 8192);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            const tlm::tlm_sync_enum answer =
                bench.cpu.socket->nb_transport_fw(payload, phase, delay);
            CHECK(answer == (i < 2 ? tlm::TLM_UPDATED : tlm::TLM_ACCEPTED));
            CHECK(phase == (i < 2 ? tlm::END_REQ : tlm::BEGIN_REQ));
        }
    };
    sc_core::sc_start();
    REQUIRE(responded.size() == 3);
    CHECK(ended[2] == responded[0]);  // as the first is over
    CHECK(responded[2] > responded[1]);
    CHECK(pool.held() == 0);
}

TEST_CASE("models.tlm.fabric.responses_exclude_each_other") {
    FabricBench bench;
    PayloadPool pool;
    std::vector<unsigned char> data(100, 3);
    std::vector<Tick> responded;
    std::deque<tlm::tlm_generic_payload*> to_end;
    bench.cpu.backward = [&](tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
        REQUIRE(phase == tlm::BEGIN_RESP);
        CHECK(to_end.empty());
        responded.push_back(sc_now());
        if (responded.size() == 1) {
            to_end.push_back(&payload);  // END_RESP by a call, 50 us later, and 10 us annotated
            return tlm::TLM_ACCEPTED;
        }
        delay += sc_core::sc_time(20, sc_core::SC_US);
        payload.release();
        phase = tlm::END_RESP;
        return responded.size() == 2 ? tlm::TLM_UPDATED : tlm::TLM_COMPLETED;
    };
    bench.cpu.program = [&] {
        for (int i = 0; i < 4; ++i) {
            tlm::tlm_generic_payload& payload = pool.take();
            payload.acquire();
            set_up(payload, tlm::TLM_WRITE_COMMAND, kWindow, data.data(), 100);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            REQUIRE(bench.cpu.socket->nb_transport_fw(payload, phase, delay) == tlm::TLM_UPDATED);
        }
        wait(sc_core::sc_time(50, sc_core::SC_US));
        REQUIRE(to_end.size() == 1);
        tlm::tlm_generic_payload& payload = *to_end.front();
        to_end.clear();
        tlm::tlm_phase phase = tlm::END_RESP;
        sc_core::sc_time delay(10, sc_core::SC_US);
        CHECK(bench.cpu.socket->nb_transport_fw(payload, phase, delay) == tlm::TLM_COMPLETED);
        payload.release();
    };
    sc_core::sc_start();
    REQUIRE(responded.size() == 4);
    CHECK(responded[1] == 60 * kMicrosecond);
    CHECK(responded[2] == 80 * kMicrosecond);
    CHECK(responded[3] == 100 * kMicrosecond);
    CHECK(pool.held() == 0);
}

TEST_CASE("models.tlm.fabric.calls_out_of_protocol_are_errors_that_can_be_caught") {
    throw_reports();
    HostPortOptions options;
    options.depth = 1;
    FabricBench bench(options);
    PayloadPool pool;
    std::vector<unsigned char> data(64, 1);
    int caught = 0;
    bench.cpu.backward = [](tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                            sc_core::sc_time&) {
        if (phase == tlm::BEGIN_RESP) {
            payload.release();
            return tlm::TLM_COMPLETED;
        }
        return tlm::TLM_ACCEPTED;
    };
    bench.cpu.program = [&] {
        const auto call = [&](tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) {
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            return bench.cpu.socket->nb_transport_fw(payload, phase, delay);
        };
        const auto refused = [&](const char* why, tlm::tlm_generic_payload& payload,
                                 const tlm::tlm_phase& phase) {
            try {
                call(payload, phase);
                FAIL("taken");
            } catch (const sc_core::sc_report& report) {
                CHECK(std::string(report.get_msg()).find(why) != std::string::npos);
                ++caught;
            }
        };
        const auto prepared = [&]() -> tlm::tlm_generic_payload& {
            tlm::tlm_generic_payload& payload = pool.take();
            payload.acquire();
            set_up(payload, tlm::TLM_WRITE_COMMAND, kWindow, data.data(), 64);
            return payload;
        };
        tlm::tlm_generic_payload unmanaged;
        set_up(unmanaged, tlm::TLM_WRITE_COMMAND, kWindow, data.data(), 64);
        refused("without a memory manager", unmanaged, tlm::BEGIN_REQ);
        tlm::tlm_generic_payload& first = prepared();
        CHECK(call(first, tlm::BEGIN_REQ) == tlm::TLM_UPDATED);
        refused("END_RESP of a transaction without a response", first, tlm::END_RESP);
        refused("an initiator sent END_REQ", first, tlm::END_REQ);
        refused("an initiator sent BEGIN_RESP", first, tlm::BEGIN_RESP);
        refused("an initiator sent UNINITIALIZED_PHASE", first, tlm::UNINITIALIZED_PHASE);
        CHECK(call(prepared(), tlm::BEGIN_REQ) == tlm::TLM_ACCEPTED);
        tlm::tlm_generic_payload& third = prepared();
        refused("BEGIN_REQ before the END_REQ", third, tlm::BEGIN_REQ);
        third.release();
    };
    sc_core::sc_start();
    CHECK(caught == 6);
    CHECK(pool.held() == 0);
}

TEST_CASE("models.tlm.fabric.a_map_that_cannot_be_is_refused") {
    Star star;
    star.flows.clear();
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    const auto refused = [](const char* why, auto&& act) {
        try {
            act();
            FAIL("taken");
        } catch (const ConfigError& error) {
            INFO(error.what());
            CHECK(std::string(error.what()).find(why) != std::string::npos);
        }
    };
    AddressMap map;
    map.add(1, 0x2000, 0x1000);
    map.add(0, 0x1000, 0x1000);
    map.add(2, ~std::uint64_t{0} - 0xfff, 0x1000);
    refused("is empty", [&] { map.add(3, 0, 0); });
    refused("is its second; its first is at 0x1000", [&] { map.add(0, 0x8000, 16); });
    refused("overlaps that of host 1 at 0x2000", [&] { map.add(3, 0x2fff, 1); });
    refused("overlaps that of host 0 at 0x1000", [&] { map.add(3, 0, 0x1001); });
    refused("ends beyond 2^64", [&] { map.add(3, ~std::uint64_t{0}, 2); });
    CHECK(map.find(0xfff) == nullptr);
    CHECK(map.find(0x1000)->host == 0);
    CHECK(map.find(0x1fff)->host == 0);
    CHECK(map.find(0x2000)->host == 1);
    CHECK(map.find(0x3000) == nullptr);
    CHECK(map.find(~std::uint64_t{0})->host == 2);
    TlmFabric fabric("fabric", network, map);
    refused("host 3 has no window", [&] { fabric.target(3); });
    AddressMap wrong;
    wrong.add(4, 0, 16);  // the switch
    refused("no host of the network's own", [&] { TlmFabric other("other", network, wrong); });
}

}  // namespace sluice::test
