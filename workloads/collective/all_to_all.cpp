// SPDX-License-Identifier: Apache-2.0
/// All-to-all without detours: all pairs at once, or one peer per step; and computed as a whole.
#include <algorithm>

#include "workloads/collective/algorithms.h"

namespace sluice {

namespace {

/// The sends of one member, of which at most `window` are unfinished (0: all may be).
class Window {
  public:
    Window(Schedule& schedule, std::size_t window) : schedule_(schedule), window_(window) {}
    void add(const Hop& hop) {
        if (window_ > 0 && sent_.size() >= window_) {
            schedule_.depend(hop.first, sent_[sent_.size() - window_]);
        }
        sent_.push_back(hop.sent);
    }

  private:
    Schedule& schedule_;
    std::size_t window_;
    std::vector<OpId> sent_;
};

/// How long a block takes where it uses no network; negative: the network carries it.
using ComputedTime = std::function<Tick(Member, Member, std::int64_t)>;

/// Refuses blocks that are too many to be messages before any is built.
void expect_blocks(const Schedule& schedule, const AllToAllSizes& sizes) {
    std::size_t blocks = 0;
    for (Member from = 0; from < schedule.size() && blocks <= kMostMessages; ++from) {
        for (Member to = 0; to < schedule.size(); ++to) {
            if (from == to || schedule.computed(from, to) || !sizes.sent(from, to)) continue;
            ++blocks;
        }
    }
    schedule.expect(blocks, 1);
}

/// To whom `from` sends in its `step`th message, from 1 on.
Member peer(const Schedule& schedule, Member from, Member step) {
    const Member n = schedule.size();
    if (!schedule.options().last_first) return (from + step) % n;
    const Member to = n - step;
    return to > from ? to : to - 1;
}

std::vector<OpId> all_pairs(Schedule& schedule, const AllToAllSizes& sizes, std::size_t window,
                            const ComputedTime& time) {
    expect_blocks(schedule, sizes);
    const Member n = schedule.size();
    std::vector<std::vector<OpId>> received(n);
    std::vector<std::vector<OpId>> sent(n);
    for (Member from = 0; from < n; ++from) {
        Window sends(schedule, window);
        for (Member step = 1; step < n; ++step) {
            const Member to = peer(schedule, from, step);
            if (!sizes.sent(from, to)) continue;
            const Slice block = sizes.block(from, to);
            const Tick computed =
                time ? time(from, to, std::max<std::int64_t>(1, block.bytes)) : -1;
            const std::size_t channels = computed >= 0 ? 1 : channel_count(schedule, block.bytes);
            for (std::size_t channel = 0; channel < channels; ++channel) {
                schedule.use_channel(channel);
                const Slice slice = part_of(block, channels, channel);
                const Hop hop = computed >= 0
                                    ? schedule.computed_transfer(from, to, {slice}, computed)
                                    : schedule.transfer(from, to, slice, false);
                schedule.depend(hop.first, schedule.start(from));
                schedule.depend(hop.received, schedule.start(to));
                received[to].push_back(hop.received);
                sent[from].push_back(hop.sent);
                if (computed < 0) sends.add(hop);
            }
        }
    }
    std::vector<OpId> done(n);
    for (Member member = 0; member < n; ++member) {
        const std::vector<OpId>& last = received[member].empty() ? sent[member] : received[member];
        done[member] = last.empty() ? schedule.start(member) : schedule.join(member, last);
    }
    return done;
}

std::vector<OpId> add_pairwise_all_to_all(Schedule& schedule, const AllToAllSizes& sizes) {
    expect_blocks(schedule, sizes);
    const Member n = schedule.size();
    std::vector<std::vector<OpId>> held(n);
    for (Member member = 0; member < n; ++member) held[member] = {schedule.start(member)};
    std::vector<std::vector<OpId>> last_received(n);
    for (Member step = 1; step < n; ++step) {
        std::vector<std::vector<OpId>> next(n);
        std::vector<std::vector<OpId>> received(n);
        for (Member from = 0; from < n; ++from) {
            const Member to = (from + step) % n;
            if (!sizes.sent(from, to)) continue;
            const Slice block = sizes.block(from, to);
            const std::size_t channels = channel_count(schedule, block.bytes);
            for (std::size_t channel = 0; channel < channels; ++channel) {
                schedule.use_channel(channel);
                const Hop hop =
                    schedule.transfer(from, to, part_of(block, channels, channel), false);
                for (const OpId op : held[from]) schedule.depend(hop.first, op);
                for (const OpId op : held[to]) schedule.depend(hop.received, op);
                next[from].push_back(hop.sent);
                next[to].push_back(hop.received);
                received[to].push_back(hop.received);
            }
        }
        // A step without anything to send or receive takes no time.
        for (Member member = 0; member < n; ++member) {
            if (!next[member].empty()) held[member] = std::move(next[member]);
            if (!received[member].empty()) last_received[member] = std::move(received[member]);
        }
    }
    std::vector<OpId> done(n);
    for (Member member = 0; member < n; ++member) {
        const bool receives = !last_received[member].empty();
        done[member] = schedule.join(member, receives ? last_received[member] : held[member]);
    }
    return done;
}

}  // namespace

AllToAllSizes::AllToAllSizes(Member members, std::int64_t bytes)
    : members_(members), even_(true), each_(bytes) {}

AllToAllSizes::AllToAllSizes(Member members, const std::vector<std::int64_t>& bytes)
    : members_(members), even_(false), offsets_(1, 0) {
    for (const std::int64_t block : bytes) offsets_.push_back(offsets_.back() + block);
}

Slice AllToAllSizes::block(Member from, Member to) const {
    if (even_) return part_of({from * each_, each_}, members_, to);
    const std::size_t index = std::size_t{from} * members_ + to;
    return {offsets_[index], offsets_[index + 1] - offsets_[index]};
}

std::int64_t AllToAllSizes::most(const std::function<bool(Member, Member)>& counts) const {
    std::vector<std::int64_t> out(members_, 0);
    std::vector<std::int64_t> in(members_, 0);
    for (Member from = 0; from < members_; ++from) {
        for (Member to = 0; to < members_; ++to) {
            if (from == to || !counts(from, to)) continue;
            out[from] += block(from, to).bytes;
            in[to] += block(from, to).bytes;
        }
    }
    return std::max(*std::max_element(out.begin(), out.end()),
                    *std::max_element(in.begin(), in.end()));
}

ServerShares::ServerShares(const Schedule& schedule,
                           const std::function<std::int64_t(Member, Member)>& bytes)
    : schedule_(schedule),
      out_(schedule.size(), 0),
      in_(schedule.size(), 0),
      mates_(schedule.size(), 1) {
    for (const std::vector<Member>& server : schedule.servers()) {
        for (const Member from : server) {
            mates_[from] = static_cast<std::uint32_t>(server.size());
            for (const Member to : server) {
                if (from == to) continue;
                out_[from] += bytes(from, to);
                in_[to] += bytes(from, to);
            }
        }
    }
}

Tick ServerShares::time(Member from, Member to) const {
    return schedule_.options().intra_node.exchange_time(mates_[from],
                                                        std::max(out_[from], in_[to]));
}

std::vector<OpId> add_direct_all_to_all(Schedule& schedule, const AllToAllSizes& sizes) {
    const std::uint32_t window = schedule.options().window;
    if (!schedule.options().computed_in_server) return all_pairs(schedule, sizes, window, nullptr);
    const ServerShares shares(schedule,
                              [&](Member from, Member to) { return sizes.block(from, to).bytes; });
    return all_pairs(schedule, sizes, window, [&](Member from, Member to, std::int64_t) {
        return schedule.same_server(from, to) ? shares.time(from, to) : Tick{-1};
    });
}

std::vector<OpId> add_computed_all_to_all(Schedule& schedule, const AllToAllSizes& sizes) {
    std::vector<Member> members;
    std::vector<OpId> after;
    for (Member member = 0; member < schedule.size(); ++member) {
        members.push_back(member);
        after.push_back(schedule.start(member));
    }
    const std::int64_t most = sizes.most([](Member, Member) { return true; });
    return schedule.meet(members,
                         schedule.options().intra_node.exchange_time(schedule.size(), most), after);
}

extern const AlgorithmType kPairwiseAlgorithm{
    "pairwise", "n - 1 steps, one peer each", {}, nullptr, add_pairwise_all_to_all};

}  // namespace sluice
