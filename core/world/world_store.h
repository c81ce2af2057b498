// SPDX-License-Identifier: Apache-2.0
/// Owns a world: its parts build the columns from a topology, a routing and a configuration, and change them
/// between windows. Here is what concerns several parts: callbacks of a step, links that fail and are repaired,
/// figures of the whole. Host only.
#pragma once

#include <vector>

#include "core/flow/application.h"
#include "core/flow/flow.h"
#include "core/packet/network_config.h"
#include "core/packet/state.h"
#include "core/results/statistics.h"
#include "core/routing/routing.h"
#include "core/topology/topology.h"
#include "core/world/device_columns.h"
#include "core/world/frame_ledger.h"
#include "core/world/network_flows.h"
#include "core/world/workers.h"

namespace sluice::step {

/// Payload bytes that the sources of flows in slots below `slots` have had acknowledged.
std::int64_t acknowledged_bytes(const World& world, std::size_t slots);

class WorldStore {
  public:
    /// All arguments must outlive the store; `routing` is changed by link events. `paths` is empty
    /// or has one entry per flow. Throws ConfigError when the configuration does not fit the
    /// topology (headroom larger than the buffer, too many hops or rates for INT, no path).
    WorldStore(const Topology& topology, Routing& routing, const NetworkConfig& config,
               const std::vector<FlowSpec>& flows, const std::vector<FlowPath>& paths,
               Application* application);
    WorldStore(const WorldStore&) = delete;

    World& world() { return world_; }
    const World& world() const { return world_; }
    const Topology& topology() const { return topology_; }
    const NetworkConfig& config() const { return config_; }
    const Routing& routing() const { return network_flows_.routes().routing(); }
    /// May be null.
    const Application* application() const { return application_; }
    /// The list.
    const std::vector<FlowSpec>& flows() const { return network_flows_.registry().list(); }
    /// Flows in their slots, and how they end.
    const NetworkFlows& network_flows() const { return network_flows_; }
    /// Who steps the cells of a window.
    Workers& workers() { return workers_; }

    /// Gives every flow of the list the slot of its number, for models that know the list and nothing of
    /// slots. Before begin().
    void pin_list() { network_flows_.pin_list(); }
    /// Opens a flow that no list has and starts it at `at`, not before anything that was executed; it has a
    /// slot from then on. Returns its id. ConfigError if it cannot be carried. From a callback of its source
    /// with that callback's world, or between windows with world().
    FlowId open_flow(World& world, const FlowSpec& spec, Tick at) {
        return network_flows_.open(world, spec, at);
    }
    /// Between windows, for a flow whose packets come from elsewhere: only its slot is taken.
    FlowSlot open_slot(const FlowSpec& spec) { return network_flows_.open_slot(spec); }
    /// A flow of open_slot() is complete at `now`: its sender has seen all ACKs.
    void close_slot(FlowSlot slot, std::int64_t retransmitted, Tick now) {
        network_flows_.close_slot(slot, retransmitted, now);
    }
    /// Gives a slot back. Nothing of the flow may be in the network or in a host's timers but what is
    /// known to be stale.
    void release(FlowSlot slot) { network_flows_.release(slot); }
    std::size_t slot_count() const { return network_flows_.columns().slot_count(); }
    /// Flows that have a slot.
    std::size_t living_count() const;
    /// INT's records are laid out as in `other`, a store of the same network. While no flow has a slot.
    void take_int_layout(const WorldStore& other);

    /// Puts every flow with a start time into its host's timers and calls
    /// Application::on_begin for every host. Once, before the first window.
    void begin();

    /// Takes a link out of service or puts it back at `now`, between windows: packets on it and
    /// queued for it are lost, routes are recomputed, queue pairs move to ports that still lead
    /// to their destinations.
    void set_link(LinkId link, bool up, Tick now);

    /// The parts of set_link() that concern routes, for an engine that handles packets itself: the
    /// routing, then, when the ports' `up` is as it will be, the paths of flows that are not complete.
    void change_routes(LinkId link, bool up) { network_flows_.change_routes(link, up); }
    void set_routes() { network_flows_.set_routes(); }

    /// Frames that skipped time would have put on the wire of `port`: part of its statistics, not of
    /// the executed packet-hops.
    void add_skipped(PortId port, std::int64_t packets, std::int64_t bytes) {
        frames_.add_skipped(port, {packets, bytes});
    }
    FrameCount skipped(PortId port) const { return frames_.skipped(port); }
    /// Once for a port after all that one skip adds to it: its byte counter, as INT tells it, gets
    /// what is left of the skipped bytes beyond whole INT units. HPCC follows the busiest of several
    /// truncated counters, so where they stand within a unit moves a lone flow's rate by percents;
    /// so they stand where they would without the skip. Records see at most one unit too much, once.
    void settle_skipped(PortId port);

    /// From here on ACKs are no packets: they take `set_answer_time()` of their flow from host to host, and
    /// what they are to the ports that they cross is the caller's to say (World::cross). Before begin().
    void leave_answers_out();
    bool answers_left_out() const { return world_.answers != nullptr; }
    /// kNever: there is no way, they are lost.
    void set_answer_time(FlowSlot flow, Tick takes) {
        network_flows_.columns().set_answer_time(flow, takes);
    }
    /// ACKs that have crossed `port` without being packets: part of its statistics, not of the executed
    /// packet-hops, and not of what INT tells (World::cross does).
    void add_crossed(PortId port, std::int64_t packets, std::int64_t bytes) {
        frames_.add_crossed(port, {packets, bytes});
    }
    std::int64_t crossed_bytes(PortId port) const { return frames_.crossed(port).bytes; }

    /// Makes room for cells 0 .. count-1, count >= node_count. Cell n, n < node_count, is node n's.
    void resize_cells(std::uint32_t count) { devices_.resize_cells(count); }
    /// The cell of a host, or any of a switch's.
    void set_home(NodeId node, CellId cell) { devices_.set_home(node, cell); }

    /// Of the list, by id; costs the slots.
    const std::vector<FlowResult>& results() const { return network_flows_.results(); }
    std::vector<PortStatistics> port_statistics(Tick now) const;
    /// When the last packet that was sent reached, or would have reached, the other end of its link;
    /// 0 if none was. However time was cut into windows.
    Tick last_arrival() const;
    RunCounters counters() const;
    /// Bytes of all columns, queues and links.
    std::size_t memory_bytes() const;

  private:
    void bind_callbacks();

    const Topology& topology_;
    const NetworkConfig& config_;
    Application* application_;
    World world_;
    // In this order: later ones use the columns of earlier ones, as they are destroyed, too.
    DeviceColumns devices_;
    NetworkFlows network_flows_;
    Workers workers_;
    FrameLedger frames_;
};

}  // namespace sluice::step
