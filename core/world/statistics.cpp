// SPDX-License-Identifier: Apache-2.0
/// What a world is asked for.
#include "core/world/world_store.h"

#include <algorithm>

namespace sluice::step {

std::int64_t acknowledged_bytes(const World& world, std::size_t slots) {
    std::int64_t bytes = 0;
    for (FlowSlot slot = 0; slot < slots; ++slot) {
        if (world.id[slot] != kNoFlow && world.sender_at[slot] != kNone) {
            const Sender& sender = sender_of(world, slot);
            bytes += sender.offset + sender.una_bytes;
        }
    }
    return bytes;
}

void WorldStore::settle_skipped(PortId port) {
    world_.egress[port].tx_bytes +=
        frames_.take_remainder(port, static_cast<std::int64_t>(world_.int_units.bytes_unit));
}

std::vector<PortStatistics> WorldStore::port_statistics(Tick now) const {
    std::vector<PortStatistics> all(topology_.port_count());
    for (std::size_t p = 0; p < all.size(); ++p) {
        const Egress& egress = world_.egress[p];
        PortStatistics& port = all[p];
        const FrameCount skipped = frames_.skipped(static_cast<PortId>(p));
        const FrameCount crossed = frames_.crossed(static_cast<PortId>(p));
        port.tx_bytes = egress.tx_bytes + skipped.bytes + crossed.bytes;
        port.tx_packets =
            egress.tx_packets + egress.train_packets + skipped.packets + crossed.packets;
        port.max_queue_bytes = egress.max_queued_bytes;
        port.ecn_marks = egress.ecn_marks;
        port.drops = drops_of(egress);
        port.drops_by = {egress.drops_no_room, egress.drops_no_way, egress.drops_link_down,
                         egress.drops_cable, egress.drops_outdated};
        port.trimmed = egress.trimmed;
        port.pauses_sent = egress.pauses_sent;
        port.paused_ticks =
            egress.paused_ticks + (egress.paused != 0 ? now - egress.paused_since : 0);
    }
    return all;
}

Tick WorldStore::last_arrival() const {
    Tick last = world_.last_answer;
    for (PortId p = 0; p < topology_.port_count(); ++p) {
        const Egress& egress = world_.egress[p];
        last = std::max(last, egress.tx_packets > 0 ? egress.free_at + egress.delay : 0);
    }
    return last;
}

RunCounters WorldStore::counters() const {
    RunCounters total;
    for (PortId p = 0; p < topology_.port_count(); ++p) {
        const Egress& egress = world_.egress[p];
        total.packet_hops += static_cast<std::uint64_t>(egress.tx_packets);
        total.pfc_pauses += static_cast<std::uint64_t>(egress.pauses_sent);
        total.ecn_marks += static_cast<std::uint64_t>(egress.ecn_marks);
    }
    total.retransmitted_bytes = world_.retransmitted;
    total.resent_late_bytes = world_.resent_late;
    for (FlowSlot slot = 0; slot < slot_count(); ++slot) {
        if (world_.id[slot] != kNoFlow && world_.sender_at[slot] != kNone) {
            const Sender& sender = sender_of(world_, slot);
            total.retransmitted_bytes += static_cast<std::uint64_t>(sender.retransmitted);
            total.resent_late_bytes += static_cast<std::uint64_t>(sender.resent_late);
        }
    }
    total.drops = world_.drops;
    total.events = world_.events;
    total.hop_checksum = world_.checksum;
    return total;
}

std::size_t WorldStore::memory_bytes() const {
    return world_.memory.ring_bytes + world_.memory.other_bytes + devices_.memory_bytes() +
           network_flows_.memory_bytes();
}

}  // namespace sluice::step
