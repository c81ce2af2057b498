// SPDX-License-Identifier: Apache-2.0
/// What one trial tells: a run of a simulator, a testbed or another program, whatever ran it. Times are seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice::eval {

struct TrialFlow {
    double start_s = 0;
    double time_s = 0;   ///< completion time; infinite: it was under way when the trial was cut off
    double ideal_s = 0;  ///< completion time on an idle network; 0: not known
    std::int64_t size = 0;            ///< payload bytes; 0: not known
    std::uint16_t traffic_class = 0;  ///< an index into TrialRecord::classes
};

struct TrialCollective {
    std::uint16_t kind = 0;  ///< an index into TrialRecord::kinds
    double time_s = 0;       ///< from its first rank's begin to its last one's end
};

/// An egress port that a metric asks for.
struct TrialPort {
    std::int64_t largest_queue = 0;  ///< bytes
    double throughput = 0;           ///< bits per second on the wire, over the trial
    std::vector<double> queues;  ///< bytes, sampled at equal distances, if a metric asks for them
};

struct TrialRecord {
    std::vector<TrialFlow> flows;
    std::vector<std::string> classes;  ///< of traffic
    std::optional<double> jct_s;       ///< infinite: the job was not complete
    std::vector<TrialCollective> collectives;
    std::vector<std::string> kinds;  ///< of collectives
    std::vector<TrialPort> ports;    ///< by Metric::port
    /// What a table of somebody else's trials has, by column.
    std::map<std::string, std::vector<double>> columns;
    double length_s = 0;  ///< simulated
    double cpu_s = 0;     ///< of its thread; 0: not known
    std::int64_t packet_hops = 0;
};

/// What trial `number` of an evaluation draws by: a pure function of both, 0 to 2^62.
std::uint64_t trial_seed(std::uint64_t seed, std::size_t number);

}  // namespace sluice::eval
