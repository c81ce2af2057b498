// SPDX-License-Identifier: Apache-2.0
/// What the phase controller needs of a packet engine: to see rates and queues of a group of flows,
/// to pause it, to advance its flows by bytes, to resume it earlier than planned, and to restore
/// its queues. A group is a partition, or the whole network; an engine may keep it in any form.
/// All calls come between windows, when the group's clock stands still.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/clocks/flow_partitions.h"
#include "core/clocks/folding.h"
#include "core/flow/flow.h"
#include "core/hybrid/ack_streams.h"
#include "core/hybrid/restorer.h"
#include "core/ids.h"
#include "core/steady/detector.h"
#include "core/units.h"

namespace sluice::hybrid {

/// What a group went through in a skip, by its flows: nothing of it was executed.
struct Skipped {
    const std::vector<double>& rate;           ///< packets per tick
    const std::vector<std::int64_t>& packets;  ///< that were taken out of each
    Tick time = 0;
};

/// What changing queues has come to, packets.
struct RestoredQueues {
    std::int64_t delivered = 0;   ///< taken out of a queue, beside those of the skip
    std::int64_t given_back = 0;  ///< taken out of a queue and counted among those of the skip
    std::int64_t placed = 0;
};

/// What a port is to an episode.
struct EpisodePort {
    std::int64_t rate = 0;             ///< bits/s
    Tick delay = 0;                    ///< of its link
    std::int64_t mark_bytes = 0;       ///< where it begins to mark
    std::int64_t threshold_shift = 0;  ///< of what the switch takes in by it
    std::int64_t headroom = 0;         ///< the same, bytes
    NodeId node = kNone;
    bool of_host = false;
};

/// A group's active flows, in order of their ids, and where they are.
struct Group : step::Extent {
    std::vector<FlowSlot> flows;
};

/// What is executed of a group: all of it or, where it is folded upon itself, one of its sheets (core/fold/fold.h),
/// whose packets stay among its own ports.
struct Executed {
    std::vector<PortId> ports;
    std::vector<NodeId> hosts;
    std::vector<FlowSlot> flows;
    std::vector<std::uint32_t>
        like;  ///< by flow of the group: place of the one that is executed for it
};

class PhaseEngine {
  public:
    virtual ~PhaseEngine() = default;

    // What it shows.
    virtual bool active(FlowSlot flow) const = 0;
    /// By the flows' ids.
    virtual void sort(std::vector<FlowSlot>& flows) const = 0;
    virtual const congestion::Parameters& law() const = 0;
    virtual const congestion::State& law_state(FlowSlot flow) const = 0;
    /// Of the flow's own path, without queues; of active flows that have entered their partition.
    virtual Tick base_rtt(FlowSlot flow) const = 0;
    virtual std::int64_t line_rate(FlowSlot flow) const = 0;  ///< of its NIC, bits/s
    virtual std::uint8_t traffic_class(FlowSlot flow) const = 0;
    virtual std::int64_t payload() const = 0;     ///< bytes of a full packet
    virtual std::int64_t data_bytes() const = 0;  ///< the same on the wire
    virtual double ack_bytes() const = 0;         ///< ACK bytes per data packet
    virtual double packets_per_ack() const = 0;
    /// In which the law's switches report the bytes that they have sent; 0: it reads no such counters.
    virtual std::int64_t counter_unit() const = 0;
    /// Of two switch ports in a row that the same packets pass: bytes by which the counter of `to` is ahead of that of
    /// `from`, as one packet reads them; nothing where ACKs that are no packets cross one of them alone.
    virtual std::optional<std::int64_t> counter_ahead(PortId from, PortId to, Tick now) const = 0;
    virtual std::int64_t link_rate(PortId port) const = 0;  ///< bits/s
    /// Where its bytes go.
    virtual const step::Footprint& tracks(FlowSlot flow) const = 0;
    /// Times are simulated time; a paused flow's move with it.
    virtual steady::FlowReading reading(FlowSlot flow) const = 0;
    virtual std::int64_t queue_bytes(PortId port) const = 0;
    virtual NodeId node_of(PortId port) const = 0;
    virtual Tick lookahead() const = 0;
    virtual Tick skipped(FlowSlot flow) const = 0;  ///< time, in all its skips
    /// Full packets not sent yet, but for the last one; negative if something is to be sent again.
    virtual std::int64_t unsent_packets(FlowSlot flow) const = 0;
    /// False while something holds that no steady phase may hide: a paused class, a sprayed flow,
    /// a cable that loses packets, a foreign model on a cable.
    virtual bool may_skip(const Group& group) const = 0;

    /// Null where ACKs are packets. There, groups are flows that share data ports.
    virtual AckStreams* ack_streams() = 0;

