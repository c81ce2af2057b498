// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/cluster_kind.h"

#include <map>
#include <utility>

namespace sluice::hybrid {

namespace {

void append_way(ClusterKey& key, const std::vector<PortId>& way, std::map<PortId, int>& names,
                const std::function<ClusterPort(PortId)>& describe) {
    key.push_back(static_cast<std::int64_t>(way.size()));
    for (const PortId port : way) {
        const auto [name, first] = names.insert({port, static_cast<int>(names.size())});
        key.push_back(name->second);
        if (first) {
            const ClusterPort told = describe(port);
            key.insert(key.end(), {told.rate, told.mark_bytes, told.across});
        }
    }
}

constexpr std::ptrdiff_t kFlowWords = 5;
constexpr std::ptrdiff_t kPortWords = 3;
/// First words of vertices' colours.
constexpr std::int64_t kIsFlow = 0;
constexpr std::int64_t kIsPort = 1;
/// Which way an edge is of; its label is this beside the hop's place.
constexpr std::int64_t kData = 0;
constexpr std::int64_t kAcks = 1;

/// Takes a key apart, as cluster_key() put it together.
class KeyReader {
  public:
    explicit KeyReader(const ClusterKey& key) : next_(key.begin()) {}

    /// A flow's colour.
    std::vector<std::int64_t> flow() {
        std::vector<std::int64_t> colour = {kIsFlow};
        const std::int64_t law = next_[kFlowWords - 1];
        take(colour, kFlowWords + law);
        return colour;
    }
    /// Edges of the flow along its next way; ports get their vertices as they first appear.
    void way(memo::ConflictGraph& graph, std::uint32_t flow, std::int64_t which) {
        const std::int64_t ports = *next_++;
        for (std::int64_t hop = 0; hop < ports; ++hop) {
            const auto name = static_cast<std::size_t>(*next_++);
            if (name == ports_.size()) {
                std::vector<std::int64_t> colour = {kIsPort};
                take(colour, kPortWords);
                ports_.push_back(graph.add_vertex(colour));
            }
            graph.add_edge(flow, ports_[name], 2 * hop + which);
        }
    }

  private:
    void take(std::vector<std::int64_t>& colour, std::ptrdiff_t words) {
        colour.insert(colour.end(), next_, next_ + words);
        next_ += words;
    }

    ClusterKey::const_iterator next_;
    std::vector<std::uint32_t> ports_;  ///< vertices, by name
};

}  // namespace

ClusterKey cluster_key(const std::vector<ClusterFlow>& flows,
                       const std::function<ClusterPort(PortId)>& describe) {
    ClusterKey key;
    std::map<PortId, int> names;
    for (const ClusterFlow& flow : flows) {
        key.insert(key.end(), {flow.base_rtt, flow.line_rate, flow.age, flow.traffic_class,
                               static_cast<std::int64_t>(flow.law.size())});
        key.insert(key.end(), flow.law.begin(), flow.law.end());
        append_way(key, flow.way->data, names, describe);
        append_way(key, flow.way->acks, names, describe);
    }
    return key;
}

ClusterGraph cluster_graph(const ClusterKind& kind, std::vector<std::int64_t> words) {
    ClusterGraph made{memo::ConflictGraph(std::move(words)), {}};
    KeyReader reader(kind.key);
    for (std::size_t flow = 0; flow < kind.curve.flows; ++flow) {
        made.flows.push_back(made.graph.add_vertex(reader.flow()));
        reader.way(made.graph, made.flows.back(), kData);
        reader.way(made.graph, made.flows.back(), kAcks);
    }
    return made;
}

}  // namespace sluice::hybrid
