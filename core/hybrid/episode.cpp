// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/episode.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/memo/canonical_form.h"
#include "core/memo/conflict_graph.h"
#include "core/random.h"
#include "core/results/student_t.h"

namespace sluice::hybrid {

namespace {

constexpr std::uint64_t kEpisodeStream = 0x657069736f6465;  // random_stream()'s purpose
/// Labels of a flow's edges: hops of its data from 0 on, of its ACKs from here on.
constexpr std::int64_t kAckLabel = 1 << 16;
constexpr std::int64_t kNodeLabel = 1 << 20;
/// Numbers of a sample per flow.
constexpr std::size_t kPerFlow = 3;
constexpr std::size_t kLeastSamples = 3;
/// Of its rate: a port with that load may be full.
constexpr double kFull = 0.95;
/// What is simulated from its beginning is neither skipped nor folded: that may cost so many times what is won.
constexpr std::uint32_t kLossesPerWin = 8;
constexpr double kBitsPerByteAndTick = 8e12;
constexpr double kEndless = 1e300;
/// Relative difference of times that are the same.
constexpr double kSameEnd = 1e-9;

enum class Vertex : std::int64_t { flow, port, node };

/// Ports that the flows may fill, each with its part of the rate of its NICs, and of each flow the end that may be in
/// its way. The others cost them time, which their base round trips tell, and hardly anything else.
std::set<PortId> full_ports(const std::vector<EpisodeFlow>& flows,
                            const EpisodeMemory::Describe& describe) {
    std::map<PortId, double> users;  // of first and last ports
    for (const EpisodeFlow& flow : flows) {
        users[flow.data.front()] += 1;
        if (flow.data.size() > 1) {
            users[flow.data.back()] += 1;
        }
    }
    std::map<PortId, double> loads;
    std::set<PortId> full;
    for (const EpisodeFlow& flow : flows) {
        const auto part = [&](PortId port) {
            return static_cast<double>(describe(port).rate) / users[port];
        };
        const double first = part(flow.data.front());
        const double last = part(flow.data.back());
        full.insert(last < first ? flow.data.back() : flow.data.front());
        for (const PortId port : flow.data) {
            loads[port] += std::min(first, last);
        }
    }
    for (const auto& [port, load] : loads) {
        if (load >= kFull * static_cast<double>(describe(port).rate)) {
            full.insert(port);
        }
    }
    return full;
}

/// A graph of the flows and the ports that count, whose first vertices are the flows.
memo::ConflictGraph graph_with(const std::vector<EpisodeFlow>& flows,
                               const EpisodeMemory::Describe& describe,
                               const std::vector<std::int64_t>& fingerprint,
                               const std::function<bool(PortId)>& counts) {
    memo::ConflictGraph graph(fingerprint);
    for (const EpisodeFlow& flow : flows) {
        std::vector<std::int64_t> colour{static_cast<std::int64_t>(Vertex::flow), flow.size,
                                         flow.traffic_class, flow.base_rtt};
        colour.insert(colour.end(), flow.law.begin(), flow.law.end());
        graph.add_vertex(colour);
    }
    std::map<PortId, std::uint32_t> ports;
    std::map<NodeId, std::uint32_t> nodes;
    const auto vertex_of = [&](PortId port) {
        if (const auto found = ports.find(port); found != ports.end()) {
            return found->second;
        }
        const EpisodePort told = describe(port);
        const std::uint32_t made =
            graph.add_vertex({static_cast<std::int64_t>(Vertex::port), told.rate, told.delay,
                              told.mark_bytes, told.threshold_shift, told.headroom});
        ports.emplace(port, made);
        auto node = nodes.find(told.node);
        if (node == nodes.end()) {
            node =
                nodes
                    .emplace(told.node, graph.add_vertex({static_cast<std::int64_t>(Vertex::node),
                                                          told.of_host ? 1 : 0}))
                    .first;
        }
        graph.add_edge(made, node->second, kNodeLabel);
        return made;
    };
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const auto join = [&](const std::vector<PortId>& way, std::int64_t label) {
            for (const PortId port : way) {
                if (counts(port)) {
                    graph.add_edge(static_cast<std::uint32_t>(i), vertex_of(port), label);
                }
                ++label;
            }
        };
        join(flows[i].data, 0);
        join(flows[i].acks, kAckLabel);
    }
    return graph;
}

/// Of what decides how an episode goes.
memo::ConflictGraph graph_of(const std::vector<EpisodeFlow>& flows,
                             const EpisodeMemory::Describe& describe,
                             const std::vector<std::int64_t>& fingerprint) {
    const std::set<PortId> full = full_ports(flows, describe);
    return graph_with(flows, describe, fingerprint,
                      [&](PortId port) { return full.count(port) != 0; });
}

/// Of everything.
memo::ConflictGraph whole_graph_of(const std::vector<EpisodeFlow>& flows,
                                   const EpisodeMemory::Describe& describe,
                                   const std::vector<std::int64_t>& fingerprint) {
    return graph_with(flows, describe, fingerprint, [](PortId) { return true; });
}

/// Of an episode's flows: their places by canonical order.
std::vector<std::uint32_t> flows_in(const memo::CanonicalForm& form, std::size_t flows) {
    std::vector<std::uint32_t> order;
    for (const std::uint32_t vertex : form.order) {
        if (vertex < flows) {
            order.push_back(vertex);
        }
    }
    return order;
}

/// An episode's flows as its equals have them, by canonical place: what they share and how much they send.
struct Shape {
    std::vector<double> size;                       ///< by flow, bytes
    std::vector<std::vector<std::uint32_t>> ports;  ///< by flow: indices of full ports
    std::vector<double> rate;                       ///< by port, bytes per tick
};

Shape shape_of(const std::vector<EpisodeFlow>& flows, const std::vector<std::uint32_t>& order,
               const EpisodeMemory::Describe& describe) {
    Shape shape;
    const std::set<PortId> full = full_ports(flows, describe);
    std::map<PortId, std::uint32_t> index;
    for (const PortId port : full) {
        index.emplace(port, static_cast<std::uint32_t>(shape.rate.size()));
        shape.rate.push_back(static_cast<double>(describe(port).rate) / kBitsPerByteAndTick);
    }
    for (const std::uint32_t place : order) {
        shape.size.push_back(static_cast<double>(flows[place].size));
        shape.ports.emplace_back();
        for (const PortId port : flows[place].data) {
            if (full.count(port) != 0) {
                shape.ports.back().push_back(index[port]);
            }
        }
    }
    return shape;
}

/// When flows that start at `starts` would end if each had the least of its equal parts of its ports, ticks. What
/// decides how long flows of episodes take that differ only in when they started is mostly this; samples say how much
/// longer it takes.
std::vector<double> shared_ends(const Shape& shape, const std::vector<double>& starts) {
    const std::size_t flows = starts.size();
    std::vector<double> left = shape.size;
    std::vector<double> ends(flows, 0);
    std::vector<double> users(shape.rate.size(), 0);
    std::vector<std::size_t> by_start(flows);
    std::iota(by_start.begin(), by_start.end(), 0);
    std::sort(by_start.begin(), by_start.end(),
              [&](std::size_t a, std::size_t b) { return starts[a] < starts[b]; });
    std::vector<std::size_t> active;
    std::vector<double> rate(flows, 0);
    std::size_t next = 0;
    const double first = starts[by_start.front()];
    double now = first;
    while (next < flows || !active.empty()) {
        for (; next < flows && starts[by_start[next]] <= now; ++next) {
            active.push_back(by_start[next]);
            for (const std::uint32_t port : shape.ports[by_start[next]]) {
                users[port] += 1;
            }
        }
        double until = next < flows ? starts[by_start[next]] : kEndless;
        for (const std::size_t flow : active) {
            rate[flow] = kEndless;
            for (const std::uint32_t port : shape.ports[flow]) {
                rate[flow] = std::min(rate[flow], shape.rate[port] / users[port]);
            }
            ends[flow] = now + left[flow] / rate[flow];
            until = std::min(until, ends[flow]);
        }
        // Those that end together do so in one step, whatever the last digits say; of what is over too soon for these,
        // one does.
        const double almost = until + (until - first) * kSameEnd;
        const auto ended = [&](std::size_t flow) {
            left[flow] -= rate[flow] * (until - now);
            if (ends[flow] > almost) {
                return false;
            }
            ends[flow] = until;
            for (const std::uint32_t port : shape.ports[flow]) {
                users[port] -= 1;
            }
            return true;
        };
        active.erase(std::remove_if(active.begin(), active.end(), ended), active.end());
        now = until;
    }
    return ends;
}

std::vector<double> starts_of(const std::vector<std::int64_t>& values) {
    std::vector<double> starts;
    for (std::size_t i = 0; i < values.size(); i += kPerFlow) {
        starts.push_back(static_cast<double>(values[i]));
    }
    return starts;
}

double mean_start(const std::vector<std::int64_t>& values) {
    const std::vector<double> starts = starts_of(values);
    return std::accumulate(starts.begin(), starts.end(), 0.0) / static_cast<double>(starts.size());
}

/// Of a sample, by what its flows would take if they shared equally: the mean completion time of the flows, and the time
/// from their mean start to the last byte.
struct Durations {
    double flows = 0;
    double whole = 0;
};

Durations durations_of(const Shape& shape, const std::vector<std::int64_t>& values) {
    const std::vector<double> starts = starts_of(values);
    const std::vector<double> ends = shared_ends(shape, starts);
    double flows = 0;
    double flows_shared = 0;
    double last = 0;
    double last_shared = 0;
    for (std::size_t f = 0; f < starts.size(); ++f) {
        flows += static_cast<double>(values[f * kPerFlow + 2]) - starts[f];
        flows_shared += ends[f] - starts[f];
        last = std::max(last, static_cast<double>(values[f * kPerFlow + 1]));
        last_shared = std::max(last_shared, ends[f]);
    }
    const double start = mean_start(values);
    return {flows / flows_shared, (last - start) / (last_shared - start)};
}

/// Whether the mean is known to within `tolerance` of itself, with 95% confidence.
bool mean_is_known(const std::vector<double>& values, double tolerance) {
    constexpr double kUpper = 0.975;
    const auto count = static_cast<double>(values.size());
    double mean = 0;
    for (const double value : values) {
        mean += value / count;
    }
    double squares = 0;
    for (const double value : values) {
        squares += (value - mean) * (value - mean);
    }
    const double error = std::sqrt(squares / (count - 1) / count);
    return student_t_quantile(kUpper, values.size() - 1) * error <= tolerance * mean;
}

/// Each as often as it was seen.
using Samples = std::vector<const memo::Sample*>;

Samples samples_of(const memo::Entry& entry) {
    Samples samples;
    for (const memo::SampleCount& seen : entry.samples) {
        samples.insert(samples.end(), seen.count, seen.sample.get());
    }
    return samples;
}

bool well_known(const Shape& shape, const Samples& samples, double tolerance) {
    if (samples.size() < kLeastSamples) {
        return false;
    }
    std::vector<double> flows;
    std::vector<double> whole;
    for (const memo::Sample* const sample : samples) {
        const Durations found = durations_of(shape, sample->values);
        flows.push_back(found.flows);
        whole.push_back(found.whole);
    }
    return mean_is_known(flows, tolerance) && mean_is_known(whole, tolerance);
}

}  // namespace

