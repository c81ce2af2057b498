// SPDX-License-Identifier: Apache-2.0
/// What the ranks of a chunk's phase do: messages, what is spent on them, trees.
#include <algorithm>

#include "core/error.h"
#include "workloads/chakra/astra_collective.h"

namespace sluice::chakra {

namespace {

constexpr std::int64_t kRendezvousBytes = 8192;

std::uint32_t log2_of(std::uint32_t n) {
    std::uint32_t result = 0;
    for (; n > 1; n /= 2) ++result;
    return result;
}

/// The position of the parent of `p` in the full tree over 1 .. n-1; 0: the root above.
std::size_t parent_of(std::size_t p, std::size_t n) {
    const std::size_t low = p & (~p + 1);
    const std::size_t up = (p & ~low) | (low << 1);
    return up < n ? up : 0;
}

}  // namespace

JobGraph::Pair CollectiveExpander::add_message(RankId src, RankId dst, std::int64_t bytes,
                                               Label label, OpId sent_after, OpId received_after) {
    check_messages(1);
    ++messages_;
    if (options_.rendezvous) {
        const JobGraph::Pair control = graph_.add_message(dst, src, kRendezvousBytes, label);
        graph_.add_dependency(control.from, received_after);
        graph_.add_dependency(control.to, sent_after);
        sent_after = control.to;
    }
    const JobGraph::Pair pair =
        graph_.add_message(src, dst, std::max<std::int64_t>(bytes, 1), label);
    graph_.add_dependency(pair.from, sent_after);
    graph_.add_dependency(pair.to, received_after);
    return pair;
}

/// Reading or writing local memory, in the original's own order of operations: its whole nanoseconds
/// depend on it.
Tick CollectiveExpander::memory_time(std::int64_t bytes) const {
    if (system_.local_mem_bw <= 0) return 10 * kNanosecond;
    return static_cast<Tick>(static_cast<double>(bytes) / (system_.local_mem_bw * 1e9) * 1e9) *
           kNanosecond;
}

OpId CollectiveExpander::busy(RankId rank, Tick duration, Label label,
                              const std::vector<OpId>& after) {
    const OpId op = graph_.add_delay(rank, duration, label);
    for (const OpId on : after) graph_.add_dependency(op, on);
    return op;
}

/// Which received messages are reduced: the algorithms' packets alternate between `window` that
/// come from the rank's own memory and `refill` that come from the network; of those, a
/// reduce-scatter reduces all and an all-reduce every second batch.
void CollectiveExpander::add_costs(Plan& plan, Simulated kind, std::uint32_t refill) const {
    std::uint32_t own = 0;
    std::uint32_t received = 0;
    bool odd = false;
    const auto reduced = [&] {
        if (own == 0 && received == 0) {
            own = plan.window;
            received = refill;
            odd = !odd;
        }
        if (own > 0) {
            --own;
            return false;
        }
        --received;
        return kind == Simulated::reduce_scatter || (kind == Simulated::all_reduce && odd);
    };
    for (std::uint32_t i = 0; i < plan.window; ++i) reduced();
    const std::size_t count = plan.bytes.size();
    for (std::size_t k = 0; k < count; ++k) {
        // What is accounted is the size of the message that comes next, as in the original.
        const std::int64_t bytes = plan.bytes[std::min(k + 1, count - 1)];
        plan.cost.push_back(endpoint_ + (reduced() ? 3 * memory_time(bytes) : 0));
    }
}

CollectiveExpander::Plan CollectiveExpander::ring_plan(Simulated kind, std::uint32_t n,
                                                       std::int64_t bytes,
                                                       bool anticlockwise) const {
    std::size_t count = n - 1;
    if (kind == Simulated::all_reduce) count *= 2;
    if (kind == Simulated::all_to_all) count = static_cast<std::size_t>(n) * (n - 1) / 2;
    check_messages(count * n);
    Plan plan;
    plan.to.assign(count, anticlockwise ? n - 1 : 1);
    plan.from.assign(count, anticlockwise ? 1 : n - 1);
    plan.bytes.assign(count, kind == Simulated::all_gather ? bytes : bytes / n);
    add_costs(plan, kind, n - 1);
    return plan;
}

CollectiveExpander::Plan CollectiveExpander::direct_plan(Simulated kind, std::uint32_t n,
                                                         std::int64_t bytes, std::uint32_t window,
                                                         bool anticlockwise, bool world) const {
    const std::size_t count =
        kind == Simulated::all_reduce ? 2 * static_cast<std::size_t>(n - 1) : n - 1;
    check_messages(count * n);
    Plan plan;
    plan.window = window == 0 ? n - 1 : std::min(window, n - 1);
    for (std::size_t k = 0; k < count; ++k) {
        const auto places = static_cast<std::uint32_t>(1 + k % (n - 1));
        plan.to.push_back(anticlockwise ? n - places : places);
        plan.from.push_back(anticlockwise ? places : n - places);
    }
    plan.bytes.assign(count, kind == Simulated::all_gather ? bytes : bytes / n);
    if (kind == Simulated::all_reduce) plan.gate = n - 1;
    // The original's classes differ in this where the ring is not one of a dimension.
    add_costs(plan, kind, world ? plan.window : (n - 1) * plan.window);
    return plan;
}

CollectiveExpander::Plan CollectiveExpander::halving_plan(Simulated kind, std::uint32_t n,
                                                          std::int64_t bytes) const {
    Plan plan;
    plan.pairwise = true;
    const auto add = [&](std::uint32_t distance, std::int64_t size) {
        plan.to.push_back(distance);
        plan.from.push_back(distance);
        plan.bytes.push_back(size);
    };
    std::int64_t size = bytes;
    if (kind != Simulated::all_gather) {
        for (std::uint32_t distance = 1; distance < n; distance *= 2) add(distance, size /= 2);
    }
    if (kind != Simulated::reduce_scatter) {
        // The original turns round after one halving more, which it takes back: an odd byte is lost.
        if (kind == Simulated::all_reduce) size = size / 2 * 2;
        for (std::uint32_t distance = n / 2; distance > 0; distance /= 2, size *= 2) {
            add(distance, size);
        }
    }
    add_costs(plan, kind, log2_of(n) - 1);
    return plan;
}

/// Where messages may overtake each other: what was received first is dealt with first, and whatever
/// has been dealt with permits the next send. The second half of an all-reduce begins when something
/// has been dealt with after the first half was received.
void CollectiveExpander::counted_exchange(const CollectiveCall& call, const Plan& plan,
                                          const Slice& slice, std::uint32_t chunk,
                                          const std::vector<std::vector<OpId>>& after,
                                          std::vector<OpId>& ends) {
    const std::size_t n = slice.size();
    const std::size_t count = plan.to.size();
    const Counted& counted = counted_of(chunk);
    std::vector<std::vector<OpId>> permits(n);
    std::vector<OpId> gates(n, kNone);
    for (std::size_t i = 0; i < n; ++i) {
        const RankId rank = call.members[slice[i]];
        const auto take = [&](RankResourceId resource) {
            const OpId op = graph_.add_acquire(rank, resource, call.label);
            for (const OpId on : after[slice[i]]) graph_.add_dependency(op, on);
            return op;
        };
        const auto give = [&](RankResourceId resource, OpId on) {
            graph_.add_dependency(graph_.add_release(rank, resource, call.label), on);
        };
        const auto dealt_with = [&](OpId op) {
            give(counted.permits, op);
            if (plan.gate > 0) give(counted.gate, op);
        };
        for (std::uint32_t w = 0; w < plan.window; ++w) {
            dealt_with(busy(rank, endpoint_, call.label, after[slice[i]]));
        }
        for (std::size_t k = 0; k < count; ++k) {
            const OpId received = take(counted.received);
            if (k + 1 == plan.gate) {
                gates[i] = graph_.add_acquire(rank, counted.gate, call.label);
                graph_.add_dependency(gates[i], received);
            }
            dealt_with(busy(rank, plan.cost[k], call.label, {received}));
        }
        for (std::size_t k = 0; k < count + plan.window; ++k) {
            permits[i].push_back(take(counted.permits));
        }
        ends[slice[i]] = permits[i].back();
    }
    for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t to = (i + plan.to[k]) % n;
            const RankId receiver = call.members[slice[to]];
            const JobGraph::Pair pair = add_message(call.members[slice[i]], receiver, plan.bytes[k],
                                                    call.label, permits[i][k], permits[to][k]);
            if (plan.gate > 0 && k >= plan.gate) {
                graph_.add_dependency(pair.from, gates[i]);
                graph_.add_dependency(pair.to, gates[to]);
            }
            const OpId received = graph_.add_release(receiver, counted.received, call.label);
            graph_.add_dependency(received, pair.to);
        }
    }
}

