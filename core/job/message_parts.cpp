// SPDX-License-Identifier: Apache-2.0
/// Messages over several queue pairs (JobGraph::set_queue_pairs).
#include <algorithm>

#include "core/error.h"
#include "core/job/job_graph.h"

namespace sluice {

namespace {

/// In the table of connections: those of the second and further parts of a connection's messages.
constexpr CommunicatorId kOfParts = kNone - 1;

}  // namespace

std::uint32_t JobGraph::parts_of(const Message& message) const {
    const std::uint32_t pairs = queue_pairs_(rank_[message.send], rank_[message.recv]);
    const std::int64_t most = std::max<std::int64_t>(1, message.bytes / kLeastPart);
    return static_cast<std::uint32_t>(std::min<std::int64_t>(pairs, most));
}

/// What waited for the message's ends, and what they waited for, is the same: they become joins of the parts' ends.
/// Returns the parts' sends.
std::vector<OpId> JobGraph::split(std::uint32_t message, std::uint32_t parts) {
    const Message whole = messages_[message];
    const ConnectionId connection = connection_[message];
    const RankId from = rank_[whole.send];
    const RankId to = rank_[whole.recv];
    const Label label = this->label(whole.send);
    for (const OpId end : {whole.send, whole.recv}) {
        kind_[end] = OpKind::delay;
        target_[end] = kNone;
    }
    std::vector<OpId> sends;
    for (std::uint32_t part = 0; part < parts; ++part) {
        const std::int64_t bytes = whole.bytes / parts + (part < whole.bytes % parts ? 1 : 0);
        const std::uint32_t index =
            part == 0 ? message : static_cast<std::uint32_t>(messages_.size());
        const OpId send = add(OpKind::send, from, 0, index, label);
        const OpId recv = add(OpKind::recv, to, 0, index, label);
        if (part == 0) {
            messages_[message] = {send, recv, bytes};
        } else {
            messages_.push_back({send, recv, bytes});
            connection_.push_back(
                connection == kNone ? kNone : connections_.find_or_add(connection, part, kOfParts));
        }
        nic_port_.resize(messages_.size(), kAnyPort);
        nic_port_[index] = static_cast<std::uint8_t>(part % kAnyPort);
        add_dependency(whole.send, send);
        add_dependency(whole.recv, recv);
        sends.push_back(send);
    }
    return sends;
}

void JobGraph::split_messages() {
    const std::size_t edges = edges_.size();
    std::vector<std::vector<OpId>> sends;
    std::vector<std::uint32_t> split_of(op_count(),
                                        kNone);  ///< by operation: of a send, its place in `sends`
    const auto count = static_cast<std::uint32_t>(messages_.size());
    for (std::uint32_t message = 0; message < count; ++message) {
        const std::uint32_t parts = parts_of(messages_[message]);
        if (parts < 2) continue;
        split_of[messages_[message].send] = static_cast<std::uint32_t>(sends.size());
        sends.push_back(split(message, parts));
    }
    if (sends.empty()) return;
    for (std::size_t edge = 0; edge < edges; ++edge) {
        const Edge whole = edges_[edge];
        const std::uint32_t place = whole.op < split_of.size() ? split_of[whole.op] : kNone;
        if (place == kNone) continue;
        edges_[edge].op = sends[place].front();
        for (std::size_t part = 1; part < sends[place].size(); ++part) {
            add_dependency(sends[place][part], whole.on);
        }
    }
}

}  // namespace sluice
