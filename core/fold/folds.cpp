// SPDX-License-Identifier: Apache-2.0
#include "core/fold/folds.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice::step {

Folds::Folds(WorldStore& store, CopyNotes* notes)
    : world_(store.world()),
      table_(store),
      prints_(store, notes != nullptr),
      supervision_(notes, world_, prints_),
      marks_(store, prints_),
      buffers_(store, table_, prints_),
      members_(store, table_, prints_, marks_),
      paths_(store, table_, prints_),
      materializer_(store, table_, members_, supervision_),
      divergence_(store, table_, materializer_),
      lockstep_(store, table_, members_, divergence_, supervision_, left_),
      parts_(store, prints_, marks_, buffers_),
      waiting_(store, table_, prints_),
      quotients_(store, table_, members_, materializer_, supervision_, prints_, parts_, paths_),
      copies_(store, table_, members_, materializer_, supervision_, prints_, parts_, quotients_,
              waiting_) {}

bool Folds::folded() const { return !table_.empty() || divergence_.pending(); }

// Flows come and go.

void Folds::entered(FlowSlot flow) {
    table_.reserve_slots();
    prints_.enter(flow);
    buffers_.enter(flow, prints_.of(flow));
    entered_.push_back(flow);
}

void Folds::leaving(FlowSlot flow) {
    supervision_.take_released(table_, left_);
    const FoldPlace place = table_.of_flow(flow);
    if (place.leads()) {
        members_.drop_flow(place.fold, place.index);
        thinned_.push_back(place.fold);
    }
    table_.place_flow(flow, FoldPlace{});
    for (FlowGroup& flows : left_) {
        flows.erase(std::remove(flows.begin(), flows.end(), flow), flows.end());
    }
    if (prints_.in_service(flow)) {
        buffers_.leave(flow, prints_.of(flow));
        waiting_.note_leaving(prints_.of(flow));
        prints_.leave(flow);
    }
}

/// Copies whose hosts have diverged are executed from here on.
void Folds::after_window(Tick end) {
    supervision_.take_released(table_, left_);
    divergence_.finish_window(end, left_);
    if (table_.empty()) {
        return;
    }
    end_marking();
    end_crowded(end);
    table_.reserve_slots();
    pass_on_results();
    if (supervision_.exists()) {
        end_disturbed();
    }
}

/// What the window did to representatives' flows, the copies' are told (World::changed).
void Folds::pass_on_results() {
    for (std::uint32_t i = 0, count = world_.changed.count; i < count; ++i) {
        const FlowSlot slot = world_.changed[i];
        const FoldPlace place = table_.of_flow(slot);
        if (!place.leads()) {
            continue;
        }
        if (world_.result[slot].retransmitted > 0) {
            materializer_.take_apart(place.fold);  // packets of it may be left when it is over
            continue;
        }
        for (const auto& image : table_[place.fold].image) {
            if (image != nullptr) {
                const FlowSlot other = image->flow[place.index];
                world_.result[other] = world_.result[slot];
                world_.changed.push(world_.memory, other);
            }
        }
    }
}

void Folds::after_cut(Tick now) {
    supervision_.take_released(table_, left_);
    end_marking();
    buffers_.look_again();
    end_crowded(now);
}

void Folds::settle(Tick now, bool may_fold) {
    supervision_.take_released(table_, left_);
    if (!may_fold || prints_.any_unknown()) {
        unfold();
        entered_.clear();
        thinned_.clear();
        left_.clear();
        waiting_.clear();
        return;
    }
    std::set<std::uint32_t> disturbed;
    FlowGroups joined = std::move(left_);
    left_.clear();
    for (const FlowSlot flow : entered_) {
        take_up(flow, disturbed, joined);
    }
    if (!table_.empty()) {
        buffers_.add_dependent(entered_, now, disturbed);
    }
    const bool came = !entered_.empty();
    entered_.clear();
    for (const std::uint32_t id : disturbed) {
        take_apart(id, joined);
    }
    end_thinned(joined);
    if (supervision_.exists()) {
        end_unlike(joined);
        end_marking();  // skips that ended may have left other queues
        if (came) {
            buffers_.look_again();
        }
    }
    fold_joined(joined, now);
    end_crowded(now);
}

/// A flow in service since the last window: one of a fold's, or a new one, which may meet folds.
void Folds::take_up(FlowSlot flow, std::set<std::uint32_t>& disturbed, FlowGroups& joined) {
    const FoldPlace place = table_.of_flow(flow);
    if (place.leads()) {
        const bool stays = table_[place.fold].turned() ? paths_.enter(place.fold, flow)
                                                       : members_.stays_inside(place.fold, flow);
        if (stays) {
            members_.use(place.fold, place.index);
        } else {
            disturb_with(flow, disturbed);
        }
        if (marks_.may_mark(table_[place.fold])) {
            disturbed.insert(place.fold);
        }
        grown_.insert(place.fold);
    }
    if (place.folded()) {
        return;
    }
    disturb(prints_.of(flow), disturbed);
    FlowGroup flows;
    for (FlowSlot next = flow; next != kNone; next = world_.following[next]) {
        flows.push_back(next);
    }
    joined.push_back(std::move(flows));
}