/// A chunk is in one phase at a time and a rank in one collective: all of them share these.
const CollectiveExpander::Counted& CollectiveExpander::counted_of(std::uint32_t chunk) {
    const auto [it, fresh] = counted_.try_emplace(chunk);
    if (fresh) {
        constexpr std::uint32_t kAny = ~0U;
        it->second = {new_resource(0, kAny), new_resource(0, kAny), new_resource(0, 0)};
    }
    return it->second;
}

RankResourceId CollectiveExpander::new_resource(std::uint32_t first, std::uint32_t most) {
    const RankResourceId resource = next_resource_++;
    graph_.make_counted(resource, {first, most});
    return resource;
}

/// `after[m]`: what member m's part waits for; `ends[m]`: set to what ends it.
void CollectiveExpander::exchange(const CollectiveCall& call, const Plan& plan, const Slice& slice,
                                  const std::vector<std::vector<OpId>>& after,
                                  std::vector<OpId>& ends) {
    const std::size_t n = slice.size();
    const std::size_t count = plan.to.size();
    const auto peer = [&](std::size_t i, std::uint32_t places) {
        return plan.pairwise ? i ^ places : (i + places) % n;
    };
    // permits[i][k]: the rank may send its message k, and receive its k-th.
    std::vector<std::vector<OpId>> permits(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::uint32_t w = 0; w < plan.window; ++w) {
            permits[i].push_back(
                busy(call.members[slice[i]], endpoint_, call.label, after[slice[i]]));
        }
    }
    for (std::size_t k = 0; k < count; ++k) {
        std::vector<OpId> received(n, kNone);
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t to = peer(i, plan.to[k]);
            const JobGraph::Pair pair =
                add_message(call.members[slice[i]], call.members[slice[to]], plan.bytes[k],
                            call.label, permits[i][k], permits[to][k]);
            received[to] = pair.to;
        }
        for (std::size_t i = 0; i < n; ++i) {
            permits[i].push_back(
                busy(call.members[slice[i]], plan.cost[k], call.label, {received[i]}));
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        const std::vector<OpId> last(permits[i].end() - plan.window, permits[i].end());
        ends[slice[i]] =
            plan.window == 1 ? last[0] : busy(call.members[slice[i]], 0, call.label, last);
    }
}

