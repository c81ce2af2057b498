// SPDX-License-Identifier: Apache-2.0
/// Local phases: groups that share data ports only, ACKs that are no packets. The contracts hold, and two
/// engines agree.
#include "tests/support/hybrid_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

PhaseConfig eager_local_phases() {
    PhaseConfig config = eager_phases();
    config.wake = Wake::data;
    return config;
}

/// Cases that local phases are for: no spraying, no loss.
template <class Body>
void for_local_cases(std::uint64_t first, std::uint64_t count, bool lossless, Body&& body) {
    RandomOptions options;
    options.lossless = lossless;
    for_chained_cases(
        first, count, options, [&](std::uint64_t seed, Case& given, Application* application) {
            const std::vector<Link>& links = given.topology.links();
            const bool loses = std::any_of(links.begin(), links.end(),
                                           [](const Link& link) { return link.loss > 0; });
            if (!loses && given.config.load_balance != LoadBalance::spray) {
                body(seed, given, application);
            }
        });
}

}  // namespace

TEST_CASE("unit.local_phases.contracts_hold_after_every_transition") {
    std::uint64_t skips = 0;
    std::uint64_t backs = 0;
    std::uint64_t checks = 0;
    for_local_cases(
        24'000, 500, false, [&](std::uint64_t /*seed*/, Case& given, Application* application) {
            const HybridOutcome made =
                run_hybrid(given, eager_local_phases(), Driver::windows, application, true);
            skips += made.phases.skips;
            backs += made.phases.skip_backs;
            checks += made.checks;
        });
    MESSAGE(skips << " skips, " << backs << " skip-backs, " << checks << " checks");
    CHECK(skips > 1000);
    CHECK(backs > 100);
}

TEST_CASE("unit.local_phases.two_engines_agree") {
    std::uint64_t skips = 0;
    std::uint64_t backs = 0;
    std::uint64_t compared = 0;
    for_local_cases(
        25'000, 200, true, [&](std::uint64_t /*seed*/, Case& given, Application* application) {
            given.config.buffer.size = Bytes{1 << 28};
            const PhaseConfig config = eager_local_phases();
            const HybridOutcome windows = run_hybrid(given, config, Driver::windows, application);
            const HybridOutcome oracle = run_hybrid(given, config, Driver::oracle, application);
            if (windows.outcome.counters.pfc_pauses > 0) {
                return;  // frames for ports that sleep: docs/models/phases.md
            }
            ++compared;
            check_same(windows.outcome, oracle.outcome);
            CHECK(windows.phases.skips == oracle.phases.skips);
            CHECK(windows.phases.skip_backs == oracle.phases.skip_backs);
            CHECK(windows.timeline.size() == oracle.timeline.size());
            skips += windows.phases.skips;
            backs += windows.phases.skip_backs;
        });
    MESSAGE(skips << " skips, " << backs << " skip-backs");
    CHECK(compared > 150);
    CHECK(skips > 500);
    CHECK(backs > 30);
}

namespace {

/// A star of 8 hosts, links of 1 us, under `law`.
Case star(congestion::Law law, std::vector<FlowSpec> flows) {
    Case given;
    given.topology = build_star({8, {}});
    given.config = config_for(law);
    given.flows = std::move(flows);
    given.stop = 20 * kMillisecond;
    return given;
}

/// Flows that an instant takes out of their steady phases.
std::uint32_t woken_at(const HybridOutcome& made, Tick at) {
    std::uint32_t flows = 0;
    for (const PhaseRecord& phase : made.timeline) {
        const bool ends = phase.phase == Phase::steady && phase.end == at;
        const bool woken =
            phase.ended_by == PhaseEnd::flow_entered || phase.ended_by == PhaseEnd::acks_changed;
        flows += ends && woken ? phase.flows : 0;
    }
    return flows;
}

/// By packets alone, and with local phases that skip nothing.
std::pair<HybridOutcome, HybridOutcome> packets_and_local(const Case& given) {
    PhaseConfig config;
    config.skip = false;
    HybridOutcome packets = run_hybrid(given, config, Driver::windows);
    config.skip = true;
    config.wake = Wake::data;
    config.longest_skip = 1;  // shorter than what is worth a skip
    HybridOutcome local = run_hybrid(given, config, Driver::windows);
    CHECK(local.phases.skips == 0);
    return {std::move(packets), std::move(local)};
}

/// Starts flow `next` as flow 0 is received, at its receiver.
class Relay final : public Application {
  public:
    explicit Relay(FlowId next) : next_(next) {}
    void on_begin(NodeId, HostServices&) override {}
    void on_received(NodeId, FlowId flow, Tick now, HostServices& services) override {
        if (flow == 0) {
            services.start_flow(next_, now);
        }
    }
    void on_sent(NodeId, FlowId, Tick, HostServices&) override {}
    void on_timer(NodeId, std::uint64_t, Tick, HostServices&) override {}

