// SPDX-License-Identifier: Apache-2.0
/// A switch's shared buffer: ingress accounting with reserve, dynamic threshold and headroom, PFC
/// decisions, and the lossy alternative (dynamic egress threshold). The accounting is that of the
/// HPCC ns-3 MMU (docs/models/switch.md).
#pragma once

#include "core/packet/state.h"

namespace sluice::step {

/// PFC headroom of a port: headroom_factor x rate x delay as in the reference, which is too little
/// on short links. Under Arithmetic::exact it is at least what can still come after the threshold:
/// a frame that our pause waits behind, pauses of all classes, one that the peer has begun, and the
/// cable both ways; then nothing is lost with PFC on.
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
    const std::int64_t needed = 2 * (on_cable + 1) + 2 * (frame > format.ack ? frame : format.ack) +
                                std::int64_t{kClasses} * format.pause;
    return scaled > needed ? scaled : needed;
}

/// Bytes of (port, class) above its reserve.
SLUICE_HD inline std::int64_t shared_use(const Buffer& buffer, const Ingress& ingress,
                                         std::uint32_t queue) {
    const std::int64_t above = static_cast<std::int64_t>(ingress.bytes[queue]) - buffer.reserve;
    return above > 0 ? above : 0;
}

/// XOFF threshold of a port: what is left of the shared pool, divided by 2^shift.
SLUICE_HD inline std::int64_t threshold(const Buffer& buffer, const Ingress& ingress) {
    const std::int64_t left = buffer.shared_size - buffer.shared_used;
    return left > 0 ? left >> ingress.threshold_shift : 0;
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
    ingress.headroom[queue] -= from_headroom;
    ingress.bytes[queue] -= bytes - from_headroom;
    ingress.total_bytes -= bytes;
    buffer.shared_used += shared_use(buffer, ingress, queue) - before;
}

/// Lossless admission; false: dropped because the headroom is full.
SLUICE_HD inline bool admit_lossless(Buffer& buffer, Ingress& ingress, std::uint32_t queue,
                                     std::uint32_t bytes) {
    const std::int64_t limit = threshold(buffer, ingress);
    if (bytes + ingress.headroom[queue] > ingress.headroom_limit &&
        bytes + shared_use(buffer, ingress, queue) > limit) {
        return false;
    }
    const std::int64_t after = static_cast<std::int64_t>(ingress.bytes[queue]) + bytes;
    if (after > buffer.reserve && after - buffer.reserve > limit) {
        ingress.headroom[queue] += bytes;
        ingress.total_bytes += bytes;
    } else {
        charge(buffer, ingress, queue, bytes, true);
    }
    return true;
}

/// Lossy admission: the whole buffer bounds all, alpha x what is free bounds one queue.
SLUICE_HD inline bool admit_lossy(Buffer& buffer, std::uint32_t queue_bytes, std::uint32_t bytes) {
    const std::int64_t left = buffer.shared_size - buffer.shared_used;
    if (bytes > left) {
        return false;
    }
    if (buffer.egress_alpha > 0 &&
        queue_bytes + bytes > buffer.egress_alpha * static_cast<double>(left)) {
        return false;
    }
    buffer.shared_used += bytes;
    return true;
}

SLUICE_HD inline bool should_pause(const Buffer& buffer, const Ingress& ingress,
                                   std::uint32_t queue) {
    return (ingress.paused >> queue & 1U) == 0 &&
           (ingress.headroom[queue] > 0 ||
            shared_use(buffer, ingress, queue) >= threshold(buffer, ingress));
}

SLUICE_HD inline bool should_resume(const Buffer& buffer, const Ingress& ingress,
                                    std::uint32_t queue) {
    if ((ingress.paused >> queue & 1U) == 0 || ingress.headroom[queue] != 0) {
        return false;
    }
    const std::int64_t used = shared_use(buffer, ingress, queue);
    return used == 0 || used + buffer.resume_offset <= threshold(buffer, ingress);
}

}  // namespace sluice::step
