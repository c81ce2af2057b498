// SPDX-License-Identifier: Apache-2.0
/// Traffic classes at the ports of switches in flow mode (docs/models/flow_level.md): a port at which flows of several
/// classes meet is a link for each of them, whose capacity is what the port's scheduler leaves the class. Strict priority:
/// what lower numbers do not take. Deficit round robin: its weight's share of what those leave that take less than theirs.
/// Capacities and rates depend on each other; both are made right in turn until nothing moves by more than 1e-9 of a link, or 1e-4 where ports chase each other.
/// NICs serve queue pairs in turn whatever their class: their ports stay one link.
#pragma once

#include <cstdint>
#include <vector>

#include "core/packet/network_config.h"
#include "core/topology/topology.h"
#include "flowlevel/max_min.h"

namespace sluice::flowlevel {

class ClassShares {
  public:
    /// Links 0 to port_count() - 1 of `net` are the ports. All must outlive this.
    ClassShares(const Topology& topology, const NetworkConfig& config, MaxMin& net);

    /// The link that flows of class `priority` load at `port`, new in `net` where another class came first.
    std::uint32_t link(PortId port, std::uint8_t priority);
    /// What a flow puts on the port has begun, ended or changed.
    void touch(PortId port) {
        if (shared_at(port)) dirty_.push_back(port);
    }
    /// No port has several classes: there is nothing to share.
    bool idle() const { return shared_.empty(); }
    bool shared_at(PortId port) const { return at_[port] != kNone; }
    /// Sets the capacities of ports touched since the last call, in round `round` of an instant. True if one has moved:
    /// MaxMin::update() is due.
    bool share(int round);
    /// Rounds of an instant; what is left then is small.
    static constexpr int kMostRounds = 64;

    std::size_t memory_bytes() const;

  private:
    struct Class {
        std::uint8_t priority = 0;
        std::uint32_t link = 0;
    };
    struct Shared {
        double capacity = 0;
        std::vector<Class> classes;  ///< by priority
    };
    double left_for(const Shared& port, const Class& given) const;
    double strict_rest(const Shared& port, const Class& given) const;
    double weighted_part(const Shared& port, const Class& given) const;

    const Topology& topology_;
    const NetworkConfig& config_;
    MaxMin& net_;
    std::vector<std::uint8_t> first_;  ///< by port: the class that its own link is of, 0: none yet
    std::vector<std::uint32_t> at_;    ///< by port: its place in shared_, or kNone
    std::vector<Shared> shared_;
    std::vector<PortId> dirty_;
};

}  // namespace sluice::flowlevel
