// SPDX-License-Identifier: Apache-2.0
/// The device's program by the block executor: whoever of a gang does what, and however often memory runs out,
/// every hop, flow and port is what the engine of windows gives. Run under a thread sanitizer, too.
#include "core/error.h"
#include "experiment/modes/packet_run.h"
#include "gpu/blocks/run_gang.h"
#include "gpu/lane/device_error.h"
#include "tests/support/lane_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

struct Variant {
    gpu::Mapping mapping;
    gpu::LaneMemory memory;
};

const Variant kVariants[] = {
    {{1, gpu::Share::strided, 1}, {}},     {{2, gpu::Share::chunked, 1}, {}},
    {{3, gpu::Share::shuffled, 7}, {}},    {{4, gpu::Share::strided, 1}, {}},
    {{1, gpu::Share::shuffled, 3}, kTiny}, {{3, gpu::Share::strided, 1}, kTiny},
    {{1, gpu::Share::strided, 1}, kAlone},
};

Outcome run_lane(const Experiment& experiment, const Variant& variant) {
    gpu::LaneDevices device = block_device(variant.mapping);
    gpu::LaneRun run(experiment, device, variant.memory);
    return outcome_of(run);
}

void compare_lanes(std::uint64_t first_seed, std::uint64_t count) {
    MechanismTally tally;
    for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
        tally.add(compare_lane(seed, kVariants, run_lane));
    }
    tally.check();
}

/// Marks every seventh packet that leaves a switch, in the order in which threads come by.
struct InOrderOfCalls : step::ScenarioPolicies {
    static std::uint32_t calls;
    static bool marks(const step::World&, PortId, step::Egress&, std::uint32_t) {
        return calls++ % 7 == 0;
    }
};
std::uint32_t InOrderOfCalls::calls = 0;

/// Marks by what the port beside it has sent so far, which another thread may be about to send: a thread reads
/// what another one writes in the same system.
struct PlantedRace : step::ScenarioPolicies {
    static bool marks(const step::World& world, PortId port, step::Egress&, std::uint32_t) {
        const PortId ports = world.first_port[world.node_count];
        return world.egress[port + 1 < ports ? port + 1 : port - 1].tx_packets % 2 == 1;
    }
};

