// SPDX-License-Identifier: Apache-2.0
#include "core/fold/divergence.h"

#include <algorithm>
#include <iterator>

#include "core/fold/quotient_names.h"
#include "core/packet/nic.h"
#include "core/world/skip.h"

namespace sluice::step {

void Divergence::begin(std::uint32_t id, std::uint32_t number, std::uint32_t host) {
    Fold& fold = folds_[id];
    Image& image = *fold.image[number];
    if (image.forks.empty()) {
        of_window_.emplace_back(id, number);
        ++count_;
    }
    const NodeId leader = fold.host[host];
    const CopyWriter writer = materializer_.writer_of(fold, image);
    HostFork fork;
    fork.host = host;
    writer.copy_host(leader);
    for (PortId p = world_.first_port[leader]; p < world_.first_port[leader + 1]; ++p) {
        materializer_.add_hops(writer.copy_egress(p));
        const PortId peer = world_.egress[p].peer;
        HostFork::Nic nic;
        nic.port = p;
        nic.sent = world_.egress[p].tx_packets;
        nic.received = world_.egress[peer].tx_packets;
        Wire& link = world_.link[peer];
        for (std::uint32_t at = link.head; at != link.tail; ++at) {
            nic.waiting.push_back(link.at(at));
        }
        if (writer.names().has(peer)) {
            writer.complete_link(peer, world_.link[p].size());
        }
        fork.nics.push_back(std::move(nic));
    }
    if (fold.turned()) {
        for (const FlowSlot flow : writer.names().received_by(leader)) {
            fork.receipts.push_back({flow, world_.receiver[flow], world_.result[flow].received});
        }
    }
    world_.wake[image.host[host]] = kNever;
    image.forks.push_back(std::move(fork));
}

void Divergence::finish_window(Tick now, FlowGroups& left) {
    for (const auto& [id, number] : of_window_) {
        if (folds_.has(id, number)) {
            finish(id, number, now, left);  // else with another sheet of its part
        }
    }
    of_window_.clear();
}

void Divergence::end_at_once(std::uint32_t id, std::uint32_t number, FlowGroups& left) {
    ++count_;
    if (folds_[id].is_own(number)) {
        FlowGroups members = materializer_.take_apart(id);
        std::move(members.begin(), members.end(), std::back_inserter(left));
    } else {
        materializer_.let_go(id, number);
        if (folds_[id].images == 0) {
            materializer_.dissolve(id);
        }
    }
}

/// The copy ends, with all sheets of its part, and if that is the representative's own, the fold.
void Divergence::finish(std::uint32_t id, std::uint32_t number, Tick now, FlowGroups& left) {
    const Fold& fold = folds_[id];
    const bool own = fold.is_own(number);
    if (own) {
        FlowGroups members = fold.members();
        std::move(members.begin(), members.end(), std::back_inserter(left));
    }
    for (std::uint32_t other = 0; own && other < fold.image.size(); ++other) {
        if (fold.image[other] != nullptr && !fold.is_own(other)) {
            finish(id, other, now, left);
        }
    }
    const std::vector<std::uint32_t> numbers = fold.part_of(number);
    const std::vector<NodeId> alone = write_hosts(fold, numbers);
    if (own) {
        QuotientNames(store_, folds_.places(), fold).restore_hosts();
    }
    for (const std::uint32_t sheet : numbers) {
        write_ports(fold, *fold.image[sheet]);
    }
    if (own) {
        QuotientNames(store_, folds_.places(), fold).restore_units();
    }
    for (const std::uint32_t sheet : numbers) {
        for (const HostFork& fork : fold.image[sheet]->forks) {
            for (const HostFork::Receipt& receipt : fork.receipts) {
                world_.receiver[receipt.flow] = receipt.receiver;
                world_.result[receipt.flow].received = receipt.received;
            }
        }
    }
    if (!own && fold.turned()) {
        for (const std::uint32_t sheet : numbers) {
            left.push_back(
                members_of(fold.image[sheet]->flow));  // all sheets may have parted alike
        }
    }
    materializer_.end_part(id, numbers);
    if (fold.images == 0) {
        materializer_.dissolve(id);
    }
    for (const NodeId host : alone) {
        refresh_wake(world_, host);
        host_step(world_, whole_node(host), now);
    }
}

/// Before the ports: what hosts know of ports' counters is told by these. Returns hosts that have diverged.
std::vector<NodeId> Divergence::write_hosts(const Fold& fold,
                                            const std::vector<std::uint32_t>& numbers) {
    std::vector<NodeId> alone;
    for (const std::uint32_t sheet : numbers) {
        const Image& image = *fold.image[sheet];
        const CopyWriter writer = materializer_.writer_of(fold, image);
        for (const HostFork& fork : image.forks) {
            writer.complete_records(fold.host[fork.host]);
            alone.push_back(image.host[fork.host]);
        }
        for (std::uint32_t i = 0; i < fold.host.size(); ++i) {
            if (fold.host[i] != kNone && !image.forked(i)) {
                writer.copy_host(fold.host[i]);
            }
        }
    }
    return alone;
}

/// Ports of a copy whose hosts have diverged.
void Divergence::write_ports(const Fold& fold, const Image& image) {
    const CopyWriter writer = materializer_.writer_of(fold, image);
    std::vector<std::uint8_t> done(fold.unit.size(), 0);
    for (const HostFork& fork : image.forks) {
        write_links(writer, fork);
        for (const HostFork::Nic& nic : fork.nics) {
            for (const PortId port : {nic.port, world_.egress[nic.port].peer}) {
                if (writer.names().has(port)) {
                    done[folds_.of_port(port).index] = 1;
                }
            }
        }
    }
    for (std::uint32_t i = 0; i < fold.unit.size(); ++i) {
        if (fold.unit[i] != kNone && done[i] == 0) {
            materializer_.add_hops(writer.copy_egress(fold.unit[i]));
            writer.copy_link(fold.unit[i]);
        }
    }
}

/// The links of a host that has diverged: what its switch has taken of them since, and sent.
void Divergence::write_links(const CopyWriter& writer, const HostFork& fork) {
    for (const HostFork::Nic& nic : fork.nics) {
        const PortId peer = world_.egress[nic.port].peer;
        const auto sent = static_cast<std::size_t>(world_.egress[nic.port].tx_packets - nic.sent);
        const std::size_t taken = nic.waiting.size() + sent - world_.link[peer].size();
        writer.restore_link(nic.port, nic.waiting, taken);
        writer.copy_ingress(nic.port);
        if (writer.names().has(peer)) {
            materializer_.add_hops(writer.copy_egress(peer));
            writer.complete_link(
                peer, static_cast<std::uint32_t>(world_.egress[peer].tx_packets - nic.received));
            writer.copy_ingress(peer);
        }
    }
}

}  // namespace sluice::step
