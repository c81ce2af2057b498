// SPDX-License-Identifier: Apache-2.0
/// Flows whose packets are held back, and those whose ends are told instead of executed (episodes,
/// core/episodes/episode.h). Between windows, of a network on one clock.
///
/// What is held lies a constant time, kHeld, in the future: every instant of its ports, queue pairs and hosts' own
/// timers, relative to each other as it was. Nothing of it is executed meanwhile, and taken back by the same
/// amount it is what it was.
#pragma once

#include <vector>

#include "core/world/world_store.h"

namespace sluice::step {

/// 2^50 ticks, 19 minutes of simulated time: whole INT time units, whatever these are.
inline constexpr Tick kHeld = Tick{1} << 50;

/// A flow that has just been opened at a host whose ports are held: what is its own is held, too.
void hold_opened(World& world, FlowSlot flow);

/// `flow`'s last byte comes to its destination at `received`, its last ACK to its source at `finish`, whatever its
/// packets do.
void tell_ends(World& world, FlowSlot flow, Tick received, Tick finish);
/// Takes tell_ends() back.
void untell_ends(World& world, FlowSlot flow);

/// Of an active flow: no message waits behind it or has its queue pair, and it has sent nothing twice.
bool stands_alone(const World& world, FlowSlot flow);
/// The sender of a flow whose ends are told ceases to be.
void drop_sender(World& world, FlowSlot flow);
/// A flow whose sender has been dropped, with all its packets, is sent from `now` on by a new one, without its first
/// `packets` full packets, at `factor` of its line rate. It started when it did.
void reopen(World& world, FlowSlot flow, std::int64_t packets, double factor, Tick now);
/// As tell_ends(), of an active flow that stands_alone(), whose packets go by `way` and whose ACKs are none (World::answers):
/// nothing of it is executed from `now` on. What of it is queued or on its way counts as sent by the ports that it has not
/// left yet, as does what has not been sent at all.
void tell_rest(WorldStore& store, FlowSlot flow, const std::vector<PortId>& way, Tick received,
               Tick finish, Tick now);
/// Empties the queues of a host's port and the link that it feeds, of which nothing has reached a switch. They must be
/// no one's but of flows whose ends are told.
void drop_packets(WorldStore& store, PortId port);

}  // namespace sluice::step