    // What can be done to it.
    /// After a frame was queued at a port that slept and has been woken at `now`.
    virtual void decide(PortId port, Tick now) = 0;
    /// Moves everything that the group will do by `dt`; negative: back. Packets stay where they are.
    virtual void shift(const Group& group, Tick dt) = 0;
    /// Takes `packets` out of the flow's unsent part; negative: puts them back.
    virtual void advance(FlowSlot flow, std::int64_t packets) = 0;
    /// Counts `packets` data packets of the flow, and their ACKs, as sent by the ports of its path.
    virtual void account(FlowSlot flow, std::int64_t packets) = 0;
    /// After account() of all flows of a skip: what ports tell packets agrees with what they sent.
    virtual void settle(const Group& group) = 0;
    /// Takes the flow's law through a skip of `dt` that is over at `now`, in which it advanced by
    /// `packets`; `marked`: the share of its ACKs that were marked, as the phase was seen before.
    virtual void advance_law(FlowSlot flow, Tick dt, std::int64_t packets, double marked,
                             Tick now) = 0;
    /// After advance_law(): the flow's law wakes with its rate times `factor`.
    virtual void rescale_law(FlowSlot flow, double factor, Tick now) = 0;
    /// Of a switch's port: what does not change (PortPast).
    virtual PortPast describe(PortId port) const = 0;
    /// `wanted` bytes are to be queued at `ports` of the group's switches as a skip ends
    /// (core/hybrid/queue_editor.h).
    virtual RestoredQueues set_queues(const Group& group, const Skipped& skip,
                                      const std::vector<PortId>& ports,
                                      const std::vector<double>& wanted, Tick now) = 0;

    // Parts of the network that are copies of each other (core/clocks/folding.h).
    virtual void fold(step::Folding& /*folding*/) {}
    /// The host that is executed in its place: itself, unless it follows one.
    virtual NodeId executed_as(NodeId host) const { return host; }
    /// Of a group that follows no other.
    virtual Executed executed_of(const Group& group) const = 0;

    // Episodes (core/hybrid/episode.h).
    virtual FlowId id_of(FlowSlot flow) const = 0;
    virtual const FlowSpec& spec(FlowSlot flow) const = 0;
    virtual std::int64_t size_of(FlowSlot flow) const = 0;
    /// Of an active flow: what its law was given, which may be of the whole network: base RTT, window, line rate.
    virtual std::vector<std::int64_t> law_facts(FlowSlot flow) const = 0;
    virtual FlowResult result(FlowSlot flow) const = 0;
    /// Its source and its destination.
    virtual std::vector<NodeId> ends(FlowSlot flow) const = 0;
    /// By which its packets and ACKs go.
    virtual std::vector<NodeId> switches_on(FlowSlot flow) const = 0;
    /// From its start to its last byte's arrival, if nothing were in its way: no less.
    virtual Tick least_time(FlowSlot flow) const = 0;
    virtual EpisodePort describe_for_episode(PortId port) const = 0;
    /// Of an active flow: whether all that decides how it goes is known. Its packets go the way of its footprint, to
    /// its destination, by nodes and cables of our own that lose none.
    virtual bool may_tell(FlowSlot flow) const = 0;
    /// Of an active flow: no message waits behind it, or has its queue pair.
    virtual bool stands_alone(FlowSlot flow) const = 0;
    /// Packet-hops of an active flow, its ACKs' among them, that loses none.
    virtual std::int64_t whole_hops(FlowSlot flow) const = 0;
    virtual void list_ports(NodeId node, std::vector<PortId>& ports) const = 0;
    /// As run_calls(), of a host that is held: flows start, are held, too, and appended to `opened`. False: the next
    /// thing is the start of a message behind another one of its connection, which is under way.
    virtual bool run_held_calls(NodeId host, Tick at, std::vector<FlowSlot>& opened) = 0;
    /// As step::run_alone() at the group's hosts and switches.
    virtual std::uint32_t run_alone(const Group& group, Tick from, Tick to) = 0;
    virtual void tell_ends(FlowSlot flow, Tick received, Tick finish) = 0;
    virtual void untell_ends(FlowSlot flow) = 0;
    /// Counts `bytes` of payload, from a flow's first one on, and their ACKs, as sent by its ports; `sent` packets were
    /// counted by the first port already. Returns the packet-hops.
    virtual std::int64_t account_told(const std::vector<PortId>& data,
                                      const std::vector<PortId>& acks, std::int64_t bytes,
                                      std::int64_t sent) = 0;
    /// Returns how many packets it has sent.
    virtual std::int64_t drop_sender(FlowSlot flow) = 0;
    /// A flow whose sender was dropped, and of which `packets` full packets have been counted as delivered, goes on at
    /// `now`, beginning with the next one, at `rate` (bytes per tick).
    virtual void resume(FlowSlot flow, std::int64_t packets, double rate, Tick now) = 0;
    virtual void drop_packets(const Group& group) = 0;

    // Hosts of a paused group go on computing: their timers are not the network's.
    /// The next application's or flow's start of this host or of one that follows it, kNever if none.
    virtual Tick next_call(NodeId host) const = 0;
    /// Runs the application's timers of a paused host that are due at `at`. True if a flow is to
    /// start there at `at`: the group must resume first.
    virtual bool run_calls(NodeId host, Tick at) = 0;
    /// The same, but true for a flow that would have to wait for others of its connection, too.
    virtual bool run_calls_to_start(NodeId host, Tick at) = 0;
};

}  // namespace sluice::hybrid
