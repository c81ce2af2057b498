// SPDX-License-Identifier: Apache-2.0
#include "core/fold/orbit_paths.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sluice::step {

bool OrbitPaths::enter(std::uint32_t id, FlowSlot flow) {
    Fold& fold = folds_[id];
    const std::uint32_t index = folds_.of_flow(flow).index;
    Turn turn;
    if (!find(id, index, turn)) {
        return false;
    }
    fold.turn[index] = std::move(turn);
    if (!keeps_order(fold)) {
        fold.turn[index] = Turn{};
        return false;
    }
    fold.turn[index].lead(world_.route[flow]);
    return true;
}

bool OrbitPaths::find_all(std::uint32_t id) {
    Fold& fold = folds_[id];
    for (std::uint32_t i = 0; i < fold.flow.size(); ++i) {
        if (fold.flow[i] != kNone && prints_.in_service(fold.flow[i])) {
            Turn turn;
            if (!find(id, i, turn)) {
                return false;
            }
            fold.turn[i] = std::move(turn);
        }
    }
    return true;
}

bool OrbitPaths::fits(std::uint32_t id, const Sheets& part) const {
    const Fold& fold = folds_[id];
    for (std::uint32_t i = 0; i < fold.flow.size(); ++i) {
        const Turn& turn = fold.turn[i];
        for (std::uint32_t sheet = 0; turn.known() && sheet < part.size(); ++sheet) {
            const FlowPrint print = prints_.known(part[sheet]->flow[i]);
            if (!print.whole || print.units != turn.print.units || print.data != turn.print.data) {
                return false;
            }
            for (std::uint32_t place = 0; place <= print.units; ++place) {
                const FoldPlace& like = place == print.units
                                            ? folds_.of_host(turn.print.dst)
                                            : folds_.of_port(turn.print.port[place]);
                std::uint32_t index = kNone;
                const Image* const of = sheet_at(id, part, print, place, index);
                if (of == nullptr || index != like.index ||
                    of->sheet != turn.unit_sheet[place][sheet]) {
                    return false;
                }
            }
        }
    }
    return true;
}

bool OrbitPaths::find(std::uint32_t id, std::uint32_t index, Turn& turn) const {
    turn.print = prints_.known(folds_[id].flow[index]);
    if (turn.print.src == kNone || !turn.print.whole) {
        return false;
    }
    const std::uint32_t places = turn.print.units;
    for (std::uint32_t place = 0; place <= places; ++place) {
        if (!find_place(id, index, place, turn)) {
            return false;
        }
    }
    return leads_on(turn);
}

/// Which sheet's unit each sheet's flow goes by at `place` of its way, or whose host it leads to.
bool OrbitPaths::find_place(std::uint32_t id, std::uint32_t index, std::uint32_t place,
                            Turn& turn) const {
    const Fold& fold = folds_[id];
    const bool host = place == turn.print.units;
    std::vector<std::uint32_t> unit_sheet;
    std::uint32_t like = kNone;
    for (const auto& part : fold.parts) {
        for (std::uint32_t sheet = 0; sheet < part->size(); ++sheet) {
            const FlowPrint print = prints_.known((*part)[sheet]->flow[index]);
            if (!print.whole || print.units != turn.print.units || print.data != turn.print.data) {
                return false;
            }
            std::uint32_t at = kNone;
            const Image* const of = sheet_at(id, *part, print, place, at);
            if (of == nullptr || (like != kNone && at != like) ||
                (part != fold.parts.front() && of->sheet != unit_sheet[sheet])) {
                return false;
            }
            like = at;
            if (part == fold.parts.front()) {
                unit_sheet.push_back(of->sheet);
            }
        }
    }
    std::vector<std::uint32_t> flow_sheet(unit_sheet.size(), kNone);
    for (std::uint32_t sheet = 0; sheet < unit_sheet.size(); ++sheet) {
        if (flow_sheet[unit_sheet[sheet]] != kNone) {
            return false;
        }
        flow_sheet[unit_sheet[sheet]] = sheet;
    }
    if (host) {
        turn.print.dst = fold.host[like];
    } else {
        turn.print.port[place] = fold.unit[like];
    }
    turn.unit_sheet.push_back(std::move(unit_sheet));
    turn.flow_sheet.push_back(std::move(flow_sheet));
    return true;
}

/// The sheet that has something at `place`; null: it is not in the fold.
const Image* OrbitPaths::sheet_of(const FoldPlace& place, std::uint32_t id) const {
    if (place.fold != id) {
        return nullptr;
    }
    const Fold& fold = folds_[id];
    return place.leads() ? fold.self.get() : fold.image[place.image].get();
}

/// The sheet of `part` in which a flow of it is at `place` of its way, and the index that this has in the fold; null: it is
/// not among the part's, or others use its cable.
const Image* OrbitPaths::sheet_at(std::uint32_t id, const Sheets& part, const FlowPrint& print,
                                  std::uint32_t place, std::uint32_t& index) const {
    const auto of_part = [&](const Image* sheet) {
        return sheet != nullptr && sheet->part.get() == &part;
    };
    const bool host = place == print.units;
    const PortId back = host ? PortId{kNone} : prints_.used_other_way(print.port[place]);
    if (back != kNone && !of_part(sheet_of(folds_.of_port(back), id))) {
        return nullptr;
    }
    const FoldPlace& at = host ? folds_.of_host(print.dst) : folds_.of_port(print.port[place]);
    const Image* const of = sheet_of(at, id);
    index = of != nullptr ? at.index : index;
    return of_part(of) ? of : nullptr;
}

/// Whether each unit of the way is where the one before leads to.
bool OrbitPaths::leads_on(const Turn& turn) const {
    NodeId node = turn.print.src;
    for (std::uint32_t i = 0; i < turn.print.units; ++i) {
        if ((i == turn.print.data && node != turn.print.dst) ||
            topology_.node_of(turn.print.port[i]) != node) {
            return false;
        }
        node = topology_.neighbor(turn.print.port[i]);
    }
    return node == turn.print.src;
}

bool OrbitPaths::keeps_order(const Fold& fold) const {
    return std::all_of(fold.parts.begin(), fold.parts.end(),
                       [&](const auto& part) { return keeps_order(fold, *part); });
}

/// What comes to the representative's by one port never does so at one instant, nor therefore does what comes to the
/// others' by several instead.
bool OrbitPaths::keeps_order(const Fold& fold, const Sheets& sheets) const {
    using Entries = std::vector<std::pair<PortId, PortId>>;  // the representative's, the sheet's
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
                    world_.egress[before.unit[folds_.of_port(feeder).index]].peer);
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
