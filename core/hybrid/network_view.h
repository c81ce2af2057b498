// SPDX-License-Identifier: Apache-2.0
/// What the phase controller sees of a network of packets (the columns of core/packet/, whoever drives them): rates,
/// queues and ways of groups of flows. A group is a partition, or the whole network. All calls come between windows,
/// when the group's clock stands still. Of a flow, port or host that is a copy it shows what is executed in its place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/clocks/flow_partitions.h"
#include "core/hybrid/restorer.h"
#include "core/hybrid/stages/ack_streams.h"
#include "core/ids.h"
#include "core/steady/reading.h"
#include "core/units.h"
#include "core/world/world_store.h"

namespace sluice::step {
class Folds;
}

namespace sluice::hybrid {

/// A group's active flows, in order of their ids, and where they are.
struct Group : step::Extent {
    std::vector<FlowSlot> flows;
};

class Outside;

/// What is executed of a group: all of it or, where it is folded upon itself, one of its sheets (core/fold/fold.h),
/// whose packets stay among its own ports.
struct Executed {
    std::vector<PortId> ports;
    std::vector<NodeId> hosts;
    std::vector<FlowSlot> flows;
    std::vector<std::uint32_t>
        like;  ///< by flow of the group: place of the one that is executed for it
};

class NetworkView {
  public:
    /// Where partitions are flows that share data ports, ACKs are no packets from here on. Both must outlive this.
    NetworkView(step::WorldStore& store, const step::FlowPartitions& partitions);
    virtual ~NetworkView() = default;
    NetworkView(const NetworkView&) = delete;
    NetworkView& operator=(const NetworkView&) = delete;

    // Flows.
    bool active(FlowSlot flow) const;
    Tick start(FlowSlot flow) const { return store_.world().result[flow].start; }
    /// By the flows' ids.
    void sort(std::vector<FlowSlot>& flows) const;
    const congestion::State& law_state(FlowSlot flow) const { return sender(flow).cc; }
    /// Of an active flow: what its law was given, which may be of the whole network: base RTT, window, line rate.
    std::vector<std::int64_t> law_facts(FlowSlot flow) const;
    /// Of the flow's own path, without queues; of active flows that have entered their partition.
    Tick base_rtt(FlowSlot flow) const;
    std::int64_t line_rate(FlowSlot flow) const { return sender(flow).cc.line_rate; }  ///< bits/s
    /// Where its bytes go.
    const step::Footprint& tracks(FlowSlot flow) const { return partitions_.footprint_of(flow); }
    /// Times are simulated time; a paused flow's move with it.
    steady::FlowReading reading(FlowSlot flow) const;
    /// Time, in all its skips. Virtual for tests, in which it may be forgotten.
    virtual Tick skipped(FlowSlot flow) const { return sender(flow).skipped; }
    /// Full packets not sent yet, but for the last one; negative if something is to be sent again.
    std::int64_t unsent_packets(FlowSlot flow) const;

    // What all flows have in common.
    const congestion::Parameters& law() const { return store_.world().config->congestion; }
    std::int64_t payload() const { return store_.world().payload; }  ///< bytes of a full packet
    std::int64_t data_bytes() const;                                 ///< the same on the wire
    double ack_bytes() const;                                        ///< ACK bytes per data packet
    double packets_per_ack() const;
    /// In which the law's switches report the bytes that they have sent; 0: it reads no such counters.
    std::int64_t counter_unit() const;
    Tick lookahead() const { return store_.world().lookahead; }
    /// Null where ACKs are packets. There, groups are flows that share data ports.
    AckStreams* ack_streams() { return ack_streams_.get(); }

    // Ports and groups.
    std::int64_t link_rate(PortId port) const { return store_.world().egress[port].line_rate; }
    std::int64_t queue_bytes(PortId port) const;
    NodeId node_of(PortId port) const { return store_.topology().node_of(port); }
    /// Of a switch's port: what does not change (PortPast).
    PortPast describe(PortId port) const;
    /// Of two switch ports in a row that the same packets pass: bytes by which the counter of `to` is ahead of that of
    /// `from`, as one packet reads them; nothing where ACKs that are no packets cross one of them alone.
    std::optional<std::int64_t> counter_ahead(PortId from, PortId to, Tick now) const;
    /// False while something holds that no steady phase may hide: a paused class, a sprayed flow,
    /// a cable that loses packets, what is not the network's own.
    bool may_skip(const Group& group) const;
    /// Not all of the network is its own (outside.h). Before the first window; `outside` must outlive this.
    void surround(Outside& outside) { outside_ = &outside; }
    /// Null: all is its own.
    Outside* outside() const { return outside_; }

    // Parts of the network that are copies of each other.
    void fold(const step::Folds& folds) { folds_ = &folds; }
    /// Null: nothing is folded.
    const step::Folds* folds() const { return folds_; }
    /// What is executed in its place: itself, unless it is a copy.
    FlowSlot executed(FlowSlot flow) const;
    PortId executed_port(PortId port) const;
    NodeId executed_as(NodeId host) const;
    bool is_copy(FlowSlot flow) const { return executed(flow) != flow; }
    /// Of a group that is no copy.
    Executed executed_of(const Group& group) const;

    /// The next application's or flow's start of this host or of a copy of it, kNever if none.
    Tick next_call(NodeId host) const;
    const step::Sender& sender(FlowSlot flow) const;

  private:
    step::WorldStore& store_;
    const step::FlowPartitions& partitions_;
    Outside* outside_ = nullptr;
    std::unique_ptr<AckStreams> ack_streams_;
    const step::Folds* folds_ = nullptr;
};

}  // namespace sluice::hybrid
