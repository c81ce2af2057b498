// SPDX-License-Identifier: Apache-2.0
/// Explicit paths of flows, from a CSV file: header `src,dst,sport,path` or
/// `src,dst,sport,path,ack_path`, one flow per line, paths as node ids joined by '-': `path` from
/// source to destination, `ack_path`, which may be empty, back. They replace ECMP where a comparison
/// needs the very paths another simulator took.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/flow/flow.h"
#include "core/text/tokens.h"
#include "core/topology/topology.h"

namespace sluice {

class PathTable {
  public:
    /// Reads a file and checks every path against the topology: neighbours joined by a link, no
    /// host in between, no node twice, ends as the line says, no flow twice. ConfigError with file
    /// and line. Between nodes with parallel links the lowest port is taken.
    static PathTable read(const std::string& path, const Topology& topology);
    static PathTable read(TokenReader& reader, const Topology& topology);

    /// Egress ports from source to destination, source port first; null if the flow is not listed.
    const std::vector<PortId>* find(NodeId src, NodeId dst, std::uint16_t sport) const;
    /// Those of its ACKs, destination port first; null if the flow's row gives none.
    const std::vector<PortId>* find_ack(NodeId src, NodeId dst, std::uint16_t sport) const;
    std::size_t size() const { return paths_.size(); }

  private:
    struct Key {
        NodeId src;
        NodeId dst;
        std::uint16_t sport;
        bool operator==(const Key& other) const {
            return src == other.src && dst == other.dst && sport == other.sport;
        }
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    void read_line(std::string_view line, const TokenReader& reader, const Topology& topology);

    using Table = std::unordered_map<Key, std::vector<PortId>, KeyHash>;
    static const std::vector<PortId>* find_in(const Table& table, const Key& key);

    Table paths_;
    Table ack_paths_;  ///< by the flow whose ACKs take them
    std::size_t columns_ = 0;
};

/// The paths of `flows`, in order: a flow's own row, and for its ACKs that row's ack_path, or else
/// the row from its receiver to its sender with its dport, which all flows of a pair share. What has
/// no row is left empty and goes by ECMP; `unlisted` is set to the number of flows without a row.
std::vector<FlowPath> paths_of(const PathTable& table, const std::vector<FlowSpec>& flows,
                               std::size_t& unlisted);

/// The lowest port of `from` whose cable ends at `to`, or kNone.
PortId port_towards(const Topology& topology, NodeId from, NodeId to);

}  // namespace sluice
