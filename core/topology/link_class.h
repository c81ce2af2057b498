// SPDX-License-Identifier: Apache-2.0
/// What kind of cable each link is, for reports of bytes per class:
///     nvlink               an NVSwitch at one end at least, or two GPUs of one server
///     nic                  a host's other cables: to a packet switch, or to another server; of a host that forwards,
///                          the cables of its ports
///     host-port            between a host that forwards, its ports, and those (core/topology/forwarding_hosts.h)
///     leaf-spine, ...      between packet switches, by their tiers
/// The tier of a packet switch is its distance from the nearest host over packet switches: 1 leaf,
/// 2 spine, 3 core, then tier4 and on. Switches of one tier joined to each other (torus, full mesh,
/// dragonfly) give leaf-leaf and so on. A part of the network without hosts has no tiers: its links
/// are "unattached".
/// Invariants: every link has one class; classes without links do not exist; their order is nvlink,
/// nic, host-port, then fabric classes from the hosts upwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/topology/topology.h"
#include "core/units.h"

namespace sluice {

enum class LinkKind : std::uint8_t {
    nvlink,
    nic,        ///< traffic that crosses none of these never leaves its server
    host_port,  ///< in a host that forwards
    fabric,     ///< between packet switches
};

struct LinkClass {
    std::string name;
    LinkKind kind = LinkKind::fabric;
    std::size_t links = 0;
};

class LinkClasses {
  public:
    explicit LinkClasses(const Topology& topology);

    const std::vector<LinkClass>& classes() const { return classes_; }
    /// Index into classes().
    std::size_t class_of(LinkId link) const { return of_link_[link]; }
    const LinkClass& operator[](LinkId link) const { return classes_[of_link_[link]]; }

  private:
    std::vector<LinkClass> classes_;
    std::vector<std::uint32_t> of_link_;
};

/// The tier of every node: of a packet switch as above, 0 for hosts, their ports, NVSwitches and what no host
/// reaches.
std::vector<std::uint32_t> switch_tiers(const Topology& topology);

}  // namespace sluice
