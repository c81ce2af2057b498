// SPDX-License-Identifier: Apache-2.0
/// trace.json: a timeline in the Chrome trace format (a JSON array of events), for Perfetto and
/// chrome://tracing. Processes are hosts, and two more hold the collectives and the phases of
/// partitions; threads are lanes.
/// Events that overlap in a lane are spread over numbered copies of it, since viewers want the
/// events of a thread nested. Streamed: memory grows with the number of lanes, not of events, and
/// a file that was cut short still opens (the format lets the closing bracket be missing).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/results/output_file.h"
#include "core/units.h"

namespace sluice {

/// `text` as a JSON string, quotes included; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

/// "1234.567890": a time in microseconds, exact.
std::string trace_microseconds(Tick time);

class TraceWriter {
  public:
    explicit TraceWriter(const std::string& path);

    /// Names a process; once per process, before or after its events.
    void name_process(std::uint32_t process, std::string_view name);
    /// A span [start, end] in lane `lane` of `process`. `lane_order` sorts the lanes of a process.
    /// `bytes` < 0 and an empty `ended_by` are left out.
    void span(std::uint32_t process, std::uint32_t lane_order, std::string_view lane,
              std::string_view name, Tick start, Tick end, std::int64_t bytes,
              std::string_view ended_by = {});

    /// Something that took no time, across the whole process.
    void instant(std::uint32_t process, std::string_view name, Tick at);

    /// Closes the array; then the file is whole.
    void finish();
    OutputFile& file() { return file_; }

  private:
    struct Lane {
        std::vector<Tick> busy_until;        ///< by copy of the lane
        std::vector<std::uint32_t> threads;  ///< thread id of each copy
    };
    void begin_event();
    std::uint32_t thread_for(std::uint32_t process, std::uint32_t lane_order, std::string_view lane,
                             Tick start, Tick end);
    void name_thread(std::uint32_t process, std::uint32_t thread, std::uint32_t lane_order,
                     const std::string& name);

    OutputFile file_;
    bool first_ = true;
    std::map<std::pair<std::uint32_t, std::string>, Lane> lanes_;
    std::map<std::uint32_t, std::uint32_t> next_thread_;  ///< by process
};

}  // namespace sluice
