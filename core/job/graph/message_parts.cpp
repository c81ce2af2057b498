// SPDX-License-Identifier: Apache-2.0
#include "core/job/graph/message_parts.h"

#include <algorithm>

namespace sluice {

std::uint32_t MessageParts::parts_of(const JobMessage& message,
                                     const QueuePairs& queue_pairs) const {
    const std::uint32_t pairs =
        queue_pairs(operations_.rank(message.send), operations_.rank(message.recv));
    const std::int64_t most = std::max<std::int64_t>(1, message.bytes / kLeastBytes);
    return static_cast<std::uint32_t>(std::min<std::int64_t>(pairs, most));
}

/// What waited for the message's ends, and what they waited for, is the same: they become joins of the parts' ends.
/// Returns the parts' sends.
std::vector<OpId> MessageParts::split(std::uint32_t message, std::uint32_t parts) {
    const JobMessage whole = messages_[message];
    const RankId from = operations_.rank(whole.send);
    const RankId to = operations_.rank(whole.recv);
    const Label label = operations_.label(whole.send);
    for (const OpId end : {whole.send, whole.recv}) operations_.make_join(end);
    std::vector<OpId> sends;
    for (std::uint32_t part = 0; part < parts; ++part) {
        const std::int64_t bytes = whole.bytes / parts + (part < whole.bytes % parts ? 1 : 0);
        const std::uint32_t index =
            part == 0 ? message : static_cast<std::uint32_t>(messages_.size());
        const OpId send = operations_.add(OpKind::send, from, 0, index, label);
        const OpId recv = operations_.add(OpKind::recv, to, 0, index, label);
        if (part == 0) {
            messages_.make_first_part(message, {send, recv, bytes});
        } else {
            messages_.add_part(message, part, {send, recv, bytes});
        }
        dependencies_.add(whole.send, send);
        dependencies_.add(whole.recv, recv);
        sends.push_back(send);
    }
    return sends;
}

void MessageParts::split_all(const QueuePairs& queue_pairs) {
    const std::size_t before = dependencies_.listed().size();
    std::vector<std::vector<OpId>> sends;
    // By operation: of a send, its place in `sends`.
    std::vector<std::uint32_t> split_of(operations_.size(), kNone);
    const auto count = static_cast<std::uint32_t>(messages_.size());
    for (std::uint32_t message = 0; message < count; ++message) {
        const std::uint32_t parts = parts_of(messages_[message], queue_pairs);
        if (parts < 2) continue;
        split_of[messages_[message].send] = static_cast<std::uint32_t>(sends.size());
        sends.push_back(split(message, parts));
    }
    if (sends.empty()) return;
    for (std::size_t i = 0; i < before; ++i) {
        const Dependency whole = dependencies_.listed()[i];
        const std::uint32_t place = whole.op < split_of.size() ? split_of[whole.op] : kNone;
        if (place == kNone) continue;
        dependencies_.listed()[i].op = sends[place].front();
        for (std::size_t part = 1; part < sends[place].size(); ++part) {
            dependencies_.add(sends[place][part], whole.on);
        }
    }
}

}  // namespace sluice
