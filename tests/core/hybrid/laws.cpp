// SPDX-License-Identifier: Apache-2.0
/// Laws wake as packets would have made them: a lone flow that skips against the same flow in packets,
/// state by state, and what a flow meets that enters where another one slept.
#include <cstring>
#include <map>

#include "tests/support/hybrid_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// The law of flow 0 at one instant.
struct Sample {
    Tick at = 0;
    std::int64_t acked = 0;    ///< packets, those that were skipped included
    std::int64_t skipped = 0;  ///< packets, of these
    std::int64_t window = 0;
    congestion::State law;
};

struct Traced {
    std::vector<Sample> samples;
    std::vector<PhaseRecord> phases;
    std::vector<FlowResult> flows;
    std::int64_t bytes_skipped = 0;
};

Case star(congestion::Law law, Tick delay, std::vector<FlowSpec> flows) {
    Case given;
    given.topology = with_links(build_star({4, {}}), [&](Link& link) { link.delay = delay; });
    given.config = config_for(law);
    given.flows = std::move(flows);
    given.stop = 20 * kMillisecond;
    return given;
}

/// Runs `given`; `every` > 0: looks at flow 0 so often, while it is there.
Traced run(const Case& given, bool skip, Tick every = 0, Tick longest_skip = 0) {
    Routing routing(given.topology);
    step::WorldStore store(given.topology, routing, given.config, given.flows, given.paths,
                           nullptr);
    store.pin_list();
    step::World& world = store.world();
    step::FlowPartitions partitions(store);
    hybrid::NetworkView view(store, partitions);
    CheckedEngine engine(store, partitions, view);
    PhaseConfig config;
    config.skip = skip;
    config.longest_skip = longest_skip;
    hybrid::PhaseController controller(engine, partitions, nullptr, nullptr, config, given.stop);
    Traced made;
    controller.report().listen([&](const PhaseRecord& phase) { made.phases.push_back(phase); });
    RunHooks hooks;
    if (every > 0) {
        hooks.sample_from = hooks.sample_every = every;
        hooks.sample_to = given.stop;
        hooks.on_sample = [&](Tick now, const auto&) {
            if (world.sender_at[0] == kNone) {
                return;
            }
            const step::Sender& sender = step::sender_of(world, 0);
            const std::int64_t skipped = engine.advanced[0] / world.payload;
            made.samples.push_back({now, sender.una + skipped, skipped, sender.window, sender.cc});
        };
    }
    store.begin();
    step::CellStep step_cell(world);
    engine::Driver driver(store, {}, std::move(hooks), engine::Clocks::one, partitions,
                          &controller);
    driver.advance(given.stop, step_cell);
    controller.finish(given.stop);
    made.flows = store.results();
    made.bytes_skipped = controller.report().counters().bytes_skipped;
    return made;
}

