// SPDX-License-Identifier: Apache-2.0
/// What docs/embedding.md promises of a network in a testbench and of devices that are subclasses, and its
/// code: scripts/check_docs.py finds each of the page's blocks in this folder or in tests/consumer/.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/models/page_star.h"

namespace sluice::test {
namespace {

class CountingSwitch : public sluice::Switch {
  public:
    using Switch::Switch;
    void step(const sluice::step::Cell& cell, sluice::Tick begin, sluice::Tick end) override {
        ++windows;
        Switch::step(cell, begin, end);
    }
    std::uint64_t windows = 0;
};

/// A queue holds two packets.
struct ShortQueues : step::ScenarioPolicies {
    static double egress_limit(const step::World&, std::int64_t left) {
        return std::min(std::max(static_cast<double>(left), 0.0), 2.0 * 1090);
    }
};

struct MarksAll : step::ScenarioPolicies {
    static bool marks(const step::World&, PortId, step::Egress&, std::uint32_t) { return true; }
};

/// Looks at what it is asked to step, and at what its step leaves behind.
class WatchedSwitch : public Switch {
  public:
    using Switch::Switch;
    void step(const step::Cell& cell, Tick begin, Tick end) override {
        whole += cell.ports == nullptr ? 1U : 0U;
        parts += cell.ports == nullptr ? 0U : 1U;
        Switch::step(cell, begin, end);
        wakes_later = wakes_later && world().wake[cell.id] >= end;
        in_lookahead = in_lookahead && end - begin <= world().lookahead;
    }
    std::uint64_t whole = 0;
    std::uint64_t parts = 0;
    bool wakes_later = true;
    bool in_lookahead = true;
};

/// Host 3 answers what it has received by a flow that it describes then.
class Answerer : public Application {
  public:
    void on_begin(NodeId, HostServices&) override {}
    void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) override {
        if (host == 3) {
            answers.push_back(services.open_flow(message(3, static_cast<NodeId>(flow), 5000), now));
        }
    }
    void on_sent(NodeId, FlowId, Tick, HostServices&) override {}
    void on_timer(NodeId, std::uint64_t, Tick, HostServices&) override {}
    std::vector<FlowId> answers;
};

}  // namespace

TEST_CASE("models.embedding.the_simulation_stays_the_callers") {
    Star star;
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    CHECK(sc_core::sc_get_status() == sc_core::SC_ELABORATION);
    sc_core::sc_start();
    CHECK(network.clock().at_rest());
    CHECK(sc_core::sc_get_status() == sc_core::SC_PAUSED);
    // Not stopped: it goes on with what comes.
    network.open_flow(message(0, 1, 1000), network.clock().earliest());
    sc_core::sc_start();
    CHECK(network.store().living_count() == 0);
    CHECK(network.clock().at_rest());
}

TEST_CASE("models.embedding.an_application_opens_flows") {
    Star star;
    Answerer application;
    std::vector<FlowId> finished;
    NetworkOptions options;
    options.hooks.on_finish = [&](const FlowRecord& flow) { finished.push_back(flow.id); };
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    &application, options);
    sc_core::sc_start();
    REQUIRE(application.answers.size() == 3);
    CHECK(finished.size() == 6);
    for (const FlowId answer : application.answers) {
        CHECK(std::count(finished.begin(), finished.end(), answer) == 1);
    }
}

TEST_CASE("models.embedding.flows_are_known_by_their_number") {
    Star star;
    star.flows.clear();
    std::vector<FlowId> finished;
    NetworkOptions options;
    options.hooks.on_finish = [&](const FlowRecord& flow) { finished.push_back(flow.id); };
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    FlowSpec numbered = message(0, 1, 1000);
    numbered.id = 77;
    CHECK(network.open_flow(numbered, 0) == 77);
    const FlowId first = network.open_flow(message(2, 1, 1000), 10 * kMicrosecond);
    const FlowId second = network.open_flow(message(2, 1, 1000), 20 * kMicrosecond);
    CHECK(first == opened_flow_id(2, 0));
    CHECK(second == opened_flow_id(2, 1));
    sc_core::sc_start();
    CHECK(finished == std::vector<FlowId>{77, first, second});
}

