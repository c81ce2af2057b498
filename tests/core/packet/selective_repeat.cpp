// SPDX-License-Identifier: Apache-2.0
/// Selective repeat: what is the same as with go-back-N, what is lost and sent again, and what order does not matter.
#include <numeric>

#include "tests/support/clock_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

bool all_finished(const Outcome& outcome) {
    return std::all_of(outcome.flows.begin(), outcome.flows.end(),
                       [](const FlowResult& result) { return result.finish != kNever; });
}

/// `given` under selective repeat, with a window and threshold of the seed's.
Case selectively(Case given, std::uint64_t seed) {
    Dice dice(seed + 91'000);
    NicConfig& nic = given.config.nic;
    nic.transport = Transport::selective_repeat;
    nic.back_to_zero = false;
    nic.reorder_window = 64U << dice.below(5);
    nic.reorder_threshold = 1 + dice.below(dice.chance(50) ? 8 : nic.reorder_window - 1);
    const LoadBalance kinds[] = {LoadBalance::spray,   LoadBalance::round_robin,
                                 LoadBalance::ecmp,    LoadBalance::adaptive,
                                 LoadBalance::flowlet, LoadBalance::entropy};
    given.config.load_balance = dice.pick(kinds);
    given.config.spray.band = 1 + dice.below(8) * 1500;
    given.config.spray.flowlet_gap = dice.below(5) * kMicrosecond;
    given.config.spray.entropy_values = 1 + dice.below(256);
    given.config.spray.entropy_recycle = dice.chance(50);
    given.config.spray.entropy_avoid = dice.chance(50);
    if (dice.chance(20)) {
        given.config.congestion = congestion::default_parameters(
            dice.chance(50) ? congestion::Law::swift : congestion::Law::nscc, 100'000'000'000);
        given.config.congestion.payload = given.config.format.payload;
    }
    return given;
}

/// Each host of a leaf-spine fabric without oversubscription sends `size` bytes across the spines.
Case permutation(congestion::Law law, std::int64_t size) {
    Case given;
    const std::int32_t hosts = 8;
    given.topology = build_leaf_spine({4, hosts, hosts, 1, {}, {}});
    given.config = config_for(law);
    given.config.nic.transport = Transport::selective_repeat;
    given.config.load_balance = LoadBalance::round_robin;
    for (NodeId src = 0; src < 4 * hosts; ++src) {
        given.flows.push_back(flow(src, (src + hosts) % (4 * hosts), size, 0));
    }
    assign_source_ports(given.flows);
    given.stop = 100 * kMillisecond;
    return given;
}

Tick last_finish(const Outcome& outcome) {
    return std::accumulate(
        outcome.flows.begin(), outcome.flows.end(), Tick{0},
        [](Tick most, const FlowResult& result) { return std::max(most, result.finish); });
}

/// The rate of `given`, flows of `size` bytes one for each host, over that of the link.
double rate_of(const Case& given, std::int64_t size) {
    const Outcome outcome = run_windows(given);
    CHECK(all_finished(outcome));
    CHECK(outcome.counters.drops == 0);
    const PacketFormat& format = given.config.format;
    const std::int64_t packets = (size + format.payload - 1) / format.payload;
    const std::int64_t bytes = size + packets * (format.header + format.extra_header);
    const Tick ideal = serialization_time(1, gigabits_per_second(100), Arithmetic::exact) * bytes +
                       4 * kMicrosecond;
    return static_cast<double>(ideal) / static_cast<double>(last_finish(outcome));
}

}  // namespace

TEST_CASE("unit.step.selective_repeat.any_order_of_execution") {
    ClockCounts counts;
    std::uint64_t retransmitted = 0;
    for (std::uint64_t seed = 31'000; seed < 31'160; ++seed) {
        const Case given = selectively(random_case(seed), seed);
        INFO(given.name);
        const Outcome expected = run_windows(given);
        check_same(expected, run_oracle(given));
        if (seed % 4 == 0) {
            check_same(expected, run_clocks(given, false, counts));
        }
        retransmitted += expected.counters.retransmitted_bytes;
    }
    CHECK(retransmitted > 0);
}

TEST_CASE("unit.step.selective_repeat.in_order_it_is_go_back_n") {
    RandomOptions options;
    options.lossless = true;
    for (std::uint64_t seed = 32'000; seed < 32'040; ++seed) {
        Case given = random_case(seed, options);
        given.config.buffer.size = Bytes{pfc_share(given.topology, given.config) + (1 << 20)};
        given.config.nic.retransmit_timeout = 0;  // that of a tail may come too early
        INFO(given.name);
        const Outcome go_back_n = run_windows(given);
        given.config.nic.transport = Transport::selective_repeat;
        given.config.nic.reorder_window = 16'384;
        check_same(go_back_n, run_windows(given));
    }
}

TEST_CASE("unit.step.selective_repeat.what_is_lost_is_sent_again_and_little_else") {
    for (const congestion::Law law : kSelectiveLaws) {
        for (const double loss : {1e-4, 1e-2, 5e-2}) {
            Case given = permutation(law, 500'000);
            LeafSpineParams params;
            params.leaves = 4;
            params.spines = 8;
            params.hosts_per_leaf = 8;
            params.host_cable.loss = loss;
            params.fabric_cable.loss = loss;
            given.topology = build_leaf_spine(params);
            // Laws that react to losses send packet by packet, each lost one found by a time-out.
            given.stop = 4 * kSecond;
            for (const std::uint32_t window : {64U, 1024U}) {
                given.config.nic.reorder_window = window;
                given.config.nic.reorder_threshold = window / 4;
                INFO(std::string(congestion::law_name(law)), ", loss ", loss, ", window ", window);
                const Outcome outcome = run_windows(given);
                CHECK(all_finished(outcome));
                // Data packets cross four lossy cables, and so do ACKs, whose loss may cost a packet, too.
                const double sent = 32 * 500'000.0;
                const auto again = static_cast<double>(outcome.counters.retransmitted_bytes);
                CHECK(again < 4 * (8 * loss * sent) + 0.02 * sent);
                CHECK((loss < 1e-3 || again > 2 * loss * sent));
            }
        }
    }
}

TEST_CASE("unit.step.selective_repeat.sprayed_permutations_run_at_nine_tenths") {
    for (const congestion::Law law : kSelectiveLaws) {
        const std::int64_t size = 4'000'000;
        Case given = permutation(law, size);
        // HPCC and RCCC leave so much free by themselves.
        const double target = law == congestion::Law::hpcc   ? 0.95
                              : law == congestion::Law::rccc ? 0.99
                                                             : 1;
        const double in_turn = rate_of(given, size);
        // At random packets collide, without any link being overloaded. Marks of short queues would say otherwise.
        given.config.load_balance = LoadBalance::spray;
        given.config.ecn.enabled = false;
        const double drawn = rate_of(given, size);
        MESSAGE(std::string(congestion::law_name(law)), ": in turn ", in_turn, ", drawn ", drawn);
        CHECK(in_turn > 0.9 * target);
        CHECK(drawn > 0.9 * in_turn);
    }
}

TEST_CASE("unit.step.selective_repeat.connections_keep_their_order") {
    Case given = permutation(congestion::Law::dcqcn, 100'000);
    LeafSpineParams params;
    params.leaves = 2;
    params.spines = 4;
    params.hosts_per_leaf = 2;
    params.fabric_cable.loss = 0.02;
    given.topology = build_leaf_spine(params);
    given.flows.clear();
    for (std::int64_t message = 0; message < 12; ++message) {
        given.flows.push_back(flow(0, 2, 20'000 + 7 * message, 0));
        given.flows.back().connection = 0;
        given.flows.back().sport = 1234;
    }
    const Outcome outcome = run_windows(given);
    REQUIRE(all_finished(outcome));
    for (std::size_t i = 1; i < outcome.flows.size(); ++i) {
        CHECK(outcome.flows[i - 1].finish <= outcome.flows[i].finish);
        CHECK(outcome.flows[i - 1].start < outcome.flows[i].start);
    }
}
