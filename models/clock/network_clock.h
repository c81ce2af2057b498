// SPDX-License-Identifier: Apache-2.0
/// The clock of a network: SystemC's queue holds one event of it, "run your next windows". It is temporally decoupled:
/// in one activation it runs windows ahead of sc_time_stamp(), by no more than the lookahead, which is lock-step, or the
/// TLM global quantum, if that is larger. A network that nothing outside reaches may be free running, and then is
/// further ahead.
#pragma once

#include <systemc>
#include <utility>
#include <vector>

#include "core/engine/engine.h"
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
    void configure(std::vector<LinkEvent> events, RunHooks hooks, Tick stop) {
        engine_.configure(std::move(events), std::move(hooks), stop);
    }
    /// See NetworkOptions::free_running. Not where a foreign model is attached.
    void run_free() { free_running_ = true; }
    /// Between windows nothing is decided before SystemC's time has come as far: who decides looks outside.
    void meet_cuts() { meets_cuts_ = true; }
    /// What executes the packets: may be told how before the simulation starts. To fold, every node must be a
    /// Switch or a Nic as it is.
    engine::Engine& engine() { return engine_; }
    const engine::Engine& engine() const { return engine_; }

    /// A foreign model's packet whose last bit reaches `port` at `at`.
    void receive(PortId port, const step::Packet& packet, Tick at);

    Tick now() const { return engine_.now(); }
    /// The earliest instant for which something can be ordered from outside the windows: now(), and not before
    /// sc_time_stamp() unless it is free running.
    Tick earliest() const;
    /// Nothing left to do, the stop time reached, or a hook asked to stop.
    bool finished() const { return engine_.finished(); }
    /// Something was left to do at or after the stop time.
    bool cut_off() const { return engine_.cut_off(); }
    /// Nothing was left to do.
    bool at_rest() const { return engine_.at_rest(); }
    /// Notified when the network has finished(), at the instant that its run reached. It may go on later, if something is
    /// opened or posted, and finish again.
    const sc_core::sc_event& done() const { return done_; }
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
    void run();
    void schedule_run(Tick next);
    void refuse_timers(NodeId node, Tick end) const;
    void check_foreign(PortId port, const step::Packet& packet) const;
    void hand_over();
    void look_for_int(NodeId node);

    step::WorldStore& store_;
    std::vector<Node*> nodes_;
    std::vector<ForeignLink> foreign_;
    /// By node: not a Switch as it is, and not seen yet to write the INT that the law needs. Empty: none.
    std::vector<bool> maybe_blind_;
    engine::Engine engine_;
    bool free_running_ = false;
    bool meets_cuts_ = false;
    sc_core::sc_event event_;
    Tick next_run_ = kNever;  ///< when event_ calls run(); kNever: not scheduled
    sc_core::sc_event done_;
};

}  // namespace sluice
