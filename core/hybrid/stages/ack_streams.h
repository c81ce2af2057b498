// SPDX-License-Identifier: Apache-2.0
/// ACKs that are no packets, as local phases need them (docs/models/phases.md, Local phases): how long each
/// flow's take, and what they are to the ports that they cross. A flow's ACKs are a stream of its measured
/// rate; while it is skipped, of the skip's. On their way they wait at each port as long as they would on
/// average: for the frame that is being sent, and at switches for what is queued.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/clocks/flow_partitions.h"
#include "core/world/world_store.h"

namespace sluice::hybrid {

class AckStreams {
  public:
    /// ACKs are no packets from here on. Before the world begins.
    explicit AckStreams(step::WorldStore& store);

    /// `flow` has entered at `now` and goes by `way`.
    void enter(FlowSlot flow, const step::Footprint& way, Tick now);
    /// The flow has left. Its stream flows on until drop_left().
    void leave(FlowSlot flow);

    // Streams change only between windows, at instants at which every engine stops.
    void drop_left(Tick now);
    /// Measures an active flow that is awake, if it has been sending for a base RTT since it was last measured.
    void measure(FlowSlot flow, Tick now);
    /// The stream of a flow that is skipped at `rate`, packets per tick.
    void hold(FlowSlot flow, double rate, Tick now);
    /// The ports, and those of the hosts, fall asleep at `now`, before they are moved in time; or wake.
    void set_asleep(const step::Extent& extent, bool asleep, Tick now);
    /// Counts the ACKs that have come to `flow` since it was last counted as sent by the ports of their way.
    void count(FlowSlot flow);
    /// The same of those that a skip has left out.
    void count_skipped(FlowSlot flow, std::int64_t acks);

    /// From when a frame begins to leave by the port to when it has come to the next one.
    Tick hop_time(PortId port, std::int32_t bytes) const;
    /// ACK bytes that cross a port, bytes per tick.
    double across(PortId port) const;
    /// Those of one flow, wherever they cross.
    double own(FlowSlot flow) const;
    /// ACK bytes by which `to` is ahead of `from`, the port before it, as a packet of data counts them that passes both
    /// without waiting.
    std::int64_t crossed_ahead(PortId from, PortId to, Tick now) const;
    /// Flows whose ACKs will cross the port, nobody knows yet how many.
    std::uint32_t awaited(PortId port) const { return awaited_[port]; }
    /// Ports that sleep although what crosses them leaves their data less than these take, since last asked.
    std::vector<PortId> take_overrun() { return std::exchange(overrun_, {}); }
    /// Ports that other ACKs cross than when last asked, each perhaps several times.
    std::vector<PortId> take_changed() { return std::exchange(changed_, {}); }

  private:
    struct Stream {
        step::Footprint way;
        Tick base = kNever;  ///< the way back without queues
        Tick by_data = 0;    ///< the same for a frame of data
        Tick base_rtt = 0;
        std::int64_t data = 0;                   ///< bytes per 2^kCrossShift ticks
        double mean = 0;                         ///< of the rates measured lately, packets per tick
        Tick measured = kNever;                  ///< in the flow's local time, like `progress`
        Tick progress = 0;                       ///< the last ACK before
        std::int64_t acked = 0;                  ///< bytes, then
        std::int64_t counted = 0;                ///< ACKs of what was not skipped
        std::int64_t told = 0;                   ///< ACKs that statistics know of
        std::vector<step::CrossStream> crossed;  ///< of it alone, by port of their way
        bool awaited = false;                    ///< it has not been set yet
    };

    double most(const Stream& stream) const;
    void await(Stream& stream, bool awaited);
    void follow(Stream& stream, double rate, Tick now);
    void set(Stream& stream, double rate, Tick now);
    void add(Stream& stream, std::int64_t acks);
    void settle(const Stream& stream);
    void change_port(PortId port, std::int64_t more, std::int64_t parts, Tick at);
    Tick own_time(PortId port, Tick now) const;
    std::int64_t acks_of(FlowSlot flow) const;
    void count(Stream& stream, std::int64_t acks);
    void look_at(PortId port, bool first, Tick now);
    Tick takes(const Stream& stream, Tick now) const;
    Tick local(PortId port, Tick now) const;
    double capacity(PortId port) const;

    step::WorldStore& store_;
    step::World& world_;
    std::vector<Stream> streams_;  ///< by slot
    std::vector<Stream> left_;
    std::vector<std::int64_t> data_;      ///< by port, bytes per 2^kCrossShift ticks
    std::vector<std::uint32_t> awaited_;  ///< by port, streams
    /// What an ACK waits at a port, as it was seen the last times that somebody's ACKs were looked at.
    struct Wait {
        double ticks = 0;
        Tick seen = kNever;
    };
    std::vector<Wait> waits_;  ///< by port
    std::vector<PortId> overrun_;
    std::vector<PortId> changed_;
};

}  // namespace sluice::hybrid
