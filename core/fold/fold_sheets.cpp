// SPDX-License-Identifier: Apache-2.0
/// Whether the sheets of a part are copies of the leader's first one.
#include <algorithm>
#include <map>
#include <utility>

#include "core/fold/folds.h"
#include "core/fold/likeness.h"

namespace sluice::step {

bool Folds::sheets_alike(const Fold& fold, const Sheets& sheets, Tick from) {
    if (!enters_alike(fold, sheets) || !keeps_order(fold, sheets)) {
        return false;
    }
    return std::all_of(sheets.begin(), sheets.end(), [&](const Image* image) {
        return image == fold.self.get() || Likeness(store_, places_, fold, *image, from).holds();
    });
}

/// Arrivals at a host at one instant are taken in the order of its ports.
bool Folds::enters_alike(const Fold& fold, const Sheets& sheets) const {
    const auto entry = [&](PortId unit) {
        const PortId receiver = world_.egress[unit].peer;
        const NodeId node = store_.topology().node_of(receiver);
        return world_.is_host[node] != 0 ? receiver - world_.first_port[node] : kNone;
    };
    return std::all_of(sheets.begin(), sheets.end(), [&](const Image* image) {
        return std::equal(fold.unit.begin(), fold.unit.end(), image->unit.begin(),
                          [&](PortId a, PortId b) { return entry(a) == entry(b); });
    });
}

bool Folds::keeps_order(const Fold& fold) const {
    return std::all_of(fold.parts.begin(), fold.parts.end(),
                       [&](const auto& part) { return keeps_order(fold, *part); });
}

/// Packets that arrive at a switch at one instant for one port are taken in the order of the ports by which
/// they come. What comes to the leader's by one port never does so at one instant, nor therefore does what
/// comes to the others' by several instead.
bool Folds::keeps_order(const Fold& fold, const Sheets& sheets) const {
    using Entries = std::vector<std::pair<PortId, PortId>>;  // the leader's, the sheet's
    std::map<std::pair<PortId, std::uint32_t>, Entries> entering;
    for (std::uint32_t i = 0; i < fold.flow.size(); ++i) {
        const Turn& turn = fold.turn[i];
        for (std::uint32_t place = 1; turn.known() && place < turn.print.units; ++place) {
            if (place == turn.print.data) {
                continue;
            }
            const PortId feeder = turn.print.port[place - 1];
            for (std::uint32_t sheet = 0; sheet < sheets.size(); ++sheet) {
                const std::uint32_t owner = turn.flow_sheet[place][sheet];
                const Image& before = *sheets[turn.unit_sheet[place - 1][owner]];
                entering[{turn.print.port[place], sheet}].emplace_back(
                    world_.egress[feeder].peer,
                    world_.egress[before.unit[places_.unit[feeder].index]].peer);
            }
        }
    }
    for (auto& [unit, entries] : entering) {
        std::sort(entries.begin(), entries.end());
        for (std::size_t i = 1; i < entries.size(); ++i) {
            if (entries[i - 1].first < entries[i].first &&
                entries[i - 1].second >= entries[i].second) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace sluice::step
