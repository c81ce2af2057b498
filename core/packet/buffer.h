// SPDX-License-Identifier: Apache-2.0
/// A switch's shared buffer: ingress accounting with reserve, shared pool and headroom, PFC
/// decisions, and the lossy alternative. What one queue may take of the pool is the admission rule's
/// to say (core/packet/policies/admission.h). The accounting is that of the HPCC ns-3 MMU
/// (docs/models/switch.md).
#pragma once

#include "core/packet/policies/policies.h"
#include "core/packet/state.h"

namespace sluice::step {

/// PFC headroom of a port: headroom_factor x rate x delay as in the reference, which is too little
/// on short links. Under Arithmetic::exact it is at least what can come beyond the threshold, which
/// others may have lowered: the frame at which we pause, one that our pause waits behind, pauses of
/// all classes, one that the peer has begun, and the cable both ways; then nothing is lost with PFC on.
inline std::int64_t pfc_headroom(const NetworkConfig& config, Rate rate, Tick delay) {
    const auto on_cable = static_cast<std::int64_t>(static_cast<double>(rate.bits_per_second) *
                                                    static_cast<double>(delay) / 8e12);
    const auto scaled =
        static_cast<std::int64_t>(config.buffer.headroom_factor * static_cast<double>(on_cable));
    if (config.arithmetic == Arithmetic::ns3) {
        return scaled;
    }
    const PacketFormat& format = config.format;
    const std::int64_t frame = std::int64_t{format.payload} + format.header + format.extra_header;
    const std::int64_t needed = 2 * (on_cable + 1) + 3 * (frame > format.ack ? frame : format.ack) +
                                std::int64_t{kClasses} * format.pause;
    return scaled > needed ? scaled : needed;
}

/// A class of a port that we have paused, or whose headroom is in use: what it does next depends on the
/// shared buffer. Headroom without a pause is left by a link that has failed.
SLUICE_HD inline bool is_held(const Ingress& ingress, std::uint32_t queue) {
    return (ingress.paused >> queue & 1U) != 0 || ingress.headroom[queue] != 0;
}

SLUICE_HD inline std::uint32_t held_classes(const Ingress& ingress) {
    std::uint32_t classes = 0;
    for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
        classes += is_held(ingress, queue) ? 1 : 0;
    }
    return classes;
}

/// We pause a class that we have not paused.
SLUICE_HD inline void begin_pause(Buffer& buffer, Ingress& ingress, std::uint32_t queue) {
    buffer.held_classes += is_held(ingress, queue) ? 0 : 1;
    ingress.paused = static_cast<std::uint8_t>(ingress.paused | 1U << queue);
}

/// The end of that.
SLUICE_HD inline void end_pause(Buffer& buffer, Ingress& ingress, std::uint32_t queue) {
    ingress.paused = static_cast<std::uint8_t>(ingress.paused & ~(1U << queue));
    buffer.held_classes -= is_held(ingress, queue) ? 0 : 1;
}

/// Bytes of (port, class) above its reserve.
SLUICE_HD inline std::int64_t shared_use(const Buffer& buffer, const Ingress& ingress,
                                         std::uint32_t queue) {
    const std::int64_t above = static_cast<std::int64_t>(ingress.bytes[queue]) - buffer.reserve;
    return above > 0 ? above : 0;
}

/// XOFF threshold of a port's classes.
template <class Policies = ScenarioPolicies>
SLUICE_HD inline std::int64_t threshold(const World& world, const Buffer& buffer,
                                        const Ingress& ingress) {
    return Policies::ingress_limit(world, ingress, buffer.shared_size - buffer.shared_used);
}

/// Counts a packet in without asking (its admission is known).
SLUICE_HD inline void charge(Buffer& buffer, Ingress& ingress, std::uint32_t queue,
                             std::uint32_t bytes, bool pfc) {
    if (!pfc) {
        buffer.shared_used += bytes;
        return;
    }
    const std::int64_t before = shared_use(buffer, ingress, queue);
    ingress.bytes[queue] += bytes;
    ingress.total_bytes += bytes;
    buffer.shared_used += shared_use(buffer, ingress, queue) - before;
}