TEST_CASE("models.embedding.partitions_are_kept_on_one_clock_or_on_many") {
    Star star;
    star.flows.clear();
    star.add_flow(0, 1, 1'000'000, 0);
    star.add_flow(2, 3, 1'000'000, 0);
    NetworkOptions options;
    options.free_running = true;
    Network one("one", star.topology, star.routing, star.config, star.flows, star.paths, nullptr,
                options);
    Network many("many", star.topology, star.routing, star.config, star.flows, star.paths, nullptr,
                 options);
    step::FlowPartitions of_one(one.store());
    step::FlowPartitions of_many(many.store());
    one.clock().engine().keep_partitions(engine::Clocks::one, of_one, nullptr);
    many.clock().engine().keep_partitions(engine::Clocks::many, of_many, nullptr);
    sc_core::sc_start();
    CHECK(one.clock().engine().driver()->statistics().entries == 2);
    CHECK(one.clock().engine().driver()->statistics().windows_solo == 0);
    CHECK(many.clock().engine().driver()->statistics().entries == 2);
    CHECK(many.clock().engine().driver()->statistics().windows_solo > 0);
    CHECK(finishes(one) == finishes(many));
}

TEST_CASE("models.embedding.hooks") {
    Star star(congestion::Law::none);
    star.config.congestion.window = false;
    star.flows.clear();
    for (NodeId host = 0; host < 3; ++host) {
        star.add_flow(host, 3, 10'000'000, 0);
    }
    assign_source_ports(star.flows);
    std::vector<FlowRecord> finished;
    std::vector<PfcEvent> pauses;
    std::vector<Tick> samples;
    std::vector<Tick> progress;
    bool ahead = true;
    NetworkOptions options = with_switch<PolicySwitch<ThreePackets>>();
    options.hooks.on_finish = [&](const FlowRecord& flow) {
        finished.push_back(flow);
        ahead = ahead && flow.result.finish >= sc_now();
    };
    options.hooks.on_pfc = [&](const PfcEvent& event) { pauses.push_back(event); };
    options.hooks.on_sample = [&](Tick now, const auto&) { samples.push_back(now); };
    options.hooks.sample_from = 10 * kMicrosecond;
    options.hooks.sample_every = 5 * kMicrosecond;
    options.hooks.sample_to = 20 * kMicrosecond;
    options.hooks.on_progress = [&](Tick now) {
        progress.push_back(now);
        return true;
    };
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    sc_core::sc_start();
    REQUIRE(finished.size() == 3);
    CHECK(std::is_sorted(finished.begin(), finished.end(), [](const auto& a, const auto& b) {
        return std::make_pair(a.result.finish, a.id) < std::make_pair(b.result.finish, b.id);
    }));
    CHECK(ahead);
    // Each pause and each resume: one more or less than twice the pauses sent.
    CHECK(pauses.size() > network.counters().pfc_pauses);
    CHECK(std::is_sorted(pauses.begin(), pauses.end(), [](const auto& a, const auto& b) {
        return std::make_pair(a.at, a.port) < std::make_pair(b.at, b.port);
    }));
    CHECK(samples == std::vector<Tick>{10 * kMicrosecond, 15 * kMicrosecond, 20 * kMicrosecond});
    CHECK(progress.size() >= 2);
    CHECK(std::is_sorted(progress.begin(), progress.end()));
}

TEST_CASE("models.embedding.progress_may_end_a_run") {
    Star star;
    star.flows[2].size = 50'000'000;
    NetworkOptions options;
    options.hooks.on_progress = [](Tick now) { return now < kMillisecond; };
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    sc_core::sc_start();
    CHECK(network.clock().finished());
    CHECK_FALSE(network.clock().at_rest());
    CHECK_FALSE(network.clock().cut_off());
    CHECK(network.store().results()[2].finish == kNever);
}

TEST_CASE("models.embedding.nothing_is_executed_at_or_after_the_stop") {
    Star star;
    NetworkOptions options;
    options.stop = 20 * kMicrosecond;
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    sc_core::sc_start();
    CHECK(network.clock().finished());
    CHECK(network.clock().cut_off());
    CHECK(network.clock().now() <= options.stop);
    CHECK(finishes(network) == std::vector<Tick>(3, kNever));
}

