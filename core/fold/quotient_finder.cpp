// SPDX-License-Identifier: Apache-2.0
#include "core/fold/quotient_finder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/fold/likeness.h"
#include "core/fold/quotient_names.h"

namespace sluice::step {

bool QuotientFinder::fold_inside(std::vector<const FlowGroup*>& candidates, Tick now, Tick from) {
    const FlowGroup& leader = *candidates.front();
    if (!may_be_symmetric(leader)) {
        return false;
    }
    const PartShape shape = parts_.shape_of(leader);
    const std::vector<Isomorphism> group = symmetries(world_, shape);
    if (group.size() < 2) {
        return false;
    }
    const std::optional<FirstSheet> first =
        first_sheet(store_.topology(), shape, group, old_flows(leader, now));
    if (!first.has_value()) {
        return false;
    }
    const std::uint32_t id = lead_sheet(shape, *first);
    if (!fold_own(id, shape, *first, group, now, from)) {
        materializer_.dissolve(id);
        return false;
    }
    std::vector<const FlowGroup*> others;
    for (std::size_t i = 1; i < candidates.size(); ++i) {
        if (!add_part(id, shape, *first, group, *candidates[i], from)) {
            others.push_back(candidates[i]);
        }
    }
    candidates = std::move(others);
    members_.begin_copies(id);
    return true;
}

bool QuotientFinder::may_be_symmetric(const FlowGroup& part) const {
    // Of a sprayed flow a table knows no other way than its own.
    return part.size() >= 2 &&
           std::none_of(part.begin(), part.end(),
                        [&](FlowSlot flow) { return is_sprayed(world_, flow); }) &&
           supervision_.may_fold_inside(part);
}

/// By place in the part: the flow was in service before the window just executed.
std::vector<std::uint8_t> QuotientFinder::old_flows(const FlowGroup& part, Tick now) const {
    std::vector<std::uint8_t> old;
    for (const FlowSlot flow : part) {
        old.push_back(prints_.in_service(flow) &&
                      world_.result[flow].start < now - world_.lookahead);
    }
    return old;
}

/// Lists the other sheets of the representative's own part. False, and none is listed: they are not its copies.
bool QuotientFinder::fold_own(std::uint32_t id, const PartShape& shape, const FirstSheet& first,
                              const std::vector<Isomorphism>& group, Tick now, Tick from) {
    const Fold& fold = folds_[id];
    const auto own = add_sheets(id, shape, shape, first, group);
    const bool led = own != nullptr && paths_.find_all(id);
    const QuotientNames names(store_, folds_.places(), fold);
    const bool named = led && names.canonical(now);
    const bool adopted = led && !named && names.adopt(from);
    if ((named || adopted) && sheets_alike(fold, *own, from)) {
        return true;
    }
    if (adopted) {
        names.give_back();
    }
    drop_sheets(id, own);
    return false;
}

/// The part's sheets are copies of the representative; false, and nothing is changed: they are not.
bool QuotientFinder::add_part(std::uint32_t id, const PartShape& leader, const FirstSheet& first,
                              const std::vector<Isomorphism>& group, const FlowGroup& part,
                              Tick from) {
    const PartShape shape = parts_.shape_of(part);
    const std::optional<Isomorphism> copy = isomorphism(world_, leader, 0, shape, 0);
    if (!copy.has_value()) {
        return false;
    }
    std::vector<Isomorphism> names;
    for (const Isomorphism& symmetry : group) {
        names.push_back(copy->after(symmetry));
    }
    const auto sheets = add_sheets(id, leader, shape, first, names);
    const Fold& fold = folds_[id];
    if (sheets == nullptr || !paths_.fits(id, *sheets) || !sheets_alike(fold, *sheets, from) ||
        !supervision_.alike(fold, *fold.image.back(), true)) {
        drop_sheets(id, sheets);
        return false;
    }
    return true;
}

std::uint32_t QuotientFinder::lead_sheet(const PartShape& shape, const FirstSheet& first) {
    const std::uint32_t id = folds_.create();
    Fold& fold = folds_[id];
    fold.self = std::make_unique<Image>();
    for (const std::uint32_t host : first.host) {
        members_.lead_host(id, shape.host[host]);
    }
    for (const std::uint32_t unit : first.unit) {
        members_.lead_port(id, shape.unit[unit]);
    }
    for (const std::uint32_t flow : first.flow) {
        members_.add_flow(id, shape.flow[flow]);
    }
    fold.self->unit = fold.unit;
    fold.self->host = fold.host;
    return id;
}

/// The sheets of `part`, by the names that each has for what is the leader's first; null, and nothing is
/// changed, if some of it is in a fold. The first part's own first sheet is the leader.
std::shared_ptr<const Sheets> QuotientFinder::add_sheets(std::uint32_t id, const PartShape& leader,
                                                         const PartShape& part,
                                                         const FirstSheet& first,
                                                         const std::vector<Isomorphism>& names) {
    Fold& fold = folds_[id];
    const bool own = fold.parts.empty();
    std::vector<std::unique_ptr<Image>> images;
    for (std::size_t sheet = own ? 1 : 0; sheet < names.size(); ++sheet) {
        auto image = std::make_unique<Image>();
        image->sheet = static_cast<std::uint32_t>(sheet);
        image->unit.assign(fold.unit.size(), kNone);
        image->host.assign(fold.host.size(), kNone);
        image->flow.assign(fold.flow.size(), kNone);
        for (const std::uint32_t unit : first.unit) {
            image->unit[folds_.of_port(leader.unit[unit]).index] =
                part.unit[names[sheet].unit[unit]];
        }
        for (const std::uint32_t host : first.host) {
            image->host[folds_.of_host(leader.host[host]).index] =
                part.host[names[sheet].host[host]];
        }
        for (const std::uint32_t flow : first.flow) {
            image->flow[folds_.of_flow(leader.flow[flow]).index] =
                part.flow[names[sheet].flow[flow]];
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
        folds_.place_copy(id, static_cast<std::uint32_t>(fold.image.size() - 1));
    }
    fold.parts.push_back(sheets);
    return sheets;
}

bool QuotientFinder::free_to_follow(const Image& image) const {
    const auto free = [](const std::vector<FoldPlace>& of, const std::vector<std::uint32_t>& ids) {
        return std::none_of(ids.begin(), ids.end(),
                            [&](std::uint32_t id) { return id == kNone || of[id].folded(); });
    };
    const FoldPlaces& places = folds_.places();
    return free(places.unit, image.unit) && free(places.host, image.host) &&
           free(places.flow, image.flow);
}

/// The sheets last added are not in the fold.
void QuotientFinder::drop_sheets(std::uint32_t id, const std::shared_ptr<const Sheets>& sheets) {
    Fold& fold = folds_[id];
    if (sheets == nullptr) {
        return;
    }
    while (!fold.image.empty() && fold.image.back()->part == sheets) {
        folds_.displace_copy(fold, *fold.image.back());
        fold.image.pop_back();
    }
    fold.parts.pop_back();
}

bool QuotientFinder::sheets_alike(const Fold& fold, const Sheets& sheets, Tick from) const {
    if (!enters_alike(fold, sheets) || !paths_.keeps_order(fold, sheets)) {
        return false;
    }
    return std::all_of(sheets.begin(), sheets.end(), [&](const Image* image) {
        return image == fold.self.get() ||
               Likeness(store_, folds_.places(), fold, *image, from).holds();
    });
}

/// Arrivals at a host at one instant are taken in the order of its ports.
bool QuotientFinder::enters_alike(const Fold& fold, const Sheets& sheets) const {
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

}  // namespace sluice::step
