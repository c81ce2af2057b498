// SPDX-License-Identifier: Apache-2.0
/// The columns that a cell's step reads and writes. Indices are global port ids, node ids, cell ids
/// and slots of flows. A cell's step writes its own ports', host's and buffer's state, what its hosts'
/// flows have in their slots, and the rings that leave it, so cells may be stepped in any order inside
/// a window. Counters and lists belong to the worker that steps (World).
///
/// Where one worker steps all cells, what is sent reaches the neighbour's link at once. Where several step
/// cells of one window (`shared`), each has its own nodes, and nothing that one writes is read by another
/// within it: what it sends to another one's node waits in an *outbox*, a link of its own, and what else
/// concerns other nodes in its lists, until all are done (Workers::deliver).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/congestion/congestion.h"
#include "core/congestion/int_record.h"
#include "core/flow/flow.h"
#include "core/ids.h"
#include "core/memory_space.h"
#include "core/packet/ack_load/cross_stream.h"
#include "core/packet/counts.h"
#include "core/packet/flow_state.h"
#include "core/packet/network_config.h"
#include "core/packet/packet.h"
#include "core/packet/plain.h"

namespace sluice::step {

/// Bytes that no queue reaches; Egress::ecn_kmin of a port that never marks.
inline constexpr std::uint32_t kUnlimited = 0xffffffff;
inline constexpr std::uint32_t kNeverMarks = kUnlimited;

/// Transmit side of a port. The first line is touched by every packet, the rest less often.
struct alignas(64) Egress {
    Tick free_at = 0;                                     ///< the transmitter is busy until then
    Tick delay = 0;                                       ///< propagation
    Global<const std::uint32_t> serialization = nullptr;  ///< ticks by bytes on the wire
    std::int64_t tx_bytes = 0;
    std::int64_t tx_packets = 0;
    std::uint32_t queued_bytes = 0;  ///< all classes
    PortId out = kNone;              ///< the link that packets are put on: `peer`'s, or an outbox
    CellId peer_cell = kNone;        ///< the cell that `peer` is in
    std::uint8_t nonempty = 0;       ///< bit per class
    std::uint8_t paused = 0;         ///< bit per class, by the peer's PFC
    std::uint8_t last_class = 1;     ///< served last, the scheduler's position
    std::uint8_t rate_index = 0;     ///< into IntRates

