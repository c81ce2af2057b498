// SPDX-License-Identifier: Apache-2.0
/// Episodes: what is held and simulated after all is what it would have been; what is told is what was simulated.
#include "tests/support/episode_support.h"

using namespace sluice;
using namespace sluice::test;

TEST_CASE("unit.hybrid.episodes.held_and_simulated_after_all_nothing_differs") {
    std::uint64_t missed = 0;
    for (std::uint64_t seed = 100; seed < 160; ++seed) {
        const Case given = rounds_case(seed, 5, kApart, 0);
        INFO(given.name);
        memo::Memo memo(lessons_of(given));
        hybrid::EpisodeMemory memory(memo, {}, kNothingIsKnown, 1);
        const HybridOutcome held = run_with(given, &memory);
        check_same(run_with(given, nullptr).outcome, held.outcome);
        CHECK(held.phases.episodes.hits == 0);
        missed += held.phases.episodes.missed;
    }
    CHECK(missed > 50);
}

TEST_CASE("unit.hybrid.episodes.strangers_meet_what_is_held") {
    std::uint64_t missed = 0;
    for (std::uint64_t seed = 200; seed < 260; ++seed) {
        const Case given = rounds_case(seed, 5, kApart, 12);
        INFO(given.name);
        memo::Memo memo(lessons_of(rounds_case(seed, 5, kApart, 0)));
        hybrid::EpisodeMemory memory(memo, {}, kNothingIsKnown, 1);
        const HybridOutcome held = run_with(given, &memory);
        check_same(run_with(given, nullptr).outcome, held.outcome);
        missed += held.phases.episodes.missed;
    }
    CHECK(missed > 20);
}

TEST_CASE("unit.hybrid.episodes.an_interrupted_one_is_what_it_was_never_told") {
    std::uint64_t undone = 0;
    for (std::uint64_t seed = 300; seed < 340; ++seed) {
        // Each round is met, before its first end, by a flow of its own hosts.
        Case given = rounds_case(seed, 1, kApart, 0);
        const memo::Content lessons = lessons_of(rounds_case(seed, 5, kApart, 0));
        const HybridOutcome alone = run_with(given, nullptr);
        Tick first = kNever;
        Tick last_start = 0;
        for (const FlowResult& flow : alone.outcome.flows) {
            first = std::min(first, flow.received);
            last_start = std::max(last_start, flow.start);
        }
        FlowSpec stranger = given.flows.front();
        stranger.size = 50'000;
        stranger.start = first - (first - last_start) / 50;
        given.flows.push_back(stranger);
        assign_source_ports(given.flows);
        INFO(given.name);
        memo::Memo memo(lessons);
        hybrid::EpisodeMemory memory(memo, {}, kEverythingIsKnown, 1);
        const HybridOutcome told = run_with(given, &memory);
        if (told.phases.episodes.hits == 0) {
            check_same(run_with(given, nullptr).outcome, told.outcome);
            CHECK(told.phases.episodes.late_calls == 0);
            ++undone;
        }
    }
    CHECK(undone > 10);
}

TEST_CASE("unit.hybrid.episodes.what_was_simulated_is_told") {
    std::uint64_t hits = 0;
    for (std::uint64_t seed = 400; seed < 440; ++seed) {
        const Case given = rounds_case(seed, 8, kApart, 0);
        INFO(given.name);
        const HybridOutcome packets = run_with(given, nullptr);
        memo::Memo memo;
        hybrid::EpisodeMemory memory(memo, {}, kEverythingIsKnown, seed);
        const HybridOutcome told = run_with(given, &memory);
        hits += told.phases.episodes.hits;
        CHECK(memo.counters().late == 0);
        double mean = 0;
        double mean_told = 0;
        for (std::size_t f = 0; f < told.outcome.flows.size(); ++f) {
            const FlowResult& flow = told.outcome.flows[f];
            REQUIRE(flow.finish != kNever);
            CHECK(flow.start == packets.outcome.flows[f].start);
            CHECK(flow.received > flow.start);
            CHECK(flow.finish > flow.received);
            mean += static_cast<double>(packets.outcome.flows[f].finish - flow.start);
            mean_told += static_cast<double>(flow.finish - flow.start);
        }
        CHECK(mean_told == doctest::Approx(mean).epsilon(0.05));
        // What told flows' packets would have made of pauses is not known.
        const bool calm =
            packets.outcome.counters.retransmitted_bytes == 0 &&
            std::all_of(packets.outcome.ports.begin(), packets.outcome.ports.end(),
                        [](const PortStatistics& port) { return port.pauses_sent == 0; });
        for (std::size_t p = 0; p < told.outcome.ports.size(); ++p) {
            if (calm && given.config.nic.ack_every == 1) {
                CHECK(told.outcome.ports[p].tx_packets == packets.outcome.ports[p].tx_packets);
                CHECK(told.outcome.ports[p].tx_bytes == packets.outcome.ports[p].tx_bytes);
            }
        }
        if (told.phases.episodes.hits > 0) {
            CHECK(told.outcome.counters.packet_hops < packets.outcome.counters.packet_hops);
        }
        memo::Memo again(memo.news());
        hybrid::EpisodeMemory known(again, {}, kEverythingIsKnown, seed);
        const HybridOutcome next = run_with(given, &known);
        CHECK(next.phases.episodes.hits >= told.phases.episodes.hits);
    }
    CHECK(hits > 60);
}