std::vector<memo::Digest> EpisodeMemory::may_belong_to(const EpisodeFlow& flow,
                                                       const Describe& describe, Tick now) const {
    std::vector<memo::Digest> found;
    const memo::ConflictGraph graph = graph_of({flow}, describe, words(memo::Kind::beginning));
    const memo::Entry* const entry = memo_.find(memo::canonical_form(graph).digest, now);
    for (std::size_t i = 0; entry != nullptr && i < entry->samples.size(); ++i) {
        const memo::Numbers& words = entry->samples[i].sample->values;
        const memo::Digest digest{static_cast<std::uint64_t>(words[0]),
                                  static_cast<std::uint64_t>(words[1])};
        const auto known = known_.find(digest);
        if (known == known_.end() ||
            (known->second.well && kLossesPerWin * known->second.lost <= known->second.won + 1)) {
            found.push_back(digest);
        }
    }
    return found;
}

Tick EpisodeMemory::patience(const Episode& episode, const Describe& describe, Tick now) const {
    Tick first = kNever;
    for (const memo::Digest& digest : episode.candidates) {
        const memo::Entry* const entry = memo_.find(digest, now);
        for (std::size_t i = 0; entry != nullptr && i < entry->samples.size(); ++i) {
            const memo::Numbers& values = entry->samples[i].sample->values;
            for (std::size_t at = 1; at < values.size(); at += kPerFlow) {
                first = std::min(first, values[at]);
            }
        }
    }
    if (first == kNever) {
        return 0;
    }
    std::vector<std::uint32_t> order(episode.flows.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<double> starts;
    for (const EpisodeFlow& flow : episode.flows) {
        starts.push_back(static_cast<double>(flow.start - episode.begin));
    }
    const std::vector<double> ends = shared_ends(shape_of(episode.flows, order, describe), starts);
    const auto shared = static_cast<Tick>(*std::min_element(ends.begin(), ends.end()));
    return std::min(first / 4 * 3, shared);
}

void EpisodeMemory::held(const memo::Digest& key, bool won) {
    ++(won ? known_[key].won : known_[key].lost);
}

/// Whether enough is known of an entry, asked once for as many samples.
bool EpisodeMemory::is_known(const memo::Digest& digest, const memo::Entry& entry,
                             const std::vector<EpisodeFlow>& flows,
                             const std::vector<std::uint32_t>& order, const Describe& describe) {
    Known& known = known_[digest];
    const std::uint32_t samples = entry.sample_count();
    if (known.samples != samples) {
        known.samples = samples;
        known.well = well_known(shape_of(flows, order, describe), samples_of(entry), tolerance_);
    }
    return known.well;
}

void EpisodeMemory::learn(const Episode& episode, const Describe& describe, Tick now) {
    const std::vector<EpisodeFlow>& flows = episode.flows;
    const memo::CanonicalForm form =
        memo::canonical_form(graph_of(flows, describe, words(memo::Kind::episode)));
    const std::vector<std::uint32_t> order = flows_in(form, flows.size());
    memo::Sample sample;
    for (const std::uint32_t place : order) {
        const EpisodeFlow& flow = flows[place];
        for (const Tick at : {flow.start, flow.received, flow.finish}) {
            sample.values.push_back(at - episode.begin);
        }
    }
    // Copies of one process are one sample.
    if (now != told_at_) {
        told_at_ = now;
        told_.clear();
    }
    if (!told_.insert({form.digest, sample}).second) {
        return;
    }
    memo_.add(form.digest, now, memo::Kind::episode, facts_of(episode, order), std::move(sample));
    const memo::Entry* const entry = memo_.find(form.digest, now);
    if (entry == nullptr || !is_known(form.digest, *entry, flows, order, describe)) {
        return;  // nothing would be won by holding one
    }
    // Any of its flows may be the first another time.
    std::set<memo::Digest> beginnings;
    for (const EpisodeFlow& flow : flows) {
        const memo::ConflictGraph graph = graph_of({flow}, describe, words(memo::Kind::beginning));
        beginnings.insert(memo::canonical_form(graph).digest);
    }
    for (const memo::Digest& beginning : beginnings) {
        memo_.add(beginning, now, memo::Kind::beginning, {},
                  {{static_cast<std::int64_t>(form.digest.high),
                    static_cast<std::int64_t>(form.digest.low)}});
    }
}

std::optional<std::vector<EpisodeEnd>> EpisodeMemory::recall(Episode& episode,
                                                             const Describe& describe, Tick now) {
    const std::vector<EpisodeFlow>& flows = episode.flows;
    const memo::CanonicalForm form =
        memo::canonical_form(graph_of(flows, describe, words(memo::Kind::episode)));
    const std::vector<std::uint32_t> order = flows_in(form, flows.size());
    const memo::Entry* const entry = memo_.find(form.digest, now);
    if (entry == nullptr || !is_known(form.digest, *entry, flows, order, describe)) {
        return std::nullopt;
    }
    episode.key = form.digest;
    std::vector<std::int64_t> values;
    for (const std::uint32_t place : order) {
        values.insert(values.end(), {flows[place].start - episode.begin, 0, 0});
    }
    const Shape shape = shape_of(flows, order, describe);
    const std::uint64_t bits = draw_for(episode, describe);
    const Samples samples = samples_of(*entry);
    const memo::Sample& sample = *samples[((bits >> 32) * samples.size()) >> 32];
    const std::vector<double> starts = starts_of(values);
    const std::vector<double> ends = shared_ends(shape, starts);
    const std::vector<double> sample_starts = starts_of(sample.values);
    const std::vector<double> sample_ends = shared_ends(shape, sample_starts);
    std::vector<EpisodeEnd> told(flows.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const EpisodeFlow& flow = flows[order[i]];
        const auto took = static_cast<double>(sample.values[i * kPerFlow + 1]) - sample_starts[i];
        const double takes = took * (ends[i] - starts[i]) / (sample_ends[i] - sample_starts[i]);
        const Tick received =
            flow.start + std::max(static_cast<Tick>(std::llround(takes)), flow.least);
        const Tick answer = sample.values[i * kPerFlow + 2] - sample.values[i * kPerFlow + 1];
        told[order[i]] = {received, received + answer};
    }
    return told;
}

/// The same for copies that begin at the same instant: they go the same way.
std::uint64_t EpisodeMemory::draw_for(const Episode& episode, const Describe& describe) const {
    const memo::Digest look = memo::refinement(whole_graph_of(episode.flows, describe, {}));
    return random_bits(seed_, random_stream(kEpisodeStream, look.low),
                       static_cast<std::uint64_t>(episode.begin));
}

}  // namespace sluice::hybrid
