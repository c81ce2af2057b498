// SPDX-License-Identifier: Apache-2.0
#include "scenario/workload/priorities.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

namespace sluice {

namespace {

constexpr OpClass kMessageClasses[] = {OpClass::tp,    OpClass::dp,        OpClass::pp,
                                       OpClass::ep,    OpClass::cp,        OpClass::embedding,
                                       OpClass::other, OpClass::collective};

/// "dp", as flows.csv has it.
std::string key_of(OpClass cls) {
    std::string key = to_string(cls);
    std::transform(key.begin(), key.end(), key.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return key;
}

/// A queue pair has one class: so have the messages of a connection.
void check_connections(const JobGraph& graph, const std::vector<FlowSpec>& flows) {
    std::vector<const JobGraph::Message*> first(graph.messages().connection_count(), nullptr);
    const JobMessages& messages = graph.messages();
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const ConnectionId connection = messages.connection(i);
        if (connection == kNone) continue;
        const JobGraph::Message*& one = first[connection];
        if (one == nullptr) one = &messages[i];
        if (flows[static_cast<std::size_t>(one - messages.data())].priority == flows[i].priority)
            continue;
        throw ConfigError(
            "'priorities' gives " + key_of(graph.label(one->send).cls) + " and " +
            key_of(graph.label(messages[i].send).cls) +
            " different classes, and a communicator has messages of both; allowed: the same");
    }
}

}  // namespace

Priorities read_priorities(ConfigSection& section) {
    Priorities priorities;
    if (!section.has("priorities")) return priorities;
    ConfigSection table = section.table("priorities");
    for (const OpClass cls : kMessageClasses) {
        const std::string key = key_of(cls);
        if (!table.has(key)) continue;
        priorities[cls] = static_cast<std::uint8_t>(table.integer(key, std::nullopt, 1, 7));
    }
    table.finish();
    return priorities;
}

void set_priorities(WorkloadPart& part, const Priorities& priorities) {
    if (priorities.empty()) return;
    if (part.stream != nullptr) {
        // All of a stream's messages are of one class.
        for (const auto& [cls, priority] : priorities) {
            if (key_of(cls) == part.flow_class) part.stream->set_priority(priority);
        }
        return;
    }
    if (part.application == nullptr) {
        throw ConfigError(
            "'priorities' needs a job, whose messages have classes; allowed: 'priority'");
    }
    const JobGraph& graph = part.application->graph();
    const JobMessages& messages = graph.messages();
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const auto found = priorities.find(graph.label(messages[i].send).cls);
        if (found != priorities.end()) part.flows[i].priority = found->second;
    }
    check_connections(graph, part.flows);
}

}  // namespace sluice
