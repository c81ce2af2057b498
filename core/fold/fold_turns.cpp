// SPDX-License-Identifier: Apache-2.0
/// Parts that are folded upon themselves: of a ring whose hosts do the same, one is executed.
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/fold/folds.h"
#include "core/fold/quotient_names.h"

namespace sluice::step {

/// Folds the first of `candidates` upon itself, and those that are copies of it as well, and takes them out.
/// False: it has no symmetry that could be used.
bool Folds::fold_turned(std::vector<const Part*>& candidates, Tick now, Tick from) {
    const Part& leader = *candidates.front();
    if (leader.flows.size() < 2 ||
        std::any_of(leader.flows.begin(), leader.flows.end(),
                    [&](FlowSlot flow) { return is_sprayed(world_, flow); })) {
        return false;  // a table knows of no other way than a flow's own
    }
    if (!may_fold_inside(leader.flows)) {
        return false;
    }
    const PartShape shape(world_, prints_, leader.flows, owner_);
    const std::vector<Isomorphism> group = symmetries(world_, shape);
    if (group.size() < 2) {
        return false;
    }
    std::vector<std::uint8_t> old;
    for (const FlowSlot flow : leader.flows) {
        old.push_back(prints_[flow].src != kNone &&
                      world_.result[flow].start < now - world_.lookahead);
    }
    const std::optional<FirstSheet> first = first_sheet(store_.topology(), shape, group, old);
    if (!first.has_value()) {
        return false;
    }
    const std::uint32_t id = lead_sheet(shape, *first);
    Fold& fold = *folds_[id];
    const auto own = add_sheets(id, shape, shape, *first, group);
    const bool led = own != nullptr && take_turns(id);
    const QuotientNames names(store_, places_, fold);
    const bool named = led && names.canonical(now);
    const bool adopted = led && !named && names.adopt(from);
    const bool alike = (named || adopted) && sheets_alike(fold, *own, from);
    if (!alike) {
        if (adopted) {
            names.give_back();
        }
        drop_sheets(id, own);
        dissolve(id);
        return false;
    }
    std::vector<const Part*> others;
    for (std::size_t i = 1; i < candidates.size(); ++i) {
        if (!add_copy(id, shape, *first, group, *candidates[i], from)) {
            others.push_back(candidates[i]);
        }
    }
    candidates = std::move(others);
    begin_turns(id);
    return true;
}

bool Folds::may_fold_inside(const std::vector<FlowSlot>& flows) const {
    if (supervisor_ == nullptr) {
        return true;
    }
    std::vector<FlowSlot> in_service;
    std::copy_if(flows.begin(), flows.end(), std::back_inserter(in_service),
                 [&](FlowSlot flow) { return prints_[flow].src != kNone; });
    return supervisor_->may_fold_inside(in_service);
}

/// Whether the sheets of the leader's part still are that to a supervisor, too.
bool Folds::holds_together(const Fold& fold) const {
    if (supervisor_ == nullptr) {
        return true;
    }
    std::vector<FlowPair> pairs;
    for (const Image* const sheet : *fold.self->part) {
        for (std::size_t i = 0; i < fold.flow.size(); ++i) {
            if (fold.flow[i] != kNone && prints_[fold.flow[i]].src != kNone) {
                pairs.push_back({fold.flow[i], sheet->flow[i]});
            }
        }
    }
    return supervisor_->may_stay_folded(pairs);
}

/// The part's sheets follow those of the leader's.
bool Folds::add_copy(std::uint32_t id, const PartShape& leader, const FirstSheet& first,
                     const std::vector<Isomorphism>& group, const Part& part, Tick from) {
    const PartShape shape(world_, prints_, part.flows, owner_);
    const std::optional<Isomorphism> copy = isomorphism(world_, leader, 0, shape, 0);
    if (!copy.has_value()) {
        return false;
    }
    std::vector<Isomorphism> names;
    for (const Isomorphism& symmetry : group) {
        names.push_back(copy->after(symmetry));
    }
    const auto sheets = add_sheets(id, leader, shape, first, names);
    const auto last = static_cast<std::uint32_t>(folds_[id]->image.size() - 1);
    if (sheets == nullptr || !takes_turns(id, *sheets) ||
        !sheets_alike(*folds_[id], *sheets, from) ||
        (supervisor_ != nullptr && !part_alike(id, last, true))) {
        drop_sheets(id, sheets);
        return false;
    }
    return true;
}

std::uint32_t Folds::lead_sheet(const PartShape& shape, const FirstSheet& first) {
    const std::uint32_t id = new_fold();
    Fold& fold = *folds_[id];
    fold.self = std::make_unique<Image>();
    for (const std::uint32_t host : first.host) {
        lead_host(id, shape.host[host]);
    }
    for (const std::uint32_t unit : first.unit) {
        lead_unit(id, shape.unit[unit]);
    }
    for (const std::uint32_t flow : first.flow) {
        add_flow(id, shape.flow[flow]);
    }
    fold.self->unit = fold.unit;
    fold.self->host = fold.host;
    return id;
}

/// The sheets of `part`, by the names that each has for what is the leader's first; null, and nothing is
/// changed, if some of it is in a fold. The first part's own first sheet is the leader.
std::shared_ptr<const Sheets> Folds::add_sheets(std::uint32_t id, const PartShape& leader,
                                                const PartShape& part, const FirstSheet& first,
                                                const std::vector<Isomorphism>& names) {
    Fold& fold = *folds_[id];
    const bool own = fold.parts.empty();
    std::vector<std::unique_ptr<Image>> images;
    for (std::size_t sheet = own ? 1 : 0; sheet < names.size(); ++sheet) {
        auto image = std::make_unique<Image>();
        image->sheet = static_cast<std::uint32_t>(sheet);
        image->unit.assign(fold.unit.size(), kNone);
        image->host.assign(fold.host.size(), kNone);
        image->flow.assign(fold.flow.size(), kNone);
        for (const std::uint32_t unit : first.unit) {
            image->unit[places_.unit[leader.unit[unit]].index] = part.unit[names[sheet].unit[unit]];
        }
        for (const std::uint32_t host : first.host) {
            image->host[places_.host[leader.host[host]].index] = part.host[names[sheet].host[host]];
        }
        for (const std::uint32_t flow : first.flow) {
            image->flow[places_.flow[leader.flow[flow]].index] = part.flow[names[sheet].flow[flow]];
        }
        if (!free_to_follow(*image)) {
            return nullptr;
        }
        images.push_back(std::move(image));
    }
    const auto sheets = std::make_shared<Sheets>();
    if (own) {
        fold.self->part = sheets;
        sheets->push_back(fold.self.get());
    }
    for (std::unique_ptr<Image>& image : images) {
        image->part = sheets;
        sheets->push_back(image.get());
        fold.image.push_back(std::move(image));
        claim(id, static_cast<std::uint32_t>(fold.image.size() - 1));
    }
    fold.parts.push_back(sheets);
    return sheets;
}

bool Folds::free_to_follow(const Image& image) const {
    const auto free = [](const std::vector<FoldPlace>& places,
                         const std::vector<std::uint32_t>& ids) {
        return std::none_of(ids.begin(), ids.end(),
                            [&](std::uint32_t id) { return id == kNone || places[id].folded(); });
    };
    return free(places_.unit, image.unit) && free(places_.host, image.host) &&
           free(places_.flow, image.flow);
}

/// The sheets last added are not in the fold.
void Folds::drop_sheets(std::uint32_t id, const std::shared_ptr<const Sheets>& sheets) {
    Fold& fold = *folds_[id];
    if (sheets == nullptr) {
        return;
    }
    while (!fold.image.empty() && fold.image.back()->part == sheets) {
        const Image& image = *fold.image.back();
        for (const PortId port : image.unit) {
            place_unit(port, FoldPlace{});
        }
        for (const NodeId host : image.host) {
            places_.host[host] = FoldPlace{};
        }
        for (const FlowSlot flow : image.flow) {
            places_.flow[flow] = FoldPlace{};
        }
        fold.image.pop_back();
    }
    fold.parts.pop_back();
}

/// Everybody's packets are led among the leader's units from here on.
void Folds::begin_turns(std::uint32_t id) {
    Fold& fold = *folds_[id];
    count_anew(fold);
    for (std::uint32_t i = 0; i < fold.flow.size(); ++i) {
        if (fold.turn[i].known()) {
            turn_route(fold.flow[i], fold.turn[i]);
            use_in_fold(fold, i);
        }
    }
    for (const auto& image : fold.image) {
        ++fold.images;
        still(fold, *image);
    }
    wake_for_followers(fold);
}

/// Finds the ways of all flows in service; false if one has none.
bool Folds::take_turns(std::uint32_t id) {
    Fold& fold = *folds_[id];
    for (std::uint32_t i = 0; i < fold.flow.size(); ++i) {
        if (fold.flow[i] != kNone && prints_[fold.flow[i]].src != kNone) {
            Turn turn;
            if (!find_turn(id, i, turn)) {
                return false;
            }
            fold.turn[i] = std::move(turn);
        }
    }
    return true;
}

/// Whether the flows of a part that has been added go the ways that have been found.
bool Folds::takes_turns(std::uint32_t id, const Sheets& part) const {
    const Fold& fold = *folds_[id];
    for (std::uint32_t i = 0; i < fold.flow.size(); ++i) {
        const Turn& turn = fold.turn[i];
        for (std::uint32_t sheet = 0; turn.known() && sheet < part.size(); ++sheet) {
            const FlowPrint print = known_print(part[sheet]->flow[i]);
            if (!print.whole || print.units != turn.print.units || print.data != turn.print.data) {
                return false;
            }
            for (std::uint32_t place = 0; place <= print.units; ++place) {
                const FoldPlace& like = place == print.units ? places_.host[turn.print.dst]
                                                             : places_.unit[turn.print.port[place]];
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

/// Of a flow that may not have been taken up yet.
FlowPrint Folds::known_print(FlowSlot flow) const {
    return prints_[flow].src != kNone ? prints_[flow] : print_of(flow);
}

bool Folds::find_turn(std::uint32_t id, std::uint32_t index, Turn& turn) const {
    turn.print = known_print(folds_[id]->flow[index]);
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

/// Which sheet's unit each sheet's flow goes by at `place` of its way, or whose host it leads to: all by the
/// like of one unit, no two by the same, and all parts alike.
bool Folds::find_place(std::uint32_t id, std::uint32_t index, std::uint32_t place,
                       Turn& turn) const {
    const Fold& fold = *folds_[id];
    const bool host = place == turn.print.units;
    std::vector<std::uint32_t> unit_sheet;
    std::uint32_t like = kNone;
    for (const auto& part : fold.parts) {
        for (std::uint32_t sheet = 0; sheet < part->size(); ++sheet) {
            const FlowPrint print = known_print((*part)[sheet]->flow[index]);
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

/// The sheet of `part` in which a flow of it is at `place` of its way, and the index that this has in the fold; null: it is
/// not among the part's, or others are there.
const Image* Folds::sheet_at(std::uint32_t id, const Sheets& part, const FlowPrint& print,
                             std::uint32_t place, std::uint32_t& index) const {
    const bool host = place == print.units;
    if (!host && meets_part_by_cable(id, print.port[place], part)) {
        return nullptr;
    }
    const FoldPlace& at = host ? places_.host[print.dst] : places_.unit[print.port[place]];
    if (at.fold != id) {
        return nullptr;
    }
    index = at.index;
    const Fold& fold = *folds_[id];
    const Image* const of = at.leads() ? fold.self.get() : fold.image[at.image].get();
    return of->part.get() == &part ? of : nullptr;
}

/// Partitions are joined by cables: whether something that is not of the part goes the other way on that of
/// `port`.
bool Folds::meets_part_by_cable(std::uint32_t id, PortId port, const Sheets& part) const {
    const PortId back = world_.egress[port].peer;
    const FoldPlace& place = places_.unit[back];
    if (supervisor_ == nullptr || unit_uses_[back] == 0) {
        return false;
    }
    const Fold& fold = *folds_[id];
    const Image* const of = place.fold != id ? nullptr
                            : place.leads()  ? fold.self.get()
                                             : fold.image[place.image].get();
    return of == nullptr || of->part.get() != &part;
}

/// Whether each unit of the way is where the one before leads to.
bool Folds::leads_on(const Turn& turn) const {
    const Topology& topology = store_.topology();
    NodeId node = turn.print.src;
    for (std::uint32_t i = 0; i < turn.print.units; ++i) {
        if ((i == turn.print.data && node != turn.print.dst) ||
            topology.node_of(turn.print.port[i]) != node) {
            return false;
        }
        node = topology.neighbor(turn.print.port[i]);
    }
    return node == turn.print.src;
}

/// Whether a flow of a leader's stays in the fold, as its images do.
bool Folds::inside(std::uint32_t id, FlowSlot flow) {
    if (!folds_[id]->turned()) {
        return all_inside(id, flow);
    }
    Turn turn;
    return find_turn(id, places_.flow[flow].index, turn);
}

/// A flow of a fold of several sheets has come into service; false if its like do not go by theirs.
bool Folds::turn_up(std::uint32_t id, FlowSlot flow) {
    Fold& fold = *folds_[id];
    const std::uint32_t index = places_.flow[flow].index;
    Turn turn;
    if (!find_turn(id, index, turn)) {
        return false;
    }
    fold.turn[index] = std::move(turn);
    if (!keeps_order(fold)) {
        fold.turn[index] = Turn{};
        return false;
    }
    turn_route(flow, fold.turn[index]);
    return true;
}

void Folds::turn_route(FlowSlot flow, Turn& turn) {
    FlowRoute& route = world_.route[flow];
    std::copy_n(route.port, 2 * kPathHops, turn.route);
    turn.led = true;
    std::fill_n(route.port, 2 * kPathHops, PortId{kNone});
    std::copy_n(turn.print.port, turn.print.data, route.port);
    std::copy(turn.print.port + turn.print.data, turn.print.port + turn.print.units,
              route.port + kPathHops);
}

/// The flow goes its own way again.
void Folds::turn_back(Fold& fold, std::uint32_t index) {
    if (!fold.turned()) {
        return;
    }
    const Turn& turn = fold.turn[index];
    if (turn.led) {
        std::copy_n(turn.route, 2 * kPathHops, world_.route[fold.flow[index]].port);
    }
    fold.turn[index] = Turn{};
}

/// The way of a leader's flow in its fold.
const FlowPrint& Folds::print_in(const Fold& fold, std::uint32_t index) const {
    return fold.turned() ? fold.turn[index].print : prints_[fold.flow[index]];
}

/// Images that are sheets of one part with image `number`, itself first or among them.
std::vector<std::uint32_t> Folds::part_of(const Fold& fold, std::uint32_t number) const {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < fold.image.size(); ++i) {
        const bool same = fold.image[i] != nullptr && fold.turned() &&
                          fold.image[i]->part == fold.image[number]->part;
        if (i == number || same) {
            numbers.push_back(i);
        }
    }
    return numbers;
}

}  // namespace sluice::step
