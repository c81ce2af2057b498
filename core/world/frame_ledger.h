// SPDX-License-Identifier: Apache-2.0
/// Frames of ports for which no packet was executed: what skipped time would have put on the wire, and ACKs
/// that have crossed a port without being packets. They are part of a port's statistics, not of the executed
/// packet-hops.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace sluice::step {

/// Frames on a wire; in total, or a port's change.
struct FrameCount {
    std::int64_t packets = 0;
    std::int64_t bytes = 0;
};

class FrameLedger {
  public:
    explicit FrameLedger(std::size_t ports) : ports_(ports) {}

    void add_skipped(PortId port, FrameCount more) { add(skipped_, port, more); }
    FrameCount skipped(PortId port) const { return at(skipped_, port); }
    /// Takes out, and returns, the skipped bytes of `port` beyond whole multiples of `unit` bytes.
    std::int64_t take_remainder(PortId port, std::int64_t unit) {
        if (skipped_.empty()) {
            return 0;
        }
        const std::int64_t remainder = skipped_[port].bytes % unit;
        skipped_[port].bytes -= remainder;
        return remainder;
    }

    void add_crossed(PortId port, FrameCount more) { add(crossed_, port, more); }
    FrameCount crossed(PortId port) const { return at(crossed_, port); }

  private:
    using ByPort = std::vector<FrameCount>;  ///< by port; empty until there is one

    void add(ByPort& frames, PortId port, FrameCount more) const {
        if (frames.empty()) {
            frames.resize(ports_);
        }
        frames[port].packets += more.packets;
        frames[port].bytes += more.bytes;
    }
    static FrameCount at(const ByPort& frames, PortId port) {
        return frames.empty() ? FrameCount{} : frames[port];
    }

    std::size_t ports_;
    ByPort skipped_;
    ByPort crossed_;
};

}  // namespace sluice::step
