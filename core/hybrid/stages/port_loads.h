// SPDX-License-Identifier: Apache-2.0
/// What the flows of a group have in common at ports: how many share one, which counters laws see there, whether they
/// divide it fairly, and whether it can carry them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/hybrid/network_view.h"
#include "core/steady/fair_shares.h"

namespace sluice::hybrid {

/// Ports by which data of a group's flows leave, and which flows use each; listed when they are first asked for.
struct DataPorts {
    std::vector<PortId> ports;
    std::vector<steady::PortUse> uses;
    std::vector<std::vector<std::uint32_t>> ways;  ///< by flow: places in `ports`
};

class PortLoads {
  public:
    /// `view` must outlive this.
    explicit PortLoads(NetworkView& view) : view_(view), acks_(view.ack_streams()) {}

    /// The most flows of a group whose data packets leave by one port.
    std::size_t most_sharing(const Group& group);
    /// GroupFacts::counters of a group, of which so many share a port. Where ACKs are no packets, a flow that others'
    /// cross counts none.
    std::size_t most_counters(const Group& group, std::size_t sharing);
    /// By flow, what the counters that its law reads make of its rate; none: it reads none.
    std::vector<std::vector<std::int64_t>> counters_of(const Group& group, Tick at) const;
    /// Payload bytes per tick that the law of a flow alone on its ports aims at, where ACKs are no packets: of what ports leave
    /// beside the ACK load, a law by counters (HPCC) takes its target as the counters show it
    /// (core/calibration/counter_class.h). 0: it reads none, or a port leaves nothing.
    double aim_of(FlowSlot flow, Tick at) const;
    /// The same of a group's flows that share ports, by max-min fairness. `beside_own`: ports leave them what their own ACKs
    /// take, too. `known`: the group's. `limits`: by flow, the port that leaves it no more; of a flow alone none.
    std::vector<double> fair_aims(const Group& group, Tick at, bool beside_own, DataPorts& known,
                                  std::vector<PortId>* limits = nullptr);
    /// Lowers rates, packets per tick, to what every link can carry.
    void fit(const Group& group, std::vector<double>& rate);
    /// A law that aims below a link's rate (HPCC) comes down from it within as many round trips as windows take to
    /// shrink to one round trip's bytes: 45 behind an NVSwitch, in which nothing is seen to move. True of a group one
    /// of whose flows, which share no port, is still above.
    bool is_above_aim(const Group& group, const std::vector<double>& rate) const;
    /// The flows have settled on what they have of ports.
    bool are_fair(const Group& group, const std::vector<double>& rate, DataPorts& known) const;

  private:
    double& at(PortId port);
    void list(const Group& group, DataPorts& known) const;
    std::vector<double> room_of(const Group& group, const DataPorts& known, bool beside_own);

    NetworkView& view_;
    AckStreams* acks_;          ///< null: ACKs are packets
    std::vector<double> load_;  ///< by port, scratch: 0 between calls
};

}  // namespace sluice::hybrid
