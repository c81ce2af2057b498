// SPDX-License-Identifier: Apache-2.0
/// Flows that an application opens while flow mode runs.
#include <memory>
#include <vector>

#include "flowlevel/flow_run.h"
#include "tests/support/error_of.h"
#include "tests/support/star_support.h"
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;
using flowlevel::FlowExperiment;
using flowlevel::FlowRun;

namespace {

FlowExperiment experiment(const Case& given, Application* application) {
    return {given.topology, given.config, given.flows, given.paths,
            given.events,   application,  given.stop};
}

/// Host 0 opens `count` flows to host 1, each when the one before it has been acknowledged.
class Chain : public Application {
  public:
    explicit Chain(std::uint64_t count) : left_(count) {}
    void on_begin(NodeId host, HostServices& services) override {
        if (host == 0) open(0, services);
    }
    void on_received(NodeId, FlowId, Tick, HostServices&) override { ++received; }
    void on_sent(NodeId, FlowId flow, Tick now, HostServices& services) override {
        ids.push_back(flow);
        if (left_ > 0) open(now, services);
    }
    void on_timer(NodeId, std::uint64_t, Tick, HostServices&) override {}

    std::uint64_t received = 0;
    std::vector<FlowId> ids;

  private:
    void open(Tick now, HostServices& services) {
        --left_;
        FlowSpec spec;
        spec.src = 0;
        spec.dst = 1;
        spec.size = 1000;
        services.open_flow(spec, now);
    }
    std::uint64_t left_;
};

class Opener : public Application {
  public:
    Opener(std::vector<FlowSpec> flows, std::vector<Tick> at)
        : flows_(std::move(flows)), at_(std::move(at)) {}
    void on_begin(NodeId host, HostServices& services) override {
        for (std::size_t i = 0; i < flows_.size(); ++i) {
            if (flows_[i].src == host) services.open_flow(flows_[i], at_[i]);
        }
    }
    void on_received(NodeId, FlowId, Tick, HostServices&) override {}
    void on_sent(NodeId, FlowId, Tick, HostServices&) override {}
    void on_timer(NodeId, std::uint64_t, Tick, HostServices&) override {}

  private:
    std::vector<FlowSpec> flows_;
    std::vector<Tick> at_;
};

std::vector<FlowRecord> records(const Case& given, Application* application) {
    FlowRun run(experiment(given, application));
    std::vector<FlowRecord> all;
    RunHooks hooks;
    hooks.on_finish = [&](const FlowRecord& flow) { all.push_back(flow); };
    run.run(hooks);
    CHECK(run.opened_unfinished() == 0);
    return all;
}

}  // namespace

TEST_CASE("unit.flowlevel.opened_flows.are_as_fast_as_those_of_a_list") {
    Dice dice(5);
    for (int round = 0; round < 20; ++round) {
        CAPTURE(round);
        Case listed = lawless_star(6);
        std::vector<FlowSpec> opened;
        std::vector<Tick> at;
        for (FlowId id = 0; id < 60; ++id) {
            const NodeId src = dice.below(6);
            FlowSpec spec = flow(src, (src + 1 + dice.below(5)) % 6, dice.size(6.0),
                                 dice.below(100) * kMicrosecond);
            // Some wait for each other.
            if (dice.chance(30)) spec.connection = src * 6 + spec.dst;
            listed.flows.push_back(spec);
            at.push_back(spec.start);
            spec.start = kNever;
            spec.id = 1000 + id;  // in the same order
            opened.push_back(spec);
        }
        Case empty = lawless_star(6);
        if (round % 2 == 1) {
            // Host 2's cable is out for a while.
            listed.events = {{20 * kMicrosecond, 2, false}, {70 * kMicrosecond, 2, true}};
            empty.events = listed.events;
        }
        Opener opener(opened, at);
        const std::vector<FlowRecord> a = records(listed, nullptr);
        const std::vector<FlowRecord> b = records(empty, &opener);
        REQUIRE(a.size() == 60);
        REQUIRE(b.size() == 60);
        for (std::size_t i = 0; i < a.size(); ++i) {
            CHECK(b[i].id == a[i].id + 1000);
            CHECK(b[i].result.start == a[i].result.start);
            CHECK(b[i].result.received == a[i].result.received);
            CHECK(b[i].result.finish == a[i].result.finish);
        }
    }
}

TEST_CASE("unit.flowlevel.opened_flows.wait_for_their_path_until_it_is_repaired") {
    Case given = lawless_star(3);
    given.events = {{kMicrosecond, 1, false}, {300 * kMicrosecond, 1, true}};
    OpensLater later({flow(0, 1, 100'000, 10 * kMicrosecond),
                      flow(1, 2, 100'000, 20 * kMicrosecond),
                      flow(0, 2, 100'000, 20 * kMicrosecond)});
    const std::vector<FlowRecord> cut = records(given, &later);
    REQUIRE(cut.size() == 3);
    CHECK(cut[0].spec.src == 0);
    CHECK(cut[0].spec.dst == 2);
    CHECK(cut[0].result.finish < 100 * kMicrosecond);
    for (std::size_t i = 1; i < 3; ++i) {
        CHECK(cut[i].result.start < 30 * kMicrosecond);
        CHECK(cut[i].result.received > 300 * kMicrosecond);
        CHECK(cut[i].result.finish < 400 * kMicrosecond);
    }
}

TEST_CASE("unit.flowlevel.opened_flows.memory_is_that_of_those_alive") {
    const auto memory_after = [](std::uint64_t count) {
        Case given = lawless_star(2);
        Chain chain(count);
        FlowRun run(experiment(given, &chain));
        std::size_t reported = 0;
        RunHooks hooks;
        hooks.on_finish = [&](const FlowRecord& flow) {
            CHECK(flow.id == opened_flow_id(0, static_cast<std::uint32_t>(reported)));
            ++reported;
        };
        run.run(hooks);
        CHECK(reported == count);
        CHECK(chain.received == count);
        CHECK(chain.ids.size() == count);
        return run.memory_bytes();
    };
    CHECK(memory_after(20'000) == memory_after(10));
}

TEST_CASE("unit.flowlevel.opened_flows.go_on_beside_a_list_and_are_refused_where_they_cannot") {
    Case given = lawless_star(3);
    given.flows = {flow(2, 1, 5000, 0)};
    FlowSpec spec = flow(0, 1, 1000, kNever);
    Opener one({spec}, {kMicrosecond});
    const std::vector<FlowRecord> both = records(given, &one);
    REQUIRE(both.size() == 2);
    CHECK(both[0].id + both[1].id == opened_flow_id(0, 0));

    const auto refused = [&](const FlowSpec& wrong, Tick at) {
        Opener opener({wrong}, {at});
        return error_of([&] { records(given, &opener); });
    };
    FlowSpec to_itself = spec;
    to_itself.dst = 0;
    to_itself.id = 77;
    CHECK(refused(to_itself, 0) ==
          "flow 77 goes from node 0 to node 0; allowed: two different hosts");
    FlowSpec empty = spec;
    empty.size = 0;
    empty.id = 78;
    CHECK(refused(empty, 0) == "flow 78 has 0 bytes; allowed: at least 1");
    FlowSpec taken = spec;
    taken.id = 0;
    CHECK_THROWS_AS(refused(taken, 0), InternalError);
    CHECK_THROWS_AS(refused(spec, -1), InternalError);
}
