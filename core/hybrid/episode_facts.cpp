// SPDX-License-Identifier: Apache-2.0
/// Episodes as the memo keeps them, to be simulated again.
#include <cstddef>
#include <limits>

#include "core/hybrid/episode.h"

namespace sluice::hybrid {

namespace {

/// Numbers of a flow: source and destination, their ports, class, bytes, start after the begin.
constexpr std::size_t kFacts = 7;

template <class T>
bool fits(std::int64_t value, std::int64_t least = 0) {
    return value >= least && static_cast<std::uint64_t>(value) <= std::numeric_limits<T>::max();
}

}  // namespace

memo::Numbers facts_of(const Episode& episode, const std::vector<std::uint32_t>& order) {
    memo::Numbers facts;
    for (const std::uint32_t place : order) {
        const EpisodeFlow& flow = episode.flows[place];
        facts.insert(facts.end(), {flow.spec.src, flow.spec.dst, flow.spec.sport, flow.spec.dport,
                                   flow.spec.priority, flow.size, flow.start - episode.begin});
    }
    return facts;
}

std::vector<FlowSpec> flows_of(const memo::Numbers& facts, Tick begin) {
    std::vector<FlowSpec> flows;
    if (facts.size() % kFacts != 0) {
        return flows;
    }
    for (std::size_t at = 0; at < facts.size(); at += kFacts) {
        const std::int64_t* const told = facts.data() + at;
        if (!fits<NodeId>(told[0]) || !fits<NodeId>(told[1]) || !fits<std::uint16_t>(told[2]) ||
            !fits<std::uint16_t>(told[3]) || told[4] < 1 || told[4] >= step::kClasses ||
            told[5] < 1 || told[6] < 0 || told[6] >= kNever - begin) {
            return {};
        }
        FlowSpec flow;
        flow.src = static_cast<NodeId>(told[0]);
        flow.dst = static_cast<NodeId>(told[1]);
        flow.sport = static_cast<std::uint16_t>(told[2]);
        flow.dport = static_cast<std::uint16_t>(told[3]);
        flow.priority = static_cast<std::uint8_t>(told[4]);
        flow.size = told[5];
        flow.start = begin + told[6];
        flows.push_back(flow);
    }
    return flows;
}

std::vector<std::int64_t> EpisodeMemory::words(memo::Kind kind) const {
    std::vector<std::int64_t> words = fingerprint_;
    words.push_back(static_cast<std::int64_t>(kind));
    return words;
}

}  // namespace sluice::hybrid
