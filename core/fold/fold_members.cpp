// SPDX-License-Identifier: Apache-2.0
/// What belongs to a fold: flows that join and leave it, ports and hosts that are let go, and its end.
#include <algorithm>
#include <iterator>

#include "core/fold/folds.h"
#include "core/fold/quotient_names.h"

namespace sluice::step {

/// What the image names gets its place.
void Folds::claim(std::uint32_t id, std::uint32_t number) {
    const Image& image = *folds_[id]->image[number];
    for (std::uint32_t i = 0; i < image.unit.size(); ++i) {
        place_unit(image.unit[i], FoldPlace{id, number, i});
    }
    for (std::uint32_t i = 0; i < image.host.size(); ++i) {
        places_.host[image.host[i]] = FoldPlace{id, number, i};
    }
    for (std::uint32_t i = 0; i < image.flow.size(); ++i) {
        places_.flow[image.flow[i]] = FoldPlace{id, number, i};
    }
}

void Folds::count_anew(const Fold& fold) {
    for (const PortId port : fold.unit) {
        world_.egress[port].max_queued_bytes = world_.egress[port].queued_bytes;
    }
}

/// From here on the image follows.
void Folds::still(const Fold& fold, const Image& image) {
    ++counters_.images;
    const CopyWriter writer(store_, places_, fold, image);
    std::for_each(fold.host.begin(), fold.host.end(), [&](NodeId h) { writer.still_host(h); });
    std::for_each(fold.unit.begin(), fold.unit.end(), [&](PortId p) { writer.still_unit(p); });
}

/// The leader's hosts wake for their followers' own timers. Once, after all images have been added: it looks at those of
/// all of them.
void Folds::wake_for_followers(const Fold& fold) {
    for (const NodeId host : fold.host) {
        update_due(host);
        world_.wake[host] = std::min(world_.wake[host], followed_[host]);
        world_.block_wake[host >> 6] = std::min(world_.block_wake[host >> 6], world_.wake[host]);
    }
}

void Folds::add_image(std::uint32_t id, std::unique_ptr<Image> image) {
    Fold& fold = *folds_[id];
    fold.image.push_back(std::move(image));
    claim(id, static_cast<std::uint32_t>(fold.image.size() - 1));
    if (fold.images == 0) {
        count_anew(fold);
    }
    ++fold.images;
    still(fold, *fold.image.back());
}

std::uint64_t Folds::sent_since(const Fold& fold, std::uint32_t index) const {
    return static_cast<std::uint64_t>(world_.egress[fold.unit[index]].tx_packets -
                                      fold.base[index].counters[&Egress::tx_packets]);
}

std::uint32_t Folds::add_flow(std::uint32_t id, FlowSlot flow) {
    reserve_slots();
    Fold& fold = *folds_[id];
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
    places_.flow[flow] = FoldPlace{id, FoldPlace::kLeader, index};
    const std::uint32_t host = places_.host[world_.spec[flow].src].index;
    ++fold.host_uses[host];
    fold.source[host].push_back(index);
    return index;
}

/// The flow's packets are in the network.
void Folds::use_in_fold(Fold& fold, std::uint32_t index) {
    const FlowPrint& print = print_in(fold, index);
    change_uses(fold, print, 1U);
    if (add_feeders(print, fold.feeders)) {
        fold.backlogs = unmarked_backlogs(fold.feeders);
        draws_ = true;
    }
}

void Folds::change_uses(Fold& fold, const FlowPrint& print, std::uint32_t more) {
    const auto here = [&](const FoldPlace& place) {
        return place.leads() && folds_[place.fold].get() == &fold;
    };
    for (std::uint32_t i = 0; i < print.units; ++i) {
        if (const FoldPlace& place = places_.unit[print.port[i]]; here(place)) {
            fold.unit_uses[place.index] += more;
        }
    }
    if (const FoldPlace& place = places_.host[print.dst]; here(place)) {
        fold.host_uses[place.index] += more;
    }
}

void Folds::drop_flow(std::uint32_t id, std::uint32_t index) {
    Fold& fold = *folds_[id];
    const FlowSlot flow = fold.flow[index];
    for (const auto& image : fold.image) {
        if (image != nullptr) {
            places_.flow[image->flow[index]] = FoldPlace{};
            image->flow[index] = kNone;
        }
    }
    const std::uint32_t host = places_.host[world_.spec[flow].src].index;
    --fold.host_uses[host];
    std::vector<std::uint32_t>& source = fold.source[host];
    source.erase(std::find(source.begin(), source.end(), index));
    if (prints_[flow].src != kNone) {
        change_uses(fold, print_in(fold, index), ~0U);
    }
    turn_back(fold, index);
    fold.flow[index] = kNone;
    fold.free_flows.push_back(index);
    --fold.flows;
}

/// Ports and hosts that no flow of the fold needs any more are their images' own again.
void Folds::drop_unused(std::uint32_t id) {
    Fold& fold = *folds_[id];
    if (fold.flows == 0) {
        take_apart(id);
        return;
    }
    for (std::uint32_t i = 0; i < fold.host.size(); ++i) {
        if (fold.host[i] != kNone && fold.host_uses[i] == 0) {
            drop_host(id, i);
        }
    }
    for (std::uint32_t i = 0; i < fold.unit.size(); ++i) {
        if (fold.unit[i] != kNone && fold.unit_uses[i] == 0) {
            drop_unit(id, i);
        }
    }
}

void Folds::drop_unit(std::uint32_t id, std::uint32_t index) {
    Fold& fold = *folds_[id];
    const PortId leader = fold.unit[index];
    for (const auto& image : fold.image) {
        if (image != nullptr) {
            const CopyWriter writer(store_, places_, fold, *image);
            counters_.hops += writer.copy_egress(leader);
            writer.copy_link(leader);
            place_unit(image->unit[index], FoldPlace{});
        }
    }
    forget_unit(fold, index);
}

void Folds::drop_host(std::uint32_t id, std::uint32_t index) {
    Fold& fold = *folds_[id];
    const NodeId leader = fold.host[index];
    for (const auto& image : fold.image) {
        if (image != nullptr) {
            CopyWriter(store_, places_, fold, *image).copy_host(leader);
            places_.host[image->host[index]] = FoldPlace{};
        }
    }
    for (PortId p = world_.first_port[leader]; p < world_.first_port[leader + 1]; ++p) {
        --fold.unit_uses[places_.unit[p].index];
    }
    forget_host(fold, index);
}

void Folds::forget_unit(Fold& fold, std::uint32_t index) {
    Egress& egress = world_.egress[fold.unit[index]];
    egress.max_queued_bytes = std::max(egress.max_queued_bytes, fold.base[index].max_queued_bytes);
    place_unit(fold.unit[index], FoldPlace{});
    fold.unit[index] = kNone;
}

void Folds::forget_host(Fold& fold, std::uint32_t index) {
    places_.host[fold.host[index]] = FoldPlace{};
    followed_[fold.host[index]] = kUnfollowed;
    fold.host[index] = kNone;
}

/// The image's columns say what the leader's do.
void Folds::write_image(std::uint32_t id, std::uint32_t number) { write_part(id, {number}); }

/// Of images that are sheets of one part, all of them. Hosts first: what they know of ports' counters is told by
/// these.
void Folds::write_part(std::uint32_t id, const std::vector<std::uint32_t>& numbers) {
    const Fold& fold = *folds_[id];
    std::vector<CopyWriter> writers;
    for (const std::uint32_t number : numbers) {
        writers.emplace_back(store_, places_, fold, *fold.image[number]);
    }
    for (const CopyWriter& writer : writers) {
        for (const NodeId host : fold.host) {
            if (host != kNone) {
                writer.copy_host(host);
            }
        }
    }
    const bool own = is_own(fold, numbers.front());
    if (own) {
        QuotientNames(store_, places_, fold).restore_hosts();
    }
    for (const CopyWriter& writer : writers) {
        for (const PortId unit : fold.unit) {
            if (unit != kNone) {
                counters_.hops += writer.copy_egress(unit);
                writer.copy_link(unit);
            }
        }
    }
    if (own) {
        QuotientNames(store_, places_, fold).restore_units();
    }
}

/// Whether the image is another sheet of the leader's part.
bool Folds::is_own(const Fold& fold, std::uint32_t number) const {
    return fold.turned() && fold.image[number]->part == fold.self->part;
}

/// Images that are all sheets of one part are in no fold any more; their columns are written.
void Folds::end_part(std::uint32_t id, const std::vector<std::uint32_t>& numbers) {
    const Fold& fold = *folds_[id];
    if (supervisor_ != nullptr) {
        supervisor_->unfolded(pairs_of(fold, *fold.image[numbers.front()]));
    }
    for (const std::uint32_t number : numbers) {
        end_image(id, number);
    }
}

bool Folds::part_alike(std::uint32_t id, std::uint32_t number, bool fresh) const {
    const Fold& fold = *folds_[id];
    return supervisor_->alike(pairs_of(fold, *fold.image[number]), fresh);
}

void Folds::end_image(std::uint32_t id, std::uint32_t number) {
    Fold& fold = *folds_[id];
    const Image& image = *fold.image[number];
    for (std::uint32_t i = 0; i < image.unit.size(); ++i) {
        if (fold.unit[i] != kNone) {
            place_unit(image.unit[i], FoldPlace{});
        }
    }
    for (std::uint32_t i = 0; i < image.host.size(); ++i) {
        if (fold.host[i] != kNone) {
            places_.host[image.host[i]] = FoldPlace{};
        }
    }
    for (const FlowSlot flow : image.flow) {
        if (flow != kNone) {
            places_.flow[flow] = FoldPlace{};
        }
    }
    if (fold.turned() && image.part != fold.self->part) {
        fold.parts.erase(std::remove(fold.parts.begin(), fold.parts.end(), image.part),
                         fold.parts.end());
    }
    fold.image[number] = nullptr;
    --fold.images;
}

/// Of a fold's or an image's flows those that are in it.
std::vector<FlowSlot> Folds::members_of(const std::vector<FlowSlot>& flows) {
    std::vector<FlowSlot> members;
    std::copy_if(flows.begin(), flows.end(), std::back_inserter(members),
                 [](FlowSlot flow) { return flow != kNone; });
    return members;
}

/// Flows of the leader and of each image.
std::vector<std::vector<FlowSlot>> Folds::members(const Fold& fold) {
    std::vector<std::vector<FlowSlot>> members = {members_of(fold.flow)};
    for (const auto& image : fold.image) {
        if (image != nullptr) {
            members.push_back(members_of(image->flow));
        }
    }
    return members;
}

/// Everything is executed by itself again. Returns its members.
std::vector<std::vector<FlowSlot>> Folds::take_apart(std::uint32_t id) {
    Fold& fold = *folds_[id];
    std::vector<std::vector<FlowSlot>> members = this->members(fold);
    // The leader's own part last: the others are written by what it has in its first sheet's names.
    for (std::uint32_t left = static_cast<std::uint32_t>(fold.image.size()); left-- > 0;) {
        if (fold.image[left] == nullptr) {
            continue;
        }
        const std::vector<std::uint32_t> numbers = part_of(fold, left);
        write_part(id, numbers);
        end_part(id, numbers);
    }
    dissolve(id);
    return members;
}

/// The leader has no images any more.
void Folds::dissolve(std::uint32_t id) {
    Fold& fold = *folds_[id];
    for (std::uint32_t i = 0; i < fold.turn.size(); ++i) {
        turn_back(fold, i);
    }
    for (std::uint32_t i = 0; i < fold.unit.size(); ++i) {
        if (fold.unit[i] != kNone) {
            forget_unit(fold, i);
        }
    }
    for (std::uint32_t i = 0; i < fold.host.size(); ++i) {
        if (fold.host[i] != kNone) {
            forget_host(fold, i);
        }
    }
    for (const FlowSlot flow : fold.flow) {
        if (flow != kNone) {
            places_.flow[flow] = FoldPlace{};
        }
    }
    folds_[id] = nullptr;
    free_folds_.push_back(id);
    --fold_count_;
}

}  // namespace sluice::step