TEST_CASE("models.embedding.links_fail_and_are_repaired") {
    PlainStar star;
    star.flows.clear();
    star.add_flow(0, 3, 10'000, 10 * kMicrosecond);
    star.add_flow(1, 3, 10'000, 10 * kMicrosecond);
    NetworkOptions options;
    const LinkId cable = star.topology.link_of(star.topology.first_port(0));
    options.link_events.push_back({kMicrosecond, cable, false});
    options.link_events.push_back({kMillisecond, cable, true});
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    sc_core::sc_start();
    const std::vector<Tick> finish = finishes(network);
    CHECK(finish[0] > kMillisecond);
    CHECK(finish[0] != kNever);
    CHECK(finish[1] < kMillisecond);
}

TEST_CASE("models.embedding.a_free_running_clock_is_a_millisecond_ahead") {
    PlainStar star;
    star.flows.clear();
    star.add_flow(0, 3, 40'000'000, 0);  // 3.4 ms
    NetworkOptions options;
    options.free_running = true;
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    sc_core::sc_start(1, sc_core::SC_NS);
    CHECK(network.clock().now() > 900 * kMicrosecond);
    CHECK(network.clock().now() <= kMillisecond + 1);
    sc_core::sc_start();
    CHECK(network.store().results()[0].finish > 3 * kMillisecond);
}

TEST_CASE("models.embedding.the_pages_subclass_counts") {
    Star star;
    const auto& [topology, routing_, config, flows, paths] = star;
    Routing& routing = star.routing;
    sluice::NetworkOptions options;
    options.make_node = [](const char* name, sluice::NodeId id,
                           const sluice::Node::Context& context,
                           sluice::step::SwitchScratch& scratch) -> std::unique_ptr<sluice::Node> {
        if (id != 4) {
            return nullptr;  // the default device
        }
        return std::make_unique<CountingSwitch>(name, id, context, scratch);
    };
    sluice::Network network("network", topology, routing, config, flows, paths, nullptr, options);
    sc_core::sc_start();
    CHECK(dynamic_cast<CountingSwitch*>(network.node(4))->windows > 10);
}

TEST_CASE("models.embedding.a_cell_is_a_node_or_a_part_of_a_switch") {
    PlainStar star;
    star.flows.clear();
    star.add_flow(0, 1, 1'000'000, 0);
    star.add_flow(2, 3, 1'000'000, 0);
    NetworkOptions options = with_switch<WatchedSwitch>();
    options.free_running = true;
    Network one("one", star.topology, star.routing, star.config, star.flows, star.paths, nullptr,
                options);
    options.partition_clocks = true;
    Network many("many", star.topology, star.routing, star.config, star.flows, star.paths, nullptr,
                 options);
    sc_core::sc_start();
    const auto& whole = dynamic_cast<WatchedSwitch&>(*one.node(4));
    const auto& parts = dynamic_cast<WatchedSwitch&>(*many.node(4));
    CHECK(whole.whole > 0);
    CHECK(whole.parts == 0);
    CHECK(parts.parts > 0);
    CHECK((whole.wakes_later && parts.wakes_later));
    CHECK((whole.in_lookahead && parts.in_lookahead));
    CHECK(finishes(one) == finishes(many));
}

TEST_CASE("models.embedding.the_pages_admission_rule_pauses") {
    Star star(congestion::Law::none);
    star.config.congestion.window = false;
    sluice::NetworkOptions options;
    options.make_node = [](const char* name, sluice::NodeId id,
                           const sluice::Node::Context& context,
                           sluice::step::SwitchScratch& scratch) -> std::unique_ptr<sluice::Node> {
        if (id != 4) {
            return nullptr;
        }
        return std::make_unique<sluice::PolicySwitch<ThreePackets>>(name, id, context, scratch);
    };
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    sc_core::sc_start();
    CHECK(network.counters().pfc_pauses > 0);
    CHECK(network.counters().drops == 0);
}

TEST_CASE("models.embedding.an_egress_limit_and_a_marking_rule_of_ones_own") {
    PlainStar star;
    star.config.congestion.window = false;
    Network plain("plain", star.topology, star.routing, star.config, star.flows, star.paths,
                  nullptr);
    Network shorter("shorter", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, with_switch<PolicySwitch<ShortQueues>>());
    Network marking("marking", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, with_switch<PolicySwitch<MarksAll>>());
    sc_core::sc_start(100, sc_core::SC_US);
    CHECK(plain.counters().drops == 0);
    CHECK(shorter.counters().drops > 0);
    CHECK(plain.counters().ecn_marks == 0);
    CHECK(marking.counters().ecn_marks > 0);
}

TEST_CASE("models.embedding.a_flow_for_the_past_is_reported") {
    Star star;
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    sc_core::sc_start(1, sc_core::SC_US);
    REQUIRE(network.clock().now() > 0);
    throw_reports();
    CHECK_THROWS_AS(network.open_flow(message(0, 1, 1000), network.clock().now() - 1),
                    sc_core::sc_report);
}

}  // namespace sluice::test
