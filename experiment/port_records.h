// SPDX-License-Identifier: Apache-2.0
/// links.pcapng and ports.vcd of a run: what a scenario's [output] capture and waves ask for (docs/waves.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/results/run_writer.h"
#include "core/topology/topology.h"
#include "scenario/watched_ports.h"

namespace sluice {

class LinkCapture;
class PortWaves;
class Tap;

class PortRecords {
  public:
    /// Files of the writer's that it commits: `writer` and `topology` must outlive this.
    PortRecords(RunWriter& writer, const Topology& topology, const WatchedPorts& watched);
    ~PortRecords();

    /// Who is to be told; they are this object's.
    std::vector<Tap*> taps() const;
    /// The run has ended at `end`. Returns what is to be said of the files, in lines.
    std::vector<std::string> finish(Tick end);

  private:
    std::unique_ptr<LinkCapture> capture_;  ///< null: nothing is captured
    std::unique_ptr<PortWaves> waves_;      ///< the same
};

}  // namespace sluice
