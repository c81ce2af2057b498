// SPDX-License-Identifier: Apache-2.0
/// A fold: a part of the network that is executed, its *leader*, and *images* of it, copies elsewhere in
/// the network that would do the same, port by port, at the same instants, and are not executed. An
/// image's columns stand still, but for the timers that its own applications set; what they would hold is
/// the leader's, renamed.
///
/// Parts are flows, the hosts at their ends, and *units*: an egress port with the link that it feeds and
/// what the switch at its other end has counted in by it. A leader's parts have indices, under which each
/// image lists its own.
///
/// A part may be folded upon itself: a ring of hosts that all do the same is the first of them, over again.
/// Its *sheets* (as of a covering space) are then images of its first one, the leader, whose packets stay
/// among its own units: what would go on to the next sheet comes in again by the same unit of the leader's,
/// as the like of it comes from the sheet before. So a packet at a unit of an image's need not be of the
/// image's own flow: which sheet's it is, `Turn` tells. Parts that are copies have as many sheets each.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/packet/state_fields.h"
#include "core/world/world_store.h"

namespace sluice::step {

/// Flows that belong together.
using FlowGroup = std::vector<FlowSlot>;
using FlowGroups = std::vector<FlowGroup>;

/// What the leader's port had counted when it was folded.
struct UnitBase {
    Counters<Egress> counters;
    std::uint32_t max_queued_bytes = 0;  ///< from then on it counts anew
    Tick free_at = 0;
    FrameCount skipped;
};

/// A host of an image that is executed again from the middle of a window on.
struct HostFork {
    std::uint32_t host = 0;  ///< its index
    struct Nic {
        PortId port = kNone;          ///< the leader's
        std::vector<Packet> waiting;  ///< on its link then, the leader's
        std::int64_t sent = 0;        ///< packets, by it
        std::int64_t received = 0;    ///< packets, sent by its peer
    };
    std::vector<Nic> nics;
    /// Where sheets are folded, a receiver's place may be the leader's meanwhile: what it has received by then.
    struct Receipt {
        FlowSlot flow = kNone;
        Receiver receiver;
        Tick received = kNever;
    };
    std::vector<Receipt> receipts;
};

struct Image;
/// Those of one part; the first of the leader's own part is the leader (Fold::self).
using Sheets = std::vector<Image*>;

struct Image {
    std::shared_ptr<const Sheets> part;  ///< null: of one sheet
    std::uint32_t sheet = 0;             ///< its place there
    std::vector<PortId> unit;
    std::vector<NodeId> host;
    std::vector<FlowSlot> flow;
    std::vector<HostFork> forks;  ///< of the window under way

    bool forked(std::uint32_t host_index) const {
        for (const HostFork& fork : forks) {
            if (fork.host == host_index) {
                return true;
            }
        }
        return false;
    }
};

/// Units that draw, with one each that packets come from to it; ascending, nothing twice.
using FeedersOf = std::vector<std::pair<PortId, PortId>>;

/// Of ports that mark: how much may wait there.
using Backlogs = std::vector<std::pair<PortId, std::int64_t>>;

/// What a flow's packets touch, data first, each way from its own sender.
struct FlowPrint {
    PortId port[2 * kPathHops] = {};
    std::uint8_t data = 0;   ///< units of its data
    std::uint8_t units = 0;  ///< of data and ACKs
    bool whole = false;      ///< it leads there and back, and is no longer than a route is known
    NodeId src = kNone;
    NodeId dst = kNone;
};

/// The way of a leader's flow in a fold of several sheets.
struct Turn {
    FlowPrint print;                   ///< within the leader's sheet
    PortId route[2 * kPathHops] = {};  ///< its own, while its packets go by `print` instead
    bool led = false;                  ///< they do
    /// By place on the way, the destination last: the sheet of the unit (of the host) by that of the flow,
    /// and the other way round. Empty: it has come into service in the window just executed, and no packet of
    /// it is beyond its own host's units.
    std::vector<std::vector<std::uint32_t>> unit_sheet;
    std::vector<std::vector<std::uint32_t>> flow_sheet;

    bool known() const { return !unit_sheet.empty(); }
    /// The flow's packets go by `print`, and by their own way again.
    void lead(FlowRoute& of_flow);
    void restore(FlowRoute& of_flow) const;
};

struct Fold {
    std::vector<PortId> unit;              ///< kNone: in the fold no more
    std::vector<std::uint32_t> unit_uses;  ///< by flows in service, and the unit's host
    std::vector<UnitBase> base;            ///< by unit
    std::vector<NodeId> host;              ///< the same
    std::vector<std::uint32_t> host_uses;  ///< by flows: sent, and in service, received
    std::vector<std::vector<std::uint32_t>>
        source;                                 ///< by host: indices of the flows that it sends
    std::vector<FlowSlot> flow;                 ///< started and not gone; kNone: the index is free
    std::vector<std::unique_ptr<Image>> image;  ///< null: gone
    FeedersOf feeders;                          ///< of its flows in service so far
    Backlogs backlogs;
    std::vector<std::uint32_t> free_flows;  ///< indices
    std::uint32_t flows = 0;
    std::uint32_t images = 0;
    // Of several sheets:
    std::unique_ptr<Image> self;                       ///< the leader; null: of one sheet
    std::vector<Turn> turn;                            ///< by flow
    std::vector<std::shared_ptr<const Sheets>> parts;  ///< its own, then its copies

    bool turned() const { return self != nullptr; }
    /// Whether a copy is another sheet of the representative's part.
    bool is_own(std::uint32_t number) const {
        return turned() && image[number]->part == self->part;
    }
    /// Numbers of the copies that are sheets of one part with copy `number`, itself among them.
    std::vector<std::uint32_t> part_of(std::uint32_t number) const;
    /// Flows of the representative and of each copy.
    FlowGroups members() const;
};

/// Of a representative's or a copy's flows those that are in the fold.
FlowGroup members_of(const std::vector<FlowSlot>& flows);

/// Where something stands in a fold.
struct FoldPlace {
    static constexpr std::uint32_t kLeader = kNone;

    std::uint32_t fold = kNone;  ///< kNone: in none
    std::uint32_t image = kLeader;
    std::uint32_t index = 0;

    bool folded() const { return fold != kNone; }
    bool leads() const { return fold != kNone && image == kLeader; }
};

/// Places of everything.
struct FoldPlaces {
    std::vector<FoldPlace> unit;  ///< by port
    std::vector<FoldPlace> host;  ///< by node
    std::vector<FoldPlace> flow;  ///< by slot
};

}  // namespace sluice::step
