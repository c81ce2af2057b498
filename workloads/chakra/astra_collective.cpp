// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/astra_collective.h"

#include <algorithm>
#include <deque>
#include <tuple>

#include "core/error.h"

namespace sluice::chakra {

namespace {

/// ASTRA-sim's fixed delay of a local ring, which every group below the world is.
constexpr Tick kGroupEndpoint = 10 * kNanosecond;
constexpr std::int64_t kRendezvousBytes = 8192;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

bool power_of_two(std::uint32_t n) { return n > 0 && (n & (n - 1)) == 0; }

std::uint32_t log2_of(std::uint32_t n) {
    std::uint32_t result = 0;
    for (; n > 1; n /= 2) ++result;
    return result;
}

const char* name_of(Simulated kind) {
    constexpr std::array<const char*, kSimulated> kNames = {"all-reduce", "all-gather",
                                                            "reduce-scatter", "all-to-all"};
    return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

CollectiveExpander::CollectiveExpander(JobGraph& graph, const AstraSystem& system,
                                       const ExpansionOptions& options)
    : graph_(graph), system_(system), options_(options) {
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

/// Reading or writing local memory: whole nanoseconds at local-mem-bw bytes per nanosecond.
Tick CollectiveExpander::memory_time(std::int64_t bytes) const {
    if (system_.local_mem_bw <= 0) return 10 * kNanosecond;
    return static_cast<Tick>(static_cast<double>(bytes) / system_.local_mem_bw) * kNanosecond;
}

OpId CollectiveExpander::busy(RankId rank, Tick duration, Label label,
                              const std::vector<OpId>& after) {
    const OpId op = graph_.add_delay(rank, duration, label);
    for (const OpId on : after) graph_.add_dependency(op, on);
    return op;
}

CollectiveExpander::Layout CollectiveExpander::layout_of(const CollectiveCall& call) const {
    Layout layout;
    if (!call.world) {
        layout.sizes = {static_cast<std::uint32_t>(call.members.size())};
        layout.algorithms = {DimensionAlgorithm{}};
        layout.one_ring = true;
        return layout;
    }
    layout.algorithms = system_.algorithms[static_cast<std::size_t>(call.kind)];
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
                                                         bool anticlockwise) const {
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
    add_costs(plan, kind, plan.window);
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
    if (kind != Simulated::all_gather) {
        std::int64_t size = bytes;
        for (std::uint32_t distance = 1; distance < n; distance *= 2) add(distance, size /= 2);
    }
    if (kind != Simulated::reduce_scatter) {
        std::int64_t size = kind == Simulated::all_gather ? bytes : bytes / n;
        for (std::uint32_t distance = n / 2; distance > 0; distance /= 2, size *= 2) {
            add(distance, size);
        }
    }
    add_costs(plan, kind, log2_of(n) - 1);
    return plan;
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
            if (plan.gate > 0 && k >= plan.gate) {
                graph_.add_dependency(pair.from, permits[i][plan.window + plan.gate - 1]);
            }
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
    const auto parent = [n](std::size_t p) {
        const std::size_t low = p & (~p + 1);
        const std::size_t up = (p & ~low) | (low << 1);
        return up < n ? up : 0;  // 0: the root above
    };
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
            const std::size_t up = parent(p);
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
            const std::size_t up = parent(p);
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

/// Which of a dimension's queues a phase of chunk `c` takes. An all-reduce of several phases uses
/// half of them on its way up and the others on its way down; one queue serves both.
std::uint32_t CollectiveExpander::queue_of(const Phase& phase, std::uint32_t c) const {
    const std::uint32_t all = options_.queues_per_dim;
    const std::uint32_t half = std::max(1U, all / 2);
    switch (phase.half) {
        case Phase::Half::any: return c % all;
        case Phase::Half::first: return c % half;
        case Phase::Half::last: return all == 1 ? 0 : half + c % (all - half);
    }
    throw InternalError("unknown half of a dimension's queues");
}

CollectiveExpander::Plan CollectiveExpander::plan_of(const Phase& phase,
                                                     const DimensionAlgorithm& algorithm,
                                                     std::uint32_t n, std::uint32_t queue) const {
    const std::uint32_t all = options_.queues_per_dim;
    const bool anticlockwise =
        phase.half == Phase::Half::last ||
        (phase.half == Phase::Half::any && phase.dim > 0 && all > 1 && queue >= all / 2);
    switch (algorithm.algorithm) {
        case Algorithm::ring: return ring_plan(phase.kind, n, phase.bytes, anticlockwise);
        case Algorithm::direct:
            return direct_plan(phase.kind, n, phase.bytes, algorithm.window, anticlockwise);
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

/// One chunk's phase on all slices of its dimension; returns what ends it, by member.
std::vector<OpId> CollectiveExpander::run_phase(const CollectiveCall& call, const Layout& layout,
                                                const Phase& phase, std::uint32_t queue,
                                                const std::vector<std::vector<OpId>>& after) {
    std::vector<OpId> ends(call.members.size(), kNone);
    const std::vector<Slice> slices = slices_of(call, layout, phase.dim);
    const DimensionAlgorithm& algorithm = layout.algorithms[phase.dim];
    const std::uint32_t n = layout.sizes[phase.dim];
    if (algorithm.algorithm != Algorithm::double_binary_tree) {
        const Plan plan = plan_of(phase, algorithm, n, queue);
        for (const Slice& slice : slices) exchange(call, plan, slice, after, ends);
        return ends;
    }
    if (!power_of_two(n)) {
        throw ConfigError(system_.path + ": doubleBinaryTree over " + std::to_string(n) +
                          " NPUs: a power of two is needed");
    }
    const bool root_last = trees_[{static_cast<std::size_t>(call.kind), phase.dim}]++ % 2 == 0;
    for (const Slice& slice : slices) tree(call, phase.bytes, root_last, slice, after, ends);
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

void CollectiveExpander::expand(const CollectiveCall& call) {
    const auto kind = static_cast<std::size_t>(call.kind);
    const auto by_node = system_.custom_by_node.find(call.node);
    if (by_node != system_.custom_by_node.end()) return run_custom(call, by_node->second);
    if (!system_.custom[kind].empty()) return run_custom(call, system_.custom[kind]);

    endpoint_ = call.world ? static_cast<Tick>(system_.endpoint_delay * options_.injection_scale) *
                                 kNanosecond
                           : kGroupEndpoint;
    const auto [chunk, count] = chunks_of(call);
    check_messages(static_cast<std::uint64_t>(count));
    const Layout layout = layout_of(call);
    const std::size_t members = call.members.size();
    std::vector<std::vector<OpId>> done(static_cast<std::size_t>(count), call.starts);
    // By dimension and queue: what ended the phases that took it, in their order.
    std::map<std::pair<std::size_t, std::uint32_t>, std::vector<std::vector<OpId>>> queues;
    const std::size_t places =
        (system_.active_chunks + options_.queues_per_dim - 1) / options_.queues_per_dim;
    for (const Phase& phase : phases_of(call, layout, chunk)) {
        for (std::size_t c = 0; c < done.size(); ++c) {
            const std::uint32_t queue = queue_of(phase, static_cast<std::uint32_t>(c));
            std::vector<std::vector<OpId>>& before = queues[{phase.dim, queue}];
            std::vector<std::vector<OpId>> after(members);
            for (std::size_t m = 0; m < members; ++m) {
                after[m] = {done[c][m]};
                if (before.size() >= places) after[m].push_back(before[before.size() - places][m]);
            }
            done[c] = run_phase(call, layout, phase, queue, after);
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

/// Traces that spell out a collective of `members` ranks; read once.
const std::vector<Trace>& CollectiveExpander::custom_traces(const std::string& prefix,
                                                            std::size_t members) {
    auto it = custom_.find(prefix);
    if (it == custom_.end()) {
        ImportReport report;
        std::vector<Trace> traces = read_traces(find_traces(prefix), 1, report);
        for (const ImportNote& note : report.notes()) {
            if (note.kind == ImportNote::Kind::misfit) {
                throw ConfigError(note.where + ": " + note.text);
            }
        }
        it = custom_.emplace(prefix, std::move(traces)).first;
    }
    if (it->second.size() != members) {
        throw ConfigError(prefix + ": holds traces of " + std::to_string(it->second.size()) +
                          " ranks; the collective has " + std::to_string(members));
    }
    return it->second;
}

/// A custom collective's operations, by member and node, and its messages that have one end.
struct CollectiveExpander::Custom {
    struct End {
        std::size_t member;
        std::uint32_t node;
    };
    using Key = std::tuple<std::int64_t, std::uint32_t, std::uint32_t>;  ///< tag, source, target
    const std::vector<Trace>& traces;
    std::vector<std::vector<OpId>> first;
    std::vector<std::vector<OpId>> last;
    std::map<Key, std::deque<End>> sends;
    std::map<Key, std::deque<End>> recvs;
};

/// Joins a send or recv with its partner, if that has been there.
void CollectiveExpander::match_custom(const CollectiveCall& call, Custom& custom, std::size_t m,
                                      std::uint32_t node) {
    const Trace& trace = custom.traces[m];
    const Communication& comm = trace.communication(node);
    const auto own = static_cast<std::uint32_t>(m);
    const bool send = trace.type(node) == NodeType::comm_send;
    const std::uint32_t src = send ? own : comm.src;
    const std::uint32_t dst = send ? comm.dst : own;
    if (src >= custom.traces.size() || dst >= custom.traces.size() || src == dst) {
        throw ConfigError(trace.where(node) + ": is between ranks " + std::to_string(src) +
                          " and " + std::to_string(dst) + " of " +
                          std::to_string(custom.traces.size()));
    }
    const Custom::Key key{comm.tag, src, dst};
    std::deque<Custom::End>& partners = (send ? custom.recvs : custom.sends)[key];
    if (partners.empty()) {
        (send ? custom.sends : custom.recvs)[key].push_back({m, node});
        return;
    }
    const Custom::End other = partners.front();
    partners.pop_front();
    const Custom::End from = send ? Custom::End{m, node} : other;
    const Custom::End to = send ? other : Custom::End{m, node};
    const auto bytes = static_cast<std::int64_t>(custom.traces[from.member].value(from.node));
    const JobGraph::Pair pair =
        add_message(call.members[from.member], call.members[to.member], bytes, call.label,
                    custom.first[from.member][from.node], custom.first[to.member][to.node]);
    custom.last[from.member][from.node] = pair.from;
    custom.last[to.member][to.node] = pair.to;
}

/// The collective as its own traces spell it out, once, with the sizes that stand there: every
/// operation starts as soon as it can.
void CollectiveExpander::run_custom(const CollectiveCall& call, const std::string& prefix) {
    Custom custom{custom_traces(prefix, call.members.size()), {}, {}, {}, {}};
    for (std::size_t m = 0; m < custom.traces.size(); ++m) {
        const Trace& trace = custom.traces[m];
        custom.first.emplace_back(trace.size(), kNone);
        for (std::uint32_t node = 0; node < trace.size(); ++node) {
            Tick duration = 0;
            if (trace.type(node) == NodeType::comp) {
                constexpr std::uint64_t kLongest = std::uint64_t{1} << 30;
                const auto us = static_cast<Tick>(std::min(trace.value(node), kLongest));
                duration = us == 0 ? kNanosecond : us * kMicrosecond;
            }
            custom.first[m][node] = busy(call.members[m], duration, call.label, {call.starts[m]});
        }
    }
    custom.last = custom.first;
    for (std::size_t m = 0; m < custom.traces.size(); ++m) {
        for (const std::uint32_t node : custom.traces[m].issue_order()) {
            const NodeType type = custom.traces[m].type(node);
            if (type == NodeType::comm_send || type == NodeType::comm_recv) {
                match_custom(call, custom, m, node);
            }
        }
    }
    for (const auto* side : {&custom.sends, &custom.recvs}) {
        for (const auto& [key, ends] : *side) {
            if (ends.empty()) continue;
            throw ConfigError(custom.traces[ends.front().member].where(ends.front().node) +
                              ": has no partner with tag " + std::to_string(std::get<0>(key)));
        }
    }
    for (std::size_t m = 0; m < custom.traces.size(); ++m) {
        const Trace& trace = custom.traces[m];
        graph_.add_dependency(call.ends[m], call.starts[m]);
        for (std::uint32_t node = 0; node < trace.size(); ++node) {
            for (const std::uint32_t* on = trace.deps_begin(node); on != trace.deps_end(node);
                 ++on) {
                graph_.add_dependency(custom.first[m][node], custom.last[m][*on]);
            }
            graph_.add_dependency(call.ends[m], custom.last[m][node]);
        }
    }
}

}  // namespace sluice::chakra
