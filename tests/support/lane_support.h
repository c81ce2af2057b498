// SPDX-License-Identifier: Apache-2.0
/// Experiments for lanes, and what is compared of them.
#pragma once

#include <memory>
#include <vector>

#include "core/job/job_set.h"
#include "experiment/modes/packet_run.h"
#include "gpu/blocks/block_executor.h"
#include "gpu/lane_run.h"
#include "tests/support/job_random.h"
#include "tests/support/step_random.h"

namespace sluice::test {

/// Memory that is full all the time: a pause wherever there can be one.
inline constexpr gpu::LaneMemory kTiny{0, 4096, SIZE_MAX};
/// The same, and nothing of it on the host meanwhile.
inline constexpr gpu::LaneMemory kAlone{0, 4096, SIZE_MAX, true};

/// A block executor as the only device, with so much memory for lanes.
inline gpu::LaneDevices block_device(const gpu::Mapping& mapping, std::size_t bytes = SIZE_MAX) {
    return gpu::LaneDevices(std::make_unique<gpu::BlockExecutor>(mapping, bytes));
}

inline RunHooks with_checksum() {
    RunHooks hooks;
    hooks.checksum = true;
    return hooks;
}

/// Runs it to its end.
inline Outcome outcome_of(ModeRun& run) {
    run.run(with_checksum());
    return Outcome{run.counters().hop_checksum, run.counters(), run.results(),
                   run.port_statistics()};
}

inline void check_same_lanes(const Outcome& expected, const Outcome& made) {
    check_same(expected, made);
    CHECK(expected.counters.events == made.counters.events);
    CHECK(expected.counters.retransmitted_bytes == made.counters.retransmitted_bytes);
}

inline Experiment experiment_of(const Case& given) {
    Experiment experiment;
    experiment.topology = with_links(given.topology, [](Link&) {});
    experiment.network = given.config;
    experiment.flows = given.flows;
    experiment.paths = given.paths;
    experiment.link_events = given.events;
    experiment.stop = given.stop;
    return experiment;
}

/// The random case by the loop and as a lane under each variant, by `run_lane(experiment, variant)`: the same. Its
/// counters.
template <class Variants, class RunLane>
RunCounters compare_lane(std::uint64_t seed, const Variants& variants, RunLane&& run_lane) {
    const Case given = random_case(seed);
    INFO(given.name);
    const Experiment experiment = experiment_of(given);
    PacketRun loop(experiment, Caller::loop);
    const Outcome expected = outcome_of(loop);
    for (const auto& variant : variants) {
        INFO("variant " << &variant - &variants[0]);
        check_same_lanes(expected, run_lane(experiment, variant));
    }
    return expected.counters;
}

/// Two jobs of random operations on a star, the second from 30 us on.
inline Experiment jobs(std::uint64_t seed) {
    constexpr RankId kRanks = 5;
    Experiment experiment;
    experiment.topology = with_links(build_star({2 * kRanks, {}}),
                                     [](Link& link) { link.delay = 300 * kNanosecond; });
    experiment.network = config_for(congestion::Law::hpcc);
    auto set = std::make_unique<JobSet>();
    for (RankId job = 0; job < 2; ++job) {
        std::vector<NodeId> hosts;
        for (RankId rank = 0; rank < kRanks; ++rank) {
            hosts.push_back(experiment.topology.hosts()[2 * rank + job]);
        }
        JobGraph graph = random_job(kRanks, seed + job);
        const FlowId first = experiment.flows.size();
        for (const FlowSpec& spec : graph.flows(hosts)) {
            experiment.flows.push_back(spec);
        }
        set->add(std::make_unique<JobApplication>(std::move(graph), hosts, first),
                 job * 30 * kMicrosecond);
    }
    experiment.application = std::move(set);
    return experiment;
}

inline const JobApplication& job_of(const Experiment& experiment, std::size_t number) {
    return dynamic_cast<const JobSet&>(*experiment.application).job(number);
}

/// Both have run.
inline void check_same_jobs(const Experiment& expected, const Experiment& made) {
    for (std::size_t number = 0; number < 2; ++number) {
        const JobApplication& a = job_of(expected, number);
        const JobApplication& b = job_of(made, number);
        REQUIRE(b.complete());
        for (OpId op = 0; op < a.graph().op_count(); ++op) {
            REQUIRE(a.start(op) == b.start(op));
            REQUIRE(a.end(op) == b.end(op));
            REQUIRE(a.served_after(op) == b.served_after(op));
        }
    }
}

}  // namespace sluice::test
