// SPDX-License-Identifier: Apache-2.0
/// What a testbench has in the network of an experiment: devices of its own, and operations at host ports.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/hybrid/outside.h"
#include "models/network.h"

namespace sluice {

class TestbenchModels final : public hybrid::Outside {
  public:
    /// `network` must outlive this. `may_ask`: a SteadyModel is asked; else packets pass by none unexecuted.
    TestbenchModels(Network& network, bool may_ask) : network_(network), may_ask_(may_ask) {}

    bool is_own(NodeId node) const override;
    bool is_live(NodeId node) const override;
    bool may_skip(const hybrid::Group& group) const override;
    void advance(const hybrid::Group& group, Tick dt) override;

  private:
    using Visit = std::function<bool(NodeId node)>;

    static bool all_nodes(const hybrid::Group& group, const Visit& visit);
    std::vector<std::uint32_t> ports_of(NodeId node, const hybrid::Group& group) const;
    bool is_steady(NodeId node, const hybrid::Group& group) const;
    bool sends(NodeId host) const;

    Network& network_;
    bool may_ask_;
};

}  // namespace sluice