TEST_CASE("unit.hybrid.episodes.of_many_bytes_are_held_as_long_as_they_take_at_least") {
    // CheckedEngine looks at the least time; 1.2 MB are more bits times picoseconds than 64 bits hold.
    Case given = rounds_case(400, 8, 12 * kMillisecond, 0);
    for (FlowSpec& flow : given.flows) flow.size = 3'000'000;
    memo::Memo memo;
    hybrid::EpisodeMemory memory(memo, {}, kEverythingIsKnown, 1);
    CHECK(run_with(given, &memory).phases.episodes.hits > 0);
}

TEST_CASE("unit.hybrid.episodes.near_misses_are_simulated") {
    Case given = rounds_case(407, 8, kApart, 0);
    const memo::Content lessons = lessons_of(given);
    const auto hits = [&](const Case& other, std::vector<std::int64_t> fingerprint) {
        memo::Memo memo(lessons);
        hybrid::EpisodeMemory memory(memo, std::move(fingerprint), kEverythingIsKnown, 1);
        Case once = other;
        once.flows.resize(other.flows.size() / 8);
        return run_with(once, &memory).phases.episodes.hits;
    };
    CHECK(hits(given, {}) > 0);
    CHECK(hits(given, {1}) == 0);
    Case other = given;
    other.flows.front().size += 1;
    other.flows.back().size += 1;
    const std::uint64_t all = hits(given, {});
    CHECK(hits(other, {}) < all + (all > 1 ? 0 : 1));
    for (FlowSpec& flow : other.flows) flow.size += 1;
    CHECK(hits(other, {}) == 0);
    Case slower = given;
    slower.topology = build_star({static_cast<std::uint32_t>(given.topology.hosts().size()),
                                  {gigabits_per_second(50), kMicrosecond}});
    CHECK(hits(slower, {}) == 0);
}

TEST_CASE("unit.hybrid.episodes.order_and_repetition_change_nothing") {
    for (std::uint64_t seed = 500; seed < 515; ++seed) {
        const Case given = rounds_case(seed, 8, kApart, 4);
        INFO(given.name);
        const auto once = [&] {
            memo::Memo memo;
            hybrid::EpisodeMemory memory(memo, {}, 0.01, 7);
            return run_with(given, &memory);
        };
        const HybridOutcome first = once();
        const HybridOutcome second = once();
        check_same(first.outcome, second.outcome);
        CHECK(first.phases.episodes.hits == second.phases.episodes.hits);
    }
}

