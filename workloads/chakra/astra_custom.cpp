// SPDX-License-Identifier: Apache-2.0
/// Collectives that traces of their own spell out.
#include <algorithm>
#include <deque>
#include <tuple>

#include "core/error.h"
#include "workloads/chakra/astra_collective.h"

namespace sluice::chakra {

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
