// SPDX-License-Identifier: Apache-2.0
/// Transfers that are posted through libsluice.so, event by event, are to the picosecond the flows that a scenario file knows
/// beforehand.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "capi/include/sluice.h"
#include "core/random.h"
#include "experiment/build_experiment.h"
#include "experiment/modes/mode_run.h"
#include "scenario/scenario.h"
#include "tests/capi/open_network.h"

namespace sluice::test {
namespace {

constexpr std::uint32_t kHosts = 12;

/// A random network: a law, and what goes wrong.
std::string network_text(std::uint64_t seed) {
    static const std::vector<std::string> kLaws = {"hpcc", "dcqcn", "timely", "dctcp", "none"};
    const std::uint64_t draw = mix_bits(seed);
    std::string text =
        "mode = \"packet\"\nseed = " + std::to_string(seed) +
        "\n[topology]\ntype = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 4\n";
    text += draw % 3 == 0 ? "loss = 0.002\n" : "";
    text += draw % 7 == 0 ? "rate = \"25Gbps\"\n" : "";
    text += "[congestion]\nlaw = \"" + kLaws[seed % kLaws.size()] + "\"\n";
    text += draw % 5 == 0 ? "[network.nic]\ntransport = \"selective-repeat\"\n" : "";
    if (draw % 4 == 0) {
        text +=
            "[[link_event]]\nat = \"60us\"\nlink = 13\nup = false\n"
            "[[link_event]]\nat = \"200us\"\nlink = 13\nup = true\n";
    }
    return text;
}

/// Posts from `count` hosts on at random times, sorted.
std::vector<sluice_transfer> random_transfers(std::uint64_t seed, std::size_t count) {
    std::vector<sluice_transfer> made;
    std::uint64_t state = seed;
    const auto draw = [&](std::uint64_t below) { return (state = mix_bits(state + 1)) % below; };
    for (std::size_t i = 0; i < count; ++i) {
        sluice_transfer transfer{};
        transfer.source = static_cast<std::uint32_t>(draw(kHosts));
        transfer.destination =
            static_cast<std::uint32_t>((transfer.source + 1 + draw(kHosts - 1)) % kHosts);
        transfer.bytes = draw(4) == 0 ? 1 + draw(300'000) : 1 + draw(5000);
        transfer.queue_pair = SLUICE_OWN_QUEUE_PAIR;
        transfer.tag = i;
        transfer.not_before_ps = static_cast<std::int64_t>(draw(300'000'000));
        made.push_back(transfer);
    }
    std::stable_sort(made.begin(), made.end(), [](const auto& a, const auto& b) {
        return a.not_before_ps < b.not_before_ps;
    });
    return made;
}

/// What becomes of the transfers where a scenario lists them, each at its time not_before_ps; in their order.
std::vector<FlowResult> known_beforehand(const std::string& network,
                                         const std::vector<sluice_transfer>& transfers) {
    std::string list = "[workload]\ntype = \"flows\"\nlist = [\n";
    for (const sluice_transfer& transfer : transfers) {
        list += "[" + std::to_string(transfer.source) + ", " +
                std::to_string(transfer.destination) + ", \"" + std::to_string(transfer.bytes) +
                "B\", \"" + std::to_string(transfer.not_before_ps) + "ps\"],\n";
    }
    Scenario scenario = parse_scenario(network + list + "]\n", "beforehand.toml");
    const BuiltExperiment built = build_experiment(scenario);
    const auto run = make_run(built.experiment, Mode::packet, Caller::loop);
    run->run({});
    return run->results();
}

/// Cases: 25, or as many as SLUICE_POSTS says.
std::uint64_t case_count() {
    const char* const given = std::getenv("SLUICE_POSTS");
    return given == nullptr ? 25 : std::stoull(given);
}

}  // namespace

TEST_CASE("capi.posts_at_random_times_are_what_a_scenario_knows_beforehand") {
    std::size_t compared = 0;
    for (std::uint64_t seed = 1; seed <= case_count(); ++seed) {
        CAPTURE(seed);
        const std::string text = network_text(seed);
        const std::vector<sluice_transfer> transfers = random_transfers(seed, 40);
        const std::vector<FlowResult> known = known_beforehand(text, transfers);
        const OpenNetwork network(text);
        std::vector<sluice_completion> done;
        sluice_completion one;
        for (sluice_transfer transfer : transfers) {
            const std::int64_t at = transfer.not_before_ps;
            // Half of them while waiting for others, and some beforehand, with the time of their start.
            while (sluice_now(network) < at && transfer.tag % 2 == 0 &&
                   sluice_next_completion(network, at, &one) == 1) {
                done.push_back(one);
            }
            if (transfer.tag % 5 != 0) {
                REQUIRE(sluice_advance(network, at) == 0);
                transfer.not_before_ps = 0;
            }
            REQUIRE(sluice_post(network, &transfer) >= 0);
        }
        while (sluice_next_completion(network, SLUICE_FOREVER, &one) == 1) {
            done.push_back(one);
        }
        REQUIRE(done.size() == transfers.size());
        for (std::size_t i = 0; i < done.size(); ++i) {
            const auto& flow = known[static_cast<std::size_t>(done[i].id)];
            const auto& posted = transfers[static_cast<std::size_t>(done[i].id)];
            CHECK(done[i].tag == posted.tag);
            CHECK(done[i].bytes == posted.bytes);
            CHECK(done[i].started_ps == flow.start);
            CHECK(done[i].finished_ps == flow.finish);
            CHECK((i == 0 || done[i - 1].finished_ps <= done[i].finished_ps));
            ++compared;
        }
    }
    MESSAGE(compared << " transfers compared");
}

TEST_CASE("capi.who_answers_a_completion_loses_a_picosecond_and_no_more") {
    std::size_t compared = 0;
    for (std::uint64_t seed = 1; seed <= case_count(); ++seed) {
        CAPTURE(seed);
        const std::string text = network_text(seed);
        const std::vector<sluice_transfer> wanted = random_transfers(seed + 1000, 80);
        const OpenNetwork network(text);
        REQUIRE(sluice_watch_arrivals(network) == 0);
        std::vector<sluice_transfer> posted;
        const auto post = [&](std::int64_t now) {
            sluice_transfer transfer = wanted[posted.size()];
            transfer.not_before_ps = 0;
            REQUIRE(sluice_post(network, &transfer) == static_cast<std::int64_t>(posted.size()));
            transfer.not_before_ps = now;
            posted.push_back(transfer);
        };
        for (int i = 0; i < 8; ++i) {
            post(0);
        }
        // Whatever happens is answered by a post.
        sluice_event event;
        std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> seen;
        while (sluice_next_event(network, SLUICE_FOREVER, &event) == 1) {
            CHECK(event.completion.finished_ps == sluice_now(network));
            if (event.kind == SLUICE_ARRIVED) {
                seen[event.completion.id].first = event.completion.finished_ps;
            } else {
                seen[event.completion.id].second = event.completion.finished_ps;
            }
            if (posted.size() < wanted.size()) {
                post(event.completion.finished_ps + 1);
            }
        }
        const std::vector<FlowResult> known = known_beforehand(text, posted);
        REQUIRE(seen.size() == wanted.size());
        for (const auto& [id, times] : seen) {
            CHECK(times.first == known[static_cast<std::size_t>(id)].received);
            CHECK(times.second == known[static_cast<std::size_t>(id)].finish);
            ++compared;
        }
    }
    MESSAGE(compared << " transfers compared");
}

TEST_CASE("capi.what_a_scenario_carries_runs_beside_and_is_not_reported") {
    const std::string text = network_text(1);
    std::vector<sluice_transfer> transfers = random_transfers(5, 20);
    const std::vector<FlowResult> known = known_beforehand(text, transfers);
    std::string own = text + "[workload]\ntype = \"flows\"\nlist = [\n";
    // The scenario lists the first of them, and the others are posted.
    for (std::size_t i = 0; i < 10; ++i) {
        own += "[" + std::to_string(transfers[i].source) + ", " +
               std::to_string(transfers[i].destination) + ", \"" +
               std::to_string(transfers[i].bytes) + "B\", \"" +
               std::to_string(transfers[i].not_before_ps) + "ps\"],\n";
    }
    const OpenNetwork network(own + "]\n");
    for (std::size_t i = 10; i < transfers.size(); ++i) {
        REQUIRE(sluice_post(network, &transfers[i]) == static_cast<std::int64_t>(i) - 10);
    }
    sluice_completion one;
    std::size_t count = 0;
    while (sluice_next_completion(network, SLUICE_FOREVER, &one) == 1) {
        CHECK(one.finished_ps == known[static_cast<std::size_t>(one.id) + 10].finish);
        ++count;
    }
    CHECK(count == 10);
}

TEST_CASE("capi.a_queue_pair_keeps_order_and_the_doorbell_counts") {
    const OpenNetwork network("[topology]\ntype = \"star\"\nhosts = 4\n");
    REQUIRE(sluice_set_doorbell_latency(network, 300'000) == 0);
    sluice_transfer transfer{};
    transfer.destination = 2;
    transfer.bytes = 1'000'000;
    CHECK(sluice_post(network, &transfer) == 0);
    transfer.bytes = 1;
    CHECK(sluice_post(network, &transfer) == 1);  // behind it
    transfer.queue_pair = 1;
    CHECK(sluice_post(network, &transfer) == 2);  // beside it
    std::vector<sluice_completion> done(3);
    for (sluice_completion& one : done) {
        REQUIRE(sluice_next_completion(network, SLUICE_FOREVER, &one) == 1);
    }
    CHECK(done[0].id == 2);
    CHECK(done[0].started_ps == 300'000);
    CHECK(done[1].id == 0);
    CHECK(done[1].started_ps == 300'000);
    CHECK(done[2].id == 1);
    CHECK(done[2].posted_ps == 0);
    CHECK(done[2].started_ps > 80'000'000);
}

}  // namespace sluice::test
