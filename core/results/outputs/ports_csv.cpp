// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/error.h"
#include "core/results/csv.h"
#include "core/results/run_output.h"
#include "core/topology/forwarding_hosts.h"

namespace sluice {
namespace {

const char* kind_name(NodeKind kind) {
    switch (kind) {
        case NodeKind::host: return "host";
        case NodeKind::ethernet: return "switch";
        case NodeKind::nvswitch: return "nvswitch";
    }
    throw InternalError("unknown node kind");
}

class PortsCsv : public RunOutput {
  public:
    PortsCsv(const std::string& path, const OutputContext& context)
        : file_(path), topology_(context.topology), packets_(moves_packets(context.info.mode)) {
        for (const FlowSpec& flow : context.flows) {
            // Flows that an application starts have no planned start: then time counts from 0.
            count_from_ = std::min(count_from_, flow.start == kNever ? 0 : flow.start);
        }
        if (context.flows.empty()) count_from_ = 0;
    }

    void finish(const RunOutcome& outcome) override {
        file_ << "port,node,kind,interface,peer,rate_bps,tx_bytes,tx_packets,utilization,"
                 "max_queue_bytes,ecn_marks,drops,pauses_sent,paused_ps\n";
        const Tick span = std::max<Tick>(outcome.simulated - count_from_, 0);
        for (PortId port = 0; port < outcome.ports.size(); ++port) {
            write(port, outcome.ports[port], span);
        }
    }

    OutputFile& file() override { return file_; }

  private:
    void write(PortId port, const PortStatistics& counts, Tick span) {
        const NodeId node = topology_.node_of(port);
        const std::int64_t rate = topology_.rate(port).bits_per_second;
        file_ << std::int64_t{port} << ',' << std::int64_t{node} << ','
              << (owner_of(topology_, node) != node ? "port" : kind_name(topology_.kind(node)))
              << ',' << std::int64_t{port - topology_.first_port(node) + 1} << ','
              << std::int64_t{topology_.neighbor(port)} << ',' << rate << ',' << counts.tx_bytes
              << ',' << counts.tx_packets << ','
              << csv_ratio(static_cast<WideCount>(counts.tx_bytes) * 8 * kSecond,
                           static_cast<WideCount>(rate) * span)
              << ',';
        if (packets_) {
            file_ << counts.max_queue_bytes << ',' << counts.ecn_marks << ',' << counts.drops << ','
                  << counts.pauses_sent << ',' << counts.paused_ticks;
        } else {
            file_ << ",,,,";
        }
        file_ << '\n';
    }

    OutputFile file_;
    const Topology& topology_;
    bool packets_;
    Tick count_from_ = kNever;  ///< utilization's time
};

}  // namespace

extern const OutputType kPortsCsv{"ports.csv", nullptr, true, every_run, make_output<PortsCsv>};

}  // namespace sluice
