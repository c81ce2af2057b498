// SPDX-License-Identifier: Apache-2.0
/// Who steps the cells of a window: one worker all of them, by the world itself, or several at a time, each those
/// of its nodes. Between the nodes of two workers packets wait in outboxes until all are done
/// (core/packet/state.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/packet/state.h"
#include "core/topology/topology.h"
#include "core/world/device_columns.h"
#include "core/world/flow_columns.h"

namespace sluice::step {

/// A worker that may step nodes of a window beside others, for as long as the network lives.
struct Worker {
    World world;
    std::vector<Tick> block_wake;     ///< world.block_wake
    std::vector<std::uint64_t> mine;  ///< by block of 64 nodes: a bit per node
    std::uint16_t number = 0;
};

class Workers {
  public:
    /// All must outlive this.
    Workers(World& world, const Topology& topology, DeviceColumns& devices, FlowColumns& flows)
        : world_(world), topology_(topology), devices_(devices), flows_(flows) {}
    /// Frees the lists of all workers, the world's own among them.
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    Worker& add();
    /// Gives each node to the worker of that number. Between windows.
    void divide(const std::vector<std::uint16_t>& owner);
    /// Takes divide() back: one worker steps all nodes, by the world itself.
    void unite();

    /// Before workers step windows of a divided network: they see the columns as they are now. From here to
    /// end_shared() cells are stepped, each by its worker, packets delivered, and stalled hosts served,
    /// nothing else.
    void begin_shared();
    /// The worker's first act then; different workers may do so at a time.
    void find_wakes(Worker& worker) const;
    /// While nothing is stepped: gives the flow for which a host of World::stalled waits its slot.
    void serve_stalled(NodeId host);
    /// Takes what others have for the worker's nodes. When all nodes of a window are done; different
    /// workers may do so at a time.
    void deliver(Worker& worker);
    /// When everything is delivered, by all workers: what waited there is gone.
    static void delivered(Worker& worker) {
        worker.world.outboxes.count = worker.world.calls.count = 0;
        worker.world.answers_out.count = 0;
    }
    /// When everything is delivered: what has happened is in the world's counters and lists.
    void end_shared();

    /// Slots that workers have in stock, for flows that start in a shared window.
    std::size_t stocked_slots() const;

  private:
    /// A link of its own for what one worker's nodes send to another one's port.
    struct Outbox {
        PortId port = kNone;  ///< that receives
        NodeId node = kNone;  ///< of `port`
    };

    void share_columns();
    void build_outboxes();
    void build_blocks();

    World& world_;
    const Topology& topology_;
    DeviceColumns& devices_;
    FlowColumns& flows_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<std::uint16_t> owner_;  ///< by node: its worker; empty: the network is not divided
    std::vector<Outbox> outbox_;        ///< their links are behind the ports'
};

}  // namespace sluice::step
