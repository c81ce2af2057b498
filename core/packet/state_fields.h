// SPDX-License-Identifier: Apache-2.0
/// The structs of the packet path, field by field with their roles (core/fields.h). A field that is added to one of them
/// stands here, too, or nothing compiles; its role is all that symmetry reduction, snapshots, skips and lanes need.
#pragma once

#include "core/fields.h"
#include "core/packet/state.h"

namespace sluice::step {

#define SLUICE_FIELDS_OF_EGRESS(FIRST, NEXT) \
    FIRST(free_at, instant)                  \
    NEXT(delay, constant)                    \
    NEXT(serialization, derived)             \
    NEXT(tx_bytes, counter)                  \
    NEXT(tx_packets, counter)                \
    NEXT(queued_bytes, content)              \
    NEXT(out, derived)                       \
    NEXT(peer_cell, name)                    \
    NEXT(nonempty, content)                  \
    NEXT(paused, content)                    \
    NEXT(last_class, content)                \
    NEXT(rate_index, constant)               \
    NEXT(max_queued_bytes, peak)             \
    NEXT(ecn_kmin, constant)                 \
    NEXT(ecn_kmax, constant)                 \
    NEXT(up, constant)                       \
    NEXT(ecn_pmax, constant)                 \
    NEXT(ecn_draws, draw)                    \
    NEXT(ecn_marks, counter)                 \
    NEXT(drops_no_room, counter)             \
    NEXT(drops_no_way, counter)              \
    NEXT(drops_link_down, counter)           \
    NEXT(drops_cable, counter)               \
    NEXT(drops_outdated, counter)            \
    NEXT(trimmed, counter)                   \
    NEXT(pauses_sent, counter)               \
    NEXT(paused_since, instant)              \
    NEXT(paused_ticks, counter)              \
    NEXT(line_rate, constant)                \
    NEXT(train_packets, counter)             \
    NEXT(owed_until, instant)                \
    NEXT(peer, name)                         \
    NEXT(trim_above, constant)               \
    NEXT(class_bytes, content)               \
    NEXT(deficit, content)                   \
    NEXT(queue, part)
SLUICE_DESCRIBE(Egress, SLUICE_FIELDS_OF_EGRESS)

#define SLUICE_FIELDS_OF_INGRESS(FIRST, NEXT) \
    FIRST(bytes, content)                     \
    NEXT(headroom, content)                   \
    NEXT(headroom_limit, constant)            \
    NEXT(total_bytes, content)                \
    NEXT(paused, content)                     \
    NEXT(threshold_shift, constant)           \
    NEXT(loss, constant)                      \
    NEXT(loss_draws, draw)
SLUICE_DESCRIBE(Ingress, SLUICE_FIELDS_OF_INGRESS)

#define SLUICE_FIELDS_OF_SENDER(FIRST, NEXT) \
    FIRST(flow, name)                        \
    NEXT(next, content)                      \
    NEXT(una, content)                       \
    NEXT(packets, content)                   \
    NEXT(next_bytes, content)                \
    NEXT(una_bytes, content)                 \
    NEXT(size, content)                      \
    NEXT(next_avail, instant)                \
    NEXT(last_gap, content)                  \
    NEXT(last_progress, instant)             \
    NEXT(armed, instant)                     \
    NEXT(window, content)                    \
    NEXT(high, content)                      \
    NEXT(position, content)                  \
    NEXT(port, name)                         \
    NEXT(transmissions, content)             \
    NEXT(asked, content)                     \
    NEXT(last_bytes, content)                \
    NEXT(traffic_class, content)             \
    NEXT(int_shift, content)                 \
    NEXT(retransmitted, content)             \
    NEXT(resent_late, content)               \
    NEXT(skipped, instant)                   \
    NEXT(offset, content)                    \
    NEXT(behind, content)                    \
    NEXT(heir, name)                         \
    NEXT(timed_out, content)                 \
    NEXT(cc, part)
SLUICE_DESCRIBE(Sender, SLUICE_FIELDS_OF_SENDER)

#define SLUICE_FIELDS_OF_RECEIVER(FIRST, NEXT) \
    FIRST(expected, content)                   \
    NEXT(packets, content)                     \
    NEXT(acked, content)                       \
    NEXT(last_nack, content)                   \
    NEXT(nack_timer, instant)                  \
    NEXT(echo, content)
SLUICE_DESCRIBE(Receiver, SLUICE_FIELDS_OF_RECEIVER)

// Times of packets count from their link's base, and stamps are of their flow's local time: neither moves.
#define SLUICE_FIELDS_OF_PACKET(FIRST, NEXT) \
    FIRST(time, content)                     \
    NEXT(stamp, content)                     \
    NEXT(flow, name)                         \
    NEXT(sequence, content)                  \
    NEXT(bytes, content)                     \
    NEXT(transmission, content)              \
    NEXT(ingress, name)                      \
    NEXT(kind, content)                      \
    NEXT(traffic_class, content)             \
    NEXT(hop, content)                       \
    NEXT(int_hops, content)                  \
    NEXT(ce, content)                        \
    NEXT(echo, content)
SLUICE_DESCRIBE_READ_ONLY(Packet, SLUICE_FIELDS_OF_PACKET)

#define SLUICE_FIELDS_OF_HOST_PORT(FIRST, NEXT) \
    FIRST(sender, part)                         \
    NEXT(ready, part)                           \
    NEXT(last, content)                         \
    NEXT(last_was_ack, content)
SLUICE_DESCRIBE(HostPort, SLUICE_FIELDS_OF_HOST_PORT)

#define SLUICE_FIELDS_OF_TIMER(FIRST, NEXT) \
    FIRST(time, instant)                    \
    NEXT(kind, content)                     \
    NEXT(slot, name)                        \
    NEXT(id, derived)
SLUICE_DESCRIBE(Timer, SLUICE_FIELDS_OF_TIMER)

}  // namespace sluice::step
