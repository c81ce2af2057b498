// SPDX-License-Identifier: Apache-2.0
/// Ports' waves as a VCD file (IEEE 1364, 18) with a timescale of 1 ps. Each port is a scope with
///   queue_bytes  what waits in its queues, of all classes
///   paused       a bit per traffic class that its peer's PFC has stopped
///   rate_bps     what it sent in the last interval of `rate_every`, headers included
///   skipped      1 while packets are not simulated
/// A change is at the picosecond at which it happened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/results/output_file.h"
#include "core/topology/topology.h"
#include "models/observe/tapped.h"

namespace sluice {

class PortWaves : public Tap {
  public:
    /// ConfigError if a port is not there, `rate_every` is not above 0, or the file can't be written.
    PortWaves(const std::string& path, const Topology& topology, std::vector<PortId> ports,
              Tick rate_every = 10 * kMicrosecond);
    /// Into a file of the caller's, which must outlive it.
    PortWaves(OutputFile& file, const Topology& topology, std::vector<PortId> ports,
              Tick rate_every);

    /// After the run, which ended at `end`: writes what is left, and gives the file its name, unless it is the caller's.
    void finish(Tick end);

    bool watches(PortId port) const override;
    void passed(const step::World& world, Tick now) override;
    void sent(const step::World&, PortId, const step::Packet&, Tick) override {}
    void stepped(const step::World& world, PortId port, Tick now) override;

  private:
    PortWaves(std::unique_ptr<OutputFile> own, const Topology& topology, std::vector<PortId> ports,
              Tick rate_every)
        : PortWaves(*own, topology, std::move(ports), rate_every) {
        own_ = std::move(own);
    }
    enum Signal : std::uint8_t { kQueue, kPaused, kRate, kSkipped, kSignals };
    struct Watched {
        PortId port = 0;
        std::int64_t value[kSignals] = {};
        std::int64_t sent = 0;         ///< bytes, so far
        std::int64_t sent_before = 0;  ///< at the begin of the interval
        Tick interval = 0;             ///< its number
        Tick base = 0;                 ///< of its link: what has been skipped
    };
    struct Change {
        Tick at;
        std::string text;
    };

    void header(const Topology& topology);
    std::string name(std::size_t place, Signal signal) const;
    void set(std::size_t place, Signal signal, std::int64_t value, Tick at);
    void close_intervals(std::size_t place, Tick now);
    void write_before(Tick now);

    std::unique_ptr<OutputFile> own_;  ///< null: the file is somebody else's
    OutputFile& file_;
    std::vector<Watched> ports_;  ///< ascending
    Tick rate_every_;
    Tick latest_ = 0;  ///< the last instant that was told
    Tick passed_ = -1;
    Tick written_ = -1;  ///< the instant of the last change in the file
    std::vector<Change> changes_;
};

}  // namespace sluice
