// SPDX-License-Identifier: Apache-2.0
/// What a run recorded of its queues (core/results/queue_trace.h has the form).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/congestion/laws.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice::restore {

/// A switch port. The columns have a value per sample.
struct PortTrace {
    PortId port = 0;
    std::int64_t line_rate = 0;   ///< bits/s
    std::int64_t mark_bytes = 0;  ///< 0: marks do not matter
    bool to_host = false;
    std::vector<std::uint32_t> depth;  ///< bytes queued
    std::vector<std::uint32_t> sent;   ///< bytes since the sample before
    std::vector<std::uint16_t> flows;
    std::vector<std::uint16_t> changes;  ///< flows that have come or gone, mod 2^16
};

struct QueueTrace {
    std::string path;      ///< of the file
    std::string scenario;  ///< its name
    congestion::Law law{};
    Tick base_rtt = 0;
    Tick step = 0;
    bool complete = true;              ///< false: the run went on when the file was full
    std::vector<std::uint32_t> steps;  ///< of each sample, ascending
    std::vector<PortTrace> ports;
};

/// FOLDER/queues.bin. ConfigError "PATH: ..." if it is not there, or not a whole, sound trace of this
/// version, of a law that this build has.
QueueTrace load_queue_trace(const std::string& folder);
/// The same of a file's bytes; `path` names them.
QueueTrace parse_queue_trace(std::string_view bytes, const std::string& path);

}  // namespace sluice::restore