    std::uint32_t max_queued_bytes = 0;
    std::uint32_t ecn_kmin = 0;
    std::uint32_t ecn_kmax = 0;
    bool up = true;
    double ecn_pmax = 0;
    std::uint64_t ecn_draws = 0;
    std::int64_t ecn_marks = 0;
    // Packets that are lost, by cause (lose()):
    std::int64_t drops_no_room = 0;    ///< a switch's buffer is full, or a host's held answers are
    std::int64_t drops_no_way = 0;     ///< nothing leads to the destination any more
    std::int64_t drops_link_down = 0;  ///< waited for a link that failed, or were on it
    std::int64_t drops_cable = 0;      ///< the cable's error rate
    std::int64_t drops_outdated = 0;   ///< a foreign model's, of a flow that is over
    std::int64_t trimmed = 0;          ///< packets of which only the header went on
    std::int64_t pauses_sent = 0;
    Tick paused_since = 0;
    Tick paused_ticks = 0;
    std::int64_t line_rate = 0;  ///< bits/s
    // Trains (trains.h).
    std::int64_t train_packets = 0;  ///< without the first one of each, which is in tx_packets
    Tick owed_until = 0;             ///< when the rest of those that have begun is sent
    PortId peer = kNone;
    std::uint32_t trim_above = kUnlimited;  ///< of a class queue (TrimConfig::threshold)
    std::uint32_t class_bytes[kClasses] = {};
    std::int32_t deficit[kClasses] = {};
    Ring queue[kClasses];
};

/// Packets on their way over one direction of a cable. Their times count from `base`, so that a
/// skip moves them all by moving it. The last bit of the first one arrives at front().time + base.
/// With it, on a line of its own, when the port that receives has something to do: ports that are neighbours
/// in memory may be different workers'.
struct alignas(64) Wire : Ring {
    Tick base = 0;
    Tick arrival = kNever;   ///< of the first packet that the port has not taken
    Tick decision = kNever;  ///< next transmit decision of the port, kNever if none is pending
};

/// When the first packet of a link arrives, kNever if there is none.
SLUICE_HD inline Tick next_arrival(Wire& link) {
    return link.empty() ? kNever : link.front().time + link.base;
}

/// Receive side of a switch port: PFC accounting per class (the reference's MMU).
struct alignas(64) Ingress {
    std::uint32_t bytes[kClasses] = {};     ///< reserve and shared use
    std::uint32_t headroom[kClasses] = {};  ///< headroom use
    std::uint32_t headroom_limit = 0;
    std::uint32_t total_bytes = 0;  ///< sum of bytes[] and headroom[]
    std::uint8_t paused = 0;        ///< bit per class: we have paused the peer
    std::uint8_t threshold_shift = 3;
    double loss = 0;  ///< of the cable, per received packet
    std::uint64_t loss_draws = 0;
};

/// The ports of one node that step together. A host is one cell, because its queue pairs and timers
/// belong to all its ports; a switch is one cell, or several whose packets never meet.
struct Cell {
    NodeId node = kNone;
    CellId id = kNone;  ///< its place in World::wake and World::buffer
    Global<const std::uint16_t> ports =
        nullptr;                   ///< local indices, ascending; null: all of the node's
    std::uint32_t port_count = 0;  ///< of `ports`
};

/// A node as one cell, where no node is split.
SLUICE_HD inline Cell whole_node(NodeId node) {
    Cell cell;
    cell.node = node;
    cell.id = node;
    return cell;
}

/// What a cell may use of its switch's shared buffer, and uses.
struct Buffer {
    /// size - headrooms - reserves (PFC), or size (lossy); less the most that the switch's other
    /// cells may use
    std::int64_t shared_size = 0;
    std::int64_t shared_used = 0;
    std::int64_t reserve = 0;
    std::int64_t resume_offset = 0;
    std::uint32_t held_classes = 0;  ///< (port, class) pairs that are held (is_held())
};

/// Sending side of a queue pair, for one message. Sequences are packet indices; *_bytes the same in bytes.
struct Sender {
    FlowSlot flow = kNone;
    std::uint32_t next = 0;     ///< snd_nxt
    std::uint32_t una = 0;      ///< snd_una
    std::uint32_t packets = 0;  ///< in the whole flow
    std::int64_t next_bytes = 0;
    std::int64_t una_bytes = 0;
    std::int64_t size = 0;
    Tick next_avail = 0;         ///< pacing: no departure before
    Tick last_gap = 0;           ///< pacing gap after the last departure
    Tick last_progress = 0;      ///< last departure or acknowledgement, for the time-out
    Tick armed = kNever;         ///< earliest entry in the host's timer heap
    std::int64_t window = 0;     ///< bytes that may be in flight at the current rate
    std::uint32_t high = 0;      ///< highest index sent so far + 1
    std::uint32_t position = 0;  ///< in its HostPort's lists
    PortId port = kNone;
    std::uint32_t transmissions = 0;
    std::uint32_t asked = 0;  ///< index behind the last packet that asks for an ACK
    std::uint16_t last_bytes = 0;
    std::uint8_t traffic_class = 3;
    std::uint8_t int_shift = 0;  ///< one in 2^int_shift packets has an INT slot
    std::int64_t retransmitted = 0;
    std::int64_t resent_late = 0;  ///< of `retransmitted`, after a time-out
    Tick skipped = 0;              ///< simulated time minus the flow's local time
    // Of a queue pair that carries one message behind the other (queue_pair.h):
    std::int64_t offset = 0;     ///< bytes of the messages before, in the law's sequence space
    std::int64_t behind = 0;     ///< bytes of them that are not acknowledged
    std::uint32_t heir = kNone;  ///< the sender that took the queue pair over
    bool timed_out = false;      ///< it went back last because of a time-out
    congestion::State cc;
};

/// `answer`: an ACK or NACK that is no packet reaches its flow's source. `last_byte`, `last_ack`: core/world/told_flows.h.
/// `pull`: a host gives credits (credits.h).
enum class TimerKind : std::uint32_t {
    answer,
    flow_start,
    application,
    sender,
    last_byte,
    last_ack,
    pull,
};

/// Ordered by (time, kind, id): never by insertion, never by slot.
struct Timer {
    Tick time = 0;
    TimerKind kind = TimerKind::flow_start;
    std::uint32_t slot =
        kNone;  ///< the flow's, kNone if it has none yet; sender: its place among the host's
    std::uint64_t id = 0;  ///< the flow's, or an application's token

