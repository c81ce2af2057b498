// SPDX-License-Identifier: Apache-2.0
/// Runs a connection matrix: flows with start times start by themselves, the others when a trigger
/// says so. A flow's send_done is its last ACK at the source, its recv_done the last byte at the
/// destination.
/// Where a trigger lives: at the source of its first target. What it hears from, or tells, another
/// host takes one lookahead of the engine (htsim: no time), so that hosts stay independent within
/// it; triggers whose flows all end and start at one host act at once.
/// Flow c of the matrix is flow first_flow + c of the experiment; others are ignored.
#pragma once

#include <vector>

#include "core/flow/application.h"
#include "core/flow/flow.h"
#include "workloads/goal/connection_matrix.h"

namespace sluice {

class TriggerApplication final : public Application {
  public:
    /// `hosts`: node n of the matrix is hosts[n]; at least one per node.
    TriggerApplication(ConnectionMatrix matrix, std::vector<NodeId> hosts, FlowId first_flow = 0);

    /// One flow per connection, in file order.
    std::vector<FlowSpec> flows() const;

    bool waits_at(NodeId host) const override;
    void on_begin(NodeId host, HostServices& services) override;
    void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) override;

  private:
    /// A trigger's, touched at its home only.
    struct State {
        NodeId home = 0;
        std::uint32_t activations = 0;
    };

    const ConnectionMatrix::Connection* connection(FlowId flow) const;
    void activate(std::uint32_t trigger, NodeId host, Tick now, HostServices& services);
    void act(std::uint32_t trigger, Tick now, HostServices& services);
    void start(std::uint32_t target, NodeId host, Tick now, HostServices& services);

    ConnectionMatrix matrix_;
    std::vector<NodeId> hosts_;
    FlowId first_flow_;
    std::vector<State> states_;  ///< by trigger
};

}  // namespace sluice
