// SPDX-License-Identifier: Apache-2.0
/// The inputs that both simulators read: an HPCC ns-3 flow.txt and a flow_paths.csv, on a leaf-spine
/// network numbered hosts (by leaf), leaves, spines.
/// Errors: std::runtime_error with one line.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace peers {

struct Fabric {
    std::uint32_t leaves = 8;
    std::uint32_t spines = 8;
    std::uint32_t hosts_per_leaf = 8;

    std::uint32_t hosts() const { return leaves * hosts_per_leaf; }
    std::uint32_t leaf_of(std::uint32_t host) const { return host / hosts_per_leaf; }
};

struct Flow {
    std::uint32_t src = 0;
    std::uint32_t dst = 0;
    std::uint16_t sport = 0;     ///< 10000, 10001, ... per (src, dst) pair in list order
    std::uint16_t tcp_port = 0;  ///< the same per src: ns-3 refuses to share a local port
    std::uint16_t dport = 0;
    std::uint32_t size = 0;  ///< bytes
    double start = 0;        ///< seconds
};

std::vector<Flow> read_flows(const std::string& path, const Fabric& fabric);

/// Which spine carries the packets of a connection. The file lists (source, destination, source
/// port): a flow's data under its `sport`, its ACKs under its `dport` in the other direction.
class SpineTable {
  public:
    /// Throws if the file lacks a path of one of the flows.
    SpineTable(const std::string& path, const Fabric& fabric, const std::vector<Flow>& flows);
    /// `port`: a flow's tcp_port for its data, its dport for its ACKs.
    std::uint32_t spine(std::uint32_t src, std::uint32_t dst, std::uint16_t port) const;

  private:
    using Map = std::unordered_map<std::uint64_t, std::uint32_t>;
    static std::uint64_t key(std::uint32_t src, std::uint32_t dst, std::uint16_t port) {
        return (static_cast<std::uint64_t>(src) << 40) | (static_cast<std::uint64_t>(dst) << 16) |
               port;
    }
    static Map read(const std::string& path, const Fabric& fabric);

    Map spines_;
};

}  // namespace peers
