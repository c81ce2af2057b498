// SPDX-License-Identifier: Apache-2.0
#include "experiment/hpcc/queue_monitor.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::int64_t kBinBytes = 1000;

}  // namespace

QueueMonitor::QueueMonitor(const Topology& topology, OutputFile& file, Tick from, Tick to)
    : file_(file), from_(from), last_(from), next_(from) {
    if (to > from) {
        last_ = from + (to - from + kSamplePeriod - 1) / kSamplePeriod * kSamplePeriod;
    }
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        for (std::uint32_t i = 0; !topology.is_host(node) && i < topology.port_count(node); ++i) {
            histograms_.push_back({node, i + 1, topology.first_port(node) + i, {}});
        }
    }
}

void QueueMonitor::sample(Tick now, const std::vector<std::int64_t>& queue_bytes) {
    for (Histogram& histogram : histograms_) {
        const auto bin = static_cast<std::size_t>(queue_bytes[histogram.port] / kBinBytes);
        if (histogram.counts.size() <= bin) {
            histogram.counts.resize(bin + 1);
        }
        ++histogram.counts[bin];
    }
    if (now % kDumpPeriod == 0) {
        dump(now);
    }
    next_ = now + kSamplePeriod;
}

void QueueMonitor::idle_until(Tick end) {
    const Tick stop = std::min(end, last_);
    for (int dumps = 0; next_ <= stop && dumps < kMaxIdleDumps; ++dumps) {
        // All samples up to the next dump at once. Dumps fall on samples only where the phase of
        // the sampling allows it, as in the original.
        const Tick dump_at = (next_ + kDumpPeriod - 1) / kDumpPeriod * kDumpPeriod;
        const bool meets = (dump_at - next_) % kSamplePeriod == 0;
        const Tick until = meets ? std::min(dump_at, stop) : stop;
        const Tick taken = (until - next_) / kSamplePeriod + 1;
        for (Histogram& histogram : histograms_) {
            histogram.counts.resize(std::max<std::size_t>(histogram.counts.size(), 1));
            histogram.counts[0] += static_cast<std::uint64_t>(taken);
        }
        const Tick last_taken = next_ + (taken - 1) * kSamplePeriod;
        if (last_taken % kDumpPeriod == 0) {
            dump(last_taken);
        }
        next_ = last_taken + kSamplePeriod;
    }
}

void QueueMonitor::dump(Tick now) {
    file_ << "time: " << now / kNanosecond << '\n';
    for (const Histogram& histogram : histograms_) {
        file_ << std::int64_t{histogram.node} << ' ' << std::int64_t{histogram.interface};
        for (const std::uint64_t count : histogram.counts) {
            file_ << ' ' << static_cast<std::int64_t>(count);
        }
        file_ << '\n';
    }
}

}  // namespace sluice
