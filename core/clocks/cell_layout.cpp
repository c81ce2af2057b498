// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/cell_layout.h"

#include <algorithm>

#include "core/packet/buffer.h"
#include "core/world/lookahead.h"

namespace sluice::step {

CellLayout::CellLayout(WorldStore& store) : store_(store), world_(store.world()) {
    const Topology& topology = store.topology();
    const auto nodes = static_cast<std::uint32_t>(topology.node_count());
    const std::uint32_t home_blocks = (nodes + 63) / 64;
    store.resize_cells(home_blocks * 64);
    slots_.resize(std::size_t{home_blocks} * 64);
    blocks_.resize(home_blocks);
    domains_.resize(1);
    cells_at_.resize(nodes);
    for (std::uint32_t b = 0; b < home_blocks; ++b) {
        blocks_[b].owner = kIdle;
        domains_[kIdle].blocks.push_back(b);
    }
    // Where an application's signals are quicker than all links, they limit every domain.
    const bool signals = world_.lookahead < network_lookahead(topology, store.config());
    const Tick most = signals ? world_.lookahead : kNever;
    for (PortId p = 0; p < topology.port_count(); ++p) {
        const Link& link = topology.links()[topology.link_of(p)];
        lookahead_.push_back(std::min(most, link_lookahead(link, store.config())));
    }
    for (NodeId n = 0; n < nodes; ++n) {
        unused_.push_back(world_.buffer[n]);
        unused_[n].shared_used = 0;
        unused_[n].held_classes = 0;
        slots_[n].cell = whole_node(n);
        slots_[n].domain = kIdle;
        blocks_[n / 64].used |= std::uint64_t{1} << n % 64;
        blocks_[n / 64].height = n % 64 + 1;
        cells_at_[n] = {n};
    }
    domains_[kIdle].cells = nodes;
    domains_[kIdle].lookahead = world_.lookahead;
}

DomainId CellLayout::add_domain() {
    if (free_domains_.empty()) {
        domains_.emplace_back();
        return static_cast<DomainId>(domains_.size() - 1);
    }
    const DomainId domain = free_domains_.back();
    free_domains_.pop_back();
    domains_[domain] = Domain{};
    return domain;
}

void CellLayout::remove_domain(DomainId domain) { free_domains_.push_back(domain); }

CellId CellLayout::allocate(DomainId domain, NodeId node) {
    CellId id = node;
    if (domain != kIdle) {
        Domain& owner = domains_[domain];
        const auto room =
            std::find_if(owner.blocks.begin(), owner.blocks.end(),
                         [&](std::uint32_t b) { return blocks_[b].used != ~std::uint64_t{0}; });
        std::uint32_t block = 0;
        if (room != owner.blocks.end()) {
            block = *room;
        } else {
            if (free_blocks_.empty()) {
                free_blocks_.push_back(static_cast<std::uint32_t>(blocks_.size()));
                blocks_.emplace_back();
                slots_.resize(blocks_.size() * 64);
                store_.resize_cells(static_cast<std::uint32_t>(slots_.size()));
            }
            block = free_blocks_.back();
            free_blocks_.pop_back();
            blocks_[block].owner = domain;
            owner.blocks.push_back(block);
        }
        std::uint32_t bit = 0;
        while ((blocks_[block].used >> bit & 1U) != 0) {
            ++bit;
        }
        id = block * 64 + bit;
    }
    blocks_[id / 64].used |= std::uint64_t{1} << id % 64;
    blocks_[id / 64].height = std::max(blocks_[id / 64].height, id % 64 + 1);
    ++domains_[domain].cells;
    slots_[id].domain = domain;
    return id;
}

void CellLayout::release(CellId id) {
    const std::uint32_t block = id / 64;
    const DomainId domain = slots_[id].domain;
    world_.wake[id] = kNever;
    slots_[id].domain = kNone;
    --domains_[domain].cells;
    Block& home = blocks_[block];
    home.used &= ~(std::uint64_t{1} << id % 64);
    while (home.height > 0 && (home.used >> (home.height - 1) & 1U) == 0) {
        --home.height;
    }
    if (blocks_[block].used == 0 && domain != kIdle) {
        std::vector<std::uint32_t>& blocks = domains_[domain].blocks;
        blocks.erase(std::find(blocks.begin(), blocks.end(), block));
        blocks_[block].owner = kNone;
        free_blocks_.push_back(block);
        world_.block_wake[block] = kNever;
    }
}

void CellLayout::take_stock(const Cell& cell) {
    const PortId first = world_.first_port[cell.node];
    const std::uint32_t ports = world_.first_port[cell.node + 1] - first;
    const std::uint32_t count = cell.ports == nullptr ? ports : cell.port_count;
    Buffer& buffer = world_.buffer[cell.id];
    buffer = unused_[cell.node];
    Tick wake = kNever;
    for (std::uint32_t k = 0; k < count; ++k) {
        const PortId p = first + (cell.ports == nullptr ? k : cell.ports[k]);
        wake = std::min({wake, world_.link[p].arrival, world_.link[p].decision});
        if (world_.is_host[cell.node] != 0) {
            continue;
        }
        for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
            buffer.shared_used += world_.pfc   ? shared_use(buffer, world_.ingress[p], queue)
                                  : queue != 0 ? world_.egress[p].class_bytes[queue]
                                               : 0;
        }
        buffer.held_classes += held_classes(world_.ingress[p]);
    }
    const PlainVector<Timer>& timers = world_.host[cell.node].timers;
    if (timers.count > 0) {
        wake = std::min(wake, timers.data[0].time);
    }
    world_.wake[cell.id] = kNever;
    wake_cell(world_, cell.id, wake);
}

