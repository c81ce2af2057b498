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
    std::uint16_t sport = 0;  ///< 10000, 10001, ... per (src, dst) pair in list order
    std::uint16_t dport = 0;
    std::uint32_t size = 0;  ///< bytes
    double start = 0;        ///< seconds
};

std::vector<Flow> read_flows(const std::string& path, const Fabric& fabric);

/// Which spine carries the packets from one (source, destination, source port): data under the
/// flow's source port, its ACKs under its destination port in the other direction.
class SpineTable {
  public:
    SpineTable(const std::string& path, const Fabric& fabric);
    /// Throws if the file does not list it.
    std::uint32_t spine(std::uint32_t src, std::uint32_t dst, std::uint16_t sport) const;

  private:
    static std::uint64_t key(std::uint32_t src, std::uint32_t dst, std::uint16_t sport) {
        return (static_cast<std::uint64_t>(src) << 40) | (static_cast<std::uint64_t>(dst) << 16) |
               sport;
    }
    std::unordered_map<std::uint64_t, std::uint32_t> spines_;
};

}  // namespace peers
