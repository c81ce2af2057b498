// SPDX-License-Identifier: Apache-2.0
/// Everything that decides the future of a part of a network, as a value: packets in queues and on links,
/// transmitters and schedulers, what PFC and the shared buffers count, senders with their laws, receivers, INT
/// records, rounds of NICs, timers of senders and answers under way, streams that cross, counters of random draws.
/// It is kept by indices of the part, not by names of the network, so that it can be put where it was, into
/// another store of the same network, or upon a part that is a copy of the one it was taken of; now or at
/// another time.
///
/// What is put goes on exactly as what was taken would have, if nothing else comes to the part: packet by
/// packet, at every port. (Under marking at random, and on cables that lose packets, only at ports of the same
/// numbers, whose draws they are.) Time inside is kept: INT's clocks, stamps and laws see no difference, for
/// links and senders count from bases that move along, as they do in a skip.
///
/// A part that is folded upon itself (core/fold/fold.h) is its first sheet: the same goes for that.
///
/// Not in it: applications and their timers, flows that have not started, failures to come, messages that wait for
/// their turn and would go by other ports than the part's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/world/world_store.h"

namespace sluice::step {

/// Where a part is; in the lists of two parts what is at the same place corresponds.
struct NetworkPart {
    std::vector<PortId>
        ports;  ///< by which its flows' packets leave; at the far end of each: its count
    std::vector<NodeId> hosts;    ///< of its queue pairs: all at them are in it
    std::vector<FlowSlot> flows;  ///< in service
};

class Snapshot {
  public:
    /// Between windows, everything before `now` having been executed. `part.ports` ascending, and all up; on
    /// one clock.
    Snapshot(WorldStore& store, const NetworkPart& part, Tick now);

    /// Those of the part, then messages that wait behind them, then flows that are complete but for
    /// duplicates under way: what put() needs slots for.
    std::size_t flow_count() const { return flows_.size(); }
    const FlowSpec& spec(std::size_t flow) const { return flows_[flow].spec; }  ///< with its id
    /// As it was; null unless it was in service.
    const Sender* sender(std::size_t flow) const {
        return flows_[flow].sender == kNone ? nullptr : &senders_[flows_[flow].sender];
    }
    Tick taken_at() const { return at_; }
    std::size_t bytes() const;

    /// Makes `part` of `store` what was taken, at `now`. Its flows have flow_count() slots
    /// (WorldStore::open_slot()) of like sizes; nothing is in it (clear_part()). Its ports' counters are those
    /// taken. INT's layout is the store's (WorldStore::take_int_layout()).
    /// `others`: shared buffers hold as much for other parts as they did.
    void put(WorldStore& store, const NetworkPart& part, Tick now, bool others) const;

  private:
    struct Unit {
        Egress egress;
        Ingress ingress;  ///< at the other end
        CrossStream cross;
        Tick base = 0;  ///< of the link that it feeds
        Tick decision = kNever;
        std::uint32_t queued[kClasses] = {};  ///< packets
        std::uint32_t on_link = 0;
        std::uint32_t round = 0;  ///< queue pairs of a NIC's round
        std::uint32_t last = 0;
        bool last_was_ack = false;
    };
    struct HeldByOthers {
        std::uint32_t unit = 0;  ///< one that is counted in the buffer
        std::int64_t bytes = 0;
        std::uint32_t classes = 0;
    };
    struct FlowState {
        FlowSpec spec;
        FlowResult result;
        Receiver receiver;
        PortId route[2 * kPathHops];  ///< indices of units, or the ports themselves
        bool of_part[2 * kPathHops] = {};
        std::uint32_t following = kNone;  ///< flows by their place
        std::uint32_t current = kNone;
        std::uint32_t last = kNone;
        std::uint32_t sender = kNone;  ///< in senders_
        Tick answer_takes = kNever;
        Tick answer_base = 0;
        std::uint32_t answers = 0;
        std::uint32_t int_slots = 0;  ///< 0: none
    };
    struct HostState {
        std::uint32_t senders = 0;
        std::uint32_t timers = 0;
    };

    class Taker;
    class Writer;

    Tick at_ = 0;
    std::vector<Unit> units_;
    std::vector<HeldByOthers> others_;
    std::vector<FlowState> flows_;
    std::vector<HostState> hosts_;
    std::vector<Packet> packets_;  ///< queues and link, unit by unit
    std::vector<std::uint32_t>
        entered_;                       ///< by queued packet: the unit that it came from, or kNone
    std::vector<std::uint32_t> round_;  ///< senders, by their place
    std::vector<Tick> ready_;
    std::vector<Sender> senders_;  ///< host by host; flow, port and heir by their places
    std::vector<Timer> timers_;
    std::vector<Packet> answers_;                 ///< flow by flow
    std::vector<congestion::IntRecord> records_;  ///< slot by slot, the tag the transmission alone
};

/// Takes everything out of `part`, its hosts' timers included, and gives its flows' slots back: for a store
/// without an application.
void clear_part(WorldStore& store, const NetworkPart& part);

}  // namespace sluice::step
