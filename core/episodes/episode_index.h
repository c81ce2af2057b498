// SPDX-License-Identifier: Apache-2.0
/// Which episodes are under way, and where.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/episodes/episode.h"
#include "core/sorted.h"

namespace sluice::hybrid {

inline bool is_held(const Episode& episode) {
    return episode.state == EpisodeState::held || episode.state == EpisodeState::told;
}

inline void append(Group& group, const Group& other) {
    add_new(group.ports, other.ports);
    add_new(group.hosts, other.hosts);
    add_new(group.switches, other.switches);
    group.flows.insert(group.flows.end(), other.flows.begin(), other.flows.end());
}

struct EpisodeIndex {
    std::uint32_t of(FlowSlot flow) const {
        std::uint32_t number = flow < of_flow.size() ? of_flow[flow] : kNone;
        while (number != kNone && joined_to[number] != kNone) {
            number = joined_to[number];
        }
        return number;
    }
    /// The episode that holds `host`.
    std::uint32_t holder(NodeId host) const {
        for (const FlowSlot flow : at_host[host]) {
            if (told[flow] == 0) {
                return of(flow);
            }
        }
        return kNone;
    }
    /// Appends those of which flows start or end at `host`, and have packets.
    void list_at(NodeId host, std::vector<std::uint32_t>& numbers) const {
        if (host < at_host.size()) {
            for (const FlowSlot flow : at_host[host]) {
                const std::uint32_t number = of(flow);
                // Most of a host's are of one episode.
                if (told[flow] == 0 && (numbers.empty() || numbers.back() != number)) {
                    numbers.push_back(number);
                }
            }
        }
    }
    /// Those of which flows start or end at `host` whose ends are told.
    std::vector<std::uint32_t> told_at(NodeId host) const {
        std::vector<std::uint32_t> numbers;
        for (std::size_t i = 0; host < at_host.size() && i < at_host[host].size(); ++i) {
            if (told[at_host[host][i]] != 0) {
                numbers.push_back(of(at_host[host][i]));
            }
        }
        sort_unique(numbers);
        return numbers;
    }
    std::vector<FlowSlot> flows_at(const std::vector<NodeId>& hosts) const {
        std::vector<FlowSlot> flows;
        for (const NodeId host : hosts) {
            flows.insert(flows.end(), at_host[host].begin(), at_host[host].end());
        }
        sort_unique(flows);
        return flows;
    }
    void enter(FlowSlot flow, std::uint32_t number, const std::vector<NodeId>& ends) {
        reserve(of_flow, flow, kNone);
        reserve(told, flow, std::uint8_t{0});
        of_flow[flow] = number;
        for (const NodeId host : ends) {
            reserve(at_host, host, std::vector<FlowSlot>{});
            at_host[host].push_back(flow);
        }
    }
    /// By which its data go.
    void use_ports(FlowSlot flow, const std::vector<PortId>& data) {
        reserve(way, flow, std::vector<PortId>{});
        way[flow] = data;
        for (const PortId port : data) {
            reserve(at_port, port, std::vector<FlowSlot>{});
            at_port[port].push_back(flow);
        }
    }
    void leave(FlowSlot flow, const std::vector<NodeId>& ends) {
        for (const PortId port : way[flow]) {
            take_out(at_port[port], flow);
        }
        way[flow].clear();
        of_flow[flow] = kNone;
        told[flow] = 0;
        for (const NodeId host : ends) {
            take_out(at_host[host], flow);
        }
    }
    /// Its ends are told, of an episode that is over.
    bool is_told(FlowSlot flow) const { return told[flow] != 0; }
    std::uint32_t make() {
        if (free.empty()) {
            all.emplace_back();
            joined_to.push_back(kNone);
            free.insert(static_cast<std::uint32_t>(all.size() - 1));
        }
        const std::uint32_t number = *free.begin();
        free.erase(free.begin());
        all[number] = std::make_unique<Episode>();
        return number;
    }
    /// What was `number` is a part of `to`, as long as that lasts.
    void join(std::uint32_t number, std::uint32_t to) {
        set_cut(number, kNever);
        std::vector<std::uint32_t>& parts = all[to]->parts;
        parts.push_back(number);
        parts.insert(parts.end(), all[number]->parts.begin(), all[number]->parts.end());
        all[number].reset();
        joined_to[number] = to;
    }
    void drop(std::uint32_t number) {
        set_cut(number, kNever);
        for (const std::uint32_t part : all[number]->parts) {
            joined_to[part] = kNone;
            free.insert(part);
        }
        all[number].reset();
        free.insert(number);
    }
    Tick next_cut() const { return cuts.empty() ? kNever : cuts.begin()->first; }
    void set_cut(std::uint32_t number, Tick at) {
        Tick& cut = all[number]->cut;
        cuts.erase({cut, number});
        cut = at;
        if (at != kNever) {
            cuts.insert({at, number});
        }
    }

    static void take_out(std::vector<FlowSlot>& list, FlowSlot flow) {
        list.erase(std::find(list.begin(), list.end(), flow));
    }
    template <class T>
    static void reserve(std::vector<T>& column, std::size_t place, const T& value) {
        if (column.size() <= place) {
            column.resize(place + 1, value);
        }
    }

    std::vector<std::unique_ptr<Episode>> all;
    std::set<std::uint32_t> free;
    std::vector<std::uint32_t> joined_to;        ///< by number: which one it is a part of, kNone
    std::vector<std::uint32_t> of_flow;          ///< by slot
    std::vector<std::uint8_t> told;              ///< by slot
    std::vector<std::vector<FlowSlot>> at_host;  ///< by node: flows that start or end there
    std::vector<std::vector<PortId>> way;        ///< by slot: ports by which its data go
    std::vector<std::vector<FlowSlot>> at_port;  ///< by port: these flows
    std::vector<std::uint32_t> meeting;          ///< that the flow which is entering meets
    bool beside = false;                         ///< it is beside others of which a flow has ended
    std::set<std::pair<Tick, std::uint32_t>> cuts;
};

}  // namespace sluice::hybrid
