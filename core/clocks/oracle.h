// SPDX-License-Identifier: Apache-2.0
/// The oracle: the same node functions driven by one global ordered set of events, one packet
/// event at a time, with no windows, no short cuts and every buffer decision at its instant. Slow,
/// short and obviously ordered: what every faster driver is compared with, hop by hop.
#pragma once

#include <functional>
#include <set>
#include <tuple>
#include <vector>

#include "core/world/world_store.h"

namespace sluice::step {

class Oracle {
  public:
    /// Drives the columns of `store`; call store.begin() first.
    explicit Oracle(WorldStore& store);

    /// What there is to do when everything before the next event has been executed, whose instant is given (kNever: there
    /// is none). True if it did something, which is taken up.
    using Look = std::function<bool(Tick next)>;
    /// Executes every event before `until`; returns false when nothing is left at all. `look` is called before each.
    bool run(Tick until, const Look& look = nullptr);
    /// Takes up changes made from outside (link events).
    void refresh_all();
    Tick now() const { return now_; }

  private:
    enum class Phase : std::uint8_t { arrival, timer, decision };
    /// A set's order is the order of execution.
    using Event = std::tuple<Tick, Phase, NodeId, PortId>;

    void refresh(Phase phase, NodeId node, PortId port, Tick at);
    void refresh_node(NodeId node);
    void arrive(NodeId node, PortId in, Tick now);

    WorldStore& store_;
    World& world_;
    std::set<Event> events_;
    std::vector<Tick> arrival_;   ///< as entered in events_, by port
    std::vector<Tick> decision_;  ///< by port
    std::vector<Tick> timer_;     ///< by node
    Tick now_ = 0;
};

}  // namespace sluice::step
