// SPDX-License-Identifier: Apache-2.0
#include "core/audit/shadow.h"

#include <algorithm>

#include "core/clocks/window_loop.h"
#include "core/world/told_flows.h"

namespace sluice::audit {

void Course::add(Tick at, std::int64_t bytes) {
    if (points_.empty() || bytes > points_.back().bytes) {
        points_.push_back({at, bytes});
    }
}

void Course::end(Tick at, std::int64_t bytes) {
    add(at, bytes);
    ended_ = true;
}

double Course::bytes_at(Tick at) const {
    const auto after =
        std::upper_bound(points_.begin(), points_.end(), at,
                         [](Tick time, const Point& point) { return time < point.at; });
    if (after == points_.begin() || after == points_.end()) {
        return static_cast<double>((after == points_.end() ? points_.back() : *after).bytes);
    }
    const Point& before = *(after - 1);
    const double part =
        static_cast<double>(at - before.at) / static_cast<double>(after->at - before.at);
    return static_cast<double>(before.bytes) +
           part * static_cast<double>(after->bytes - before.bytes);
}

double Course::time_of(double bytes) const {
    const auto between = [&](const Point& a, const Point& b) {
        const double part =
            (bytes - static_cast<double>(a.bytes)) / static_cast<double>(b.bytes - a.bytes);
        return static_cast<double>(a.at) + part * static_cast<double>(b.at - a.at);
    };
    const auto reached = std::lower_bound(
        points_.begin(), points_.end(), bytes,
        [](const Point& point, double level) { return static_cast<double>(point.bytes) < level; });
    if (points_.size() < 2 || reached == points_.begin()) {
        return static_cast<double>(points_.front().at);
    }
    if (reached == points_.end()) {
        return between(points_[points_.size() - 1 - (points_.size() + 2) / 3], points_.back());
    }
    return between(*(reached - 1), *reached);
}

Shadow::Copy::Copy(const step::WorldStore& of)
    : routing(of.topology()),
      store(of.topology(), routing, of.config(), no_flows, no_paths, nullptr),
      step_cell(store.world()) {
    if (of.answers_left_out()) {
        store.leave_answers_out();
    }
}

/// What flows have had acknowledged by the window that has ended.
void Shadow::watch(const step::NetworkPart& part, Tick begin, std::vector<Course>& courses) const {
    const step::World& world = copy_->store.world();
    for (std::size_t i = 0; i < courses.size(); ++i) {
        const FlowSlot flow = part.flows[i];
        if (world.sender_at[flow] != kNone) {
            const step::Sender& sender = step::sender_of(world, flow);
            courses[i].add(sender.last_progress - begin, sender.una_bytes);
        } else if (world.result[flow].finish != kNever) {
            const std::int64_t packets = world.receiver[flow].packets;
            courses[i].end(world.result[flow].finish - begin, packets * world.payload);
        }
    }
}

std::uint64_t Shadow::sent(const step::NetworkPart& part) const {
    std::uint64_t packets = 0;
    for (const PortId port : part.ports) {
        packets += static_cast<std::uint64_t>(copy_->store.world().egress[port].tx_packets);
    }
    return packets;
}

/// Nothing is left of the part, nor of what others held in its switches' buffers.
void Shadow::clear(const step::NetworkPart& part) {
    step::World& world = copy_->store.world();
    step::clear_part(copy_->store, part);
    for (const PortId port : part.ports) {
        for (const PortId end : {port, world.egress[port].peer}) {
            step::Buffer& buffer = world.buffer[step::cell_of(world, end)];
            buffer.shared_used = 0;
            buffer.held_classes = 0;
        }
    }
    world.changed.count = world.disturbed.count = 0;
}

ShadowRun Shadow::run(const step::Snapshot& snapshot, const step::NetworkPart& part, Tick duration,
                      const std::vector<double>& bytes, const std::vector<ToldFlow>& told) {
    if (copy_ == nullptr) {
        copy_ = std::make_unique<Copy>(of_);
    }
    copy_->store.take_int_layout(of_);
    step::World& world = copy_->store.world();
    step::NetworkPart there{part.ports, part.hosts, {}};
    for (std::size_t i = 0; i < snapshot.flow_count(); ++i) {
        there.flows.push_back(copy_->store.open_slot(snapshot.spec(i)));
    }
    const Tick begin = snapshot.taken_at();
    snapshot.put(copy_->store, there, begin, true);
    for (const ToldFlow& flow : told) {
        const FlowSlot slot = there.flows[flow.place];
        const Tick received = std::max(begin, flow.finish - world.answer_takes[slot]);
        step::tell_rest(copy_->store, slot, flow.way, received, flow.finish, begin);
    }
    ShadowRun made;
    made.courses.resize(part.flows.size());
    watch(there, begin, made.courses);
    const std::uint64_t before = sent(there);
    const auto there_yet = [&] {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            if (static_cast<double>(made.courses[i].most()) < bytes[i]) {
                return false;
            }
        }
        return true;
    };
    const Tick end = begin + duration;
    for (Tick at = step::next_instant(world); at < end || (at < end + duration && !there_yet());
         at = step::next_instant(world)) {
        step::run_window(world, at, at + world.lookahead, copy_->step_cell);
        watch(there, begin, made.courses);
    }
    made.hops = sent(there) - before;
    clear(there);
    return made;
}

}  // namespace sluice::audit
