// SPDX-License-Identifier: Apache-2.0
/// What the phase controller does to a network of packets: pauses a group of flows, advances them by bytes, resumes them
/// earlier than planned, and restores their queues. All calls come between windows, when the group's clock stands
/// still. What is done to a copy is done to what is executed in its place, once.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hybrid/network_view.h"
#include "core/ids.h"
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

/// Virtual for tests, which keep account of what is done.
class PhaseEngine {
  public:
    /// All must outlive this.
    PhaseEngine(step::WorldStore& store, const step::FlowPartitions& partitions, NetworkView& view)
        : store_(store), partitions_(partitions), view_(view) {}
    virtual ~PhaseEngine() = default;
    PhaseEngine(const PhaseEngine&) = delete;
    PhaseEngine& operator=(const PhaseEngine&) = delete;

    NetworkView& view() { return view_; }
    /// Full buffers pause whoever sends to them.
    bool drops_nothing() const { return store_.world().config->pfc; }
    /// A number that the flow has in every run of the scenario.
    FlowId id_of(FlowSlot flow) const { return store_.world().id[flow]; }

    /// After a frame was queued at a port that slept and has been woken at `now`.
    void decide(PortId port, Tick now);
    /// Moves everything that the group will do by `dt`; negative: back. Packets stay where they are.
    virtual void shift(const Group& group, Tick dt);
    /// Takes `packets` out of the flow's unsent part; negative: puts them back.
    virtual void advance(FlowSlot flow, std::int64_t packets);
    /// Counts `packets` data packets of the flow, and their ACKs, as sent by the ports of its path.
    void account(FlowSlot flow, std::int64_t packets);
    /// After account() of all flows of a skip: what ports tell packets agrees with what they sent.
    void settle(const Group& group);
    /// Takes the flow's law through a skip of `dt` that is over at `now`, in which it advanced by
    /// `packets`; `marked`: the share of its ACKs that were marked, as the phase was seen before.
    void advance_law(FlowSlot flow, Tick dt, std::int64_t packets, double marked, Tick now);
    /// After advance_law(): the flow's law wakes with its rate times `factor`.
    virtual void rescale_law(FlowSlot flow, double factor, Tick now);
    /// The same of a law that has settled meanwhile.
    void resume_law(FlowSlot flow, double factor, const congestion::UpdatePhase& phase, Tick now);
    /// The flow's law learns nothing from what is under way.
    void forget_records(FlowSlot flow);
    /// `wanted` bytes are to be queued at `ports` of the group's switches as a skip ends
    /// (core/hybrid/stages/queue_editor.h).
    virtual RestoredQueues set_queues(const Group& group, const Skipped& skip,
                                      const std::vector<PortId>& ports,
                                      const std::vector<double>& wanted, Tick now);

    /// Leaves `part`, by flow, of what is under way (QueueEditor::thin()); all of it where there are trains.
    RestoredQueues thin(const Group& group, const Skipped& skip, const std::vector<double>& part,
                        Tick now);

    /// Where ACKs are no packets: what is left of an active flow may be told, as may_skip() allowed its group to skip.
    bool may_tell(FlowSlot flow) const;
    /// What is left of a flow is told: the last ACK comes at `finish`. Nothing of it is executed from `now` on.
    void tell(FlowSlot flow, Tick finish, Tick now);

    // Hosts of a paused group go on computing: their timers are not the network's.
    /// Runs the application's timers of a paused host that are due at `at`. True if a flow is to
    /// start there at `at`: the group must resume first.
    bool run_calls(NodeId host, Tick at);
    /// The same, but true for a flow that would have to wait for others of its connection, too.
    bool run_calls_to_start(NodeId host, Tick at);

  private:
    step::WorldStore& store_;
    const step::FlowPartitions& partitions_;
    NetworkView& view_;
};

}  // namespace sluice::hybrid
