// SPDX-License-Identifier: Apache-2.0
/// Which parts of the network may be folded, and which are copies of each other.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "core/fold/folds.h"
#include "core/fold/likeness.h"

namespace sluice::step {

namespace {

/// Parts of one signature that no leader so far is like lead in their turn, so many times.
constexpr int kLeaders = 16;

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

/// Whether a table leads by `port` to `to`, and by no other: there a sprayed flow has no choice.
bool Folds::only_way(NodeId node, PortId port, NodeId to) const {
    const Routing::PortRange ports = store_.routing().next_hops(node, to);
    return ports.size() == 1 && *ports.begin() == port;
}

FlowPrint Folds::print_of(FlowSlot flow) const {
    const FlowSpec& spec = world_.spec[flow];
    const FlowRoute& route = world_.route[flow];
    FlowPrint print;
    print.src = spec.src;
    print.dst = spec.dst;
    print.whole =
        supervisor_ == nullptr || !is_sprayed(world_, flow);  // else partitions know of none
    const auto walk = [&](const PortId* entries, NodeId from, NodeId to) {
        NodeId node = from;
        for (int hop = 0; node != to; ++hop) {
            const PortId port = hop < kPathHops ? entries[hop] : kNone;
            if (port == kNone || store_.topology().node_of(port) != node ||
                (is_sprayed(world_, flow) && !only_way(node, port, to))) {
                print.whole = false;
                return;
            }
            print.port[print.units++] = port;
            node = store_.topology().neighbor(port);
        }
    };
    walk(route.port, spec.src, spec.dst);
    print.data = print.units;
    walk(route.port + kPathHops, spec.dst, spec.src);
    return print;
}

/// Good until the next call.
const Footprint& Folds::footprint(const FlowPrint& print) {
    footprint_.data.assign(print.port, print.port + print.data);
    footprint_.acks.assign(print.port + print.data, print.port + print.units);
    return footprint_;
}

/// Whether all that a flow of a leader's touches is in the fold, and the images' flows touch its images.
bool Folds::all_inside(std::uint32_t id, FlowSlot flow) const {
    const Fold& fold = *folds_[id];
    const FlowPrint print = print_of(flow);
    const auto here = [&](const FoldPlace& place) { return place.leads() && place.fold == id; };
    for (std::uint32_t i = 0; i < print.units; ++i) {
        if (!here(places_.unit[print.port[i]]) ||
            meets_by_cable(print.port[i], id, FoldPlace::kLeader)) {
            return false;
        }
    }
    if (!here(places_.host[print.dst])) {
        return false;
    }
    for (std::uint32_t number = 0; number < fold.image.size(); ++number) {
        const Image* const image = fold.image[number].get();
        if (image == nullptr) {
            continue;
        }
        const FlowPrint other = print_of(image->flow[places_.flow[flow].index]);
        bool same = other.units == print.units && other.data == print.data &&
                    image->host[places_.host[print.dst].index] == other.dst;
        for (std::uint32_t i = 0; same && i < print.units; ++i) {
            same = image->unit[places_.unit[print.port[i]].index] == other.port[i] &&
                   !meets_by_cable(other.port[i], id, number);
        }
        if (!same) {
            return false;
        }
    }
    return true;
}

/// Partitions are joined by cables: whether something else goes the other way on that of `port`, which is of
/// the fold's leader or an image.
bool Folds::meets_by_cable(PortId port, std::uint32_t id, std::uint32_t image) const {
    const PortId back = world_.egress[port].peer;
    const FoldPlace& place = places_.unit[back];
    return supervisor_ != nullptr && unit_uses_[back] > 0 &&
           !(place.fold == id && place.image == image);
}

bool Folds::foldable(PortId port, Tick now) {
    const Egress& egress = world_.egress[port];
    const NodeId node = store_.topology().node_of(port);
    const bool at_switch = world_.is_host[node] == 0;
    return egress.up && egress.paused == 0 && world_.ingress[egress.peer].loss == 0 &&
           (!at_switch || is_calm(node, now)) &&
           (at_switch || world_.is_host[store_.topology().node_of(egress.peer)] == 0);
}

/// stays_calm(), which is asked for once of each switch: a part is not folded at one that is not calm, and none is less so
/// for what is folded.
bool Folds::is_calm(NodeId node, Tick now) {
    Calmness& known = calmness_[node];
    if (known == Calmness::unknown) {
        known = stays_calm(node, now) ? Calmness::calm : Calmness::crowded;
    }
    return known == Calmness::calm;
}

/// Joins flows, in groups that belong together, to those with which they share a port or a host.
std::vector<Folds::Part> Folds::parts(const std::vector<std::vector<FlowSlot>>& joined) {
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
        if (owner_[at] == kNone) {
            owner_[at] = group;
            seen.push_back(at);
        } else {
            const std::uint32_t a = find(owner_[at]);
            const std::uint32_t b = find(group);
            root[std::max(a, b)] = std::min(a, b);
        }
    };
    const auto ports = static_cast<std::uint32_t>(store_.topology().port_count());
    for (std::uint32_t group = 0; group < joined.size(); ++group) {
        for (const FlowSlot flow : joined[group]) {
            const FlowPrint& print = prints_[flow];
            std::for_each(print.port, print.port + print.units, [&](PortId port) {
                meet(port, group);
                if (supervisor_ != nullptr) {
                    meet(world_.egress[port].peer, group);
                }
            });
            meet(ports + world_.spec[flow].src, group);
            meet(ports + world_.spec[flow].dst, group);
        }
    }
    for (const std::uint32_t at : seen) {
        owner_[at] = kNone;
    }
    std::vector<Part> found(joined.size());
    for (std::uint32_t group = 0; group < joined.size(); ++group) {
        std::vector<FlowSlot>& flows = found[find(group)].flows;
        flows.insert(flows.end(), joined[group].begin(), joined[group].end());
    }
    found.erase(std::remove_if(found.begin(), found.end(),
                               [](const Part& part) { return part.flows.empty(); }),
                found.end());
    for (Part& part : found) {
        sort_by_id(world_, part.flows);
        part.flows.erase(std::unique(part.flows.begin(), part.flows.end()), part.flows.end());
    }
    return found;
}

/// Apart: nobody else is at the part's ports and hosts, and they may be folded.
Folds::Standing Folds::standing(const Part& part, Tick now) {
    const auto ports = static_cast<std::uint32_t>(store_.topology().port_count());
    Count count{owner_, {}};
    for (const FlowSlot flow : part.flows) {
        const FlowPrint& print = prints_[flow];
        if (print.src == kNone) {
            continue;  // its turn has not come
        }
        for (std::uint32_t i = 0; i < print.units; ++i) {
            count.add(print.port[i]);
        }
        count.add(ports + print.src);
        count.add(ports + print.dst);
    }
    for (const std::uint32_t at : count.seen) {
        if (at < ports && !foldable(PortId{at}, now)) {
            return Standing::unfit;
        }
        if (owner_[at] != (at < ports ? unit_uses_[at] : host_uses_[at - ports])) {
            return Standing::among_others;
        }
        const PortId back = at < ports ? world_.egress[at].peer : kNone;
        if (supervisor_ != nullptr && back != kNone && owner_[back] == kNone &&
            unit_uses_[back] > 0) {
            return Standing::among_others;
        }
    }
    FeedersOf feeders;
    for (const FlowSlot flow : part.flows) {
        add_feeders(prints_[flow], feeders);
    }
    const Backlogs backlogs = unmarked_backlogs(feeders);
    const bool marks = std::any_of(backlogs.begin(), backlogs.end(), [&](const auto& entry) {
        return std::int64_t{world_.egress[entry.first].queued_bytes} >= entry.second;
    });
    return marks ? Standing::unfit : Standing::apart;
}

std::uint64_t Folds::signature(const Part& part) const {
    std::uint64_t hash = part.flows.size();
    for (const FlowSlot flow : part.flows) {
        const FlowPrint& print = prints_[flow];
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

void Folds::fold_alike(std::vector<Part>& found, Tick now) {
    // What skipped back goes on within the last window.
    const Tick from = supervisor_ == nullptr ? now : now - world_.lookahead;
    calmness_.assign(world_.node_count, Calmness::unknown);
    std::map<std::uint64_t, std::vector<const Part*>> alike;
    for (Part& part : found) {
        part.signature = signature(part);
        alike[part.signature].push_back(&part);
    }
    for (auto& [signature, candidates] : alike) {
        const bool alone = candidates.size() < 2;
        if (alone && (supervisor_ != nullptr || candidates.front()->flows.size() < 2)) {
            continue;
        }
        const auto stands_apart = [&](const Part* part) {
            const Standing stands = standing(*part, now);
            if (stands == Standing::among_others && !alone) {
                wait(*part);
            }
            return stands == Standing::apart;
        };
        candidates.erase(std::stable_partition(candidates.begin(), candidates.end(), stands_apart),
                         candidates.end());
        for (int leaders = 0; leaders < kLeaders && !candidates.empty(); ++leaders) {
            if (fold_turned(candidates, now, from)) {
                continue;
            }
            if (candidates.size() < 2) {
                break;
            }
            const Part& leader = *candidates.front();
            const std::uint32_t id = make_leader(leader);
            std::vector<const Part*> others;
            for (std::size_t i = 1; i < candidates.size(); ++i) {
                auto image = std::make_unique<Image>();
                if (pair_up(*folds_[id], *image, leader, *candidates[i]) &&
                    Likeness(store_, places_, *folds_[id], *image, from).holds() &&
                    (supervisor_ == nullptr ||
                     supervisor_->alike(pairs_of(*folds_[id], *image), true))) {
                    add_image(id, std::move(image));
                } else {
                    others.push_back(candidates[i]);
                }
            }
            if (folds_[id]->images == 0) {
                dissolve(id);
            } else {
                wake_for_followers(*folds_[id]);
            }
            candidates = std::move(others);
        }
    }
}

std::uint32_t Folds::new_fold() {
    std::uint32_t id = static_cast<std::uint32_t>(folds_.size());
    if (free_folds_.empty()) {
        folds_.emplace_back();
    } else {
        id = free_folds_.back();
        free_folds_.pop_back();
    }
    folds_[id] = std::make_unique<Fold>();
    ++fold_count_;
    return id;
}

void Folds::lead_unit(std::uint32_t id, PortId port) {
    if (places_.unit[port].folded()) {
        return;
    }
    Fold& fold = *folds_[id];
    const Egress& egress = world_.egress[port];
    place_unit(port,
               FoldPlace{id, FoldPlace::kLeader, static_cast<std::uint32_t>(fold.unit.size())});
    fold.unit.push_back(port);
    fold.unit_uses.push_back(0);
    fold.base.push_back(UnitBase{counters_of(egress), egress.max_queued_bytes, egress.free_at,
                                 store_.skipped(port)});
}

void Folds::lead_host(std::uint32_t id, NodeId host) {
    if (places_.host[host].folded()) {
        return;
    }
    Fold& fold = *folds_[id];
    places_.host[host] =
        FoldPlace{id, FoldPlace::kLeader, static_cast<std::uint32_t>(fold.host.size())};
    fold.host.push_back(host);
    fold.host_uses.push_back(0);
    fold.source.emplace_back();
    for (PortId p = world_.first_port[host]; p < world_.first_port[host + 1]; ++p) {
        lead_unit(id, p);
        ++fold.unit_uses[places_.unit[p].index];
    }
}

std::uint32_t Folds::make_leader(const Part& part) {
    const std::uint32_t id = new_fold();
    for (const FlowSlot flow : part.flows) {
        lead_host(id, world_.spec[flow].src);
        const FlowPrint& print = prints_[flow];
        if (print.src != kNone) {
            lead_host(id, print.dst);
            std::for_each(print.port, print.port + print.units,
                          [&](PortId port) { lead_unit(id, port); });
        }
    }
    for (const FlowSlot flow : part.flows) {
        const std::uint32_t index = add_flow(id, flow);
        if (prints_[flow].src != kNone) {
            use_in_fold(*folds_[id], index);
        }
    }
    return id;
}

bool Folds::pair_hosts(Image& image, NodeId leader, NodeId other) const {
    NodeId& paired = image.host[places_.host[leader].index];
    if (paired != kNone || other == leader) {
        return paired == other;
    }
    const PortId first = world_.first_port[leader];
    const PortId other_first = world_.first_port[other];
    const PortId ports = world_.first_port[leader + 1] - first;
    if (places_.host[other].folded() || world_.first_port[other + 1] - other_first != ports) {
        return false;
    }
    paired = other;
    for (PortId p = 0; p < ports; ++p) {
        image.unit[places_.unit[first + p].index] = other_first + p;
    }
    return true;
}

bool Folds::pair_units(Image& image, const FlowPrint& leader, const FlowPrint& other) const {
    if (leader.units != other.units || leader.data != other.data) {
        return false;
    }
    for (std::uint32_t i = 0; i < leader.units; ++i) {
        PortId& paired = image.unit[places_.unit[leader.port[i]].index];
        if (paired == kNone && !places_.unit[other.port[i]].folded()) {
            paired = other.port[i];
        }
        if (paired != other.port[i]) {
            return false;
        }
    }
    return true;
}

/// Names everything of `part` by what it would be the image of, flows in the order of their ids; false if
/// that is contradictory.
bool Folds::pair_up(const Fold& fold, Image& image, const Part& leader, const Part& part) const {
    if (leader.flows.size() != part.flows.size()) {
        return false;
    }
    image.unit.assign(fold.unit.size(), kNone);
    image.host.assign(fold.host.size(), kNone);
    image.flow.assign(fold.flow.size(), kNone);
    for (std::size_t i = 0; i < part.flows.size(); ++i) {
        const FlowSlot flow = leader.flows[i];
        const FlowSlot other = part.flows[i];
        const FlowPrint& print = prints_[flow];
        image.flow[places_.flow[flow].index] = other;
        const bool in_service = print.src != kNone;
        if (in_service != (prints_[other].src != kNone) ||
            !pair_hosts(image, world_.spec[flow].src, world_.spec[other].src) ||
            (in_service && (!pair_hosts(image, print.dst, prints_[other].dst) ||
                            !pair_units(image, print, prints_[other])))) {
            return false;
        }
    }
    // Two of the leader's must not have one image.
    const auto distinct = [](std::vector<std::uint32_t> ids) {
        std::sort(ids.begin(), ids.end());
        return std::adjacent_find(ids.begin(), ids.end()) == ids.end() &&
               (ids.empty() || ids.back() != kNone);
    };
    return distinct(image.unit) && distinct(image.host);
}

}  // namespace sluice::step
