// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "core/fold/symmetry.h"

namespace sluice::step {

namespace {

/// Chooses one of each orbit.
class Choice {
  public:
    Choice(const Topology& topology, const PartShape& part, const std::vector<Isomorphism>& group,
           const std::vector<std::uint8_t>& old)
        : topology_(topology), part_(part) {
        number_orbits(group, part.host.size(), &Isomorphism::host, host_orbit_);
        number_orbits(group, part.unit.size(), &Isomorphism::unit, unit_orbit_);
        host_.assign(part.host.size(), kNone);
        unit_.assign(part.unit.size(), kNone);
        members_.resize(part.unit.size());
        for (std::uint32_t i = 0; i < part.unit.size(); ++i) {
            members_[unit_orbit_[i]].push_back(i);
        }
        order_.resize(part.flow.size());
        std::iota(order_.begin(), order_.end(), 0U);
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return old[a] > old[b]; });
    }

    std::optional<FirstSheet> made() {
        choose_hosts();
        for (std::uint32_t h = 0; h < part_.host.size(); ++h) {
            const auto ports = static_cast<std::uint32_t>(topology_.port_count(part_.host[h]));
            for (std::uint32_t p = 0; first(h) && p < ports; ++p) {
                unit_[unit_orbit_[part_.first_unit[h] + p]] = part_.first_unit[h] + p;
            }
        }
        for (const std::uint32_t flow : order_) {
            if (first(part_.src[flow]) && !choose_ways(flow)) {
                return std::nullopt;
            }
        }
        return listed();
    }

  private:
    static void number_orbits(const std::vector<Isomorphism>& group, std::size_t count,
                              std::vector<std::uint32_t> Isomorphism::*names,
                              std::vector<std::uint32_t>& orbit) {
        orbit.resize(count);
        std::iota(orbit.begin(), orbit.end(), 0U);
        for (const Isomorphism& symmetry : group) {
            for (std::uint32_t i = 0; i < count; ++i) {
                orbit[i] = std::min(orbit[i], (symmetry.*names)[i]);
            }
        }
    }

    bool first(std::uint32_t host) const { return host_[host_orbit_[host]] == host; }
    bool open(std::uint32_t host) const { return host_[host_orbit_[host]] == kNone; }
    void take(std::uint32_t host) { host_[host_orbit_[host]] = host; }

    /// Along flows as far as they lead, so that these stay in the sheet.
    void choose_hosts() {
        take(part_.src[order_.front()]);
        for (bool more = true; more;) {
            more = false;
            for (const std::uint32_t flow : order_) {
                if (part_.dst[flow] != kNone && first(part_.src[flow]) && open(part_.dst[flow])) {
                    take(part_.dst[flow]);
                    more = true;
                }
            }
            for (std::size_t i = 0; i < order_.size() && !more; ++i) {
                const std::uint32_t flow = order_[i];
                if (part_.dst[flow] != kNone && first(part_.dst[flow]) && open(part_.src[flow])) {
                    take(part_.src[flow]);
                    more = true;
                }
            }
            for (std::uint32_t h = 0; h < part_.host.size() && !more; ++h) {
                if (open(h)) {
                    take(h);
                    more = true;
                }
            }
        }
    }

    bool choose_ways(std::uint32_t flow) {
        if (part_.dst[flow] == kNone) {
            return true;
        }
        const std::vector<std::uint32_t>& way = part_.way[flow];
        const NodeId from = part_.host[part_.src[flow]];
        const NodeId to = part_.host[host_[host_orbit_[part_.dst[flow]]]];
        const NodeId end = part_.host[part_.dst[flow]];
        std::size_t data = 0;
        while (data < way.size() && topology_.node_of(part_.unit[way[data]]) != end) {
            ++data;
        }
        return lead(way, 0, data, from, to) && lead(way, data, way.size(), to, from);
    }

    /// A way by chosen units from a node to another one, of which those not chosen yet are.
    bool lead(const std::vector<std::uint32_t>& way, std::size_t at, std::size_t end, NodeId node,
              NodeId to) {
        if (at == end) {
            return node == to;
        }
        const std::uint32_t orbit = unit_orbit_[way[at]];
        const auto leads = [&](std::uint32_t unit) {
            return topology_.node_of(part_.unit[unit]) == node &&
                   lead(way, at + 1, end, topology_.neighbor(part_.unit[unit]), to);
        };
        if (unit_[orbit] != kNone) {
            return leads(unit_[orbit]);
        }
        const auto chosen = [&](std::uint32_t unit) {
            unit_[orbit] = unit;
            if (!leads(unit)) {
                unit_[orbit] = kNone;
            }
            return unit_[orbit] != kNone;
        };
        return chosen(way[at]) ||
               std::any_of(members_[orbit].begin(), members_[orbit].end(), chosen);
    }

    std::optional<FirstSheet> listed() const {
        FirstSheet sheet;
        for (std::uint32_t h = 0; h < part_.host.size(); ++h) {
            if (first(h)) {
                sheet.host.push_back(h);
            }
        }
        for (std::uint32_t u = 0; u < part_.unit.size(); ++u) {
            if (unit_[unit_orbit_[u]] == kNone) {
                return std::nullopt;
            }
            if (unit_[unit_orbit_[u]] == u) {
                sheet.unit.push_back(u);
            }
        }
        for (std::uint32_t f = 0; f < part_.flow.size(); ++f) {
            if (first(part_.src[f])) {
                sheet.flow.push_back(f);
            }
        }
        return sheet;
    }

    const Topology& topology_;
    const PartShape& part_;
    std::vector<std::uint32_t> host_orbit_;  ///< by number: its orbit's least one
    std::vector<std::uint32_t> unit_orbit_;
    std::vector<std::vector<std::uint32_t>> members_;  ///< by orbit of units
    std::vector<std::uint32_t> host_;                  ///< by orbit: the chosen one
    std::vector<std::uint32_t> unit_;
    std::vector<std::uint32_t> order_;  ///< flows
};

}  // namespace

std::optional<FirstSheet> first_sheet(const Topology& topology, const PartShape& part,
                                      const std::vector<Isomorphism>& group,
                                      const std::vector<std::uint8_t>& old) {
    return Choice(topology, part, group, old).made();
}

}  // namespace sluice::step
