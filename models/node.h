// SPDX-License-Identifier: Apache-2.0
/// A device of the network as a SystemC module: its ports' sockets and its step in a window.
/// Subclass Switch or Nic and override step() to change how a device works; to replace a device by
/// a model of one's own kind, leave it out (NetworkOptions::foreign) and bind its links' sockets.
#pragma once

#include <deque>
#include <string>
#include <systemc>
#include <typeinfo>

#include "core/packet/state.h"
#include "models/link/link_end.h"

namespace sluice {

class Node : public sc_core::sc_module {
  public:
    /// What a node needs of the network it belongs to.
    struct Context {
        step::World& world;
        NetworkClock& clock;
        LinkBackward& backward;
    };

    Node(const sc_core::sc_module_name& name, NodeId id, const Context& context);

    /// Everything that the ports of `cell` do in [begin, end): events of their own columns only, in
    /// (time, port, sequence) order. Called by the clock; never longer than the lookahead. At the
    /// end world.wake[cell.id] is the next instant at which they have something to do. A host is
    /// always one cell; a switch may be several, whose packets never meet, at different times.
    virtual void step(const step::Cell& cell, Tick begin, Tick end) = 0;

    /// False if its shared buffer is not ruled by the network's configuration; then it cannot stand
    /// in a network with partition clocks.
    virtual bool admits_as_configured() const { return true; }

    /// What it does: its own type, but for a device that only tells of what another type does.
    virtual const std::type_info& device_type() const { return typeid(*this); }

    NodeId id() const { return id_; }
    /// By local port index.
    LinkEnd& port(std::uint32_t index) { return ports_[index]; }

  protected:
    step::World& world() { return world_; }

  private:
    NodeId id_;
    step::World& world_;
    std::deque<LinkEnd> ports_;
};

}  // namespace sluice