    SLUICE_HD bool before(const Timer& other) const {
        if (time != other.time) {
            return time < other.time;
        }
        return kind != other.kind ? kind < other.kind : id < other.id;
    }
};

/// A NIC port's queue pairs in round-robin order, with the instant from which each may send
/// (kNever: window closed or nothing left).
struct alignas(64) HostPort {
    PlainVector<std::uint32_t> sender;  ///< places in Host::senders
    PlainVector<Tick> ready;
    std::uint32_t last = 0;  ///< position served last
    bool last_was_ack = false;
};

struct alignas(64) Host {
    PlainVector<Timer> timers;    ///< binary heap
    PlainVector<Sender> senders;  ///< those of Sender::flow == kNone are free
    PlainVector<std::uint32_t> free_senders;
    /// By log2 of their slots: the first free block, whose first word is the next one's `bits`.
    PlainVector<IntBlock> free_ints;
};

/// How a host gives credits (credits.h).
struct alignas(64) Puller {
    PlainVector<FlowSlot> round;  ///< flows that want credits, the next one first
    bool active = false;          ///< a timer is set
};

/// A timer that one host sets for another one.
struct Call {
    NodeId host = kNone;
    Timer timer;
};

/// A PFC frame that `port` obeys: its class is paused, or resumed.
struct PfcFrame {
    Tick at = 0;
    PortId port = kNone;
    bool pause = false;
};

/// Something is to leave by a port that is asleep, or to start at its host, at `at`.
struct Disturbance {
    Tick at = 0;
    PortId port = kNone;
};

struct World;
struct RouteTable;

/// Calls out of a step, host engines only. Null members are skipped. `world` is the worker's that steps.
struct Callbacks {
    void* context = nullptr;
    void (*received)(World& world, NodeId host, FlowSlot flow, Tick now) = nullptr;
    void (*sent)(World& world, NodeId host, FlowSlot flow, Tick now) = nullptr;
    void (*timer)(World& world, NodeId host, std::uint64_t token, Tick now) = nullptr;
    /// An application has set a timer of another host.
    void* call_set_context = nullptr;
    void (*call_set)(void* context, NodeId host, Tick at) = nullptr;
    /// Takes the timers that would go into a host's heap: an engine with an event queue of its own.
    void* timer_set_context = nullptr;
    void (*timer_set)(void* context, NodeId host, const Timer& timer) = nullptr;
    /// The slot of flow `id` of `host`, which starts now; kNone if none can be had in a shared window.
    FlowSlot (*take_slot)(World& world, NodeId host, FlowId id) = nullptr;
    /// A host with followers (Columns::followed) is about to execute what is due at `at`: the start of a
    /// flow or an application's timer, its own first one (`own`) or one of theirs.
    void* folds = nullptr;
    void (*meet)(World& world, NodeId host, Tick at, bool own) = nullptr;
    /// The same of a host whose packets stand still (core/world/skip.h): those leave it that do not have its first timer
    /// (`own`), or have one where it has none.
    void (*meet_paused)(World& world, NodeId host, Tick at, bool own) = nullptr;
    /// Those that a paused host still has do with it what it is about to do, its first timer.
    void (*go_on_together)(World& world, NodeId host, Tick at) = nullptr;
    void* late = nullptr;  ///< who takes `received` and `sent` (core/clocks/alone.h)
    /// Egress port by table, for packets without a usable path entry; kNone if unreachable.
    PortId (*route)(void* context, NodeId node, const Packet& packet) = nullptr;
};

/// Columns::followed of a node that leads no other.
inline constexpr Tick kUnfollowed = -1;

/// What all workers of a world share: raw columns, and what does not change while cells are stepped.
struct Columns {
    std::uint32_t node_count = 0;
    Global<const PortId> first_port = nullptr;  ///< node_count + 1
    Global<const std::uint8_t> is_host = nullptr;

