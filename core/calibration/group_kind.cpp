// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/group_kind.h"

#include <map>
#include <utility>

namespace sluice::hybrid {

namespace {

void append_way(GroupKey& key, const std::vector<PortId>& way, std::map<PortId, int>& names,
                const std::function<KeyedPort(PortId)>& describe) {
    key.push_back(static_cast<std::int64_t>(way.size()));
    for (const PortId port : way) {
        const auto [name, first] = names.insert({port, static_cast<int>(names.size())});
        key.push_back(name->second);
        if (first) {
            const KeyedPort facts = describe(port);
            key.insert(key.end(), {facts.rate, facts.mark_bytes, facts.ack_class});
        }
    }
}

constexpr std::ptrdiff_t kFlowWords = 5;
constexpr std::ptrdiff_t kPortWords = 3;
/// First word of a vertex's colour.
constexpr std::int64_t kIsFlow = 0;
constexpr std::int64_t kIsPort = 1;
/// The path that an edge belongs to. An edge's label is 2 * hop + path.
constexpr std::int64_t kData = 0;
constexpr std::int64_t kAcks = 1;

/// Reads a key as group_key() has written it.
class KeyReader {
  public:
    explicit KeyReader(const GroupKey& key) : next_(key.begin()) {}

    /// The next flow's colour.
    std::vector<std::int64_t> flow() {
        std::vector<std::int64_t> colour = {kIsFlow};
        const std::int64_t law = next_[kFlowWords - 1];
        take(colour, kFlowWords + law);
        return colour;
    }
    /// Adds the edges of the flow's next path. A port's vertex is added at its first appearance.
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

    GroupKey::const_iterator next_;
    std::vector<std::uint32_t> ports_;  ///< vertices, by name
};

}  // namespace

GroupKey group_key(const std::vector<KeyedFlow>& flows,
                   const std::function<KeyedPort(PortId)>& describe) {
    GroupKey key;
    std::map<PortId, int> names;
    for (const KeyedFlow& flow : flows) {
        key.insert(key.end(), {flow.base_rtt, flow.line_rate, flow.age_class, flow.traffic_class,
                               static_cast<std::int64_t>(flow.law.size())});
        key.insert(key.end(), flow.law.begin(), flow.law.end());
        append_way(key, flow.way->data, names, describe);
        append_way(key, flow.way->acks, names, describe);
    }
    return key;
}

GroupGraph group_graph(const GroupKind& kind, std::vector<std::int64_t> words) {
    GroupGraph made{memo::ConflictGraph(std::move(words)), {}};
    KeyReader reader(kind.key);
    for (std::size_t flow = 0; flow < kind.profile.flows; ++flow) {
        made.flows.push_back(made.graph.add_vertex(reader.flow()));
        reader.way(made.graph, made.flows.back(), kData);
        reader.way(made.graph, made.flows.back(), kAcks);
    }
    return made;
}

}  // namespace sluice::hybrid
