// SPDX-License-Identifier: Apache-2.0
/// HPCC ns-3's queue-length file: every 100 ns the backlog of every switch port is counted into a
/// histogram of 1000-byte bins; whenever the time is a multiple of 100 ms all histograms, cumulative
/// since the start, are written: a line `time: <ns>`, then per switch and port
/// `<switch> <interface> c0 c1 c2 ...`, ci = samples with a backlog in [i, i + 1) x 1000 bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/results/output_file.h"
#include "core/topology/topology.h"
#include "core/units.h"

namespace sluice {

class QueueMonitor {
  public:
    static constexpr Tick kSamplePeriod = 100 * kNanosecond;
    static constexpr Tick kDumpPeriod = 100 * kMillisecond;

    /// Samples are taken at from, from + 100 ns, ... until the first one at or after `to`.
    QueueMonitor(const Topology& topology, OutputFile& file, Tick from, Tick to);

    Tick first_sample() const { return from_; }
    Tick last_sample() const { return last_; }

    /// The sample due at `now`: bytes queued at every port of the network.
    void sample(Tick now, const std::vector<std::int64_t>& queue_bytes);

    /// Takes the samples that are still due up to `end` (included), of a network at rest: the
    /// original goes on sampling after the last flow. Writes at most kMaxIdleDumps histograms.
    void idle_until(Tick end);

  private:
    struct Histogram {
        NodeId node = 0;
        std::uint32_t interface = 0;
        PortId port = 0;
        std::vector<std::uint64_t> counts;
    };
    static constexpr int kMaxIdleDumps = 100;

    void dump(Tick now);

    OutputFile& file_;
    Tick from_;
    Tick last_;
    Tick next_;
    std::vector<Histogram> histograms_;
};

}  // namespace sluice
