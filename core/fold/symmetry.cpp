// SPDX-License-Identifier: Apache-2.0
#include "core/fold/symmetry.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>

#include "core/fold/likeness.h"

namespace sluice::step {

namespace {

/// Work that a search may take, in units named: beyond, a part is taken to have no symmetry.
constexpr std::size_t kMostWork = 1U << 21;

/// Names one part's by the other's, until that is contradictory.
class Search {
  public:
    Search(const World& world, const PartShape& part, const PartShape& other)
        : world_(world), part_(part), other_(other) {
        map_.host.assign(part.host.size(), kNone);
        map_.unit.assign(part.unit.size(), kNone);
        map_.flow.assign(part.flow.size(), kNone);
        taken_host_.assign(other.host.size(), 0);
        taken_unit_.assign(other.unit.size(), 0);
        taken_flow_.assign(other.flow.size(), 0);
    }

    std::optional<Isomorphism> from(std::uint32_t from, std::uint32_t to) {
        if (!name_host(from, to)) {
            return std::nullopt;
        }
        do {
            while (!hosts_.empty()) {
                const std::uint32_t host = hosts_.front();
                hosts_.pop_front();
                if (!follow(host)) {
                    return std::nullopt;
                }
            }
            if (!follow_back()) {
                return std::nullopt;
            }
        } while (!hosts_.empty());
        const auto whole = [](const std::vector<std::uint32_t>& names) {
            return std::find(names.begin(), names.end(), kNone) == names.end();
        };
        const bool all = whole(map_.host) && whole(map_.unit) && whole(map_.flow);
        return all ? std::optional<Isomorphism>(std::move(map_)) : std::nullopt;
    }

  private:
    static bool name(std::vector<std::uint32_t>& names, std::vector<std::uint8_t>& taken,
                     std::uint32_t a, std::uint32_t b) {
        if (names[a] == kNone && taken[b] == 0) {
            names[a] = b;
            taken[b] = 1;
        }
        return names[a] == b;
    }

    bool name_host(std::uint32_t a, std::uint32_t b) {
        const bool fresh = map_.host[a] == kNone;
        if (!name(map_.host, taken_host_, a, b)) {
            return false;
        }
        if (!fresh) {
            return true;
        }
        const auto ports = [&](const PartShape& of, std::uint32_t host) {
            return world_.first_port[of.host[host] + 1] - world_.first_port[of.host[host]];
        };
        if (ports(part_, a) != ports(other_, b) || part_.sent[a].size() != other_.sent[b].size()) {
            return false;
        }
        for (std::uint32_t p = 0; p < ports(part_, a); ++p) {
            if (!name(map_.unit, taken_unit_, part_.first_unit[a] + p, other_.first_unit[b] + p)) {
                return false;
            }
        }
        hosts_.push_back(a);
        return true;
    }

    /// The flows that a host sends.
    bool follow(std::uint32_t host) {
        const std::vector<std::uint32_t>& flows = part_.sent[host];
        const std::vector<std::uint32_t>& others = other_.sent[map_.host[host]];
        for (std::size_t i = 0; i < flows.size(); ++i) {
            if (!name_flow(flows[i], others[i])) {
                return false;
            }
        }
        return true;
    }

    /// What hosts receive from those that no flow has led to.
    bool follow_back() {
        std::map<std::uint32_t, std::vector<std::uint32_t>> received;
        for (std::uint32_t flow = 0; flow < other_.flow.size(); ++flow) {
            if (taken_flow_[flow] == 0 && other_.dst[flow] != kNone) {
                received[other_.dst[flow]].push_back(flow);
            }
        }
        std::map<std::uint32_t, std::size_t> count;
        for (std::uint32_t flow = 0; flow < part_.flow.size(); ++flow) {
            const std::uint32_t dst = part_.dst[flow];
            if (map_.flow[flow] != kNone || dst == kNone || map_.host[dst] == kNone) {
                continue;
            }
            const std::vector<std::uint32_t>& others = received[map_.host[dst]];
            const std::size_t at = count[dst]++;
            if (at >= others.size() || !name_host(part_.src[flow], other_.src[others[at]])) {
                return false;
            }
        }
        return true;
    }

    bool name_flow(std::uint32_t a, std::uint32_t b) {
        const FlowSlot flow = part_.flow[a];
        const FlowSlot other = other_.flow[b];
        const std::vector<std::uint32_t>& way = part_.way[a];
        const std::vector<std::uint32_t>& other_way = other_.way[b];
        if (!name(map_.flow, taken_flow_, a, b) || !specs_alike(world_, flow, other) ||
            world_.result[flow].start != world_.result[other].start ||
            way.size() != other_way.size() || (part_.dst[a] == kNone) != (other_.dst[b] == kNone)) {
            return false;
        }
        for (std::size_t i = 0; i < way.size(); ++i) {
            if (!name(map_.unit, taken_unit_, way[i], other_way[i])) {
                return false;
            }
        }
        return part_.dst[a] == kNone || name_host(part_.dst[a], other_.dst[b]);
    }

