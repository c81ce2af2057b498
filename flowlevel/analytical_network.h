// SPDX-License-Identifier: Apache-2.0
/// The analytical networks of ASTRA-sim (astra-network-analytical): one closed form per message
/// instead of packets, for comparing with that simulator and for very large runs.
/// What is modelled. Ranks stand in a grid of dimensions, the first innermost: the rank's coordinate
/// in dimension d is rank / (n_0 ... n_(d-1)) mod n_d. A dimension joins the ranks that differ in
/// its coordinate only, as
///   ring             links both ways between neighbours; the shorter way round, clockwise if equal
///   fully_connected  a link each way between any two: 1 hop
///   switch_          a link each way between each rank and the dimension's switch: 2 hops
///   unaware   hops x latency + bytes / bandwidth of the first dimension that a message crosses,
///             whatever else is on the way; others are not charged
///   aware     store and forward: each link is a queue, first come first served, busy for
///             bytes / bandwidth; the next hop has the message latency later. A message that
///             crosses several dimensions crosses the first one first
/// Times are cut to whole nanoseconds once per message (unaware) or link (aware), as in the original.
/// Bandwidth is per link and direction, in 2^30 bytes per second.
/// A send completes when its message has arrived. Hosts are the ranks; the lookahead is 0: events are
/// in one order, by time, ties by when they were scheduled.
/// Deviation: the original's congestion-aware form has one dimension.
/// Errors: ConfigError for impossible dimensions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/flow/application.h"
#include "core/flow/flow.h"

namespace sluice::flowlevel {

enum class DimensionKind : std::uint8_t { ring, fully_connected, switch_ };

struct AnalyticalDimension {
    DimensionKind kind = DimensionKind::ring;
    std::uint32_t npus = 2;
    double bandwidth = 0;  ///< 2^30 bytes per second
    double latency = 0;    ///< nanoseconds per hop
};

struct AnalyticalConfig {
    std::vector<AnalyticalDimension> dimensions;
    bool congestion_aware = true;

    std::uint64_t rank_count() const;
};

/// When a lone message of `bytes` from `src` to another rank is there, after it was sent.
Tick analytical_delay(const AnalyticalConfig& config, std::uint32_t src, std::uint32_t dst,
                      std::int64_t bytes);

class AnalyticalRun {
  public:
    /// All must outlive the run. The flows' src and dst are ranks; all are started by `application`.
    AnalyticalRun(const AnalyticalConfig& config, const std::vector<FlowSpec>& flows,
                  Application& application);
    ~AnalyticalRun();
    AnalyticalRun(const AnalyticalRun&) = delete;
    AnalyticalRun& operator=(const AnalyticalRun&) = delete;

    /// Runs until nothing is left to happen, or until `on_progress`, called every 65536 events,
    /// returns false.
    void run(const std::function<bool(Tick now)>& on_progress = {});

    Tick now() const;
    std::uint64_t events() const;
    std::uint64_t delivered() const;  ///< messages

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::flowlevel