/// An all-reduce up and down a binary tree over `slice` in order, with the last (or first) member
/// as the root above it. Every message is the whole chunk. Each inner rank reduces what it receives,
/// from its parent too.
void CollectiveExpander::tree(const CollectiveCall& call, std::int64_t bytes, bool root_last,
                              const Slice& slice, const std::vector<std::vector<OpId>>& after,
                              std::vector<OpId>& ends) {
    const std::size_t n = slice.size();
    const Tick reduce = endpoint_ + 3 * memory_time(bytes);
    // In the full tree over positions 1 .. n-1, a node's children are half its lowest bit away.
    const auto member = [&](std::size_t position) {
        return slice[root_last ? position - 1 : position];
    };
    const std::uint32_t root = root_last ? slice.back() : slice.front();
    const auto rank = [&](std::uint32_t m) { return call.members[m]; };
    struct Link {
        OpId up = kNone;         ///< received by the parent
        OpId down_post = kNone;  ///< when the child can receive from its parent
    };
    std::vector<Link> links(n);  // by position, of the edge to the parent
    const auto begin = [&](std::uint32_t m) { return busy(rank(m), 0, call.label, after[m]); };
    std::vector<OpId> begins(n, kNone);
    for (std::size_t p = 1; p < n; ++p) begins[p] = begin(member(p));
    const OpId root_begin = begin(root);
    // Upwards, the smaller subtrees first.
    for (std::size_t low = 1; low < n; low *= 2) {
        for (std::size_t p = low; p < n; p += 2 * low) {
            const std::uint32_t m = member(p);
            OpId ready = kNone;
            if (low == 1) {
                ready = busy(rank(m), endpoint_, call.label, {begins[p]});
            } else {
                const OpId left = busy(rank(m), reduce, call.label, {links[p - low / 2].up});
                const OpId right = busy(rank(m), reduce, call.label, {links[p + low / 2].up});
                ready = busy(rank(m), 0, call.label, {left, right});
            }
            const std::size_t up = parent_of(p, n);
            const JobGraph::Pair pair =
                add_message(rank(m), rank(up == 0 ? root : member(up)), bytes, call.label, ready,
                            up == 0 ? root_begin : begins[up]);
            links[p] = {pair.to, ready};
        }
    }
    const std::size_t top = n / 2;
    const OpId reduced = busy(rank(root), reduce, call.label, {links[top].up});
    ends[root] = reduced;
    std::vector<OpId> sends(n, reduced);  // by position: what its parent's message waits for
    for (std::size_t low = top; low > 0; low /= 2) {
        for (std::size_t p = low; p < n; p += 2 * low) {
            const std::uint32_t m = member(p);
            const std::size_t up = parent_of(p, n);
            const JobGraph::Pair pair =
                add_message(rank(up == 0 ? root : member(up)), rank(m), bytes, call.label, sends[p],
                            links[p].down_post);
            ends[m] = busy(rank(m), low == 1 ? endpoint_ : reduce, call.label, {pair.to});
            if (low == 1) continue;
            sends[p - low / 2] = ends[m];
            sends[p + low / 2] = ends[m];
        }
    }
}

CollectiveExpander::Plan CollectiveExpander::plan_of(const Phase& phase,
                                                     const DimensionAlgorithm& algorithm,
                                                     std::uint32_t n, bool anticlockwise,
                                                     bool world) const {
    switch (algorithm.algorithm) {
        case Algorithm::ring: return ring_plan(phase.kind, n, phase.bytes, anticlockwise);
        case Algorithm::direct:
            return direct_plan(phase.kind, n, phase.bytes, algorithm.window, anticlockwise, world);
        case Algorithm::halving_doubling:
            if (power_of_two(n) && phase.kind != Simulated::all_to_all) {
                return halving_plan(phase.kind, n, phase.bytes);
            }
            throw ConfigError(system_.path + ": halvingDoubling over " + std::to_string(n) +
                              " NPUs for " + name_of(phase.kind) +
                              ": it needs a power of two and cannot do all-to-all");
        case Algorithm::double_binary_tree: break;
    }
    throw InternalError("a tree has no plan");
}

}  // namespace sluice::chakra
