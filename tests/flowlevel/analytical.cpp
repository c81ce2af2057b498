// SPDX-License-Identifier: Apache-2.0
/// The analytical networks against the figures of astra-network-analytical's own tests
/// (test/test_congestion_aware.cpp, test_congestion_unaware.cpp): 1 MiB at 50 x 2^30 B/s takes
/// 19531.25 ns, a hop 500 ns.
#include <doctest/doctest.h>

#include "core/error.h"
#include "flowlevel/analytical_network.h"

namespace sluice::flowlevel {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

AnalyticalConfig one_dimension(DimensionKind kind, bool aware) {
    return {{{kind, 16, 50, 500}}, aware};
}

/// Starts all flows of a rank at time 0, in their order, and notes when they arrive.
class SendAll final : public Application {
  public:
    explicit SendAll(const std::vector<FlowSpec>& flows)
        : flows_(flows), received(flows.size(), kNever), sent(flows.size(), kNever) {}
    void on_begin(NodeId host, HostServices& services) override {
        for (FlowId flow = 0; flow < flows_.size(); ++flow) {
            if (flows_[flow].src == host) services.start_flow(flow, 0);
        }
    }
    void on_received(NodeId, FlowId flow, Tick now, HostServices&) override {
        received[flow] = now;
    }
    void on_sent(NodeId, FlowId flow, Tick now, HostServices&) override { sent[flow] = now; }
    void on_timer(NodeId, std::uint64_t, Tick, HostServices&) override {}

  private:
    const std::vector<FlowSpec>& flows_;

  public:
    std::vector<Tick> received;
    std::vector<Tick> sent;
};

FlowSpec message(NodeId src, NodeId dst, std::int64_t size) {
    FlowSpec flow;
    flow.src = src;
    flow.dst = dst;
    flow.size = size;
    return flow;
}

Tick run_all(const AnalyticalConfig& config, const std::vector<FlowSpec>& flows) {
    SendAll application(flows);
    AnalyticalRun run(config, flows, application);
    run.run();
    CHECK(run.delivered() == flows.size());
    CHECK(application.received == application.sent);
    Tick last = 0;
    for (const Tick at : application.received) last = std::max(last, at);
    return last;
}

}  // namespace

TEST_CASE("unit.flowlevel.analytical.unaware_one_message_every_kind_of_dimension") {
    // Ring 1 -> 4: 3 hops.
    const auto ring = one_dimension(DimensionKind::ring, false);
    CHECK(analytical_delay(ring, 1, 4, kMebibyte) == 21'031 * kNanosecond);
    const auto full = one_dimension(DimensionKind::fully_connected, false);
    CHECK(analytical_delay(full, 1, 4, kMebibyte) == 20'031 * kNanosecond);
    const auto star = one_dimension(DimensionKind::switch_, false);
    CHECK(analytical_delay(star, 1, 4, kMebibyte) == 20'531 * kNanosecond);
    CHECK(run_all(ring, {message(1, 4, kMebibyte)}) == 21'031 * kNanosecond);
}

TEST_CASE("unit.flowlevel.analytical.unaware_three_dimensions_the_first_innermost") {
    // Ring_FullyConnected_Switch: 2 x 8 x 4 NPUs; 200, 100 and 50 GB/s; 50, 500 and 2000 ns.
    const AnalyticalConfig config{{{DimensionKind::ring, 2, 200, 50},
                                   {DimensionKind::fully_connected, 8, 100, 500},
                                   {DimensionKind::switch_, 4, 50, 2000}},
                                  false};
    CHECK(config.rank_count() == 64);
    CHECK(analytical_delay(config, 0, 1, kMebibyte) == 4'932 * kNanosecond);
    CHECK(analytical_delay(config, 37, 41, kMebibyte) == 10'265 * kNanosecond);
    CHECK(analytical_delay(config, 26, 42, kMebibyte) == 23'531 * kNanosecond);
    // Through two dimensions: the first one is charged, as in the original.
    CHECK(analytical_delay(config, 0, 3, kMebibyte) == 4'932 * kNanosecond);
}

TEST_CASE("unit.flowlevel.analytical.aware_one_message_is_stored_at_every_hop") {
    const std::vector<FlowSpec> flows = {message(1, 4, kMebibyte)};
    CHECK(run_all(one_dimension(DimensionKind::ring, true), flows) == 60'093 * kNanosecond);
    CHECK(run_all(one_dimension(DimensionKind::fully_connected, true), flows) ==
          20'031 * kNanosecond);
    CHECK(run_all(one_dimension(DimensionKind::switch_, true), flows) == 40'062 * kNanosecond);
    CHECK(analytical_delay(one_dimension(DimensionKind::ring, true), 1, 4, kMebibyte) ==
          60'093 * kNanosecond);
}

TEST_CASE("unit.flowlevel.analytical.aware_an_all_gather_of_direct_messages_on_a_ring") {
    std::vector<FlowSpec> flows;
    for (NodeId src = 0; src < 16; ++src) {
        for (NodeId dst = 0; dst < 16; ++dst) {
            if (src != dst) flows.push_back(message(src, dst, kMebibyte));
        }
    }
    // The clockwise links carry 1 + 2 + ... + 8 = 36 messages each, and are never idle.
    CHECK(run_all(one_dimension(DimensionKind::ring, true), flows) == 704'116 * kNanosecond);
}

TEST_CASE("unit.flowlevel.analytical.aware_a_link_is_a_queue_first_come_first_served") {
    // 0 -> 1 twice: the second starts when the link is free, 19531 ns later.
    const std::vector<FlowSpec> flows = {message(0, 1, kMebibyte), message(0, 1, kMebibyte)};
    CHECK(run_all(one_dimension(DimensionKind::ring, true), flows) ==
          (19'531 + 20'031) * kNanosecond);
}

TEST_CASE("unit.flowlevel.analytical.impossible_networks_are_refused") {
    const std::vector<FlowSpec> flows;
    CHECK_THROWS_AS(analytical_delay({{}, true}, 0, 1, 1), ConfigError);
    CHECK_THROWS_AS(analytical_delay({{{DimensionKind::ring, 8, 0, 500}}, true}, 0, 1, 1),
                    ConfigError);
    CHECK_THROWS_AS(analytical_delay({{{DimensionKind::ring, 8, 1, -1}}, true}, 0, 1, 1),
                    ConfigError);
    CHECK_THROWS_AS(analytical_delay({{{DimensionKind::ring, 1U << 31, 1, 0}}, true}, 0, 1, 1),
                    ConfigError);
    const std::vector<FlowSpec> outside = {message(0, 16, 1)};
    SendAll application(outside);
    const auto ring = one_dimension(DimensionKind::ring, true);
    CHECK_THROWS_AS(AnalyticalRun(ring, outside, application), ConfigError);
}

}  // namespace sluice::flowlevel