void CellLayout::fill(CellId id, NodeId node, const std::vector<DomainId>& owners) {
    Slot& slot = slots_[id];
    slot.ports.clear();
    const PortId first = world_.first_port[node];
    Domain& domain = domains_[slot.domain];
    for (std::uint32_t i = 0; i < owners.size(); ++i) {
        if (owners[i] == slot.domain) {
            slot.ports.push_back(static_cast<std::uint16_t>(i));
            world_.egress[world_.egress[first + i].peer].peer_cell = id;
            domain.lookahead = std::min(domain.lookahead, lookahead_[first + i]);
        }
    }
    slot.cell.node = node;
    slot.cell.id = id;
    slot.cell.ports = nullptr;
    slot.cell.port_count = 0;
    if (slot.ports.size() < owners.size()) {
        slot.cell.ports = slot.ports.data();
        slot.cell.port_count = static_cast<std::uint32_t>(slot.ports.size());
    }
    take_stock(slot.cell);
}

void CellLayout::arrange(NodeId node, const std::vector<DomainId>& owners) {
    std::vector<CellId> before;
    before.swap(cells_at_[node]);
    std::vector<CellId>& now = cells_at_[node];
    for (const DomainId owner : owners) {
        const auto of_owner = [&](CellId id) { return slots_[id].domain == owner; };
        if (std::any_of(now.begin(), now.end(), of_owner)) {
            continue;
        }
        const auto known = std::find_if(before.begin(), before.end(), of_owner);
        now.push_back(known != before.end() ? *known : allocate(owner, node));
    }
    for (const CellId id : now) {
        fill(id, node, owners);
    }
    store_.set_home(node, now.front());
    divided_nodes_ += now.size() > 1 ? 1 : 0;
    divided_nodes_ -= before.size() > 1 ? 1 : 0;
    for (const CellId id : before) {
        if (std::find(now.begin(), now.end(), id) == now.end()) {
            release(id);
        }
    }
}

void CellLayout::reset() {
    for (NodeId n = 0; n < cells_at_.size(); ++n) {
        const std::uint32_t ports = world_.first_port[n + 1] - world_.first_port[n];
        if (ports > 0) {
            arrange(n, std::vector<DomainId>(ports, kIdle));
        }
    }
}

void CellLayout::reserve_for_others(CellId cell, std::int64_t others) {
    world_.buffer[cell].shared_size = unused_[slots_[cell].cell.node].shared_size - others;
}

std::vector<CellId> CellLayout::cells(DomainId domain) const {
    std::vector<CellId> all;
    for (const std::uint32_t block : domains_[domain].blocks) {
        for (std::uint32_t bit = 0; bit < 64; ++bit) {
            if ((blocks_[block].used >> bit & 1U) != 0) {
                all.push_back(block * 64 + bit);
            }
        }
    }
    return all;
}

}  // namespace sluice::step
