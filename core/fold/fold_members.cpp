// SPDX-License-Identifier: Apache-2.0
#include "core/fold/fold_members.h"

#include <algorithm>
#include <utility>

#include "core/fold/copy_writer.h"

namespace sluice::step {

void FoldMembers::lead_port(std::uint32_t id, PortId port) {
    if (folds_.of_port(port).folded()) {
        return;
    }
    Fold& fold = folds_[id];
    const Egress& egress = world_.egress[port];
    folds_.place_port(
        port, FoldPlace{id, FoldPlace::kLeader, static_cast<std::uint32_t>(fold.unit.size())});
    fold.unit.push_back(port);
    fold.unit_uses.push_back(0);
    fold.base.push_back(UnitBase{counters_of(egress), egress.max_queued_bytes, egress.free_at,
                                 store_.skipped(port)});
}

void FoldMembers::lead_host(std::uint32_t id, NodeId host) {
    if (folds_.of_host(host).folded()) {
        return;
    }
    Fold& fold = folds_[id];
    folds_.place_host(
        host, FoldPlace{id, FoldPlace::kLeader, static_cast<std::uint32_t>(fold.host.size())});
    fold.host.push_back(host);
    fold.host_uses.push_back(0);
    fold.source.emplace_back();
    for (PortId p = world_.first_port[host]; p < world_.first_port[host + 1]; ++p) {
        lead_port(id, p);
        ++fold.unit_uses[folds_.of_port(p).index];
    }
}

std::uint32_t FoldMembers::lead(const FlowGroup& part) {
    const std::uint32_t id = folds_.create();
    for (const FlowSlot flow : part) {
        lead_host(id, world_.spec[flow].src);
        if (prints_.in_service(flow)) {
            const FlowPrint& print = prints_.of(flow);
            lead_host(id, print.dst);
            std::for_each(print.port, print.port + print.units,
                          [&](PortId port) { lead_port(id, port); });
        }
    }
    for (const FlowSlot flow : part) {
        const std::uint32_t index = add_flow(id, flow);
        if (prints_.in_service(flow)) {
            use(id, index);
        }
    }
    return id;
}

std::uint32_t FoldMembers::add_flow(std::uint32_t id, FlowSlot flow) {
    folds_.reserve_slots();
    Fold& fold = folds_[id];
    std::uint32_t index = 0;
    if (fold.free_flows.empty()) {
        index = static_cast<std::uint32_t>(fold.flow.size());
        fold.flow.push_back(flow);
        if (fold.turned()) {
            fold.turn.emplace_back();
            fold.self->flow.push_back(flow);
        }
        for (const auto& image : fold.image) {
            if (image != nullptr) {
                image->flow.push_back(kNone);
            }
        }
    } else {
        index = fold.free_flows.back();
        fold.free_flows.pop_back();
        fold.flow[index] = flow;
        if (fold.turned()) {
            fold.self->flow[index] = flow;
        }
    }
    ++fold.flows;
    folds_.place_flow(flow, FoldPlace{id, FoldPlace::kLeader, index});
    const std::uint32_t host = folds_.of_host(world_.spec[flow].src).index;
    ++fold.host_uses[host];
    fold.source[host].push_back(index);
    return index;
}

/// The way of a representative's flow in its fold.
const FlowPrint& FoldMembers::print_in(const Fold& fold, std::uint32_t index) const {
    return fold.turned() ? fold.turn[index].print : prints_.of(fold.flow[index]);
}

void FoldMembers::use(std::uint32_t id, std::uint32_t index) {
    const FlowPrint& print = print_in(folds_[id], index);
    change_uses(id, print, 1U);
    marks_.watch(folds_[id], print);
}

void FoldMembers::change_uses(std::uint32_t id, const FlowPrint& print, std::uint32_t more) {
    Fold& fold = folds_[id];
    const auto here = [&](const FoldPlace& place) { return place.leads() && place.fold == id; };
    for (std::uint32_t i = 0; i < print.units; ++i) {
        if (const FoldPlace& place = folds_.of_port(print.port[i]); here(place)) {
            fold.unit_uses[place.index] += more;
        }
    }
    if (const FoldPlace& place = folds_.of_host(print.dst); here(place)) {
        fold.host_uses[place.index] += more;
    }
}

void FoldMembers::drop_flow(std::uint32_t id, std::uint32_t index) {
    Fold& fold = folds_[id];
    const FlowSlot flow = fold.flow[index];
    for (const auto& image : fold.image) {
        if (image != nullptr) {
            folds_.place_flow(image->flow[index], FoldPlace{});
            image->flow[index] = kNone;
        }
    }
    const std::uint32_t host = folds_.of_host(world_.spec[flow].src).index;
    --fold.host_uses[host];
    std::vector<std::uint32_t>& source = fold.source[host];
    source.erase(std::find(source.begin(), source.end(), index));
    if (prints_.in_service(flow)) {
        change_uses(id, print_in(fold, index), ~0U);
    }
    if (fold.turned()) {
        restore_way(fold, index);
    }
    fold.flow[index] = kNone;
    fold.free_flows.push_back(index);
    --fold.flows;
}

void FoldMembers::restore_way(Fold& fold, std::uint32_t index) {
    if (fold.turn[index].led) {
        fold.turn[index].restore(world_.route[fold.flow[index]]);
    }
    fold.turn[index] = Turn{};
}

bool FoldMembers::stays_inside(std::uint32_t id, FlowSlot flow) const {
    const Fold& fold = folds_[id];
    const FlowPrint print = prints_.trace(flow);
    const auto here = [&](const FoldPlace& place) { return place.leads() && place.fold == id; };
    for (std::uint32_t i = 0; i < print.units; ++i) {
        if (!here(folds_.of_port(print.port[i])) ||
            meets_by_cable(print.port[i], id, FoldPlace::kLeader)) {
            return false;
        }
    }
    if (!here(folds_.of_host(print.dst))) {
        return false;
    }
    for (std::uint32_t number = 0; number < fold.image.size(); ++number) {
        const Image* const image = fold.image[number].get();
        if (image != nullptr &&
            !copy_stays_inside(id, number, print,
                               prints_.trace(image->flow[folds_.of_flow(flow).index]))) {
            return false;
        }
    }
    return true;
}

bool FoldMembers::copy_stays_inside(std::uint32_t id, std::uint32_t number, const FlowPrint& print,
                                    const FlowPrint& other) const {
    const Image& image = *folds_[id].image[number];
    bool same = other.units == print.units && other.data == print.data &&
                image.host[folds_.of_host(print.dst).index] == other.dst;
    for (std::uint32_t i = 0; same && i < print.units; ++i) {
        same = image.unit[folds_.of_port(print.port[i]).index] == other.port[i] &&
               !meets_by_cable(other.port[i], id, number);
    }
    return same;
}

/// Whether something that is not of the representative or copy goes the other way on the cable of `port`.
bool FoldMembers::meets_by_cable(PortId port, std::uint32_t id, std::uint32_t number) const {
    const PortId back = prints_.used_other_way(port);
    return back != kNone &&
           !(folds_.of_port(back).fold == id && folds_.of_port(back).image == number);
}

void FoldMembers::add_copy(std::uint32_t id, std::unique_ptr<Image> image) {
    Fold& fold = folds_[id];
    fold.image.push_back(std::move(image));
    folds_.place_copy(id, static_cast<std::uint32_t>(fold.image.size() - 1));
    if (fold.images == 0) {
        count_anew(fold);
    }
    begin_copy(fold, *fold.image.back());
}

void FoldMembers::begin_copies(std::uint32_t id) {
    Fold& fold = folds_[id];
    count_anew(fold);
    for (std::uint32_t i = 0; i < fold.flow.size(); ++i) {
        if (fold.turn[i].known()) {
            fold.turn[i].lead(world_.route[fold.flow[i]]);
            use(id, i);
        }
    }
    for (const auto& image : fold.image) {
        begin_copy(fold, *image);
    }
    wake_for_copies(id);
}

void FoldMembers::count_anew(const Fold& fold) {
    for (const PortId port : fold.unit) {
        world_.egress[port].max_queued_bytes = world_.egress[port].queued_bytes;
    }
}

/// From here on the copy is not executed.
void FoldMembers::begin_copy(Fold& fold, const Image& image) {
    ++fold.images;
    ++copies_;
    const CopyWriter writer(store_, folds_.places(), fold, image);
    std::for_each(fold.host.begin(), fold.host.end(), [&](NodeId h) { writer.still_host(h); });
    std::for_each(fold.unit.begin(), fold.unit.end(), [&](PortId p) { writer.still_unit(p); });
}

void FoldMembers::wake_for_copies(std::uint32_t id) {
    for (const NodeId host : folds_[id].host) {
        folds_.update_due(host);
        world_.wake[host] = std::min(world_.wake[host], world_.followed[host]);
        world_.block_wake[host >> 6] = std::min(world_.block_wake[host >> 6], world_.wake[host]);
    }
}

}  // namespace sluice::step
