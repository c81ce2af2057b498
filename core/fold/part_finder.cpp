// SPDX-License-Identifier: Apache-2.0
#include "core/fold/part_finder.h"

#include <algorithm>
#include <numeric>

namespace sluice::step {

namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
    return hash ^ hash >> 29;
}

/// Adds to what is counted for `port` or node beyond the ports, by index.
struct Count {
    std::vector<std::uint32_t>& scratch;
    std::vector<std::uint32_t> seen;

    void add(std::uint32_t index) {
        if (scratch[index] == kNone) {
            scratch[index] = 0;
            seen.push_back(index);
        }
        ++scratch[index];
    }
    ~Count() {
        for (const std::uint32_t index : seen) {
            scratch[index] = kNone;
        }
    }
};

}  // namespace

PartFinder::PartFinder(const WorldStore& store, const FlowPrints& prints, const RandomMarks& marks,
                       BufferWatch& buffers)
    : topology_(store.topology()),
      world_(store.world()),
      prints_(prints),
      marks_(marks),
      buffers_(buffers),
      ports_(static_cast<std::uint32_t>(topology_.port_count())),
      scratch_(ports_ + world_.node_count, kNone) {}

FlowGroups PartFinder::parts(const FlowGroups& joined) {
    buffers_.begin_comparison();
    std::vector<std::uint32_t> root(joined.size());
    std::iota(root.begin(), root.end(), 0U);
    const auto find = [&](std::uint32_t i) {
        while (root[i] != i) {
            i = root[i] = root[root[i]];
        }
        return i;
    };
    std::vector<std::uint32_t> seen;
    const auto meet = [&](std::uint32_t at, std::uint32_t group) {
        if (scratch_[at] == kNone) {
            scratch_[at] = group;
            seen.push_back(at);
        } else {
            const std::uint32_t a = find(scratch_[at]);
            const std::uint32_t b = find(group);
            root[std::max(a, b)] = std::min(a, b);
        }
    };
    for (std::uint32_t group = 0; group < joined.size(); ++group) {
        for (const FlowSlot flow : joined[group]) {
            prints_.visit_ports(prints_.of(flow), [&](PortId port) { meet(port, group); });
            meet(ports_ + world_.spec[flow].src, group);
            meet(ports_ + world_.spec[flow].dst, group);
        }
    }
    for (const std::uint32_t at : seen) {
        scratch_[at] = kNone;
    }
    FlowGroups found(joined.size());
    for (std::uint32_t group = 0; group < joined.size(); ++group) {
        FlowGroup& flows = found[find(group)];
        flows.insert(flows.end(), joined[group].begin(), joined[group].end());
    }
    found.erase(std::remove_if(found.begin(), found.end(),
                               [](const FlowGroup& part) { return part.empty(); }),
                found.end());
    for (FlowGroup& part : found) {
        sort_by_id(world_, part);
        part.erase(std::unique(part.begin(), part.end()), part.end());
    }
    return found;
}

bool PartFinder::foldable(PortId port, Tick now) {
    const Egress& egress = world_.egress[port];
    const NodeId node = topology_.node_of(port);
    const bool at_switch = world_.is_host[node] == 0;
    return egress.up && egress.paused == 0 && world_.ingress[egress.peer].loss == 0 &&
           (!at_switch || buffers_.is_independent(node, now)) &&
           (at_switch || world_.is_host[topology_.node_of(egress.peer)] == 0);
}

Standing PartFinder::standing(const FlowGroup& part, Tick now) {
    Count count{scratch_, {}};
    for (const FlowSlot flow : part) {
        const FlowPrint& print = prints_.of(flow);
        if (print.src == kNone) {
            continue;  // the message before it on its connection is not over
        }
        for (std::uint32_t i = 0; i < print.units; ++i) {
            count.add(print.port[i]);
        }
        count.add(ports_ + print.src);
        count.add(ports_ + print.dst);
    }
    for (const std::uint32_t at : count.seen) {
        if (at < ports_ && !foldable(PortId{at}, now)) {
            return Standing::unfit;
        }
        if (scratch_[at] != (at < ports_ ? prints_.at_port(at) : prints_.at_host(at - ports_))) {
            return Standing::among_others;
        }
        const PortId back = at < ports_ ? prints_.used_other_way(at) : PortId{kNone};
        if (back != kNone && scratch_[back] == kNone) {
            return Standing::among_others;
        }
    }
    return marks_.may_mark(part) ? Standing::unfit : Standing::apart;
}

std::uint64_t PartFinder::signature(const FlowGroup& part) const {
    std::uint64_t hash = part.size();
    for (const FlowSlot flow : part) {
        const FlowPrint& print = prints_.of(flow);
        hash = mixed(hash, static_cast<std::uint64_t>(world_.spec[flow].size));
        hash = mixed(hash, static_cast<std::uint64_t>(world_.result[flow].start));
        hash = mixed(hash, std::uint64_t{print.data} << 8 | print.units);
        if (world_.sender_at[flow] != kNone) {
            const Sender& sender = sender_of(world_, flow);
            hash = mixed(hash, std::uint64_t{sender.next} << 32 | sender.una);
        }
    }
    return hash;
}

PartShape PartFinder::shape_of(const FlowGroup& part) {
    return PartShape(world_, prints_, part, scratch_);
}

}  // namespace sluice::step