TEST_CASE("unit.hybrid.episodes.ports_need_not_be_full") {
    // Who sends to two, to which others send a little: no port of theirs could be full. They do not begin it.
    Case given = rounds_case(600, 1, kApart, 0);
    given.topology = build_star({16, {gigabits_per_second(100), kMicrosecond}});
    given.config = config_for(congestion::Law::dctcp);
    given.flows.clear();
    const auto add = [&](NodeId src, NodeId dst, Tick at) {
        given.flows.push_back({src, dst, 300'000, at});
    };
    for (Tick at = 0; at < 8 * kApart; at += kApart) {
        for (const NodeId dst : {1U, 2U}) {
            add(0, dst, at + kMicrosecond);
            add(3, dst, at);
            add(4, dst, at);
        }
        for (NodeId dst = 6; dst < 11; ++dst) {
            add(3, dst, at);
            add(4, dst + 5, at);
        }
    }
    assign_source_ports(given.flows);
    memo::Memo memo;
    hybrid::EpisodeMemory memory(memo, {}, kEverythingIsKnown, 1);
    const HybridOutcome packets = run_with(given, nullptr);
    const HybridOutcome told = run_with(given, &memory);
    REQUIRE(told.phases.episodes.hits > 0);
    for (std::size_t f = 0; f < given.flows.size(); ++f) {
        const Tick start = given.flows[f].start;
        CHECK(static_cast<double>(told.outcome.flows[f].finish - start) ==
              doctest::Approx(static_cast<double>(packets.outcome.flows[f].finish - start))
                  .epsilon(0.02));
    }
}

TEST_CASE("unit.hybrid.episodes.links_that_fail_below_flows") {
    std::uint64_t interrupted = 0;
    for (LinkId link = 0; link < 4; ++link) {
        for (const Tick at : {20 * kMicrosecond, 174 * kMicrosecond, 180 * kMicrosecond}) {
            Case given = rounds_case(700, 1, kApart, 0);
            LeafSpineParams params;
            params.leaves = params.spines = 2;
            params.hosts_per_leaf = 2;
            given.topology = build_leaf_spine(params);
            given.config = config_for(congestion::Law::hpcc);
            given.flows.clear();
            for (Tick start = 0; start < 6 * kApart; start += kApart) {
                given.flows.push_back({0, 3, 2'000'000, start});
            }
            assign_source_ports(given.flows);
            for (FlowSpec& flow : given.flows) {
                flow.sport = given.flows.front().sport;
            }
            const memo::Content lessons = lessons_of(given);
            given.flows.resize(1);
            const auto fabric = static_cast<LinkId>(given.topology.hosts().size()) + link;
            given.events.push_back({at, fabric, false});
            memo::Memo memo(lessons);
            hybrid::EpisodeMemory memory(memo, {}, kEverythingIsKnown, 1);
            const HybridOutcome told = run_with(given, &memory);
            check_same(run_with(given, nullptr).outcome, told.outcome);
            interrupted += told.phases.episodes.interrupted + told.phases.episodes.missed;
            CHECK(told.phases.episodes.learned == 0);
        }
    }
    CHECK(interrupted > 0);
}

TEST_CASE("unit.hybrid.episodes.starts_may_differ_by_next_to_nothing") {
    std::uint64_t hits = 0;
    for (std::uint64_t seed = 820; seed < 850; ++seed) {
        Case given = rounds_case(seed, 8, kApart, 0);
        INFO(given.name);
        const memo::Content lessons = lessons_of(given);
        Dice dice(seed);
        for (FlowSpec& flow : given.flows) {
            flow.start += dice.below(1000);
        }
        memo::Memo memo(lessons);
        hybrid::EpisodeMemory memory(memo, {}, kEverythingIsKnown, 1);
        const HybridOutcome told = run_with(given, &memory);
        hits += told.phases.episodes.hits;
        const HybridOutcome packets = run_with(given, nullptr);
        double sum = 0;
        double truth = 0;
        for (std::size_t f = 0; f < given.flows.size(); ++f) {
            sum += static_cast<double>(told.outcome.flows[f].finish - given.flows[f].start);
            truth += static_cast<double>(packets.outcome.flows[f].finish - given.flows[f].start);
        }
        // A picosecond moves incasts under DCQCN by 5%.
        CHECK(sum == doctest::Approx(truth).epsilon(0.1));
    }
    CHECK(hits > 100);
}

TEST_CASE("unit.hybrid.episodes.ways_that_lose_packets_teach_nothing") {
    for (const double loss : {0.0, 1e-9}) {
        Case given = rounds_case(800, 8, kApart, 0);
        given.topology = build_star({16, {gigabits_per_second(100), kMicrosecond, loss}});
        memo::Memo memo;
        hybrid::EpisodeMemory memory(memo, {}, kEverythingIsKnown, 1);
        const HybridOutcome run = run_with(given, &memory);
        CHECK((run.phases.episodes.learned > 0) == (loss == 0));
        CHECK((run.phases.episodes.hits > 0) == (loss == 0));
    }
}

namespace {

constexpr congestion::Law kEpisodeLaws[] = {congestion::Law::hpcc, congestion::Law::dcqcn,
                                            congestion::Law::timely, congestion::Law::dctcp,
                                            congestion::Law::none};

/// Rounds in which three send to one, 1 to 8 times as much as the least, in a star of `hosts`.
Case uneven_incasts(congestion::Law law, std::uint32_t hosts, Tick rounds) {
    Case given = rounds_case(600, 1, kApart, 0);
    given.topology = build_star({hosts, {gigabits_per_second(100), kMicrosecond}});
    given.config = config_for(law);
    given.flows.clear();
    for (Tick round = 0; round < rounds; ++round) {
        given.flows.push_back({1, 0, 200'000, round * kApart});
        given.flows.push_back({2, 0, 600'000, round * kApart});
        given.flows.push_back({3, 0, 1'600'000, round * kApart});
    }
    assign_source_ports(given.flows);
    return given;
}

double time_of(const HybridOutcome& run, std::size_t flow) {
    return static_cast<double>(run.outcome.flows[flow].finish - run.outcome.flows[flow].start);
}

}  // namespace

TEST_CASE("unit.hybrid.episodes.what_meets_the_rest_of_one_shares_with_it") {
    std::uint64_t resumed = 0;
    double all = 0;
    double all_true = 0;
    for (const congestion::Law law : kEpisodeLaws) {
        const memo::Content lessons = lessons_of(uneven_incasts(law, 6, 5));
        for (const Tick at : {60 * kMicrosecond, 100 * kMicrosecond, 150 * kMicrosecond}) {
            Case given = uneven_incasts(law, 6, 1);
            given.flows.push_back({4, 0, 800'000, at});  // to where the rest of it goes
            given.flows.push_back({3, 5, 400'000, at});  // from where it comes
            assign_source_ports(given.flows);
            const std::string name = congestion::law_name(law);
            INFO(name << " " << at / kMicrosecond << " us");
            memo::Memo memo(lessons);
            hybrid::EpisodeMemory memory(memo, {}, kEverythingIsKnown, 1);
            const HybridOutcome packets = run_with(given, nullptr);
            const HybridOutcome told = run_with(given, &memory);
            resumed += told.phases.episodes.resumed;
            double mean = 0;
            double truth = 0;
            for (std::size_t f = 0; f < given.flows.size(); ++f) {
                mean += time_of(told, f);
                truth += time_of(packets, f);
            }
            // Under HPCC little is left to chance.
            const double off = law == congestion::Law::hpcc ? 0.03 : 0.2;
            CHECK(mean == doctest::Approx(truth).epsilon(off));
            all += mean;
            all_true += truth;
            for (std::size_t p = 0; p < told.outcome.ports.size(); ++p) {
                CHECK(told.outcome.ports[p].tx_packets == packets.outcome.ports[p].tx_packets);
                CHECK(told.outcome.ports[p].tx_bytes == packets.outcome.ports[p].tx_bytes);
            }
        }
    }
    CHECK(all == doctest::Approx(all_true).epsilon(0.04));
    CHECK(resumed >= 12);
}

TEST_CASE("unit.hybrid.episodes.links_that_fail_after_a_first_end") {
    std::uint64_t resumed = 0;
    for (const congestion::Law law : kEpisodeLaws) {
        const memo::Content lessons = lessons_of(uneven_incasts(law, 6, 5));
        Case given = uneven_incasts(law, 6, 1);
        const LinkId cable = 3;  // of the host that sends longest
        given.events.push_back({100 * kMicrosecond, cable, false});
        given.events.push_back({400 * kMicrosecond, cable, true});
        given.config.nic.retransmit_timeout = 200 * kMicrosecond;
        memo::Memo memo(lessons);
        hybrid::EpisodeMemory memory(memo, {}, kEverythingIsKnown, 1);
        const HybridOutcome packets = run_with(given, nullptr);
        const HybridOutcome told = run_with(given, &memory);
        resumed += told.phases.episodes.resumed;
        const std::string name = congestion::law_name(law);
        INFO(name);
        CHECK(told.outcome.flows[2].received > 400 * kMicrosecond);
        CHECK(time_of(told, 2) == doctest::Approx(time_of(packets, 2)).epsilon(0.3));
    }
    CHECK(resumed > 0);
}
