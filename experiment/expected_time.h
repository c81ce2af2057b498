// SPDX-License-Identifier: Apache-2.0
/// How long a run may take, by its mode, and how much memory, before it runs: from what its traffic is
/// (experiment/estimate.h) and constants that were measured. Within a factor of three where what is said of
/// its traffic holds; other machines differ.
#pragma once

#include <cstddef>

#include "core/results/mode.h"
#include "experiment/build_experiment.h"
#include "experiment/estimate.h"

namespace sluice {

/// Packet-hops per second of one core: what bench/packet-engine asks of networks of this size
/// (docs/performance.md has what was measured).
inline double packet_hops_per_second(std::size_t hosts) { return hosts <= 256 ? 12e6 : 8e6; }

/// Seconds of a flow in flow mode. Measured as user_s / flows of `sluice run --mode flow` at bdf80f28:
/// 3.3 us (examples/gpt13b-128gpu), 3.4 us (ring-allreduce-1024gpu), 5.7 us (an all-to-all of 128 hosts), 7.1 us
/// (a permutation of 1,024 hosts), 11.6 us (websearch-fattree over 50 ms, 13,951 flows).
inline constexpr double kFlowModeSeconds = 7e-6;

/// Seconds of a flow that is a copy of another one and settles. Measured as user_s / flows of `sluice run --mode
/// wormhole --no-memo` at b6520589, bench/wormhole/scenarios: 20 us (gpt13b-128), 12 us (gpt22b-256),
/// 9 us (moe8x22b-256, moe32x22b-1024), 7 us (gpt175b-1024).
inline constexpr double kCopiedFlowSeconds = 10e-6;

/// Seconds to begin and to write results: what the smallest runs take.
inline constexpr double kLeastSeconds = 1e-3;

/// Memory by what there is most of, as measured: a port with its module, sockets and rings; a
/// flow's columns in sender, receiver and results; an operation of a job and its dependencies.
inline constexpr double kBytesPerPort = 10e3;
inline constexpr double kBytesPerFlow = 250;
inline constexpr double kBytesPerOperation = 100;
inline constexpr double kBytesPerProcess = 20e6;

/// Likely times of hybrid and wormhole mode, as user_s of `sluice run --mode wormhole --no-memo` (bench/wormhole/scenarios,
/// examples) was: where data of different hosts meets at its destination at most, parts are copies of each other and steady, and
/// beginning counts (0.07 s of gpt7b-64, 0.08 s of gpt13b-128, 0.16 s of gpt22b-256); messages of experts contend and
/// hardly settle (18.7 of 30.4 s of moe8x7b-64, 22.6 of 68 s of moe8x13b-128); else messages settle one by one (1.8 s of
/// zero-bubble-16gpu, 9.7 s of ring-allreduce-1024gpu). Where data of different hosts meets between switches, copies are none,
/// and flows share ports for as long as they last: by partition that takes 0.34 to 1.04 of the time of packets (eight
/// trainings on 16 to 64 hosts, 23 to 75 M packet-hops). In local phases only those that meet take so long, and 0.22 to
/// 0.5 of it; of many messages most follow others of their kind, in 4.6 s of 8,448 messages, 29 s of 92,160 and 16 minutes of 6.2 million
/// (trainings like Llama 3 on 128, 1,024 and 16,384 GPUs).
inline constexpr double kCopiedJobSeconds = 0.05;
inline constexpr double kCopiedTimesLeast = 2;
inline constexpr double kExchangedShare = 0.45;
inline constexpr double kCollidingShare = 0.5;
inline constexpr double kCollidingLocally = 0.4;
inline constexpr double kFollowerSeconds = 0.2e-3;
inline constexpr double kFollowedSeconds = 6;  ///< of those that are recorded

struct ExpectedTime {
    double least_s =
        0;  ///< hybrid and wormhole: every flow's rate settles, and those of jobs are copies
    double most_s = 0;  ///< nothing settles; in modes that leave nothing out the same as least_s
    double likely_s = 0;
    const char* likely_why = "";  ///< what that rests on
};

/// Whether flows may be copies of each other, which are executed once: those of jobs often are.
bool may_hold_copies(const BuiltExperiment& built);

/// `audit`: the share of the packet-hops that is simulated besides (PhaseConfig::audit).
ExpectedTime expected_time(const BuiltExperiment& built, Mode mode, double audit);

/// Bytes, the process's own included.
double expected_memory(const BuiltExperiment& built);

}  // namespace sluice