  private:
    FlowId next_;
};

}  // namespace

TEST_CASE("unit.local_phases.a_lone_flow_has_its_acks_when_packets_would_bring_them") {
    for (const congestion::Law law :
         {congestion::Law::hpcc, congestion::Law::dcqcn, congestion::Law::dctcp}) {
        const Case given = star(law, {flow(0, 1, 300'000, 0)});
        const auto [packets, local] = packets_and_local(given);
        CHECK(local.outcome.flows[0].received == packets.outcome.flows[0].received);
        CHECK(local.outcome.flows[0].finish == packets.outcome.flows[0].finish);
        CHECK(2 * local.outcome.counters.packet_hops == packets.outcome.counters.packet_hops);
        for (PortId p = 0; p < given.topology.port_count(); ++p) {
            CHECK(local.outcome.ports[p].tx_bytes == packets.outcome.ports[p].tx_bytes);
            CHECK(local.outcome.ports[p].tx_packets == packets.outcome.ports[p].tx_packets);
        }
    }
}

TEST_CASE("unit.local_phases.an_event_wakes_its_radius") {
    // A ring of four: data of each share a host with ACKs of the one before. Then a flow joins that of
    // 0 -> 1 on its last port; its ACKs cross the data of 1 -> 2.
    const Tick at = 5 * kMillisecond;
    std::vector<FlowSpec> flows;
    for (NodeId host = 0; host < 4; ++host) {
        flows.push_back(flow(host, (host + 1) % 4, 200'000'000, 0));
    }
    flows.push_back(flow(5, 1, 1'000'000, at));
    const auto woken = [&](Wake wake) {
        PhaseConfig config;
        config.wake = wake;
        return woken_at(run_hybrid(star(congestion::Law::hpcc, flows), config, Driver::windows),
                        at);
    };
    CHECK(woken(Wake::partition) == 4);
    CHECK(woken(Wake::data) == 1);
}

TEST_CASE("unit.local_phases.rates_make_room_for_acks") {
    // Line-rate flows of a ring: what one has is what the ACKs of the one before leave.
    std::vector<FlowSpec> flows;
    for (NodeId host = 0; host < 4; ++host) {
        flows.push_back(flow(host, (host + 1) % 4, 50'000'000, 0));
    }
    for (const congestion::Law law : {congestion::Law::hpcc, congestion::Law::dcqcn}) {
        PhaseConfig config;
        config.skip = false;
        const HybridOutcome packets = run_hybrid(star(law, flows), config, Driver::windows);
        config.skip = true;
        config.wake = Wake::data;
        const HybridOutcome local = run_hybrid(star(law, flows), config, Driver::windows);
        CHECK(local.phases.skips > 4);
        for (FlowId f = 0; f < 4; ++f) {
            CHECK(static_cast<double>(local.outcome.flows[f].finish) ==
                  doctest::Approx(static_cast<double>(packets.outcome.flows[f].finish))
                      .epsilon(0.003));
        }
    }
}

TEST_CASE("unit.local_phases.ports_on_one_way_tell_data_of_the_same_acks") {
    // ACKs of 2 -> 4 cross two ports of 0 -> 2 one after the other. HPCC goes by the busiest of truncated
    // counters: if these drifted apart, it would be 6% slower.
    LeafSpineParams shape;
    shape.hosts_per_leaf = 2;
    shape.spines = 1;
    Case given =
        star(congestion::Law::hpcc, {flow(0, 2, 10'000'000, 0), flow(2, 4, 10'000'000, 0)});
    given.topology = build_leaf_spine(shape);
    const auto [packets, local] = packets_and_local(given);
    for (FlowId f = 0; f < 2; ++f) {
        CHECK(static_cast<double>(local.outcome.flows[f].finish) ==
              doctest::Approx(static_cast<double>(packets.outcome.flows[f].finish)).epsilon(0.015));
    }
}

TEST_CASE("unit.local_phases.streams_that_change_keep_ports_on_one_way_in_step") {
    // Flows that share a port have another rate at each look, and so have their ACKs, which cross the two ports of the
    // others' way: were these to jump by what changes, or drift apart by what is rounded, flows would be 1.5 to 4% slower.
    constexpr int kFlows = 6;
    constexpr int kCases = 12;
    LeafSpineParams shape;
    shape.leaves = 2;
    shape.spines = 1;
    shape.hosts_per_leaf = 2 * kFlows;
    double off = 0;
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
        Dice dice(seed);
        std::vector<FlowSpec> flows;
        for (NodeId host = 0; host < kFlows; ++host) {
            flows.push_back(
                flow(host, host + 2 * kFlows, 20'000'000, dice.below(1'000'000) * 1'000));
            flows.push_back(
                flow(host + 3 * kFlows, host + kFlows, 20'000'000, dice.below(1'000'000) * 1'000));
        }
        Case given = star(congestion::Law::hpcc, flows);
        given.topology = build_leaf_spine(shape);
        const auto [packets, local] = packets_and_local(given);
        double takes = 0;
        double took = 0;
        for (FlowId f = 0; f < flows.size(); ++f) {
            takes += static_cast<double>(local.outcome.flows[f].finish - flows[f].start);
            took += static_cast<double>(packets.outcome.flows[f].finish - flows[f].start);
        }
        off += (takes / took - 1) / kCases;
    }
    MESSAGE("mean completion time off by " << off);
    CHECK(std::abs(off) < 0.01);
}

TEST_CASE("unit.local_phases.acks_that_have_left_leave_counters_where_packets_would") {
    // ACKs of 4 -> 0 cross the first of the two ports of 1 -> 2, which begins after them. Where the byte counters of
    // the two stand within an INT unit moves it by percents.
    LeafSpineParams shape;
    shape.hosts_per_leaf = 2;
    shape.spines = 1;
    for (std::int64_t packets_before = 1'000; packets_before < 1'008; ++packets_before) {
        Case given = star(congestion::Law::hpcc, {flow(4, 0, packets_before * 1'000, 0),
                                                  flow(1, 2, 10'000'000, kMillisecond)});
        given.topology = build_leaf_spine(shape);
        const auto [packets, local] = packets_and_local(given);
        CHECK(static_cast<double>(local.outcome.flows[1].finish) ==
              doctest::Approx(static_cast<double>(packets.outcome.flows[1].finish)).epsilon(1e-4));
    }
}

TEST_CASE("unit.local_phases.acks_of_skips_leave_counters_where_packets_would") {
    // The same of ACKs that most were never made of, for their flow was skipped.
    LeafSpineParams shape;
    shape.hosts_per_leaf = 2;
    shape.spines = 1;
    for (std::int64_t packets_before = 20'000; packets_before < 20'008; ++packets_before) {
        Case given = star(congestion::Law::hpcc, {flow(4, 0, packets_before * 1'000, 0),
                                                  flow(1, 2, 10'000'000, 5 * kMillisecond)});
        given.topology = build_leaf_spine(shape);
        PhaseConfig config;
        config.skip = false;
        const HybridOutcome packets = run_hybrid(given, config, Driver::windows);
        config.skip = true;
        config.wake = Wake::data;
        const HybridOutcome local = run_hybrid(given, config, Driver::windows);
        CHECK(3 * local.outcome.counters.packet_hops < packets.outcome.counters.packet_hops);
        CHECK(static_cast<double>(local.outcome.flows[1].finish) ==
              doctest::Approx(static_cast<double>(packets.outcome.flows[1].finish)).epsilon(1e-3));
    }
}

TEST_CASE("unit.local_phases.a_sleeper_wakes_when_acks_fill_its_port") {
    // At line rate, asleep, when a flow starts whose ACKs cross it: no event of its own group.
    const Tick at = 3 * kMillisecond;
    PhaseConfig config;
    config.wake = Wake::data;
    const HybridOutcome made = run_hybrid(
        star(congestion::Law::dcqcn, {flow(1, 2, 100'000'000, 0), flow(0, 1, 20'000'000, at)}),
        config, Driver::windows, nullptr, true);
    CHECK(woken_at(made, at) == 0);
    Tick woken = kNever;
    for (const PhaseRecord& phase : made.timeline) {
        if (phase.ended_by == PhaseEnd::acks_changed) {
            woken = std::min(woken, phase.end);
        }
    }
    CHECK(woken > at);
    CHECK(woken < at + 20 * kMicrosecond);
}

TEST_CASE("unit.local_phases.a_flow_that_starts_at_a_sleeping_host_wakes_it") {
    // Host 1 receives flow 0, for which it is awake, while its own flow sleeps; then it starts another.
    Case given =
        star(congestion::Law::dcqcn,
             {flow(0, 1, 30'000'000, 0), flow(1, 2, 200'000'000, 0), flow(1, 3, 1'000'000, 0)});
    given.flows[2].start = kNever;
    Relay relay(2);
    PhaseConfig config;
    config.wake = Wake::data;
    for (const Driver driver : {Driver::windows, Driver::oracle}) {
        const HybridOutcome made = run_hybrid(given, config, driver, &relay, true);
        const Tick received = made.outcome.flows[0].received;
        CHECK(made.outcome.flows[2].start == received);
        CHECK(woken_at(made, received) == 1);
    }
}

TEST_CASE("unit.local_phases.cut_off_from_its_source_an_answer_is_lost") {
    Case given =
        star(congestion::Law::dcqcn, {flow(0, 1, 20'000'000, 0), flow(2, 3, 20'000'000, 0)});
    const LinkId cable = given.topology.link_of(given.topology.first_port(0));
    given.events = {{kMillisecond, cable, false}, {2 * kMillisecond, cable, true}};
    PhaseConfig config;
    config.wake = Wake::data;
    const HybridOutcome made = run_hybrid(given, config, Driver::windows);
    CHECK(made.outcome.counters.drops > 0);
    CHECK(made.outcome.flows[0].finish > 2 * kMillisecond);
    CHECK(made.outcome.flows[0].finish != kNever);
    CHECK(made.outcome.flows[1].finish < 2 * kMillisecond);
}

namespace {

/// The local phases that a scenario has by default.
PhaseConfig usual_local_phases() {
    PhaseConfig config;
    config.wake = Wake::data;
    return config;
}

}  // namespace

TEST_CASE("unit.local_phases.one_kind_serves_messages_beside_other_ack_loads") {
    // One message after the other from host 0 to host 1, beside none, one or two flows whose ACKs cross it.
    std::vector<FlowSpec> flows;
    for (int i = 0; i < 15; ++i) {
        const Tick start = (i + 1) * kMillisecond;
        flows.push_back(flow(0, 1, 5'000'000, start));
        for (int beside = 0; beside < i % 3; ++beside) {
            flows.push_back(flow(2 + beside, 0, 8'000'000, start - 100 * kMicrosecond));
        }
    }
    const auto of_messages = [&](const HybridOutcome& made) {
        double sum = 0;
        for (std::size_t i = 0; i < flows.size(); ++i) {
            const FlowResult& result = made.outcome.flows[i];
            REQUIRE(result.finish != kNever);
            sum += flows[i].src == 0 ? static_cast<double>(result.finish - result.start) : 0;
        }
        return sum;
    };
    const Case given = star(congestion::Law::hpcc, flows);
    PhaseConfig packets = usual_local_phases();
    packets.skip = false;
    const HybridOutcome all = run_hybrid(given, packets, Driver::windows);
    const HybridOutcome made = run_hybrid(given, usual_local_phases(), Driver::windows);
    CHECK(of_messages(made) == doctest::Approx(of_messages(all)).epsilon(0.005));
    CHECK(made.outcome.counters.packet_hops < all.outcome.counters.packet_hops / 3);
}

TEST_CASE("unit.local_phases.usual_ones_are_the_same_by_two_engines") {
    std::uint64_t skips = 0;
    for_local_cases(26'000, 150, true,
                    [&](std::uint64_t /*seed*/, Case& given, Application* application) {
                        given.config.buffer.size = Bytes{1 << 28};
                        const HybridOutcome windows =
                            run_hybrid(given, usual_local_phases(), Driver::windows, application);
                        const HybridOutcome oracle =
                            run_hybrid(given, usual_local_phases(), Driver::oracle, application);
                        if (windows.outcome.counters.pfc_pauses == 0) {
                            check_same(windows.outcome, oracle.outcome);
                        }
                        skips += windows.phases.skips;
                    });
    MESSAGE(skips << " skips");
    CHECK(skips > 100);
}
