// SPDX-License-Identifier: Apache-2.0
/// Base round-trip times and bandwidth-delay products (core/routing/base_rtt.h) that a network's flows are
/// given: the whole network's, or under `nic.global_base_rtt = false` those of each flow's pair of hosts.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/flow/flow.h"
#include "core/packet/network_config.h"
#include "core/routing/base_rtt.h"
#include "core/topology/topology.h"

namespace sluice::step {

class BaseRtts {
  public:
    /// `topology` and `config` must outlive this. ConfigError: a round trip is too long.
    BaseRtts(const Topology& topology, const NetworkConfig& config,
             const std::vector<FlowPath>& paths);

    bool by_pair() const { return !config_.nic.global_base_rtt; }
    const BaseRtt& network() const { return network_; }
    /// Bytes that a flow may have in flight; 0: any number.
    std::int64_t window(const BaseRtt& pair) const {
        return config_.congestion.window ? pair.bdp.count : 0;
    }

    /// Bytes that a flow with that window may have in flight, whichever paths its packets take.
    std::int64_t most_in_flight(std::int64_t window) const;

    // by_pair() only:
    /// Those of a list's pairs, whose `paths` are given for all or none.
    void set_list(const std::vector<FlowSpec>& list, const std::vector<FlowPath>& paths);
    /// Whether it is known of a flow of no list; else add() computes it. Not beside other workers.
    bool knows(const FlowSpec& spec) const { return opened_.count(key(spec)) != 0; }
    const BaseRtt& add(const FlowSpec& spec);
    const BaseRtt& of(FlowId id, const FlowSpec& spec) const {
        return id < listed_.size() ? listed_[id] : opened_.at(key(spec));
    }

    /// The largest window() of the flows of the list.
    std::int64_t largest_window() const;

  private:
    static std::uint64_t key(const FlowSpec& spec) {
        return std::uint64_t{spec.src} << 32 | spec.dst;
    }
    BaseRttConfig base() const { return {config_.format.payload, config_.arithmetic}; }

    const Topology& topology_;
    const NetworkConfig& config_;
    BaseRtt network_;
    std::vector<BaseRtt> listed_;
    std::unordered_map<std::uint64_t, BaseRtt> opened_;  ///< by source and destination
};

}  // namespace sluice::step
