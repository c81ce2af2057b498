// SPDX-License-Identifier: Apache-2.0
/// Owns the columns of a world: builds them from a topology, a routing and a configuration, and
/// changes them between windows (links fail and are repaired). Host only.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "core/flow/application.h"
#include "core/flow/flow.h"
#include "core/packet/network_config.h"
#include "core/packet/state.h"
#include "core/results/statistics.h"
#include "core/routing/routing.h"
#include "core/topology/topology.h"
#include "core/world/base_rtts.h"
#include "core/world/flow_registry.h"
#include "core/world/frame_ledger.h"
#include "core/world/int_layout.h"

namespace sluice::step {

/// Sorts slots by the ids of their flows: the order in which things happen to several flows at once,
/// whatever slots they have.
void sort_by_id(const World& world, std::vector<FlowSlot>& slots);

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
    ~WorldStore();
    WorldStore(const WorldStore&) = delete;
    WorldStore& operator=(const WorldStore&) = delete;

    World& world() { return world_; }
    const World& world() const { return world_; }
    /// A worker that may step nodes of a window beside others (core/packet/state.h), for as long as the
    /// store lives.
    struct Worker {
        World world;
        std::vector<Tick> block_wake;     ///< world.block_wake
        std::vector<std::uint64_t> mine;  ///< by block of 64 nodes: a bit per node
        std::uint16_t number = 0;
    };
    Worker& add_worker();
    /// Gives each node to the worker of that number. Between windows.
    void divide(const std::vector<std::uint16_t>& owner);
    /// Takes divide() back: one worker steps all nodes, by world().
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
    /// When everything is delivered: what has happened is in world()'s counters and lists.
    void end_shared();
    const Topology& topology() const { return topology_; }
    /// May be null.
    const Application* application() const { return application_; }
    const Routing& routing() const { return routing_; }
    /// The list.
    const std::vector<FlowSpec>& flows() const { return registry_.list(); }

    /// Gives every flow of the list the slot of its number, for models that know the list and nothing of
    /// slots. Before begin().
    void pin_list();
    /// Opens a flow that no list has and starts it at `at`, not before anything that was executed; it has a
    /// slot from then on. Returns its id. ConfigError if it cannot be carried. From a callback of its source
    /// with that callback's world, or between windows.
    FlowId open_flow(World& world, FlowSpec spec, Tick at);
    FlowId open_flow(const FlowSpec& spec, Tick at) { return open_flow(world_, spec, at); }
    /// The same between windows, for a flow whose packets come from elsewhere: only its slot is taken.
    FlowSlot open_slot(FlowSpec spec);
    /// A flow of open_slot() is complete at `now`: its sender has seen all ACKs.
    void close_slot(FlowSlot slot, std::int64_t retransmitted, Tick now);
    /// INT's records are laid out as in `other`, a store of the same network. While no flow has a slot.
    void take_int_layout(const WorldStore& other);
    /// Gives a slot back. Nothing of the flow may be in the network or in a host's timers but what is
    /// known to be stale.
    void release(FlowSlot slot);
    FlowRecord record(FlowSlot slot) const;
    /// Flows that have a slot, in order of their ids.
    std::vector<FlowSlot> living() const;
    /// Those of them that have started and are not complete.
    std::vector<FlowSpec> under_way() const;
    std::size_t living_count() const { return id_.size() - free_slots_.size() - stocked_slots(); }
    std::size_t slot_count() const { return id_.size(); }

    /// Puts every flow with a start time into its host's timers and calls
    /// Application::on_begin for every host. Once, before the first window.
    void begin();

    /// Takes a link out of service or puts it back at `now`, between windows: packets on it and
    /// queued for it are lost, routes are recomputed, queue pairs move to ports that still lead
    /// to their destinations.
    void set_link(LinkId link, bool up, Tick now);

    /// The parts of set_link() that concern routes, for an engine that handles packets itself: the
    /// routing, then, when the ports' `up` is as it will be, the paths of flows that are not complete.
    void change_routes(LinkId link, bool up);
    void set_routes();

    /// Frames that skipped time would have put on the wire of `port`: part of its statistics, not of
    /// the executed packet-hops.
    void add_skipped(PortId port, std::int64_t packets, std::int64_t bytes) {
        frames_.add_skipped(port, {packets, bytes});
    }
    SkippedFrames skipped(PortId port) const { return frames_.skipped(port); }
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
    void set_answer_time(FlowSlot flow, Tick takes) { answer_takes_[flow] = takes; }

    /// ACKs that have crossed `port` without being packets: part of its statistics, not of the executed
    /// packet-hops, and not of what INT tells (World::cross does).
    void add_crossed(PortId port, std::int64_t packets, std::int64_t bytes) {
        frames_.add_crossed(port, {packets, bytes});
    }
    std::int64_t crossed_bytes(PortId port) const { return frames_.crossed(port).bytes; }

