// SPDX-License-Identifier: Apache-2.0
/// What is asked of a trace that has been read.
#include <functional>
#include <numeric>
#include <queue>

#include "workloads/chakra/trace.h"

namespace sluice::chakra {

std::uint64_t Trace::duration_us(std::size_t node) const {
    switch (type(node)) {
        case NodeType::comp: return columns_.value[node];
        case NodeType::mem_load:
        case NodeType::mem_store:
            return columns_.extra[node] == kNone
                       ? 0
                       : static_cast<std::uint64_t>(
                             columns_.works[columns_.extra[node]].operations);
        case NodeType::comm_send:
        case NodeType::comm_recv:
        case NodeType::comm_coll: return columns_.comms[columns_.extra[node]].duration_us;
        case NodeType::invalid:
        case NodeType::metadata: return 0;
    }
    return 0;
}

std::string Trace::where(std::size_t node) const {
    return columns_.path + ":node " + std::to_string(id(node));
}

std::vector<std::uint32_t> Trace::issue_order() const {
    std::vector<std::uint32_t> order;
    order.reserve(size());
    if (columns_.ascending) {
        order.resize(size());
        std::iota(order.begin(), order.end(), 0);
        return order;
    }
    std::vector<std::uint32_t> waiting(size(), 0);
    std::vector<std::uint32_t> begin(size() + 1, 0);
    for (const std::uint32_t on : columns_.deps) ++begin[on + 1];
    for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    std::vector<std::uint32_t> successors(columns_.deps.size());
    std::vector<std::uint32_t> filled(begin.begin(), begin.end() - 1);
    for (std::uint32_t node = 0; node < size(); ++node) {
        waiting[node] = static_cast<std::uint32_t>(deps_end(node) - deps_begin(node));
        for (const std::uint32_t* on = deps_begin(node); on != deps_end(node); ++on) {
            successors[filled[*on]++] = node;
        }
    }
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    for (std::uint32_t node = 0; node < size(); ++node) {
        if (waiting[node] == 0) ready.push(node);
    }
    while (!ready.empty()) {
        const std::uint32_t node = ready.top();
        ready.pop();
        order.push_back(node);
        for (std::uint32_t i = begin[node]; i < begin[node + 1]; ++i) {
            if (--waiting[successors[i]] == 0) ready.push(successors[i]);
        }
    }
    return order;
}

std::size_t Trace::memory_bytes() const {
    std::size_t bytes =
        columns_.ids.capacity() * 8 + columns_.type.capacity() + columns_.value.capacity() * 8 +
        (columns_.extra.capacity() + columns_.name.capacity() + columns_.begin.capacity()) * 4 +
        columns_.deps.capacity() * 4 + columns_.comms.capacity() * sizeof(Communication) +
        columns_.works.capacity() * sizeof(Work);
    for (const std::string& name : columns_.names) bytes += sizeof name + name.size();
    return bytes;
}

}  // namespace sluice::chakra
