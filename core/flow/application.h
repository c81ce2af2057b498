// SPDX-License-Identifier: Apache-2.0
/// What runs on the hosts: the seam between a workload and a network engine.
/// Locality (docs/architecture.md): everything an application does for a host happens at that host, in
/// that host's own time order; hosts learn of each other only through flows or through signals
/// with a delay of at least the engine's lookahead. Engines may call different hosts of one
/// application in any relative order inside a window of that length, and from different threads,
/// so state that a callback touches must belong to the host it is called for.
#pragma once

#include <cstdint>

#include "core/flow/flow.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice {

/// What an engine offers to an application, at one host and instant.
class HostServices {
  public:
    virtual ~HostServices() = default;
    /// Opens a flow from this host and starts it at `at` >= now. Returns its id: that of `spec`, which
    /// no other flow of the run may have, or one that the engine makes. ConfigError if its ends are not
    /// different hosts, nothing joins them, or its size or class is not allowed; while a link is down it
    /// waits for its path. InternalError if it does not start here, or in the past, or has the id of a
    /// flow of the list.
    virtual FlowId open_flow(const FlowSpec& spec, Tick at) = 0;
    /// Starts a flow of the run's list that has no start time, source = this host, at `at` >= now.
    virtual void start_flow(FlowId flow, Tick at) = 0;
    /// Calls on_timer(host, token) at `at`; for this host at >= now, for another host
    /// at >= now + lookahead(), else InternalError.
    virtual void set_timer(NodeId host, Tick at, std::uint64_t token) = 0;
    virtual Tick lookahead() const = 0;
};

class Application {
  public:
    virtual ~Application() = default;
    /// True if its hosts share state after all: it is called from one thread only.
    virtual bool for_one_thread() const { return false; }
    /// Flows aside, one of its hosts hears of another no sooner than this, above 0: an engine's lookahead
    /// is at most as long. kNever: it asks the engine for its lookahead.
    virtual Tick signal_lookahead() const { return kNever; }
    /// Its flows' connections are below this.
    virtual ConnectionId connection_count() const { return 0; }
    /// Whether something of it waits at `host` for flows or timers, so that only an engine's own host
    /// can be there.
    virtual bool waits_at(NodeId /*host*/) const { return false; }
    /// Once per host, before the first event, now = 0.
    virtual void on_begin(NodeId host, HostServices& services) = 0;
    /// The last in-order byte of `flow` arrived at its destination `host`.
    virtual void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) = 0;
    /// The last ACK of `flow` arrived at its source `host`.
    virtual void on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) = 0;
    virtual void on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) = 0;
};

}  // namespace sluice
