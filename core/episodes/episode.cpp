// SPDX-License-Identifier: Apache-2.0
#include "core/episodes/episode.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/episodes/episode_shape.h"
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
/// The last byte of all is one flow's, and varies as one does: its mean need be known to so many times the tolerance.
/// A job's time is made of last bytes of many kinds, whose errors are independent.
constexpr double kLastByte = 3;
/// What is simulated from its beginning is neither skipped nor folded: that may cost so many times what is won.
constexpr std::uint32_t kLossesPerWin = 2;

enum class Vertex : std::int64_t { flow, port, node };

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

std::vector<double> starts_of(const std::vector<std::int64_t>& values) {
    std::vector<double> starts;
    for (std::size_t i = 0; i < values.size(); i += kPerFlow) {
        starts.push_back(static_cast<double>(values[i]));
    }
    return starts;
}

double mean_time(const std::vector<std::int64_t>& values) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); i += kPerFlow) {
        sum += static_cast<double>(values[i + 2] - values[i]);
    }
    return sum / static_cast<double>(values.size() / kPerFlow);
}

double mean_start(const std::vector<std::int64_t>& values) {
    const std::vector<double> starts = starts_of(values);
    return std::accumulate(starts.begin(), starts.end(), 0.0) / static_cast<double>(starts.size());
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

/// Numbers of a flow: source and destination, their ports, class, bytes, start after the begin.
constexpr std::size_t kFacts = 7;

template <class T>
bool fits(std::int64_t value, std::int64_t least = 0) {
    return value >= least && static_cast<std::uint64_t>(value) <= std::numeric_limits<T>::max();
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

Tick EpisodeMemory::first_end(const Episode& episode, Tick now) const {
    return first_end_of({episode.key}, now);
}

/// Of any of these kinds.
Tick EpisodeMemory::first_end_of(const std::vector<memo::Digest>& kinds, Tick now) const {
    Tick first = kNever;
    for (const memo::Digest& digest : kinds) {
        const memo::Entry* const entry = memo_.find(digest, now);
        for (std::size_t i = 0; entry != nullptr && i < entry->samples.size(); ++i) {
            const memo::Numbers& values = entry->samples[i].sample->values;
            for (std::size_t at = 1; at < values.size(); at += kPerFlow) {
                first = std::min(first, values[at]);
            }
        }
    }
    return first;
}

Tick EpisodeMemory::patience(const Episode& episode, const Describe& describe, Tick now) const {
    const Tick first = first_end_of(episode.candidates, now);
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
    return std::min(first, shared) / 4 * 3;
}

void EpisodeMemory::held(const memo::Digest& key, bool won) {
    ++(won ? known_[key].won : known_[key].lost);
}

EpisodeMemory::Durations EpisodeMemory::durations_of(const Shape& shape,
                                                     const std::vector<std::int64_t>& values) {
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

EpisodeMemory::Samples EpisodeMemory::samples_of(const memo::Entry& entry) {
    Samples samples;
    for (const memo::SampleCount& seen : entry.samples) {
        samples.insert(samples.end(), seen.count, seen.sample.get());
    }
    return samples;
}

/// Whether these samples' means are known well enough.
bool EpisodeMemory::well_known(const Known& known, const Samples& samples) const {
    if (samples.size() < kLeastSamples) {
        return false;
    }
    std::vector<double> flows;
    std::vector<double> whole;
    for (const memo::Sample* const sample : samples) {
        const Durations& found = known.durations[known.place.at(sample)];
        flows.push_back(found.flows);
        whole.push_back(found.whole);
    }
    return mean_is_known(flows, tolerance_) && mean_is_known(whole, kLastByte * tolerance_);
}

/// Those of which the flows started like these, each as often as it was seen.
EpisodeMemory::Samples EpisodeMemory::samples_like(const Known& known, const memo::Entry& entry,
                                                   const std::vector<double>& starts) {
    std::vector<bool> like(known.durations.size());
    std::vector<std::uint32_t> count(known.durations.size());
    for (const memo::SampleCount& seen : entry.samples) {
        count[known.place.at(seen.sample.get())] = seen.count;
    }
    for (const std::size_t place : known.patterns.like(starts, count)) {
        like[place] = true;
    }
    Samples samples = samples_of(entry);
    samples.erase(
        std::remove_if(samples.begin(), samples.end(),
                       [&](const memo::Sample* sample) { return !like[known.place.at(sample)]; }),
        samples.end());
    return samples;
}

/// What is found of an entry, each of its samples being looked at once.
EpisodeMemory::Known& EpisodeMemory::look_at(const memo::Digest& digest, const memo::Entry& entry,
                                             const Shape& shape) {
    Known& known = known_[digest];
    if (const std::uint32_t samples = entry.sample_count(); known.samples != samples) {
        for (const memo::SampleCount& seen : entry.samples) {
            const memo::Numbers& values = seen.sample->values;
            if (known.place.try_emplace(seen.sample.get(), known.durations.size()).second) {
                known.durations.push_back(durations_of(shape, values));
                known.patterns.add(starts_of(values), mean_time(values));
            }
        }
        known.samples = samples;
        known.well = well_known(known, samples_of(entry));
    }
    return known;
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
    if (entry == nullptr || !look_at(form.digest, *entry, shape_of(flows, order, describe)).well) {
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
    if (entry == nullptr) {
        return std::nullopt;
    }
    episode.key = form.digest;
    std::vector<double> starts;
    for (const std::uint32_t place : order) {
        starts.push_back(static_cast<double>(flows[place].start - episode.begin));
    }
    const Shape shape = shape_of(flows, order, describe);
    const Known& known = look_at(form.digest, *entry, shape);
    const Samples samples = samples_like(known, *entry, starts);
    if (!known.well || samples.empty()) {
        episode.waited = true;  // no more is expected of it
        return std::nullopt;
    }
    const std::uint64_t bits = draw_for(episode, describe);
    const memo::Sample& sample = *samples[((bits >> 32) * samples.size()) >> 32];
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

memo::Numbers facts_of(const Episode& episode, const std::vector<std::uint32_t>& order) {
    memo::Numbers facts;
    for (const std::uint32_t place : order) {
        const EpisodeFlow& flow = episode.flows[place];
        const std::int64_t nic_port = flow.spec.nic_port;
        facts.insert(facts.end(),
                     {flow.spec.src, flow.spec.dst, flow.spec.sport, flow.spec.dport,
                      nic_port << 8 | flow.spec.priority, flow.size, flow.start - episode.begin});
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
        const std::int64_t priority = told[4] & 0xff;
        if (!fits<NodeId>(told[0]) || !fits<NodeId>(told[1]) || !fits<std::uint16_t>(told[2]) ||
            !fits<std::uint16_t>(told[3]) || priority < 1 || priority >= step::kClasses ||
            !fits<std::uint8_t>(told[4] >> 8) || told[5] < 1 || told[6] < 0 ||
            told[6] >= kNever - begin) {
            return {};
        }
        FlowSpec flow;
        flow.src = static_cast<NodeId>(told[0]);
        flow.dst = static_cast<NodeId>(told[1]);
        flow.sport = static_cast<std::uint16_t>(told[2]);
        flow.dport = static_cast<std::uint16_t>(told[3]);
        flow.priority = static_cast<std::uint8_t>(priority);
        flow.nic_port = static_cast<std::uint8_t>(told[4] >> 8);
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
