// SPDX-License-Identifier: Apache-2.0
/// What bench/steady/record writes and bench/steady/study reads: flows and switch queues of one
/// packet-mode run, sampled between windows. A file is the structs below as they lie in memory, so
/// it is read by the build that wrote it only (a version and sizes are checked).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/congestion/types.h"
#include "core/ids.h"
#include "core/steady/detector.h"
#include "core/units.h"

namespace sluice::steady_bench {

struct FlowRecord {
    std::int64_t size = 0;
    Tick start = kNever;
    Tick finish = kNever;
    Tick base_rtt = 0;
    NodeId src = 0;
    NodeId dst = 0;
    std::vector<PortId> ports;  ///< egress ports of its data packets and ACKs
};

/// One active flow at one sample.
struct FlowSample {
    FlowId flow = kNone;
    steady::FlowReading reading;
};

struct Series {
    congestion::Parameters congestion;
    std::int64_t payload = 1000;
    std::int64_t line_rate = 0;
    Tick period = 0;
    std::vector<FlowRecord> flows;
    std::vector<PortId> ports;  ///< switch ports that flows use: columns of `queues`

    std::vector<Tick> times;
    std::vector<std::size_t>
        first;  ///< by sample: its first entry in `samples`; one more at the end
    std::vector<FlowSample> samples;
    std::vector<std::uint32_t> queues;  ///< bytes, samples x ports
};

/// Both throw std::runtime_error with the file's name.
void write_series(const Series& series, const std::string& path);
Series read_series(const std::string& path);

}  // namespace sluice::steady_bench
