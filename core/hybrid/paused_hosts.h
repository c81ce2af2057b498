// SPDX-License-Identifier: Apache-2.0
/// Hosts whose packets stand still, by whom, and the timers of their applications, which come up all the same: at the
/// controller, in the order of time and of hosts.
#pragma once

#include <cstdint>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/units.h"

namespace sluice::hybrid {

class PausedHosts {
  public:
    /// `next`: the host's first timer, kNever if it has none.
    void pause(NodeId host, std::uint32_t by, Tick next) {
        if (by_.size() <= host) {
            by_.resize(host + 1, kNone);
        }
        by_[host] = by;
        await(host, next);
    }
    void resume(const std::vector<NodeId>& hosts) {
        for (const NodeId host : hosts) {
            if (host < by_.size()) {
                by_[host] = kNone;
            }
        }
        for (auto timer = timers_.begin(); timer != timers_.end();) {
            timer = by_[timer->second] == kNone ? timers_.erase(timer) : std::next(timer);
        }
    }
    /// kNone: nobody has paused it.
    std::uint32_t by(NodeId host) const { return host < by_.size() ? by_[host] : kNone; }

    /// A paused host has a timer at `at`; of others nothing is noted, nor is kNever.
    void await(NodeId host, Tick at) {
        if (at != kNever && by(host) != kNone) {
            timers_.insert({at, host});
        }
    }
    Tick next() const { return timers_.empty() ? kNever : timers_.begin()->first; }
    /// The host whose timer that is, which is noted no longer.
    NodeId take() {
        const NodeId host = timers_.begin()->second;
        timers_.erase(timers_.begin());
        return host;
    }

  private:
    std::vector<std::uint32_t> by_;  ///< by node
    std::set<std::pair<Tick, NodeId>> timers_;
};

}  // namespace sluice::hybrid
