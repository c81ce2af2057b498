// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/aicb_pipeline.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/core.h>

namespace sluice {

namespace {

constexpr std::size_t kMostCandidates = 256;

/// Layers as numbers: equal where name and communication are.
std::vector<std::uint32_t> signatures(const AicbWorkload& workload) {
    using Signature = std::tuple<std::uint32_t, std::array<std::uint64_t, kAicbPhases>,
                                 std::array<std::int64_t, kAicbPhases>>;
    std::map<Signature, std::uint32_t> numbers;
    std::vector<std::uint32_t> result;
    result.reserve(workload.layers.size());
    for (const AicbLayer& layer : workload.layers) {
        Signature signature;
        std::get<0>(signature) = layer.name;
        for (std::size_t phase = 0; phase < kAicbPhases; ++phase) {
            const AicbWork& work = layer.work[phase];
            std::get<1>(signature)[phase] = static_cast<std::uint64_t>(work.comm) * 16 +
                                            static_cast<std::uint64_t>(work.suffix);
            std::get<2>(signature)[phase] = work.bytes;
        }
        result.push_back(
            numbers.emplace(signature, static_cast<std::uint32_t>(numbers.size())).first->second);
    }
    return result;
}

/// Lengths that a repeat may have: a layer that comes k ga times is the k-th again one repeat on.
std::set<std::size_t> candidate_lengths(const std::vector<std::uint32_t>& layers, std::size_t ga) {
    std::map<std::uint32_t, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < layers.size(); ++i) places[layers[i]].push_back(i);
    std::set<std::size_t> lengths;
    for (const auto& [number, at] : places) {
        if (at.size() % ga != 0) continue;
        lengths.insert(at[at.size() / ga] - at[0]);
        if (lengths.size() == kMostCandidates) break;
    }
    return lengths;
}

/// The first place from which ga repeats of `length` follow; layers.size() if there is none.
std::size_t find_run(const std::vector<std::uint32_t>& layers, std::size_t length, std::size_t ga) {
    const std::size_t wanted = length * (ga - 1);
    std::size_t run = 0;
    for (std::size_t i = 0; i + length < layers.size(); ++i) {
        run = layers[i] == layers[i + length] ? run + 1 : 0;
        if (run == wanted) return i + 1 - wanted;
    }
    return layers.size();
}

/// AICB's micro-batches begin with one.
bool is_embedding(const AicbWorkload& workload, const AicbLayer& layer) {
    return workload.name(layer) == "embedding_layer";
}

bool begins(const std::string& name, const char* prefix) { return name.rfind(prefix, 0) == 0; }

AicbBlocks one_block(const AicbWorkload& workload) {
    const std::vector<AicbLayer>& layers = workload.layers;
    const auto first = std::find_if(layers.begin(), layers.end(), [&](const AicbLayer& layer) {
        return is_embedding(workload, layer);
    });
    if (first == layers.end()) {
        return {0, layers.size(), 1,
                fmt::format("all {} layers are one micro-batch", layers.size()), false};
    }
    const auto last = std::find_if(first, layers.end(), [&](const AicbLayer& layer) {
        return begins(workload.name(layer), "cross_entropy") ||
               begins(workload.name(layer), "optimizer");
    });
    const auto at = static_cast<std::size_t>(first - layers.begin());
    const auto length = static_cast<std::size_t>(last - first);
    return {at, length, 1,
            fmt::format("layers {} to {}, from \"embedding_layer\" on, are one micro-batch", at,
                        at + length - 1),
            false};
}

}  // namespace

AicbBlocks find_micro_batches(const AicbWorkload& workload) {
    const std::vector<std::uint32_t> layers = signatures(workload);
    const std::int64_t ga = workload.header.ga;
    if (ga <= 1) return one_block(workload);
    const auto embeddings =
        std::count_if(workload.layers.begin(), workload.layers.end(),
                      [&](const AicbLayer& layer) { return is_embedding(workload, layer); });
    if (embeddings % ga == 0 && static_cast<std::uint64_t>(ga) <= layers.size()) {
        const auto count = static_cast<std::size_t>(ga);
        const std::set<std::size_t> lengths = candidate_lengths(layers, count);
        for (auto length = lengths.rbegin(); length != lengths.rend(); ++length) {
            if (*length == 0 || *length > layers.size() / count) continue;
            const std::size_t first = find_run(layers, *length, count);
            if (first == layers.size()) continue;
            return {first, *length, count,
                    fmt::format("{} micro-batches of {} layers each, from layer {} on", count,
                                *length, first),
                    false};
        }
    }
    AicbBlocks blocks = one_block(workload);
    blocks.how =
        fmt::format("ga is {}, but no run of layers comes {} times: {}", ga, ga, blocks.how);
    blocks.contradicted = true;
    return blocks;
}

}  // namespace sluice
