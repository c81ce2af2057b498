// SPDX-License-Identifier: Apache-2.0
/// What ports send, as a pcapng file (docs/waves.md): an interface per port, frames as in roce_frame.h, in the order of
/// the arrivals of their last bits at the far end, with timestamps in ps.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/results/output_file.h"
#include "core/topology/topology.h"
#include "models/observe/tapped.h"

namespace sluice {

class LinkCapture : public Tap {
  public:
    /// `ports` send what is captured: a cable's two directions are two ports. After `most_bytes` of frames nothing more is
    /// written. ConfigError if a port is not there or the file can't be written. `topology` must outlive it.
    LinkCapture(const std::string& path, const Topology& topology, std::vector<PortId> ports,
                std::int64_t most_bytes = 1'000'000'000);
    /// Into a file of the caller's, which must outlive it.
    LinkCapture(OutputFile& file, const Topology& topology, std::vector<PortId> ports,
                std::int64_t most_bytes);

    /// After the run: writes what is left, and gives the file its name, unless it is the caller's.
    void finish();
    std::uint64_t frames() const { return frames_; }
    /// Frames beyond the limit.
    std::uint64_t left_out() const { return left_out_; }

    bool watches(PortId port) const override;
    void passed(const step::World& world, Tick now) override;
    void sent(const step::World& world, PortId port, const step::Packet& packet,
              Tick arrival) override;
    void stepped(const step::World&, PortId, Tick) override {}

  private:
    LinkCapture(std::unique_ptr<OutputFile> own, const Topology& topology,
                std::vector<PortId> ports, std::int64_t most_bytes)
        : LinkCapture(*own, topology, std::move(ports), most_bytes) {
        own_ = std::move(own);
    }
    void write(Tick arrival, std::uint32_t interface, const std::string& frame);

    std::unique_ptr<OutputFile> own_;  ///< null: the file is somebody else's
    OutputFile& file_;
    const Topology& topology_;
    std::vector<PortId> ports_;  ///< interfaces, ascending
    std::int64_t room_;
    std::uint64_t frames_ = 0;
    std::uint64_t left_out_ = 0;
    /// Not yet written: later windows may bring earlier arrivals.
    std::map<std::pair<Tick, std::uint32_t>, std::string> waiting_;
};

}  // namespace sluice
