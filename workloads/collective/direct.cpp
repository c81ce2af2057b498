// SPDX-License-Identifier: Apache-2.0
/// All pairs at once: one step of n (n - 1) messages for reduce-scatter and for all-gather, two for
/// all-reduce; a send. All-to-all: all_to_all.cpp.
#include "workloads/collective/algorithms.h"

namespace sluice {

namespace {

/// Member i sends part i (all-gather), or the receiver's part (reduce), to all others. Returns, per
/// member, what is complete when all its receives are.
std::vector<OpId> exchange_parts(Schedule& schedule, Slice slice, bool reduce,
                                 const std::vector<OpId>& held) {
    const Member n = schedule.size();
    std::size_t others = 0;  // transfers that are messages
    for (Member from = 0; from < n && others <= kMostMessages; ++from) {
        for (Member to = 0; to < n; ++to)
            others += from == to || schedule.computed(from, to) ? 0 : 1;
    }
    schedule.expect(others, 1);
    const std::size_t window = schedule.options().window;
    std::vector<std::vector<OpId>> received(n);
    for (Member from = 0; from < n; ++from) {
        std::vector<OpId> sent;
        for (Member step = 1; step < n; ++step) {
            const Member to = (from + step) % n;
            const Hop hop =
                schedule.transfer(from, to, part_of(slice, n, reduce ? to : from), reduce);
            schedule.depend(hop.first, held[from]);
            schedule.depend(hop.received, held[to]);
            if (window > 0 && sent.size() >= window) {
                schedule.depend(hop.first, sent[sent.size() - window]);
            }
            sent.push_back(hop.sent);
            received[to].push_back(hop.received);
        }
    }
    std::vector<OpId> done;
    for (Member member = 0; member < n; ++member) {
        done.push_back(schedule.join(member, received[member]));
    }
    return done;
}

std::vector<OpId> add_send(Schedule& schedule) {
    const std::size_t channels = channel_count(schedule, schedule.tensor().bytes);
    std::vector<OpId> sent;
    std::vector<OpId> received;
    for (std::size_t channel = 0; channel < channels; ++channel) {
        schedule.use_channel(channel);
        const Hop hop =
            schedule.transfer(0, 1, part_of(schedule.tensor(), channels, channel), false);
        schedule.depend(hop.first, schedule.start(0));
        schedule.depend(hop.received, schedule.start(1));
        sent.push_back(hop.sent);
        received.push_back(hop.received);
    }
    return {schedule.join(0, sent), schedule.join(1, received)};
}

std::vector<OpId> add_direct(Schedule& schedule, CollectiveKind kind) {
    if (kind == CollectiveKind::send) return add_send(schedule);
    return add_channels(schedule, [&](std::size_t, Slice slice) {
        std::vector<OpId> held;
        for (Member member = 0; member < schedule.size(); ++member) {
            held.push_back(schedule.start(member));
        }
        if (kind != CollectiveKind::all_gather) {
            held = exchange_parts(schedule, slice, true, held);
        }
        if (kind == CollectiveKind::reduce_scatter) return held;
        return exchange_parts(schedule, slice, false, held);
    });
}

}  // namespace

extern const AlgorithmType kDirectAlgorithm{
    "direct",
    "all pairs at once, or `window` messages of a member at a time",
    {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
     CollectiveKind::send},
    add_direct,
    add_direct_all_to_all};

}  // namespace sluice
