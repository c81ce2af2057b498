// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/astra_collective.h"

#include <algorithm>

#include "core/error.h"

namespace sluice::chakra {

namespace {

/// ASTRA-sim's fixed delay of a local ring, which every group below the world is.
constexpr Tick kGroupEndpoint = 10 * kNanosecond;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

}  // namespace

const char* name_of(Simulated kind) {
    constexpr std::array<const char*, kSimulated> kNames = {"all-reduce", "all-gather",
                                                            "reduce-scatter", "all-to-all"};
    return kNames[static_cast<std::size_t>(kind)];
}

CollectiveExpander::CollectiveExpander(JobGraph& graph, const AstraSystem& system,
                                       const ExpansionOptions& options,
                                       RankResourceId first_resource)
    : graph_(graph), system_(system), options_(options), next_resource_(first_resource) {
    if (options.dims.empty()) throw InternalError("a collective needs dimensions");
    if (options.queues_per_dim == 0) throw ConfigError("num-queues-per-dim must be at least 1");
}

/// Before memory is taken for them.
void CollectiveExpander::check_messages(std::uint64_t more) const {
    if (messages_ + more > kMostMessages) {
        throw ConfigError("the job's collectives take more than " + std::to_string(kMostMessages) +
                          " messages: fewer ranks, fewer dataset splits or a shorter trace");
    }
}

CollectiveExpander::Layout CollectiveExpander::layout_of(const CollectiveCall& call) const {
    Layout layout;
    layout.algorithms = system_.algorithms[static_cast<std::size_t>(call.kind)];
    if (!call.world) {
        layout.sizes = {static_cast<std::uint32_t>(call.members.size())};
        if (layout.algorithms.size() != 1 ||
            layout.algorithms.front().algorithm == Algorithm::double_binary_tree) {
            layout.algorithms = {DimensionAlgorithm{}};
        }
        layout.one_ring = true;
        return layout;
    }
    if (layout.algorithms.empty()) {
        throw ConfigError(system_.path + ": " + name_of(call.kind) +
                          "-implementation is missing, and the traces use it");
    }
    if (layout.algorithms.front().flat) {
        layout.sizes = {static_cast<std::uint32_t>(call.members.size())};
        layout.algorithms.resize(1);
        layout.one_ring = true;
        return layout;
    }
    if (layout.algorithms.size() != options_.dims.size()) {
        throw ConfigError(system_.path + ": " + name_of(call.kind) + "-implementation names " +
                          std::to_string(layout.algorithms.size()) +
                          " algorithms; one for each of the " +
                          std::to_string(options_.dims.size()) + " dimensions is needed");
    }
    for (const DimensionAlgorithm& algorithm : layout.algorithms) {
        if (algorithm.flat) {
            throw ConfigError(system_.path + ": " + name_of(call.kind) +
                              "-implementation: an algorithm over all dimensions (one...) must be "
                              "the only one");
        }
    }
    layout.sizes = options_.dims;
    return layout;
}

std::vector<CollectiveExpander::Phase> CollectiveExpander::phases_of(const CollectiveCall& call,
                                                                     const Layout& layout,
                                                                     std::int64_t chunk) const {
    std::vector<std::size_t> active;
    for (std::size_t dim = 0; dim < layout.sizes.size(); ++dim) {
        const bool involved = layout.one_ring || !call.dims_given ||
                              (call.dims >> std::min<std::size_t>(dim, 63) & 1);
        if (layout.sizes[dim] > 1 && involved) active.push_back(dim);
    }
    if (call.kind == Simulated::all_gather) std::reverse(active.begin(), active.end());
    std::vector<Phase> phases;
    std::int64_t bytes = chunk;
    const auto add = [&](Simulated kind, std::size_t dim, Phase::Half half) {
        phases.push_back({kind, dim, bytes, half});
        if (layout.algorithms[dim].algorithm == Algorithm::double_binary_tree) return;
        if (kind == Simulated::reduce_scatter) bytes /= layout.sizes[dim];
        if (kind == Simulated::all_gather) {
            if (bytes > kMostBytes / layout.sizes[dim]) {
                throw ConfigError(std::string(name_of(call.kind)) + " of " +
                                  std::to_string(call.bytes) + " bytes grows beyond 2^60 bytes");
            }
            bytes *= layout.sizes[dim];
        }
    };
    if (call.kind != Simulated::all_reduce || !system_.local_bandwidth_aware) {
        for (const std::size_t dim : active) add(call.kind, dim, Phase::Half::any);
        return phases;
    }
    for (std::size_t i = 0; i + 1 < active.size(); ++i) {
        add(Simulated::reduce_scatter, active[i], Phase::Half::first);
    }
    if (!active.empty()) add(Simulated::all_reduce, active.back(), Phase::Half::first);
    for (std::size_t i = active.size(); i-- > 1;) {
        add(Simulated::all_gather, active[i - 1], Phase::Half::last);
    }
    return phases;
}

/// The members that differ in one dimension only, for every choice of the others.
std::vector<CollectiveExpander::Slice> CollectiveExpander::slices_of(const CollectiveCall& call,
                                                                     const Layout& layout,
                                                                     std::size_t dim) const {
    std::size_t stride = 1;
    for (std::size_t d = 0; d < dim; ++d) stride *= layout.sizes[d];
    const std::size_t n = layout.sizes[dim];
    std::vector<Slice> slices;
    for (std::size_t first = 0; first < call.members.size(); ++first) {
        if (first / stride % n != 0) continue;
        Slice slice;
        for (std::size_t i = 0; i < n; ++i) {
            slice.push_back(static_cast<std::uint32_t>(first + i * stride));
        }
        slices.push_back(std::move(slice));
    }
    return slices;
}

/// A dimension's queues take turns, and so do its two trees, from collective to collective too. An
/// all-reduce of several phases uses half of the queues on its way up and the others on its way down;
/// one queue serves both.
CollectiveExpander::Turn CollectiveExpander::next_turn(const CollectiveCall& call,
                                                       const Layout& layout, const Phase& phase) {
    const std::uint32_t all = options_.queues_per_dim;
    const std::uint32_t half = std::max(1U, all / 2);
    const std::uint32_t count = queue_turns_[{phase.half, phase.dim}]++;
    Turn turn;
    switch (phase.half) {
        case Phase::Half::any: turn.queue = count % all; break;
        case Phase::Half::first: turn.queue = count % half; break;
        case Phase::Half::last: turn.queue = all == 1 ? 0 : half + count % (all - half); break;
    }
    turn.anticlockwise = phase.half == Phase::Half::last ||
                         (phase.half == Phase::Half::any && all > 1 && turn.queue >= all / 2);
    if (layout.algorithms[phase.dim].algorithm == Algorithm::double_binary_tree) {
        turn.root_last = trees_[{static_cast<std::size_t>(call.kind), phase.dim}]++ % 2 == 0;
    }
    return turn;
}

/// One chunk's phase on all slices of its dimension; returns what ends it, by member.
std::vector<OpId> CollectiveExpander::run_phase(const CollectiveCall& call, const Layout& layout,
                                                const Phase& phase, const Turn& turn,
                                                const std::vector<std::vector<OpId>>& after) {
    std::vector<OpId> ends(call.members.size(), kNone);
    const std::vector<Slice> slices = slices_of(call, layout, phase.dim);
    const DimensionAlgorithm& algorithm = layout.algorithms[phase.dim];
    const std::uint32_t n = layout.sizes[phase.dim];
    if (algorithm.algorithm != Algorithm::double_binary_tree) {
        const Plan plan = plan_of(phase, algorithm, n, turn.anticlockwise, call.world);
        // With one message under way at a time, and with all of them at once, none overtakes another.
        const bool counted = plan.window > 1 && (plan.gate > 0 || plan.window + 1 < n);
        for (const Slice& slice : slices) {
            if (counted) {
                counted_exchange(call, plan, slice, turn.chunk, after, ends);
            } else {
                exchange(call, plan, slice, after, ends);
            }
        }
        return ends;
    }
    if (!power_of_two(n)) {
        throw ConfigError(system_.path + ": doubleBinaryTree over " + std::to_string(n) +
                          " NPUs: a power of two is needed");
    }
    for (const Slice& slice : slices) tree(call, phase.bytes, turn.root_last, slice, after, ends);
    return ends;
}

/// Bytes and number of the chunks. Each is full, the last one too, as in the original.
std::pair<std::int64_t, std::int64_t> CollectiveExpander::chunks_of(
    const CollectiveCall& call) const {
    std::int64_t npus = 1;
    for (const std::uint32_t dim : options_.dims) npus *= dim;
    std::int64_t total = call.bytes;
    std::int64_t chunk = total / system_.dataset_splits;
    if (call.kind != Simulated::all_gather && npus > chunk) {
        chunk = npus;
        total = chunk * system_.dataset_splits;
    }
    chunk = std::max<std::int64_t>(chunk, 1);
    return {chunk, (total + chunk - 1) / chunk};
}

/// Whole nanoseconds before and after it is scaled, as in the original.
Tick CollectiveExpander::endpoint_delay() const {
    const auto delay = static_cast<double>(static_cast<std::int64_t>(system_.endpoint_delay));
    return static_cast<Tick>(delay * options_.injection_scale) * kNanosecond;
}

std::uint32_t CollectiveExpander::places() const {
    return (system_.active_chunks + options_.queues_per_dim - 1) / options_.queues_per_dim;
}

/// A dimension's queue as a resource of every rank.
RankResourceId CollectiveExpander::resource_of(std::size_t dim, std::uint32_t queue) {
    const auto [it, fresh] = queues_.try_emplace({dim, queue});
    if (fresh) it->second = new_resource(places(), places());
    return it->second;
}

/// One chunk's phase as soon as its queue has a place for it; `done`: what ended the chunk's phase
/// before, by member.
void CollectiveExpander::run_in_queue(const CollectiveCall& call, const Layout& layout,
                                      const Phase& phase, const Turn& turn,
                                      std::vector<OpId>& done) {
    const RankResourceId queue = resource_of(phase.dim, turn.queue);
    std::vector<std::vector<OpId>> after;
    for (std::size_t m = 0; m < done.size(); ++m) {
        const OpId place = graph_.add_acquire(call.members[m], queue, call.label);
        graph_.add_dependency(place, done[m]);
        after.push_back({place});
    }
    done = run_phase(call, layout, phase, turn, after);
    for (std::size_t m = 0; m < done.size(); ++m) {
        const OpId place = graph_.add_release(call.members[m], queue, call.label);
        graph_.add_dependency(place, done[m]);
        done[m] = place;
    }
}

void CollectiveExpander::expand(const CollectiveCall& call) {
    const auto kind = static_cast<std::size_t>(call.kind);
    const auto by_node = system_.custom_by_node.find(call.node);
    if (by_node != system_.custom_by_node.end()) return run_custom(call, by_node->second);
    if (!system_.custom[kind].empty()) return run_custom(call, system_.custom[kind]);

    endpoint_ = call.world ? endpoint_delay() : kGroupEndpoint;
    const auto [chunk, count] = chunks_of(call);
    check_messages(static_cast<std::uint64_t>(count));
    const Layout layout = layout_of(call);
    const std::vector<Phase> phases = phases_of(call, layout, chunk);
    std::vector<std::vector<Turn>> turns;  // by chunk and phase, in the original's order
    for (std::int64_t c = 0; c < count; ++c) {
        turns.emplace_back();
        for (const Phase& phase : phases) {
            turns.back().push_back(next_turn(call, layout, phase));
            turns.back().back().chunk = static_cast<std::uint32_t>(c);
        }
    }
    const std::size_t members = call.members.size();
    std::vector<std::vector<OpId>> done(static_cast<std::size_t>(count), call.starts);
    // By dimension and queue, in the fixed order: what ended the phases that took it.
    std::map<std::pair<std::size_t, std::uint32_t>, std::vector<std::vector<OpId>>> queues;
    for (std::size_t p = 0; p < phases.size(); ++p) {
        for (std::size_t c = 0; c < done.size(); ++c) {
            const Turn& turn = turns[c][p];
            if (options_.chunk_order == ChunkOrder::arrival) {
                run_in_queue(call, layout, phases[p], turn, done[c]);
                continue;
            }
            std::vector<std::vector<OpId>>& before = queues[{phases[p].dim, turn.queue}];
            std::vector<std::vector<OpId>> after(members);
            for (std::size_t m = 0; m < members; ++m) {
                after[m] = {done[c][m]};
                if (before.size() >= places()) {
                    after[m].push_back(before[before.size() - places()][m]);
                }
            }
            done[c] = run_phase(call, layout, phases[p], turn, after);
            before.push_back(done[c]);
        }
    }
    if (done.empty()) done.push_back(call.starts);
    for (const std::vector<OpId>& chunk_done : done) {
        for (std::size_t m = 0; m < members; ++m) {
            graph_.add_dependency(call.ends[m], chunk_done[m]);
        }
    }
}

}  // namespace sluice::chakra