    /// Makes room for cells 0 .. count-1, count >= node_count. Cell n, n < node_count, is node n's.
    void resize_cells(std::uint32_t count);
    /// The cell of a host, or any of a switch's.
    void set_home(NodeId node, CellId cell) { home_[node] = cell; }
    const NetworkConfig& config() const { return config_; }

    /// Of the list, by id; costs the slots.
    const std::vector<FlowResult>& results() const { return registry_.results(world_, id_.size()); }
    std::vector<PortStatistics> port_statistics(Tick now) const;
    /// When the last packet that was sent reached, or would have reached, the other end of its link;
    /// 0 if none was. However time was cut into windows.
    Tick last_arrival() const;
    RunCounters counters() const;
    /// Bytes of all columns, queues and links.
    std::size_t memory_bytes() const;

  private:
    class Services;

    void build_ports();
    void build_buffers();
    void build_flows();
    void reserve_connections(ConnectionId count);
    void check_opened(const FlowSpec& spec) const;
    bool fits(const FlowSpec& spec) const;
    void make_room(const FlowSpec& spec);
    void fill_slot(FlowSlot slot, FlowId id, const FlowSpec& spec);
    FlowSlot take_slot_for(FlowId id, const FlowSpec& spec);
    FlowSlot take_start(World& world, NodeId host, FlowId id);
    std::size_t stocked_slots() const;
    void share_columns();
    void build_outboxes();
    void build_blocks();
    void grow_slots(std::size_t count);
    void set_pair(FlowSlot slot, const BaseRtt& pair);
    void build_windows();
    void check_int();
    void set_route(FlowSlot flow);
    void find_route(FlowSlot flow);
    void drop_queue(PortId port, Tick now);
    void drop_link(PortId port);
    void reroute(Tick now);
    const std::vector<std::uint32_t>& serialization_table(Rate rate);

    static void received(World& world, NodeId host, FlowSlot flow, Tick now);
    static void sent(World& world, NodeId host, FlowSlot flow, Tick now);
    static void timer(World& world, NodeId host, std::uint64_t token, Tick now);
    static FlowSlot take_slot(World& world, NodeId host, FlowId flow);
    static PortId route(void* self, NodeId node, const Packet& packet);

    const Topology& topology_;
    Routing& routing_;
    const NetworkConfig& config_;
    const std::vector<FlowPath>& paths_;
    Application* application_;
    World world_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<std::uint16_t> owner_;  ///< by node: its worker; empty: the network is not divided
    /// A link of its own for what one worker's nodes send to another one's port.
    struct Outbox {
        PortId port = kNone;  ///< that receives
        NodeId node = kNone;  ///< of `port`
    };
    std::vector<Outbox> outbox_;  ///< in link_ behind the ports' links

    std::vector<PortId> first_port_;
    std::vector<std::uint8_t> is_host_;
    std::vector<Egress> egress_;
    std::vector<Ingress> ingress_;
    std::vector<Wire> link_;
    std::vector<Buffer> buffer_;
    std::vector<Host> host_;
    std::vector<HostPort> host_port_;
    std::vector<CrossStream> cross_;  ///< empty unless answers are left out
    std::vector<CellId> home_;
    std::vector<Tick> wake_;
    std::vector<Tick> block_wake_;
    std::vector<QueuePair> queue_pair_;  ///< by connection
    /// The way of a connection's messages as it was found last: by connection, good while `epoch` is
    /// that of the routes and the ends are the message's.
    struct KnownRoute {
        FlowRoute route;
        NodeId src = kNone;
        NodeId dst = kNone;
        std::uint32_t epoch = 0;
        std::uint16_t sport = 0;
        std::uint16_t dport = 0;
    };
    std::vector<KnownRoute> known_route_;
    std::uint32_t route_epoch_ = 1;
    // By slot.
    std::vector<FlowId> id_;
    std::vector<FlowSpec> spec_;
    std::vector<FlowRoute> route_;
    std::vector<Receiver> receiver_;
    std::vector<std::uint32_t> sender_at_;
    std::vector<FlowResult> result_;
    std::vector<FlowSlot> following_;
    std::vector<std::int64_t> flow_window_;
    std::vector<Tick> flow_base_rtt_;
    std::vector<Wire> answers_;       ///< empty unless answers are left out
    std::vector<Tick> answer_takes_;  ///< likewise
    std::vector<FlowSlot> free_slots_;
    BaseRtts base_rtts_;
    FlowRegistry registry_;
    IntLayout ints_;
    FrameLedger frames_;
    std::unordered_map<std::int64_t, std::unique_ptr<std::vector<std::uint32_t>>> tables_;
};

}  // namespace sluice::step
