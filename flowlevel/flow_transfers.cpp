// SPDX-License-Identifier: Apache-2.0
/// Flows on the links of flow mode: what each loads, how fast it is, and when its last byte has left.
#include <algorithm>
#include <cmath>
#include <utility>

#include "flowlevel/flow_run_impl.h"

namespace sluice::flowlevel {

void FlowRun::Impl::begin_sending(FlowSlot flow) {
    flows.result(flow).start = now;
    start(flow, static_cast<double>(flows.spec(flow).size));
}

FlowPorts FlowRun::Impl::ports_of(FlowSlot flow) const {
    return find_ports(experiment.topology, routing, experiment.network, flows.spec(flow),
                      flows.path(flow));
}

void FlowRun::Impl::start(FlowSlot flow, double remaining) {
    FlowPorts found = ports_of(flow);
    if (found.shares.empty()) {
        stalled.push_back({flow, remaining});
    } else {
        attach(flow, remaining, std::move(found));
    }
}

void FlowRun::Impl::attach(FlowSlot flow, double remaining, FlowPorts found) {
    const std::int64_t size = flows.spec(flow).size;
    const FlowFrames frames = frames_of(size, experiment.network);
    const auto per_byte = [&](double share, std::int64_t bytes) {
        return share * static_cast<double>(bytes) / static_cast<double>(size);
    };
    // Nothing makes data wait for the ACKs that it causes, though a flow of few bytes a packet has
    // more of them.
    const std::int64_t ack_bytes = std::min(frames.ack_bytes, frames.data_bytes);
    uses.clear();
    for (const PortShare& share : found.shares) {
        const double coefficient =
            per_byte(share.data, frames.data_bytes) + per_byte(share.acks, ack_bytes);
        if (coefficient > 0) {
            uses.push_back({classes.link(share.port, flows.spec(flow).priority), coefficient});
        }
    }
    touch(found);
    const MaxMin::Flow slot = net.add(uses, Demand{});
    if (slot >= active.size()) {
        active.resize(slot + std::size_t{1});
    }
    active[slot] = {flow, remaining, remaining, 0, now, std::move(found)};
    finish.set(slot, kNever);
}

void FlowRun::Impl::settle(Active& one) const {
    one.remaining = std::max(0.0, one.remaining - one.rate * static_cast<double>(now - one.since));
    one.since = now;
}

/// Adds what the flow has sent since it was last counted, `left` bytes being still to send.
void FlowRun::Impl::count(const Active& one, double left, std::vector<PortStatistics>& into) const {
    const std::int64_t size = flows.spec(one.flow).size;
    const FlowFrames frames = frames_of(size, experiment.network);
    const double part = (one.counted - left) / static_cast<double>(size);
    const auto of = [part](double share, std::int64_t whole) {
        return std::llround(part * share * static_cast<double>(whole));
    };
    for (const PortShare& share : one.ports.shares) {
        into[share.port].tx_bytes +=
            of(share.data, frames.data_bytes) + of(share.acks, frames.ack_bytes);
        into[share.port].tx_packets += of(share.data, frames.packets) + of(share.acks, frames.acks);
    }
}

void FlowRun::Impl::end_transfers() {
    if (finish.next() > now) {
        return;
    }
    due.clear();
    begins.clear();
    finish.due(now, due);
    for (const std::uint32_t slot : due) {
        ++event_count;
        Active& one = active[slot];
        const FlowSpec& spec = flows.spec(one.flow);
        const FlowId id = flows.id(one.flow);
        count(one, 0, ports);
        const Tick received = queues.arrival(one.flow, now + one.ports.pipeline);
        events.push({received, id, spec.dst, one.flow, EventKind::received});
        events.push({received + one.ports.ack_return, id, spec.src, one.flow, EventKind::sent});
        finish.set(slot, kNever);
        net.remove(slot);
        touch(one.ports);
        const FlowSlot next = queues.pass_turn(one.flow);
        if (next != kNone) begins.push_back(next);
        one.flow = kNone;
    }
    for (const FlowSlot flow : begins) {
        begin_sending(flow);
    }
}

/// What a flow puts on these ports is not what it was.
void FlowRun::Impl::touch(const FlowPorts& changed) {
    if (classes.idle()) {
        return;
    }
    for (const PortShare& share : changed.shares) {
        classes.touch(share.port);
    }
}

/// Rates are right for what ports leave their classes: now that, and rates again, until both are.
void FlowRun::Impl::share_classes() {
    for (int round = 0; round < ClassShares::kMostRounds; ++round) {
        for (const MaxMin::Flow slot : net.changed()) {
            touch(active[slot].ports);
        }
        if (!classes.share(round)) {
            break;
        }
        net.update();
        moved.insert(moved.end(), net.changed().begin(), net.changed().end());
    }
    std::sort(moved.begin(), moved.end());
    moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
}

void FlowRun::Impl::apply_rates() {
    net.update();
    moved = net.changed();
    if (!classes.idle()) {
        share_classes();
    }
    for (const MaxMin::Flow slot : moved) {
        Active& one = active[slot];
        const double rate = net.rate(slot);
        if (rate == one.rate) {
            continue;
        }
        settle(one);
        one.rate = rate;
        ++rate_changes;
        const double left = rate > 0 ? one.remaining / rate : kUnlimited;
        // A rate so low that the end lies beyond the last instant is none.
        const bool ends = left < static_cast<double>(kNever - now) / 2;
        finish.set(slot, ends ? now + std::llround(left) : kNever);
    }
}

}  // namespace sluice::flowlevel
