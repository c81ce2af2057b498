// SPDX-License-Identifier: Apache-2.0
/// The clock of one partition: SystemC's queue holds one event of it, "run your next windows". It
/// is temporally decoupled: inside one activation it runs windows ahead of sc_time_stamp(), which
/// is exact because nothing outside the partition can reach it. Where a foreign model is attached
/// it can, so the clock then runs no further ahead than the lookahead, which is lock-step and always
/// right, or the TLM global quantum, if that is larger.
#pragma once

#include <systemc>
#include <vector>

#include "core/clocks/clock_driver.h"
#include "core/clocks/lane_driver.h"
#include "core/ns3/driver.h"
#include "models/protocol.h"

namespace sluice {

class Node;

class PartitionClock : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(PartitionClock);
    PartitionClock(const sc_core::sc_module_name& name, step::WorldStore& store);

    /// `nodes` by id; null where a foreign model stands.
    void attach(std::vector<Node*> nodes) { nodes_ = std::move(nodes); }
    /// Our `port` leads to a foreign model: packets leave through `socket` as transactions.
    void attach_foreign(PortId port, PacketInitiatorSocket& socket);
    /// Before the simulation starts. Nothing is executed at or after `stop`.
    void configure(std::vector<LinkEvent> events, step::DriverHooks hooks, Tick stop);

    /// Keeps partitions and lets their supervisor look between windows. After configure(), before
    /// the simulation starts; `tracker` must outlive the clock.
    void supervise(step::PartitionTracker& tracker) { tracker_ = &tracker; }
    /// Runs every part of the network on a clock of its own (core/clocks/clock_driver.h), with the
    /// same results; in lock-step on one clock where a foreign model is attached. After configure(),
    /// before the simulation starts, in place of supervise(); `partitions` and `supervisor`, which
    /// may be null, must outlive the clock.
    void divide(step::FlowPartitions& partitions, step::Supervisor* supervisor) {
        partitions_ = &partitions;
        supervisor_ = supervisor;
    }
    /// Null unless divided.
    const step::ClockDriver* clocks() const { return clocks_.get(); }

    /// A foreign model's packet whose last bit reaches `port` at `at`.
    void receive(PortId port, const step::Packet& packet, Tick at);

    Tick now() const;
    /// Windows executed; under Arithmetic::ns3, instants.
    std::uint64_t windows() const;
    /// Nothing left to do, the stop time reached, or a hook asked to stop.
    bool finished() const { return finished_; }
    /// Something was left to do at or after the stop time.
    bool cut_off() const { return cut_off_; }
    /// Nothing was left to do.
    bool at_rest() const { return at_rest_; }
    /// Takes up timers that were set from outside the windows.
    void wake();

  private:
    struct ForeignLink {
        PortId peer;  ///< the foreign side's port: where our packets wait to be handed over
        PacketInitiatorSocket* socket;
    };

    void start_of_simulation() override;
    void run();
    template <class Driver>
    void run(Driver& driver);
    void run(ns3::Driver& driver);
    Tick next() const;
    /// What is left to do is due at `next`.
    void end_run(Tick now, Tick next, bool stopped);
    void hand_over();

    step::WorldStore& store_;
    std::vector<Node*> nodes_;
    std::vector<ForeignLink> foreign_;
    std::vector<LinkEvent> events_;
    step::DriverHooks hooks_;
    std::unique_ptr<step::LaneDriver> lane_;  ///< one of the three, from the start of simulation on
    std::unique_ptr<step::ClockDriver> clocks_;
    std::unique_ptr<ns3::Driver> ns3_;
    step::PartitionTracker* tracker_ = nullptr;
    step::FlowPartitions* partitions_ = nullptr;
    step::Supervisor* supervisor_ = nullptr;
    sc_core::sc_event event_;
    Tick stop_ = kNever;
    bool finished_ = false;
    bool cut_off_ = false;
    bool at_rest_ = false;
};

}  // namespace sluice