/// The checksum of a run under the policies.
template <class Policies>
std::uint64_t checksum(const gpu::Mapping& mapping) {
    Case given;
    given.topology = build_fat_tree({});
    given.config = config_for(congestion::Law::dctcp);
    const auto hosts = static_cast<NodeId>(given.topology.host_count());
    for (NodeId host = 0; host < hosts; ++host) {
        given.flows.push_back(flow(host, (host + 5) % hosts, 100'000, 0));
    }
    Routing routing(given.topology);
    step::WorldStore store(given.topology, routing, given.config, given.flows, given.paths,
                           nullptr);
    store.pin_list();
    store.begin();
    store.world().digest_hops = true;
    gpu::HostMemory memory;
    gpu::LaneImage image(store, {}, {}, memory, {});
    InOrderOfCalls::calls = 0;
    image.lane().until = 200 * kMicrosecond;
    while (gpu::run_gang<Policies>(image.lane(), mapping, 10'000) == gpu::Outcome::full) {
        image.lane().arena = image.grow(image.lane().arena);
    }
    return image.lane().world.checksum;
}

}  // namespace

TEST_CASE("unit.lanes.random_1") { compare_lanes(51'000, 9); }
TEST_CASE("unit.lanes.random_2") { compare_lanes(52'000, 9); }
TEST_CASE("unit.lanes.random_3") { compare_lanes(53'000, 9); }
TEST_CASE("unit.lanes.random_4") { compare_lanes(54'000, 9); }

/// Links fail while the headroom of their ports is in use.
TEST_CASE("unit.lanes.headroom_outlives_a_failed_link") {
    MechanismTally tally;
    for (const std::uint64_t seed : {51'027, 51'199, 51'215, 51'616, 51'828}) {
        tally.add(compare_lane(seed, kVariants, run_lane));
    }
    tally.check();
}

TEST_CASE("unit.lanes.ways_longer_than_a_flow_keeps") {
    constexpr std::uint32_t kSwitches = 12;
    Case given;
    given.name = "a chain of switches";
    for (int host = 0; host < 4; ++host) given.topology.add_node(NodeKind::host);
    for (std::uint32_t i = 0; i < kSwitches; ++i) given.topology.add_node(NodeKind::ethernet);
    const auto join = [&](NodeId a, NodeId b) {
        given.topology.add_link({a, b, gigabits_per_second(100), kMicrosecond, 0});
    };
    join(0, 4);
    join(1, 4);
    join(2, 3 + kSwitches);
    join(3, 3 + kSwitches);
    for (std::uint32_t i = 0; i + 1 < kSwitches; ++i) {
        join(4 + i, 5 + i);
        join(4 + i, 5 + i);  // a choice at each
    }
    given.topology.finish();
    given.config = config_for(congestion::Law::dctcp);
    for (const NodeId src : {0U, 1U, 2U}) {
        given.flows.push_back(flow(src, src < 2 ? 2 + src : 0, 300'000, 0));
    }
    for (const std::uint8_t sprayed : {0, 0xff}) {
        given.config.sprayed_priorities = sprayed;
        const Experiment experiment = experiment_of(given);
        PacketRun loop(experiment, Caller::loop);
        const Outcome expected = outcome_of(loop);
        for (const FlowResult& result : expected.flows) {
            CHECK(result.finish != kNever);
        }
        for (const Variant& variant : kVariants) {
            check_same_lanes(expected, run_lane(experiment, variant));
        }
    }
}

TEST_CASE("unit.lanes.jobs") {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        INFO(seed);
        const Experiment expected = jobs(seed);
        PacketRun loop(expected, Caller::loop);
        loop.run(with_checksum());
        REQUIRE(job_of(expected, 1).complete());
        for (const Variant& variant : kVariants) {
            const Experiment made = jobs(seed);
            gpu::LaneDevices device = block_device(variant.mapping);
            gpu::LaneRun lane(made, device, variant.memory);
            lane.run(with_checksum());
            CHECK(lane.counters().hop_checksum == loop.counters().hop_checksum);
            check_same_jobs(expected, made);
        }
    }
}

TEST_CASE("unit.lanes.what_depends_on_the_order_of_threads_is_found") {
    const gpu::Mapping strided{1, gpu::Share::strided, 1};
    const gpu::Mapping shuffled{1, gpu::Share::shuffled, 7};
    CHECK(checksum<step::ScenarioPolicies>(strided) == checksum<step::ScenarioPolicies>(shuffled));
    CHECK(checksum<InOrderOfCalls>(strided) != checksum<InOrderOfCalls>(shuffled));
}

/// A sanitizer of threads names the place (bench/gpu/races).
TEST_CASE("unit.lanes.planted_race") {
    const gpu::Mapping alone{1, gpu::Share::strided, 1};
    const gpu::Mapping mappings[] = {
        {2, gpu::Share::chunked, 1}, {3, gpu::Share::shuffled, 7}, {4, gpu::Share::strided, 1}};
    const std::uint64_t right = checksum<step::ScenarioPolicies>(alone);
    const std::uint64_t planted = checksum<PlantedRace>(alone);
    CHECK(planted == checksum<PlantedRace>(alone));
    int found = 0;
    for (int repetition = 0; repetition < 5; ++repetition) {
        for (const gpu::Mapping& mapping : mappings) {
            CHECK(checksum<step::ScenarioPolicies>(mapping) == right);
            found += checksum<PlantedRace>(mapping) != planted ? 1 : 0;
        }
    }
    MESSAGE(found << " of 15 runs differ");
    CHECK(found > 0);
}

TEST_CASE("unit.lanes.an_end_of_memory_is_told") {
    const Experiment experiment = experiment_of(random_case(51'000));
    gpu::LaneDevices device = block_device({2, gpu::Share::strided, 1});
    gpu::LaneRun run(experiment, device, {0, 4096, 1 << 20});
    CHECK_THROWS_WITH_AS(run.run({}),
                         "the network needs more than the 1048576 bytes of memory that a lane may "
                         "take",
                         DeviceError);
}

TEST_CASE("unit.lanes.what_no_device_knows_is_refused") {
    Experiment experiment = experiment_of(random_case(51'000));
    gpu::LaneDevices device = block_device({});
    experiment.network.arithmetic = Arithmetic::ns3;
    CHECK_THROWS_AS(gpu::LaneRun(experiment, device, {}), ConfigError);
    experiment.network.arithmetic = Arithmetic::exact;
    gpu::LaneRun run(experiment, device, {});
    RunHooks hooks;
    hooks.on_pfc = [](const PfcEvent&) {};
    CHECK_THROWS_AS(run.run(hooks), ConfigError);
}
