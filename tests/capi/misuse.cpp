// SPDX-License-Identifier: Apache-2.0
/// What callers of libsluice.so do wrong is refused in one line and changes nothing, and networks do not know each other.
#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "capi/include/sluice.h"
#include "tests/capi/open_network.h"

namespace sluice::test {
namespace {

const std::string kStar = "[topology]\ntype = \"star\"\nhosts = 4\n";

bool says(const std::string& what) {
    const std::string said = sluice_last_error();
    INFO(said);
    const bool right = said.find(what) != std::string::npos && said.find('\n') == std::string::npos;
    CHECK(right);
    return right;
}

bool refuses(const std::string& toml, const std::string& what) {
    return sluice_open_text(toml.c_str(), "bad.toml", nullptr) == nullptr && says(what);
}

sluice_transfer usual() {
    sluice_transfer transfer{};
    transfer.destination = 1;
    transfer.bytes = 1000;
    return transfer;
}

}  // namespace

TEST_CASE("capi.scenarios_that_cannot_be_opened") {
    CHECK(sluice_open(nullptr, nullptr) == nullptr);
    CHECK(says("NULL"));
    CHECK(sluice_open_text(kStar.c_str(), nullptr, nullptr) == nullptr);
    CHECK(sluice_open("no-such-file.toml", nullptr) == nullptr);
    CHECK(says("no-such-file.toml"));
    CHECK(refuses("[topology", "bad.toml:1"));
    CHECK(refuses("[topology]\ntype = \"cube\"\n", "bad.toml:2"));
    CHECK(refuses("mode = \"flow\"\n" + kStar, "mode \"flow\""));
    CHECK(refuses(kStar + "[network]\narithmetic = \"ns3\"\n", "ns3"));
    CHECK(refuses("[topology]\ntype = \"dragonfly\"\nrouting = \"valiant\"\n", "valiant"));
    const char* const wrong[] = {"topology.hosts=0", nullptr};
    CHECK(sluice_open_text(kStar.c_str(), "bad.toml", wrong) == nullptr);
    CHECK(says("hosts"));
    const char* const unknown[] = {"topology.guests=2", nullptr};
    CHECK(sluice_open_text(kStar.c_str(), "bad.toml", unknown) == nullptr);
    CHECK(says("guests"));
}

TEST_CASE("capi.files_and_overrides") {
    std::ofstream("capi_star.toml") << kStar;
    const char* const more[] = {"topology.hosts=7", "congestion.law=dctcp", nullptr};
    sluice_network* const network = sluice_open("capi_star.toml", more);
    REQUIRE(network != nullptr);
    CHECK(sluice_hosts(network) == 7);
    CHECK(sluice_now(network) == 0);
    sluice_close(network);
}

TEST_CASE("capi.a_call_that_cannot_be_right_changes_nothing") {
    const OpenNetwork network(kStar + "[workload]\ntype = \"permutation\"\n");
    REQUIRE(sluice_advance(network, 5'000'000) == 0);
    const auto refused = [&](const sluice_transfer& transfer, const std::string& what) {
        return sluice_post(network, &transfer) == -1 && says(what);
    };
    sluice_transfer transfer = usual();
    transfer.source = 4;
    CHECK(refused(transfer, "host 4; allowed: 0 to 3"));
    transfer = usual();
    transfer.destination = UINT32_MAX;
    CHECK(refused(transfer, "allowed: 0 to 3"));
    transfer = usual();
    transfer.destination = 0;
    CHECK(refused(transfer, "to itself"));
    transfer = usual();
    transfer.bytes = 0;
    CHECK(refused(transfer, "of 0 bytes"));
    transfer.bytes = UINT64_MAX;
    CHECK(refused(transfer, "bytes; allowed"));
    transfer.bytes = std::uint64_t{1} << 60;
    CHECK(refused(transfer, "from host 0 to host 1"));
    transfer = usual();
    transfer.priority = 8;
    CHECK(refused(transfer, "priority 8"));
    transfer = usual();
    transfer.not_before_ps = INT64_MAX;
    CHECK(refused(transfer, "take effect"));
    CHECK(sluice_post(network, nullptr) == -1);
    CHECK(sluice_set_doorbell_latency(network, -1) == -1);
    CHECK(sluice_advance(network, 4'999'999) == -1);
    CHECK(says("cannot go back"));
    CHECK(sluice_advance(network, INT64_MAX) == -1);
    CHECK(sluice_next_completion(network, 4'999'999, nullptr) == -1);
    sluice_completion one;
    CHECK(sluice_next_completion(network, -1, &one) == -1);
    CHECK(sluice_next_event(network, 5'000'000, nullptr) == -1);
    CHECK(sluice_now(network) == 5'000'000);

    transfer = usual();
    transfer.not_before_ps = -17;  // in the past is now
    CHECK(sluice_post(network, &transfer) == 0);
    REQUIRE(sluice_next_completion(network, SLUICE_FOREVER, &one) == 1);
    CHECK(one.started_ps == 5'000'000);
    CHECK(sluice_next_completion(network, SLUICE_FOREVER, &one) == 0);
    CHECK(sluice_now(network) == one.finished_ps);
}

TEST_CASE("capi.no_network_and_a_closed_one") {
    sluice_network* const network = sluice_open_text(kStar.c_str(), "test.toml", nullptr);
    REQUIRE(network != nullptr);
    sluice_close(network);
    sluice_close(network);
    sluice_close(nullptr);
    const sluice_transfer transfer = usual();
    sluice_completion one;
    sluice_event event;
    for (sluice_network* const none : {static_cast<sluice_network*>(nullptr), network}) {
        CHECK(sluice_hosts(none) == 0);
        CHECK(sluice_now(none) == -1);
        CHECK(sluice_post(none, &transfer) == -1);
        CHECK(sluice_advance(none, 1) == -1);
        CHECK(sluice_set_doorbell_latency(none, 1) == -1);
        CHECK(sluice_watch_arrivals(none) == -1);
        CHECK(sluice_next_completion(none, 1, &one) == -1);
        CHECK(sluice_next_event(none, 1, &event) == -1);
        CHECK(says(none == nullptr ? "the network is NULL" : "the network is closed"));
    }
}

TEST_CASE("capi.a_stop_ends_time") {
    const OpenNetwork network("stop = \"10us\"\n" + kStar);
    sluice_transfer transfer = usual();
    transfer.bytes = 1'000'000;
    REQUIRE(sluice_post(network, &transfer) == 0);
    CHECK(sluice_advance(network, 11'000'000) == -1);
    CHECK(says("stop"));
    sluice_completion one;
    CHECK(sluice_next_completion(network, SLUICE_FOREVER, &one) == 0);
    CHECK(sluice_now(network) == 10'000'000);
}

TEST_CASE("capi.who_waits_for_ever_for_what_is_cut_off_is_told") {
    const OpenNetwork network(kStar + "[[link_event]]\nat = \"1us\"\nlink = 1\nup = false\n");
    sluice_transfer transfer = usual();
    transfer.bytes = 100'000;
    REQUIRE(sluice_post(network, &transfer) == 0);
    sluice_completion one;
    CHECK(sluice_next_completion(network, 50'000'000, &one) == 0);
    CHECK(sluice_now(network) == 50'000'000);
    CHECK(sluice_next_completion(network, SLUICE_FOREVER, &one) == -1);
    CHECK(says("none progresses"));
}

TEST_CASE("capi.networks_on_threads_do_not_know_each_other") {
    const auto run = [](std::uint32_t hosts) {
        const std::string text =
            "[topology]\ntype = \"star\"\nhosts = " + std::to_string(hosts) + "\n";
        sluice_network* const network = sluice_open_text(text.c_str(), "test.toml", nullptr);
        sluice_transfer transfer = usual();
        transfer.bytes = 300'000;
        for (transfer.source = 2; transfer.source < hosts; ++transfer.source) {
            sluice_post(network, &transfer);
        }
        sluice_completion one{};
        while (sluice_next_completion(network, SLUICE_FOREVER, &one) == 1) {
        }
        transfer.bytes = 0;
        sluice_post(network, &transfer);  // each thread has its own last error
        sluice_close(network);
        return one.finished_ps;
    };
    std::vector<std::int64_t> alone;
    for (std::uint32_t i = 0; i < 4; ++i) {
        alone.push_back(run(4 + i));
    }
    std::vector<std::int64_t> together(4);
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] { together[i] = run(4 + i); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(together == alone);
    CHECK(alone[0] < alone[3]);
}

}  // namespace sluice::test
