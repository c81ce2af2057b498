// SPDX-License-Identifier: Apache-2.0
/// Entropy values (LoadBalance::entropy, docs/models/spraying.md): the one of a flow's next packet, by which switches choose its
/// path, and what answers say of the values that they bring back.
#pragma once

#include "core/packet/state.h"
#include "core/random.h"

namespace sluice::step {

/// Random stream of a flow (core/random.h).
inline constexpr std::uint64_t kEntropyDraws = 0x656e74726f7079;

/// Values come in rounds, each once a round; a draw decides in which order (EntropyOrder).
SLUICE_HD inline std::uint32_t value_at(const World& world, FlowSlot flow, std::uint32_t position) {
    const std::uint32_t values = world.config->spray.entropy_values;
    const std::uint32_t round = position / values;
    const auto drawn = static_cast<std::uint32_t>(uniform_below(
        world.config->seed, random_stream(kEntropyDraws, world.id[flow]), round, values));
    const std::uint32_t turn = position - round * values;
    return world.config->spray.entropy_order == EntropyOrder::permuted ? drawn ^ turn
                                                                       : (drawn + turn) % values;
}

/// The next value of the rounds whose score is 0, if there is one; the first one that is passed over loses a point.
SLUICE_HD inline std::uint32_t pass_by_bad(const World& world, FlowSlot flow, EntropyScores& its) {
    std::uint32_t value = value_at(world, flow, its.position++);
    if (its.score[value] == 0) {
        return value;
    }
    --its.score[value];
    std::uint32_t tries = world.config->spray.entropy_values;
    do {
        value = value_at(world, flow, its.position++);
    } while (its.score[value] != 0 && --tries > 0);
    return value;
}

/// The entropy value of the sender's next packet. Recycled as in REPS (Bonato et al., 2024) it is one whose ACK came without a
/// mark, if there is one. Else it comes from the rounds, without bad ones where these are kept; recycled alone it is drawn.
SLUICE_HD inline std::uint32_t next_entropy(const World& world, const Sender& sender) {
    const FlowSlot flow = sender.flow;
    if (world.recycled != nullptr && world.recycled[flow].count > 0) {
        Recycled& kept = world.recycled[flow];
        const std::uint32_t value = kept.value[kept.first];
        kept.first = (kept.first + 1) % Recycled::kMost;
        --kept.count;
        return value;
    }
    if (world.entropy_scores != nullptr) {
        return pass_by_bad(world, flow, world.entropy_scores[flow]);
    }
    if (world.recycled != nullptr) {
        return static_cast<std::uint32_t>(
            uniform_below(world.config->seed, random_stream(kEntropyDraws, world.id[flow]),
                          sender.transmissions, world.config->spray.entropy_values));
    }
    return value_at(world, flow, sender.transmissions);
}

/// An unmarked ACK is back: its value is kept; of too many the oldest is forgotten.
SLUICE_HD inline void recycle_entropy(Recycled& kept, std::uint32_t value) {
    if (kept.count == Recycled::kMost) {
        kept.first = (kept.first + 1) % Recycled::kMost;
        --kept.count;
    }
    kept.value[(kept.first + kept.count) % Recycled::kMost] = static_cast<std::uint8_t>(value);
    ++kept.count;
}

/// What `answer`, an ACK or NACK, says of the value that it brings back.
SLUICE_HD inline void judge_entropy(const World& world, const Packet& answer) {
    const std::uint32_t value = entropy_in(answer.stamp);
    const bool trimmed = answer.packet_kind() == PacketKind::nack;
    const bool marked = answer.echo != 0;
    if (world.recycled != nullptr && !marked && !trimmed) {
        recycle_entropy(world.recycled[answer.flow], value);
    }
    if (world.entropy_scores != nullptr && (marked || trimmed)) {
        std::uint8_t& score = world.entropy_scores[answer.flow].score[value];
        const std::uint32_t sum =
            score + (trimmed ? EntropyScores::kOfTrimmed : EntropyScores::kOfMarked);
        score = static_cast<std::uint8_t>(sum < EntropyScores::kMost ? sum : EntropyScores::kMost);
    }
}

}  // namespace sluice::step
