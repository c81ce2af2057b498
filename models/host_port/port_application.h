// SPDX-License-Identifier: Apache-2.0
/// What host ports have running in a network, beside its application, to which all else is passed on.
#pragma once

#include <cstdint>
#include <vector>

#include "core/flow/application.h"
#include "core/recycled_map.h"
#include "models/host_port/host_port.h"

namespace sluice {

class PortApplication final : public Application {
  public:
    /// `inner` may be null. Connections below `connections` are others'. Both must outlive this.
    PortApplication(Application* inner, std::size_t nodes, ConnectionId connections)
        : inner_(inner), ports_(nodes, nullptr), next_connection_(connections) {}

    void add(HostPort& port) { ports_[port.host()] = &port; }
    /// What it has running goes on, and nobody is notified.
    void remove(const HostPort& port);
    /// Null: the host has none.
    HostPort* at(NodeId host) const { return ports_[host]; }
    ConnectionId new_connection() { return next_connection_++; }
    /// `flow` was opened for a post, as its data or, of a read, as the request for them.
    void opened(FlowId flow, HostPort& port, std::uint32_t pair, const Completion& completion);

    bool for_one_thread() const override { return true; }
    Tick signal_lookahead() const override {
        return inner_ == nullptr ? kNever : inner_->signal_lookahead();
    }
    ConnectionId connection_count() const override {
        return inner_ == nullptr ? 0 : inner_->connection_count();
    }
    bool waits_at(NodeId host) const override {
        return ports_[host] != nullptr || (inner_ != nullptr && inner_->waits_at(host));
    }
    void on_begin(NodeId host, HostServices& services) override;
    void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) override;

  private:
    enum class Part : std::uint8_t { message, request, answer };
    struct Running {
        Part part = Part::message;
        HostPort* port = nullptr;  ///< that has posted it; null: it is gone
        std::uint32_t pair = 0;
        std::uint64_t sequence = 0;
        Post post;
        Tick received = kNever;
    };

    Application* inner_;
    std::vector<HostPort*> ports_;  ///< by node
    ConnectionId next_connection_;
    RecycledMap<FlowId, Running> running_;
};

}  // namespace sluice
