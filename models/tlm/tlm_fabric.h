// SPDX-License-Identifier: Apache-2.0
/// A network as a TLM-2.0 interconnect of memories: an initiator at a host writes into a window of the global address map,
/// and the bytes reach the memory of the window's host by an RDMA write, when the network has carried them; a read is an
/// RDMA read. Base protocol, generic payload, LT and AT (docs/tlm.md).
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/host_port/host_port.h"
#include "models/network.h"
#include "models/tlm/address_map.h"
#include "models/tlm/memory_access.h"
#include "models/tlm/requester.h"

namespace sluice {

/// Without the sockets, which depend on the bus width.
class TlmFabricBase : public sc_core::sc_module {
  public:
    ~TlmFabricBase() override;
    const AddressMap& map() const { return map_; }
    /// The port that a host's transactions are posted at; a testbench may post at it, too. ConfigError if the host has
    /// no window.
    HostPort& port(NodeId host) { return *sides_[place(host)].port; }

  protected:
    struct Sides {
        NodeId host = kNone;
        std::unique_ptr<HostPort> port;
        std::unique_ptr<Requester> requester;
        std::unique_ptr<MemoryAccess> memory;
    };

    TlmFabricBase(const sc_core::sc_module_name& name, Network& network, AddressMap map,
                  const HostPortOptions& options);
    /// Of a host among the windows. ConfigError if it has none.
    std::size_t place(NodeId host) const;

    AddressMap map_;
    std::vector<MemoryAccess*> memories_;  ///< by node
    std::deque<Sides> sides_;              ///< by window
};

template <unsigned int BUSWIDTH>
class BasicTlmFabric : public TlmFabricBase {
  public:
    using Target = tlm::tlm_target_socket<BUSWIDTH, tlm::tlm_base_protocol_types, 1,
                                          sc_core::SC_ZERO_OR_MORE_BOUND>;
    using Initiator = tlm::tlm_initiator_socket<BUSWIDTH, tlm::tlm_base_protocol_types, 1,
                                                sc_core::SC_ZERO_OR_MORE_BOUND>;

    /// Every host of the map gets a port with `options` and two sockets. Before the simulation starts. ConfigError if a
    /// host of the map is none of the network's own, or has a port (see HostPort). `network` must outlive it.
    BasicTlmFabric(const sc_core::sc_module_name& name, Network& network, AddressMap map,
                   const HostPortOptions& options = {})
        : TlmFabricBase(name, network, std::move(map), options) {
        for (const Sides& one : sides_) {
            const std::string number = std::to_string(one.host);
            targets_.push_back(std::make_unique<Target>(("target" + number).c_str()));
            targets_.back()->bind(*one.requester);
            initiators_.push_back(std::make_unique<Initiator>(("memory" + number).c_str()));
            initiators_.back()->bind(*one.memory);
        }
    }
    ~BasicTlmFabric() override {
        while (!targets_.empty()) {
            initiators_.pop_back();
            targets_.pop_back();
        }
    }

    /// Where the host's initiator is bound. May stay unbound. ConfigError if the host has no window.
    Target& target(NodeId host) { return *targets_[place(host)]; }
    /// Binds to the host's memory. Without one, all addresses of its window answer TLM_ADDRESS_ERROR_RESPONSE.
    Initiator& memory(NodeId host) { return *initiators_[place(host)]; }

  private:
    void end_of_elaboration() override {
        for (std::size_t i = 0; i < sides_.size(); ++i) {
            if (targets_[i]->size() != 0) {
                sides_[i].requester->attach(targets_[i]->operator->());
            }
            if (initiators_[i]->size() != 0) {
                sides_[i].memory->attach(initiators_[i]->operator->());
            }
        }
    }
    std::vector<std::unique_ptr<Target>> targets_;
    std::vector<std::unique_ptr<Initiator>> initiators_;
};

using TlmFabric = BasicTlmFabric<32>;

}  // namespace sluice
