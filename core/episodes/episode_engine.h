// SPDX-License-Identifier: Apache-2.0
/// What episodes (core/episodes/episode.h) see of a network of packets and do to it, beside what all phases do
/// (core/hybrid/phase_engine.h). Between windows, of a network on one clock where ACKs are packets.
#pragma once

#include <cstdint>
#include <vector>

#include "core/flow/flow.h"
#include "core/hybrid/network_view.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice::hybrid {

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

class EpisodeEngine {
  public:
    /// Both must outlive this.
    EpisodeEngine(step::WorldStore& store, const NetworkView& view) : store_(store), view_(view) {}

    FlowId id_of(FlowSlot flow) const { return store_.world().id[flow]; }
    const FlowSpec& spec(FlowSlot flow) const { return store_.world().spec[flow]; }
    std::int64_t size_of(FlowSlot flow) const { return spec(flow).size; }
    FlowResult result(FlowSlot flow) const { return store_.world().result[flow]; }
    /// Its source and its destination.
    std::vector<NodeId> ends(FlowSlot flow) const { return {spec(flow).src, spec(flow).dst}; }
    /// By which its packets and ACKs go.
    std::vector<NodeId> switches_on(FlowSlot flow) const;
    /// From its start to its last byte's arrival, if nothing were in its way: no less.
    Tick least_time(FlowSlot flow) const;
    EpisodePort describe_for_episode(PortId port) const;
    /// Of an active flow: whether all that decides how it goes is known. Its packets go the way of its footprint, to
    /// its destination, by nodes and cables of our own that lose none.
    bool may_tell(FlowSlot flow) const;
    /// Of an active flow: no message waits behind it, or has its queue pair.
    bool stands_alone(FlowSlot flow) const;
    /// Packet-hops of an active flow, its ACKs' among them, that loses none.
    std::int64_t whole_hops(FlowSlot flow) const;
    void list_ports(NodeId node, std::vector<PortId>& ports) const;
    /// As PhaseEngine::run_calls(), of a host that is held: flows start, are held, too, and appended to `opened`. False: the next
    /// thing is the start of a message behind another one of its connection, which is under way.
    bool run_held_calls(NodeId host, Tick at, std::vector<FlowSlot>& opened);
    /// As step::run_alone() at the group's hosts and switches.
    std::uint32_t run_alone(const Group& group, Tick from, Tick to);
    void tell_ends(FlowSlot flow, Tick received, Tick finish);
    void untell_ends(FlowSlot flow);
    /// Counts `bytes` of payload, from a flow's first one on, and their ACKs, as sent by its ports; `sent` packets were
    /// counted by the first port already. Returns the packet-hops.
    std::int64_t account_told(const std::vector<PortId>& data, const std::vector<PortId>& acks,
                              std::int64_t bytes, std::int64_t sent);
    /// Returns how many packets it has sent.
    std::int64_t drop_sender(FlowSlot flow);
    /// A flow whose sender was dropped, and of which `packets` full packets have been counted as delivered, goes on at
    /// `now`, beginning with the next one, at `rate` (bytes per tick).
    void resume(FlowSlot flow, std::int64_t packets, double rate, Tick now);
    void drop_packets(const Group& group);

  private:
    std::int64_t acks_for(std::int64_t packets) const;

    step::WorldStore& store_;
    const NetworkView& view_;
};

}  // namespace sluice::hybrid
