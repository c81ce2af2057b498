// SPDX-License-Identifier: Apache-2.0
/// How ports are grouped into cells, and cells into domains, each with a clock of its own. At first
/// every node is one cell of the idle domain. Cell ids come in blocks of 64 (World::block_wake) and
/// a block belongs to one domain, so that a domain is scanned without looking at the others.
/// Changed between windows only; costs the ports of the nodes that change.
#pragma once

#include <cstdint>
#include <vector>

#include "core/world/world_store.h"

namespace sluice::step {

using DomainId = std::uint32_t;

class CellLayout {
  public:
    /// Of nodes that nobody uses. Its cells are whole nodes; cell n is node n.
    static constexpr DomainId kIdle = 0;

    /// Takes the store as it is built: no node split.
    explicit CellLayout(WorldStore& store);
    CellLayout(const CellLayout&) = delete;
    CellLayout& operator=(const CellLayout&) = delete;

    DomainId add_domain();
    /// The domain must have no cells left.
    void remove_domain(DomainId domain);

    /// Gives each port of a node, by local index, to a domain; a host's all to the same one. Wakes
    /// and buffers of the cells that come of it are those of their ports, and each cell's limit is
    /// the switch's whole shared buffer.
    void arrange(NodeId node, const std::vector<DomainId>& owners);
    /// Makes every node one cell of the idle domain.
    void reset();
    /// Leaves the cell `others` bytes less of its switch's shared buffer.
    void reserve_for_others(CellId cell, std::int64_t others);

    const Cell& cell(CellId id) const { return slots_[id].cell; }
    DomainId domain_of(CellId id) const { return slots_[id].domain; }
    /// Cells of a node, in order of their first ports.
    const std::vector<CellId>& cells_at(NodeId node) const { return cells_at_[node]; }
    /// Nodes that are several cells.
    std::size_t divided_nodes() const { return divided_nodes_; }
    std::vector<CellId> cells(DomainId domain) const;
    std::size_t cell_count(DomainId domain) const { return domains_[domain].cells; }
    const std::vector<std::uint32_t>& blocks(DomainId domain) const {
        return domains_[domain].blocks;
    }
    /// Past the last cell of a block.
    CellId end_of_block(std::uint32_t block) const { return block * 64 + blocks_[block].height; }
    /// The least lookahead of the links that the domain has had since it was made.
    Tick lookahead(DomainId domain) const { return domains_[domain].lookahead; }

  private:
    struct Slot {
        Cell cell;
        DomainId domain = kNone;
        std::vector<std::uint16_t> ports;  ///< what cell.ports points to
    };
    struct Domain {
        std::vector<std::uint32_t> blocks;
        std::size_t cells = 0;
        Tick lookahead = kNever;
    };
    struct Block {
        DomainId owner = kNone;
        std::uint64_t used = 0;    ///< bit per cell
        std::uint32_t height = 0;  ///< past its highest bit
    };

    CellId allocate(DomainId domain, NodeId node);
    void release(CellId id);
    void fill(CellId id, NodeId node, const std::vector<DomainId>& owners);
    void take_stock(const Cell& cell);

    WorldStore& store_;
    World& world_;
    std::vector<Slot> slots_;  ///< by cell
    std::vector<Block> blocks_;
    std::vector<std::uint32_t> free_blocks_;
    std::vector<Domain> domains_;
    std::vector<DomainId> free_domains_;
    std::vector<std::vector<CellId>> cells_at_;  ///< by node
    std::size_t divided_nodes_ = 0;
    std::vector<Buffer> unused_;   ///< by node
    std::vector<Tick> lookahead_;  ///< by port
};

}  // namespace sluice::step
