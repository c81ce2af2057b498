// SPDX-License-Identifier: Apache-2.0
/// What the reader of topology files tells an ImportReport. Without a report it does nothing. None
/// of it keeps a network from being run: what flows need is judged where flows are
/// (core/routing/flow_check.h), by a check as by a run.
#pragma once

#include <string>
#include <vector>

#include "core/text/import_report.h"
#include "core/topology/topology.h"

namespace sluice {

/// Whose header a file has (core/topology/topology_io.h).
enum class TopologyHeader : unsigned char { hpcc, simai, powertcp, reverie };

class TopologyReporter {
  public:
    /// `report` may be null.
    TopologyReporter(std::string file, ImportReport* report);

    bool active() const { return report_ != nullptr; }
    void id_again(int line, NodeId id);
    /// `topology` has its nodes and no links yet.
    void header(int line, TopologyHeader kind, const Topology& topology);
    void link(int line);
    /// `more` links follow line `line`, where the header's number of links is reached.
    void more_links(int line, std::size_t more, std::int64_t header_links);
    void trailing_text(int line);
    void finish(const Topology& topology);

  private:
    std::string at(int line) const;
    void report_repeated(const Topology& topology);
    void report_servers(const Topology& topology);
    void report_lone_nodes(const Topology& topology);

    std::string file_;
    ImportReport* report_;
    int header_line_ = 1;
    std::vector<int> line_of_link_;
};

}  // namespace sluice
