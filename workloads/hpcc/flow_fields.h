// SPDX-License-Identifier: Apache-2.0
/// What every list of flows is held to, whatever its format: a field's limits, and a flow's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/flow/flow.h"
#include "core/routing/routing.h"
#include "core/text/quantity.h"
#include "core/topology/topology.h"

namespace sluice::flow_fields {

inline constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;  ///< a petabyte
/// Of starts: what ns-3's nanoseconds hold of a double, and 92 days.
inline constexpr std::int64_t kLatestSeconds = 8'000'000;

/// Whole numbers as a list's maker may have written them, "2.0" or "1e+06": read, and told.
class WholeNumbers {
  public:
    /// The digits of what is such a number, good until the next call; else the text itself.
    std::string_view digits(std::string_view text, int line);
    void tell(const std::string& file, std::vector<std::string>& notes) const;

  private:
    std::string digits_;
    std::string first_;  ///< the first one that was written as a real
    int line_ = 0;       ///< its line
    std::size_t count_ = 0;
};

NodeId host_of(std::string_view text, const Place& place, const Topology& topology);
/// Class 0 is the control queue: never marked nor paused.
std::uint8_t priority_of(std::string_view text, const Place& place);
std::uint16_t port_of(std::string_view text, const Place& place);
/// The start is exact, to the picosecond, and refused if it is finer.
Tick start_of(std::string_view text, const Place& place, BareNumber bare);
void check_ends(const FlowSpec& flow, const Place& place, const Routing& routing);

}  // namespace sluice::flow_fields
