// SPDX-License-Identifier: Apache-2.0
/// The clock of a network: SystemC's queue holds one event of it, "run your next windows". It
/// is temporally decoupled: inside one activation it runs windows ahead of sc_time_stamp(), which
/// is exact because nothing outside the network can reach it. Where a foreign model is attached
/// it can, so the clock then runs no further ahead than the lookahead, which is lock-step and always
/// right, or the TLM global quantum, if that is larger.
#pragma once

#include <systemc>
#include <vector>

#include "core/clocks/driver.h"
#include "core/clocks/team.h"
#include "core/fold/folds.h"
#include "core/ns3/driver.h"
#include "models/protocol.h"

namespace sluice {

class Node;

class NetworkClock : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(NetworkClock);
    NetworkClock(const sc_core::sc_module_name& name, step::WorldStore& store);

    /// `nodes` by id; null where a foreign model stands.
    void attach(std::vector<Node*> nodes) { nodes_ = std::move(nodes); }
    /// Our `port` leads to a foreign model: packets leave through `socket` as transactions.
    void attach_foreign(PortId port, PacketInitiatorSocket& socket);
    /// Before the simulation starts. Nothing is executed at or after `stop`.
    void configure(std::vector<LinkEvent> events, RunHooks hooks, Tick stop);

    /// Keeps partitions, lets `supervisor` (may be null) look between windows, and, where `clocks` says
    /// so, runs every part of the network on a clock of its own (core/clocks/domains.h), with the same
    /// results; in lock-step on one clock where a foreign model is attached. After configure(), before
    /// the simulation starts; both must outlive the clock.
    void keep_partitions(step::Clocks clocks, step::FlowPartitions& partitions,
                         step::Supervisor* supervisor) {
        clocks_ = clocks;
        partitions_ = &partitions;
        supervisor_ = supervisor;
    }
    /// Executes parts of the network that are copies of each other once (core/fold/folds.h), with the same
    /// results, where that can be: on one clock, with a supervisor that can follow (Supervisor::may_fold), under exact arithmetic, without foreign models, and if
    /// nobody wants a checksum of what was executed. Every node must be a Switch or a Nic as it is. After
    /// configure(), before the simulation starts. Between windows only unfold() shows columns as they would be.
    void fold() { fold_ = true; }
    /// Steps windows on several threads (core/clocks/team.h), with the same results, where that can be: on one
    /// clock, under exact arithmetic, where every node is a Switch or a Nic as it is, and
    /// for an application that is not for one thread. After configure(), before the simulation starts.
    void divide_windows(step::Threads threads) { threads_ = threads; }
    /// Threads that have stepped windows.
    std::uint32_t threads_used() const;
    void unfold();
    FoldCounters fold_counters() const;
    /// Null under Arithmetic::ns3, and before the simulation starts.
    const step::Driver* driver() const { return driver_.get(); }

    /// A foreign model's packet whose last bit reaches `port` at `at`.
    void receive(PortId port, const step::Packet& packet, Tick at);

    Tick now() const;
    /// The earliest instant for which something can be ordered from outside the windows: now(), and with
    /// a foreign model, which gets packets in SystemC's time, not before sc_time_stamp().
    Tick earliest() const;
    /// Windows executed; under Arithmetic::ns3, instants.
    std::uint64_t windows() const;
    /// Nothing left to do, the stop time reached, or a hook asked to stop.
    bool finished() const { return finished_; }
    /// Something was left to do at or after the stop time.
    bool cut_off() const { return cut_off_; }
    /// Nothing was left to do.
    bool at_rest() const { return at_rest_; }
    /// Takes up timers that were set from outside the windows, none of them before now().
    void wake();
    /// Takes up flows that were closed from outside the windows.
    void take_up_closed();

  private:
    struct ForeignLink {
        PortId peer;  ///< the foreign side's port: where our packets wait to be handed over
        PacketInitiatorSocket* socket;
    };

    void start_of_simulation() override;
    bool divisible() const;
    void run();
    void run(step::Driver& driver);
    void run(ns3::Driver& driver);
    Tick next() const;
    /// What is left to do is due at `next`.
    void end_run(Tick next, bool stopped);
    void refuse_timers(NodeId node, Tick end) const;
    void check_foreign(PortId port, const step::Packet& packet) const;
    void hand_over();
    void look_for_int(NodeId node);

    step::WorldStore& store_;
    std::vector<Node*> nodes_;
    std::vector<ForeignLink> foreign_;
    /// By node: not a Switch as it is, and not seen yet to write the INT that the law needs. Empty: none.
    std::vector<bool> maybe_blind_;
    std::vector<LinkEvent> events_;
    RunHooks hooks_;
    step::Threads threads_;
    std::unique_ptr<step::Team> team_;      ///< null: one thread
    std::unique_ptr<step::Driver> driver_;  ///< one of the two, from the start of simulation on
    std::unique_ptr<ns3::Driver> ns3_;
    std::unique_ptr<step::Folds> folds_;  ///< null: nothing is folded
    bool fold_ = false;
    step::Clocks clocks_ = step::Clocks::one;
    step::FlowPartitions* partitions_ = nullptr;
    step::Supervisor* supervisor_ = nullptr;
    sc_core::sc_event event_;
    Tick stop_ = kNever;
    bool finished_ = false;
    bool cut_off_ = false;
    bool at_rest_ = false;
};

}  // namespace sluice