/// Whether a flow of a representative's stays in the fold, as its copies do.
bool Folds::stays_inside(std::uint32_t id, FlowSlot flow) const {
    if (!table_[id].turned()) {
        return members_.stays_inside(id, flow);
    }
    Turn turn;
    return paths_.find(id, table_.of_flow(flow).index, turn);
}

/// Folds that a flow meets which is not of theirs.
void Folds::disturb(const FlowPrint& print, std::set<std::uint32_t>& disturbed) const {
    const auto add = [&](const FoldPlace& place) {
        if (place.folded()) {
            disturbed.insert(place.fold);
        }
    };
    prints_.visit_ports(print, [&](PortId port) { add(table_.of_port(port)); });
    add(table_.of_host(print.src));
    add(table_.of_host(print.dst));
}

/// A representative's flow reaches beyond its fold, or its copies' flows do.
void Folds::disturb_with(FlowSlot flow, std::set<std::uint32_t>& disturbed) const {
    const FoldPlace& place = table_.of_flow(flow);
    disturb(prints_.trace(flow), disturbed);
    for (const auto& image : table_[place.fold].image) {
        if (image != nullptr) {
            disturb(prints_.trace(image->flow[place.index]), disturbed);
        }
    }
}

// Folds end.

/// What is executed by itself again may be folded again.
void Folds::take_apart(std::uint32_t id, FlowGroups& joined) {
    FlowGroups members = materializer_.take_apart(id);
    std::move(members.begin(), members.end(), std::back_inserter(joined));
}

/// The phase controller hears of flows one by one: before it does, folds end that others come to.
void Folds::end_disturbed() {
    std::set<std::uint32_t> disturbed;
    for (std::uint32_t i = 0; i < world_.changed.count; ++i) {
        const FlowSlot flow = world_.changed[i];
        if (prints_.in_service(flow)) {
            continue;
        }
        const FoldPlace place = table_.of_flow(flow);
        const FlowPrint print = prints_.trace(flow);
        if (!print.whole) {
            unfold();
            return;
        }
        if (!place.folded()) {
            disturb(print, disturbed);
        } else if (place.leads() && !stays_inside(place.fold, flow)) {
            disturb_with(flow, disturbed);
        }
    }
    for (const std::uint32_t id : disturbed) {
        take_apart(id, left_);
    }
}

/// Of folds that flows have left: what nobody needs any more is let go.
void Folds::end_thinned(FlowGroups& joined) {
    for (const std::uint32_t id : thinned_) {
        if (!table_.has(id)) {
            continue;
        }
        materializer_.drop_unused(id);
        if (table_.has(id) && table_[id].turned() && !supervision_.holds_together(table_[id])) {
            take_apart(id, joined);
        }
    }
    thinned_.clear();
}

/// Of folds that flows have come to: copies that are not to the phase controller what the representative is. Those that are no
/// partition of their own any more may be folded again.
void Folds::end_unlike(FlowGroups& joined) {
    for (const std::uint32_t id : grown_) {
        if (!table_.has(id)) {
            continue;
        }
        const Fold& fold = table_[id];
        if (fold.turned() && !supervision_.holds_together(fold)) {
            take_apart(id, joined);
            continue;
        }
        for (std::uint32_t number = 0; number < fold.image.size(); ++number) {
            if (fold.image[number] != nullptr && !fold.is_own(number) &&
                !supervision_.alike(fold, *fold.image[number], false)) {
                materializer_.let_go(id, number);
            }
        }
        if (fold.images == 0) {
            materializer_.dissolve(id);
        }
    }
    grown_.clear();
}

/// Folds end whose ports may draw a random mark in the next window.
void Folds::end_marking() {
    for (std::uint32_t id = 0; marks_.any_watched() && id < table_.size(); ++id) {
        if (table_.has(id) && marks_.may_mark(table_[id])) {
            materializer_.take_apart(id);
        }
    }
}

/// Folds end at whose switches the buffer may matter in the window that begins now.
void Folds::end_crowded(Tick now) {
    for (const std::uint32_t id : buffers_.crowded_folds(now)) {
        if (table_.has(id)) {
            materializer_.take_apart(id);
        }
    }
}

void Folds::unfold() {
    supervision_.take_released(table_, left_);
    for (std::uint32_t id = 0; id < table_.size(); ++id) {
        if (table_.has(id)) {
            materializer_.take_apart(id);
        }
    }
}

/// Folds what is alike among parts that have changed, and those that waited.
void Folds::fold_joined(FlowGroups& joined, Tick now) {
    const std::size_t newcomers = joined.size();
    const std::uint64_t copies = members_.copies();
    waiting_.take_ready(joined);
    if (joined.size() > 1) {
        copies_.fold_alike(joined, now);
        buffers_.look_again();
    }
    waiting_.note_won(joined.size() > newcomers ? members_.copies() - copies : 0);
}

FoldCounters Folds::counters() const {
    FoldCounters counters;
    counters.hops = materializer_.hops();
    counters.images = members_.copies();
    counters.forks = divergence_.count();
    return counters;
}

}  // namespace sluice::step
