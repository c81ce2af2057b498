// SPDX-License-Identifier: Apache-2.0
/// Timers of applications at hosts whose groups are paused: they come up at the controller.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hybrid/network_view.h"
#include "core/hybrid/paused_hosts.h"

namespace sluice::hybrid {

class HostTimers {
  public:
    /// Who pauses hosts of deferred flows (deferral.h), beside groups by their ids.
    static constexpr std::uint32_t kDeferred = kNone - 1;

    /// `view` must outlive this.
    explicit HostTimers(const NetworkView& view) : view_(view) {}

    void pause(const std::vector<NodeId>& hosts, std::uint32_t by) {
        for (const NodeId host : hosts) {
            if (view_.executed_as(host) == host) {  // else what is executed for it is one of these
                paused_.pause(host, by, view_.next_call(host));
            }
        }
    }
    void resume(const std::vector<NodeId>& hosts) { paused_.resume(hosts); }
    /// kNone: nobody has paused it.
    std::uint32_t paused_by(NodeId host) const { return paused_.by(host); }
    /// The host's next timer, as it is by now.
    void await(NodeId host) { paused_.await(host, view_.next_call(host)); }
    /// A timer at `at` was set for a host by another one.
    void await(NodeId host, Tick at) { paused_.await(view_.executed_as(host), at); }
    Tick next() const { return paused_.next(); }
    /// The host whose timer that is, which is noted no longer.
    NodeId take() { return paused_.take(); }

  private:
    const NetworkView& view_;
    PausedHosts paused_;  ///< by groups' ids, or kDeferred
};

}  // namespace sluice::hybrid