    const World& world_;
    const PartShape& part_;
    const PartShape& other_;
    Isomorphism map_;
    std::vector<std::uint8_t> taken_host_;
    std::vector<std::uint8_t> taken_unit_;
    std::vector<std::uint8_t> taken_flow_;
    std::deque<std::uint32_t> hosts_;
};

/// Adds all products with the last generator; false if one of them leaves something where it is.
bool close(std::vector<Isomorphism>& group, const std::vector<Isomorphism>& generators) {
    std::map<std::uint32_t, std::size_t> by_image;  // of the first host: no two have the same
    for (std::size_t i = 0; i < group.size(); ++i) {
        by_image[group[i].host[0]] = i;
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
        for (const Isomorphism& generator : generators) {
            Isomorphism product = generator.after(group[i]);
            const auto known = by_image.find(product.host[0]);
            if (known != by_image.end()) {
                if (group[known->second].host != product.host) {
                    return false;
                }
                continue;
            }
            if (!product.moves_all()) {
                return false;
            }
            by_image[product.host[0]] = group.size();
            group.push_back(std::move(product));
        }
    }
    return true;
}

}  // namespace

PartShape::PartShape(const World& world, const FlowPrints& prints,
                     const std::vector<FlowSlot>& flows, std::vector<std::uint32_t>& scratch)
    : flow(flows) {
    const std::size_t ports = scratch.size() - world.node_count;
    const auto number_of = [&](std::size_t at, auto& list, std::uint32_t id) {
        if (scratch[at] == kNone) {
            scratch[at] = static_cast<std::uint32_t>(list.size());
            list.push_back(id);
        }
        return scratch[at];
    };
    const auto add_host = [&](NodeId node) {
        const std::uint32_t number = number_of(ports + node, host, node);
        if (number == first_unit.size()) {
            first_unit.push_back(static_cast<std::uint32_t>(unit.size()));
            for (PortId p = world.first_port[node]; p < world.first_port[node + 1]; ++p) {
                number_of(p, unit, p);
            }
            sent.emplace_back();
        }
        return number;
    };
    src.reserve(flow.size());
    dst.reserve(flow.size());
    way.reserve(flow.size());
    // Hosts first: their ports' numbers follow each other.
    for (const FlowSlot slot : flow) {
        src.push_back(add_host(world.spec[slot].src));
        dst.push_back(prints.in_service(slot) ? add_host(prints.of(slot).dst) : kNone);
    }
    for (std::uint32_t i = 0; i < flow.size(); ++i) {
        const FlowPrint& print = prints.of(flow[i]);
        sent[src[i]].push_back(i);
        way.emplace_back();
        way.back().reserve(print.units);
        for (std::uint32_t k = 0; print.src != kNone && k < print.units; ++k) {
            way.back().push_back(number_of(print.port[k], unit, print.port[k]));
        }
    }
    for (const PortId port : unit) {
        scratch[port] = kNone;
    }
    for (const NodeId node : host) {
        scratch[ports + node] = kNone;
    }
}

Isomorphism Isomorphism::after(const Isomorphism& first) const {
    const auto through = [](const std::vector<std::uint32_t>& a,
                            const std::vector<std::uint32_t>& b) {
        std::vector<std::uint32_t> product(a.size());
        std::transform(a.begin(), a.end(), product.begin(), [&](std::uint32_t i) { return b[i]; });
        return product;
    };
    return {through(first.host, host), through(first.unit, unit), through(first.flow, flow)};
}

bool Isomorphism::moves_all() const {
    const auto moved = [](const std::vector<std::uint32_t>& names) {
        for (std::uint32_t i = 0; i < names.size(); ++i) {
            if (names[i] == i) {
                return false;
            }
        }
        return true;
    };
    return moved(host) && moved(unit) && moved(flow);
}

std::optional<Isomorphism> isomorphism(const World& world, const PartShape& part,
                                       std::uint32_t from, const PartShape& other,
                                       std::uint32_t to) {
    if (part.host.size() != other.host.size() || part.unit.size() != other.unit.size() ||
        part.flow.size() != other.flow.size()) {
        return std::nullopt;
    }
    return Search(world, part, other).from(from, to);
}

std::vector<Isomorphism> symmetries(const World& world, const PartShape& part) {
    const auto counted = [](std::size_t count) {
        std::vector<std::uint32_t> numbers(count);
        std::iota(numbers.begin(), numbers.end(), 0U);
        return numbers;
    };
    std::vector<Isomorphism> group = {
        {counted(part.host.size()), counted(part.unit.size()), counted(part.flow.size())}};
    std::vector<std::uint8_t> reached(part.host.size(), 0);
    std::vector<Isomorphism> generators;
    std::size_t work = 0;
    for (std::uint32_t to = 1; to < part.host.size() && work < kMostWork; ++to) {
        if (reached[to] != 0 || part.sent[to].size() != part.sent[0].size()) {
            continue;
        }
        const std::optional<Isomorphism> found = isomorphism(world, part, 0, part, to);
        work += part.unit.size();
        if (!found.has_value() || !found->moves_all()) {
            continue;
        }
        std::vector<Isomorphism> larger = group;
        generators.push_back(*found);
        if (!close(larger, generators)) {
            generators.pop_back();
            continue;
        }
        group = std::move(larger);
        work += group.size() * part.unit.size();
        for (const Isomorphism& symmetry : group) {
            reached[symmetry.host[0]] = 1;
        }
    }
    return group;
}

}  // namespace sluice::step