    Global<Egress> egress = nullptr;       ///< by port
    Global<Ingress> ingress = nullptr;     ///< by port
    Global<Wire> link = nullptr;           ///< by receiving port; then outboxes
    Global<Buffer> buffer = nullptr;       ///< by cell
    Global<Host> host = nullptr;           ///< by node
    Global<HostPort> host_port = nullptr;  ///< by port
    std::uint32_t cell_count = 0;          ///< at first node_count
    bool whole_nodes = true;               ///< no node is split: cell n is node n
    Global<const CellId> home = nullptr;   ///< by node: its cell (a host's), or its first one
    Global<Tick> wake = nullptr;           ///< by cell: nothing happens at it before
    /// minimum over 64 cells; a worker's in shared windows: over those of them that are its own
    Global<Tick> block_wake = nullptr;
    /// By node, null where nothing is ever folded (core/fold): when the first timer of a host that follows
    /// this one is due, kNever if none is; kUnfollowed.
    Global<Tick> followed = nullptr;

    // By slot of a flow. They grow between instants of a host's, never while a step holds a reference.
    Global<const FlowId> id = nullptr;  ///< kNoFlow: the slot is free
    Global<const FlowSpec> spec = nullptr;
    Global<FlowRoute> route = nullptr;
    Global<Receiver> receiver = nullptr;
    Global<std::uint32_t> sender_at =
        nullptr;  ///< in its source's Host::senders, kNone unless active
    Global<FlowResult> result = nullptr;
    Global<FlowSlot> following = nullptr;  ///< the next of its connection, kNone if none waits
    Global<const std::int64_t> flow_window = nullptr;  ///< unless global_base_rtt
    Global<const Tick> flow_base_rtt = nullptr;        ///< unless global_base_rtt
    Global<QueuePair> queue_pair = nullptr;            ///< by connection
    // Under selective repeat, else null. Bits (WindowBits): `reorder_window` per slot.
    Global<Scoreboard> scoreboard = nullptr;
    Global<std::uint64_t> sacked =
        nullptr;  ///< beyond Sender::una, the sender knows to have arrived
    Global<std::uint64_t> arrived = nullptr;  ///< beyond Receiver::expected, has arrived
    Global<std::uint64_t> trimmed = nullptr;  ///< likewise, to be sent again; null: nobody trims
    std::uint32_t reorder_window = 0;         ///< packets, a power of two of at least 64
    std::uint32_t reorder_threshold = 0;      ///< packets
    Recycled* recycled = nullptr;             ///< by slot; SprayConfig::entropy_recycle, else null
    Global<EntropyScores> entropy_scores =
        nullptr;  ///< by slot; SprayConfig::entropy_avoid, else null
    // Under receiver credits, else null.
    Global<Credit> credit = nullptr;     ///< by slot
    Global<Puller> puller = nullptr;     ///< by node
    Global<Flowlet> flowlets = nullptr;  ///< kFlowlets per switch, under LoadBalance::flowlet
    Global<const std::uint32_t> switch_number = nullptr;  ///< by node: which of the switches it is

    // Where ACKs are no packets, else null; one clock.
    Global<CrossStream> cross = nullptr;  ///< by port
    Global<Wire> answers = nullptr;       ///< by slot: answers on their way to the flow's source
    Global<const Tick> answer_takes = nullptr;  ///< by slot: kNever if there is no way

    PortId first_outbox = kNone;   ///< links from here on are outboxes
    std::uint32_t int_block = 0;   ///< most slots of a flow, a power of two; 0: no INT
    std::uint32_t int_stride = 0;  ///< words per slot: 2, 4 or 8
    /// Of a flow that begins, one in 2^int_shift packets has a slot.
    std::uint32_t int_shift = 0;

    Global<const StepConfig> config = nullptr;
    congestion::IntRates int_rates;
    congestion::IntUnits int_units;
    std::int32_t payload = 0;
    std::int32_t data_overhead = 0;  ///< headers of a data packet
    std::uint32_t train = 1;         ///< packets of the longest train (trains.h); 1: there are none
    bool trains_marked_whole = false;  ///< by one draw, not by one of each packet
    /// No trains, and `cross` is null: one test for both on the packet path.
    bool lone_packets = true;
    std::int64_t max_window = 0;  ///< bytes, network-wide (global_base_rtt)
    Tick base_rtt = 0;