/// Samples of times in which nothing was skipped.
std::vector<Sample> awake(const Traced& run) {
    std::vector<Sample> all;
    for (const Sample& sample : run.samples) {
        const bool asleep =
            std::any_of(run.phases.begin(), run.phases.end(), [&](const PhaseRecord& phase) {
                return phase.phase == Phase::steady && phase.start <= sample.at &&
                       sample.at <= phase.end;
            });
        if (!asleep) {
            all.push_back(sample);
        }
    }
    return all;
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// Flow 0 of a case in packets and in hybrid mode, each state after a skip by `check(in packets, in
/// hybrid mode, bytes skipped)`, paired by what was acknowledged (`by_packets`: a skip is off by a part
/// of a packet) or by the instant.
template <class Check>
void compare_lone(Case given, bool by_packets, Check&& check) {
    const Tick every = 80 * kNanosecond;  // less than a packet
    const Traced packets = run(given, false, every);
    const Traced hybrid = run(given, true, every, 300 * kMicrosecond);  // many, to compare after
    CHECK(hybrid.bytes_skipped > given.flows[0].size / 5);
    std::map<std::int64_t, const Sample*> reference;
    for (const Sample& sample : packets.samples) {
        reference.emplace(by_packets ? sample.acked : sample.at, &sample);
    }
    std::size_t compared = 0;
    for (const Sample& sample : awake(hybrid)) {
        const auto found = reference.find(by_packets ? sample.acked : sample.at);
        if (sample.skipped == 0 || found == reference.end()) {
            continue;
        }
        INFO("at " << sample.at << ", " << sample.acked << " packets");
        check(*found->second, sample, sample.skipped * given.config.format.payload);
        ++compared;
    }
    CHECK(compared > 500);
    CHECK(static_cast<double>(hybrid.flows[0].finish) ==
          doctest::Approx(static_cast<double>(packets.flows[0].finish)).epsilon(0.005));
}

/// A flow whose law another one disturbs in the beginning; long enough to be at line rate again.
std::vector<FlowSpec> disturbed(Tick delay) {
    const std::int64_t size = delay > kMicrosecond ? 100'000'000 : 30'000'000;
    return {flow(1, 0, size, 0), flow(2, 0, 300'000, 20 * kMicrosecond)};
}

constexpr Tick kDelays[] = {kMicrosecond, 10 * kMicrosecond};

}  // namespace

TEST_CASE("unit.hybrid.laws.dctcp_of_a_lone_flow_is_packet_modes_to_the_last_bit") {
    for (const Tick delay : kDelays) {
        compare_lone(star(congestion::Law::dctcp, delay, disturbed(delay)), true,
                     [](const Sample& a, const Sample& b, std::int64_t skipped) {
                         const auto& x = a.law.dctcp;
                         const auto& y = b.law.dctcp;
                         CHECK(same_bits(x.alpha, y.alpha));
                         CHECK(x.batch == y.batch);
                         CHECK(x.marked == y.marked);
                         CHECK(x.marked_before == y.marked_before);
                         CHECK(x.reduced == y.reduced);
                         CHECK(x.last_update == y.last_update + skipped);
                         CHECK(x.high_seq == y.high_seq + skipped);
                         CHECK(a.law.rate == b.law.rate);
                         CHECK(a.window == b.window);
                     });
    }
}

TEST_CASE("unit.hybrid.laws.timely_of_a_lone_flow_is_packet_modes_to_the_last_bit") {
    for (const Tick delay : kDelays) {
        compare_lone(star(congestion::Law::timely, delay, disturbed(delay)), true,
                     [](const Sample& a, const Sample& b, std::int64_t skipped) {
                         const auto& x = a.law.timely;
                         const auto& y = b.law.timely;
                         CHECK(same_bits(x.rtt_diff, y.rtt_diff));
                         CHECK(x.stage == y.stage);
                         CHECK(x.last_rtt_ns == y.last_rtt_ns);
                         CHECK(x.current_rate == y.current_rate);
                         CHECK(x.last_update == y.last_update + skipped);
                         CHECK(a.law.rate == b.law.rate);
                     });
    }
}

TEST_CASE("unit.hybrid.laws.dcqcn_of_a_lone_flow_is_packet_modes_to_the_last_bit") {
    for (const Tick delay : kDelays) {
        Case given = star(congestion::Law::dcqcn, delay, disturbed(delay));
        // Marks from the first packets on and a quick recovery, so that the flow skips with an alpha
        // that decays.
        given.config.ecn.points = {
            EcnPoint{gigabits_per_second(100), Bytes{5'000}, Bytes{10'000}, 1.0}};
        given.config.congestion.dcqcn.increase_interval = 5 * kMicrosecond;
        given.config.congestion.dcqcn.hyper_rate = 5'000'000'000;
        compare_lone(given, false, [](const Sample& a, const Sample& b, std::int64_t) {
            const auto& x = a.law.dcqcn;
            const auto& y = b.law.dcqcn;
            CHECK(x.started);
            CHECK(same_bits(x.alpha, y.alpha));
            CHECK(x.alpha_due == y.alpha_due);
            CHECK(x.decrease_due == y.decrease_due);
            CHECK(x.increase_due == y.increase_due);
            CHECK(x.target_rate == y.target_rate);
            CHECK(x.stage == y.stage);
            CHECK(a.law.rate == b.law.rate);
        });
    }
}

TEST_CASE("unit.hybrid.laws.hpcc_of_a_lone_flow_stays_where_packets_keep_it") {
    // INT is whole nanoseconds and whole units, so that a lone flow's rate never repeats: what can be
    // asked is that it goes on around packet mode's.
    for (const Tick delay : kDelays) {
        const Case given = star(congestion::Law::hpcc, delay, {flow(1, 0, 30'000'000, 0)});
        const auto mean_rate = [](const std::vector<Sample>& samples) {
            double sum = 0;
            double count = 0;
            for (const Sample& sample : samples) {
                if (sample.at > 400 * kMicrosecond) {
                    sum += static_cast<double>(sample.law.rate);
                    ++count;
                }
            }
            return sum / count;
        };
        const Traced hybrid = run(given, true, 400 * kNanosecond);
        CHECK(hybrid.bytes_skipped > 10'000'000);
        CHECK(mean_rate(awake(hybrid)) ==
              doctest::Approx(mean_rate(run(given, false, 400 * kNanosecond).samples))
                  .epsilon(0.005));
    }
}

TEST_CASE("unit.hybrid.laws.who_enters_a_skip_meets_the_law_that_packets_would_have_made") {
    // DCTCP's alpha was 0.5 where packets had brought it to 0.01: the first mark halved the other
    // flow, and who entered was done a quarter too early.
    for (const congestion::Law law :
         {congestion::Law::dctcp, congestion::Law::dcqcn, congestion::Law::timely}) {
        CAPTURE(congestion::law_name(law));
        for (const Tick entrance : {1'437, 1'801, 2'222}) {
            const Case given =
                star(law, 10 * kMicrosecond,
                     {flow(1, 0, 50'000'000, 0), flow(2, 0, 4'000'000, entrance * kMicrosecond)});
            const Traced packets = run(given, false);
            const Traced hybrid = run(given, true);
            CHECK(std::any_of(hybrid.phases.begin(), hybrid.phases.end(), [](const auto& phase) {
                return phase.phase == Phase::steady && phase.ended_by == PhaseEnd::flow_entered;
            }));
            const auto fct = [](const Traced& run) {
                return static_cast<double>(run.flows[1].finish - run.flows[1].start);
            };
            CHECK(fct(hybrid) == doctest::Approx(fct(packets)).epsilon(0.02));
        }
    }
}

TEST_CASE("unit.hybrid.laws.hpcc_whose_ports_count_others_acks_is_observed_for_long") {
    // Two hosts that send to each other across a spine: what the law gives them moves by 3% within some hundred round trips.
    LeafSpineParams shape;
    shape.leaves = 2;
    shape.hosts_per_leaf = 2;
    shape.spines = 1;
    Case given = star(congestion::Law::hpcc, kMicrosecond,
                      {flow(0, 2, 30'000'000, 0), flow(2, 0, 30'000'000, 0)});
    given.topology = build_leaf_spine(shape);
    const Traced packets = run(given, false);
    const Traced skipped = run(given, true);
    CHECK(skipped.bytes_skipped > 30'000'000);
    for (FlowId f = 0; f < 2; ++f) {
        CHECK(static_cast<double>(skipped.flows[f].finish) ==
              doctest::Approx(static_cast<double>(packets.flows[f].finish)).epsilon(0.01));
    }
}