/// Counts a departing packet out: headroom first, then shared, then reserve.
SLUICE_HD inline void release(Buffer& buffer, Ingress& ingress, std::uint32_t queue,
                              std::uint32_t bytes, bool pfc) {
    if (!pfc) {
        buffer.shared_used -= bytes;
        return;
    }
    const std::uint32_t from_headroom =
        ingress.headroom[queue] < bytes ? ingress.headroom[queue] : bytes;
    const std::int64_t before = shared_use(buffer, ingress, queue);
    if (from_headroom > 0) {
        ingress.headroom[queue] -= from_headroom;
        buffer.held_classes -= is_held(ingress, queue) ? 0 : 1;
    }
    ingress.bytes[queue] -= bytes - from_headroom;
    ingress.total_bytes -= bytes;
    buffer.shared_used += shared_use(buffer, ingress, queue) - before;
}

/// How the ports of a switch count where one thread works on all of them.
struct OneCounts {
    SLUICE_HD static void charge(Buffer& buffer, Ingress& ingress, std::uint32_t queue,
                                 std::uint32_t bytes, bool pfc) {
        step::charge(buffer, ingress, queue, bytes, pfc);
    }
    SLUICE_HD static void release(Buffer& buffer, Ingress& ingress, std::uint32_t queue,
                                  std::uint32_t bytes, bool pfc) {
        step::release(buffer, ingress, queue, bytes, pfc);
    }
    SLUICE_HD static void add_drop(Egress& egress, std::int64_t Egress::*cause) {
        ++(egress.*cause);
    }
};

/// Lossless admission; false: dropped because the headroom is full.
template <class Policies = ScenarioPolicies>
SLUICE_HD inline bool admit_lossless(const World& world, Buffer& buffer, Ingress& ingress,
                                     std::uint32_t queue, std::uint32_t bytes) {
    const std::int64_t limit = threshold<Policies>(world, buffer, ingress);
    if (bytes + ingress.headroom[queue] > ingress.headroom_limit &&
        bytes + shared_use(buffer, ingress, queue) > limit) {
        return false;
    }
    const std::int64_t after = static_cast<std::int64_t>(ingress.bytes[queue]) + bytes;
    if (after > buffer.reserve && after - buffer.reserve > limit) {
        buffer.held_classes += is_held(ingress, queue) ? 0 : 1;
        ingress.headroom[queue] += bytes;
        ingress.total_bytes += bytes;
    } else {
        charge(buffer, ingress, queue, bytes, true);
    }
    return true;
}

/// Lossy admission: the whole buffer bounds all, the rule one queue.
template <class Policies = ScenarioPolicies>
SLUICE_HD inline bool admit_lossy(const World& world, Buffer& buffer, std::uint32_t queue_bytes,
                                  std::uint32_t bytes) {
    const std::int64_t left = buffer.shared_size - buffer.shared_used;
    if (bytes > left || queue_bytes + bytes > Policies::egress_limit(world, left)) {
        return false;
    }
    buffer.shared_used += bytes;
    return true;
}

template <class Policies = ScenarioPolicies>
SLUICE_HD inline bool should_pause(const World& world, const Buffer& buffer, const Ingress& ingress,
                                   std::uint32_t queue) {
    return (ingress.paused >> queue & 1U) == 0 &&
           (ingress.headroom[queue] > 0 ||
            shared_use(buffer, ingress, queue) >= threshold<Policies>(world, buffer, ingress));
}

template <class Policies = ScenarioPolicies>
SLUICE_HD inline bool should_resume(const World& world, const Buffer& buffer,
                                    const Ingress& ingress, std::uint32_t queue) {
    if ((ingress.paused >> queue & 1U) == 0 || ingress.headroom[queue] != 0) {
        return false;
    }
    const std::int64_t used = shared_use(buffer, ingress, queue);
    return used == 0 || used + buffer.resume_offset <= threshold<Policies>(world, buffer, ingress);
}

/// True if no decision on packets of an ingress port can depend on the shared buffer while at least
/// `left` bytes of the pool are left and no class of the port has more than `above` bytes above its
/// reserve. A packet, or train, larger than the threshold may be refused even within its reserve.
template <class Policies = ScenarioPolicies>
SLUICE_HD inline bool ingress_is_free(const World& world, const Ingress& ingress,
                                      std::int64_t above, std::int64_t left) {
    const std::int64_t frame =
        (std::int64_t{world.payload} + world.data_overhead) * std::int64_t{world.train};
    return (above > frame ? above : frame) < Policies::ingress_limit(world, ingress, left);
}

/// The same without PFC, for an egress queue that holds `queued` bytes at most.
template <class Policies = ScenarioPolicies>
SLUICE_HD inline bool egress_is_free(const World& world, std::int64_t queued, std::int64_t left) {
    return static_cast<double>(queued) <= Policies::egress_limit(world, left);
}

}  // namespace sluice::step
