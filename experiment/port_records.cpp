// SPDX-License-Identifier: Apache-2.0
#include "experiment/port_records.h"

#include <fmt/core.h>

#include "models/observe/link_capture.h"
#include "models/observe/port_waves.h"

namespace sluice {

PortRecords::PortRecords(RunWriter& writer, const Topology& topology, const WatchedPorts& watched) {
    if (!watched.captured.empty()) {
        capture_ = std::make_unique<LinkCapture>(writer.add_file("links.pcapng"), topology,
                                                 watched.captured, watched.capture_limit);
    }
    if (!watched.waves.empty()) {
        waves_ = std::make_unique<PortWaves>(writer.add_file("ports.vcd"), topology, watched.waves,
                                             watched.waves_step);
    }
}

PortRecords::~PortRecords() = default;

std::vector<Tap*> PortRecords::taps() const {
    std::vector<Tap*> taps;
    if (capture_ != nullptr) taps.push_back(capture_.get());
    if (waves_ != nullptr) taps.push_back(waves_.get());
    return taps;
}

std::vector<std::string> PortRecords::finish(Tick end) {
    std::vector<std::string> lines;
    if (waves_ != nullptr) waves_->finish(end);
    if (capture_ == nullptr) return lines;
    capture_->finish();
    if (capture_->left_out() > 0) {
        lines.push_back(fmt::format(
            "links.pcapng has the first {} frames; {} more are beyond output.capture_limit",
            capture_->frames(), capture_->left_out()));
    }
    return lines;
}

}  // namespace sluice
