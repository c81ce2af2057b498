// SPDX-License-Identifier: Apache-2.0
/// The columns by port, node and cell (core/packet/state.h), as the topology and the configuration have it: ports
/// with their links, switches with their buffers, hosts. Owns the rings and lists in them, but for hosts' free INT blocks (IntLayout).
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/packet/network_config.h"
#include "core/packet/state.h"
#include "core/topology/topology.h"

namespace sluice::step {

class DeviceColumns {
  public:
    /// All must outlive this. ConfigError: a link without delay is too fast (core/world/lookahead.h).
    DeviceColumns(World& world, const Topology& topology, const NetworkConfig& config);
    ~DeviceColumns();
    DeviceColumns(const DeviceColumns&) = delete;
    DeviceColumns& operator=(const DeviceColumns&) = delete;

    /// Makes room for cells 0 .. count-1, count >= node_count. Cell n, n < node_count, is node n's.
    void resize_cells(std::uint32_t count);
    /// The cell of a host, or any of a switch's.
    void set_home(NodeId node, CellId cell) { home_[node] = cell; }
    /// Makes room for so many links behind those of the ports.
    void reserve_outboxes(std::size_t count);
    /// From here on ports have streams of ACKs that are no packets (World::cross).
    void add_cross_streams();

    std::size_t memory_bytes() const;

  private:
    void build_ports();
    void build_buffers();
    void build_flowlets();
    const std::vector<std::uint32_t>& serialization_table(Rate rate);

    World& world_;
    const Topology& topology_;
    const NetworkConfig& config_;
    std::vector<PortId> first_port_;
    std::vector<std::uint8_t> is_host_;
    std::vector<Egress> egress_;
    std::vector<Ingress> ingress_;
    std::vector<Wire> link_;  ///< by receiving port; then outboxes
    std::vector<Buffer> buffer_;
    std::vector<Flowlet> flowlets_;  ///< the next one, too: empty unless there are flowlets
    std::vector<std::uint32_t> switch_number_;
    std::vector<Host> host_;
    std::vector<HostPort> host_port_;
    std::vector<Puller> puller_;      ///< empty unless receivers grant credits
    std::vector<CrossStream> cross_;  ///< empty unless answers are left out
    std::vector<CellId> home_;
    std::vector<Tick> wake_;
    std::vector<Tick> block_wake_;
    /// By bits/s.
    std::unordered_map<std::int64_t, std::unique_ptr<std::vector<std::uint32_t>>> tables_;
};

}  // namespace sluice::step