    Callbacks callbacks;
    Tick lookahead = 0;
    bool digest_hops = false;
    bool track_flows = false;
    bool list_pauses = false;          ///< PFC frames go to World::pauses
    std::uint8_t sprayed_classes = 0;  ///< NetworkConfig::sprayed_classes()
    bool has_entropy = false;          ///< LoadBalance::entropy
    /// Switches work off their arrivals in the order of time, because some choose their port by what is there.
    bool in_order = false;
    std::uint32_t header_room = kUnlimited;  ///< TrimConfig::queue, of the strict queue
    bool any_link_down = false;
    bool pfc = true;                    ///< config->pfc
    bool ack_strict_in_switch = false;  ///< config->queues.ack_strict_in_switch
    /// Not null: a lane of gpu/, where every packet leaves by an outbox that its receiver empties, the wakes of
    /// cells are in no blocks, and what has changed is read from the columns.
    void* lane = nullptr;
    bool links_changed = false;  ///< lanes: packets may come out of their order
    /// Lanes: in place of Callbacks::route; null where every packet finds its next hop in its flow's way.
    Global<const RouteTable> table = nullptr;
};

/// What one worker steps cells with: everything that a step sees. Its own part begins empty.
struct World : Columns, Counts {
    Memory memory;
    bool misrouted = false;  ///< a packet was to leave its cell: an error of the cells' owner

    // Since the caller last emptied them:
    PlainVector<FlowSlot> changed;  ///< flows that were opened or closed
    PlainVector<PfcFrame> pauses;   ///< list_pauses
    PlainVector<FlowSlot>
        went_back;  ///< track_flows: started over from the first unacknowledged packet
    PlainVector<Tick>
        announced;  ///< track_flows: instants for which starts and application timers were set

    PlainVector<Disturbance> disturbed;
    Tick last_answer = 0;  ///< the latest arrival of an answer that is no packet

    bool shared = false;  ///< other workers step cells of the same window
    // Of a shared window:
    Global<const std::uint16_t> owner = nullptr;  ///< by node: the worker that steps it
    std::uint16_t number = 0;                     ///< the worker's own
    PlainVector<PortId> outboxes;                 ///< in which packets are
    PlainVector<Call> calls;                      ///< timers for hosts that may be another worker's
    PlainVector<Call> called;                     ///< Callbacks::call_set is due
    PlainVector<Packet> answers_out;  ///< answers to another worker's hosts, timed by their arrival
    PlainVector<CellId> stalled;      ///< hosts that wait for a slot, at the instant of their wake
    PlainVector<FlowSlot> free_slots;  ///< a stock for flows that start in it
};

/// What an egress has lost, for whatever cause.
SLUICE_HD inline std::int64_t drops_of(const Egress& egress) {
    return egress.drops_no_room + egress.drops_no_way + egress.drops_link_down +
           egress.drops_cable + egress.drops_outdated;
}

/// A packet is lost that was to leave by `egress`; `cause`: Egress::drops_...
SLUICE_HD inline void lose(World& world, Egress& egress, std::int64_t Egress::*cause) {
    ++(egress.*cause);
    ++counts_of(world).drops;
}

/// A flow was opened or closed.
SLUICE_HD inline void note_change(World& world, FlowSlot flow) {
    if (world.lane == nullptr) {
        world.changed.push(world.memory, flow);
    }
}

/// Its packets choose their ways one by one, where there is a choice.
SLUICE_HD inline bool is_sprayed(const World& world, FlowSlot flow) {
    return world.sprayed_classes != 0 &&
           (world.sprayed_classes >> world.spec[flow].priority & 1U) != 0;
}

/// The host at which a flow's sender is.
SLUICE_HD inline Host& source_of(const World& world, FlowSlot flow) {
    return world.host[world.spec[flow].src];
}

/// The sender of a flow that is active.
SLUICE_HD inline Sender& sender_of(const World& world, FlowSlot flow) {
    return source_of(world, flow).senders[world.sender_at[flow]];
}

/// The cell that `port` is in.
SLUICE_HD inline CellId cell_of(const World& world, PortId port) {
    return world.egress[world.egress[port].peer].peer_cell;
}

/// Lowers a cell's wake-up time to `at`. In a shared window for the worker's own cells only.
SLUICE_HD inline void wake_cell(World& world, CellId cell, Tick at) {
    if (at < world.wake[cell]) {
        world.wake[cell] = at;
        if (world.lane == nullptr && at < world.block_wake[cell >> 6]) {
            world.block_wake[cell >> 6] = at;
        }
    }
}

}  // namespace sluice::step
