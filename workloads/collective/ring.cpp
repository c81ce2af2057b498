// SPDX-License-Identifier: Apache-2.0
/// Rings: parts or chunks that go from each member to the next one.
#include <algorithm>
#include <utility>

#include "workloads/collective/algorithms.h"

namespace sluice {

namespace {

/// By position and chunk: what must be complete before a position passes its next part on.
using Held = std::vector<std::vector<OpId>>;

/// The lanes of a ring and the chunks of its parts.
class Ring {
  public:
    Ring(Schedule& schedule, const RingPhase& phase)
        : schedule_(schedule), phase_(phase), received_(phase.held), taken_(phase.held) {
        std::int64_t longest = 0;
        for (std::size_t q = 0; q < size(); ++q) {
            longest = std::max(longest, phase.part(q).bytes);
        }
        chunks_ = chunk_count(schedule, longest);
        for (std::size_t q = 0; q < size(); ++q) {
            held_.emplace_back(chunks_, phase.held[q]);
        }
        sent_.resize(size());
        last_.resize(size());
    }

    std::size_t size() const { return phase_.order.size(); }

    /// n - 1 steps. In step s position q passes part (q + first - s) mod n on.
    void pass(std::size_t first, bool reduce) {
        std::size_t sent_on = 0;
        for (std::size_t q = 0; q < size(); ++q) {
            sent_on += schedule_.computed(phase_.order[q], phase_.order[(q + 1) % size()]) ? 0 : 1;
        }
        schedule_.expect(sent_on * (size() - 1), chunks_);
        for (std::size_t step = 0; step + 1 < size(); ++step) {
            Held arrived(size(), std::vector<OpId>(chunks_));
            for (std::size_t q = 0; q < size(); ++q) {
                const Slice part = phase_.part((q + first + size() - step) % size());
                const std::size_t next = (q + 1) % size();
                for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
                    arrived[next][chunk] =
                        send(q, part_of(part, chunks_, chunk), reduce, held_[q][chunk]);
                }
            }
            held_ = std::move(arrived);
        }
    }

    /// By position, what completes when it is done: its last receive, and where the options tell how
    /// long that takes, when the last messages that it sent or passed on have left it.
    std::vector<OpId> done() {
        if (!schedule_.options().departure) return received_;
        std::vector<std::vector<OpId>> ends(schedule_.size());
        for (std::size_t q = 0; q < size(); ++q) {
            const Member from = phase_.order[q];
            const Member to = phase_.order[(q + 1) % size()];
            const Last& last = last_[q];
            const Member first = last.via == from ? to : last.via;
            ends[from].push_back(received_[q]);
            ends[from].push_back(schedule_.departed(last.hop.first, from, first, last.bytes));
            if (last.via == from) continue;
            ends[last.via].push_back(
                schedule_.departed(last.hop.passed_on, last.via, to, last.bytes));
        }
        std::vector<OpId> done;
        for (const Member member : phase_.order) {
            done.push_back(schedule_.join(member, ends[member]));
        }
        return done;
    }

  private:
    /// A member's receive of one step waits for that of the step before, so that its last receive
    /// is the last to complete; chunks of a step likewise.
    OpId send(std::size_t q, Slice slice, bool reduce, OpId after) {
        const std::size_t next = (q + 1) % size();
        const Hop hop = pass_on(q, slice, reduce);
        schedule_.depend(hop.first, after);
        std::vector<OpId>& sent = sent_[q];
        if (chunks_ > 1) {
            if (sent.size() == schedule_.execution().in_flight) {
                schedule_.depend(hop.first, sent.front());
                sent.erase(sent.begin());
            }
            sent.push_back(hop.sent);
        }
        schedule_.depend(hop.received, taken_[next]);
        received_[next] = hop.received;
        taken_[next] = schedule_.forward(phase_.order[next], hop.received);
        return taken_[next];
    }

    /// By the rail of `to`, where the ring is to stay on rails or cannot leave them.
    Hop pass_on(std::size_t q, Slice slice, bool reduce) {
        const Member from = phase_.order[q];
        const Member to = phase_.order[(q + 1) % size()];
        const Member via = phase_.pxn && !schedule_.same_server(from, to)
                               ? schedule_.on_rail_of(from, to)
                               : schedule_.joined_with(from, to);
        const Hop hop = via == from ? schedule_.transfer(from, to, slice, reduce)
                                    : schedule_.relayed(from, via, to, slice, reduce);
        last_[q] = {hop, via, slice.bytes};
        return hop;
    }

    /// The message that a position sent last.
    struct Last {
        Hop hop;
        Member via = 0;
        std::int64_t bytes = 0;
    };

    Schedule& schedule_;
    const RingPhase& phase_;
    std::size_t chunks_ = 1;
    Held held_;
    std::vector<OpId> received_;           ///< by position, the receive added last
    std::vector<OpId> taken_;              ///< the same, when it can be passed on
    std::vector<std::vector<OpId>> sent_;  ///< by position, the unfinished sends of a pipeline
    std::vector<Last> last_;
};

std::vector<OpId> pass_once(Schedule& schedule, const RingPhase& phase, std::size_t first,
                            bool reduce) {
    Ring ring(schedule, phase);
    ring.pass(first, reduce);
    return ring.done();
}

/// All members in the order of a channel; position q has its member's part of the slice.
RingPhase whole_ring(const Schedule& schedule, std::size_t channel, Slice slice) {
    RingPhase phase;
    phase.order = ring_order(schedule, channel);
    const std::size_t n = schedule.size();
    for (const Member member : phase.order) phase.held.push_back(schedule.start(member));
    phase.part = [slice, n, order = phase.order](std::size_t q) {
        return part_of(slice, n, order[q]);
    };
    return phase;
}

/// Chunks that go down a chain of members and, at reduce, are added up on the way.
std::vector<OpId> pass_chain(Schedule& schedule, const std::vector<Member>& chain, Slice slice,
                             bool reduce) {
    const std::size_t chunks = chunk_count(schedule, slice.bytes);
    std::vector<OpId> held(chunks, schedule.start(chain.front()));
    std::vector<OpId> done(schedule.size(), kNone);
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
        Lane lane(schedule, chain[i], chain[i + 1], schedule.start(chain[i + 1]), chunks > 1);
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
            held[chunk] = lane.send(part_of(slice, chunks, chunk), reduce, held[chunk]).received;
        }
        if (reduce || i == 0) done[chain[i]] = lane.all_sent();
        done[chain[i + 1]] = lane.last_received();
    }
    return done;
}

/// Around the ring from member 0, or to it.
std::vector<OpId> add_chain(Schedule& schedule, std::size_t channel, Slice slice, bool reduce) {
    std::vector<Member> chain = ring_order(schedule, channel);
    std::rotate(chain.begin(), std::find(chain.begin(), chain.end(), Member{0}), chain.end());
    if (reduce) std::reverse(chain.begin(), chain.end());
    return pass_chain(schedule, chain, slice, reduce);
}

std::vector<OpId> add_ring_channel(Schedule& schedule, CollectiveKind kind, std::size_t channel,
                                   Slice slice) {
    if (kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce) {
        return add_chain(schedule, channel, slice, kind == CollectiveKind::reduce);
    }
    RingPhase phase = whole_ring(schedule, channel, slice);
    const std::vector<CollectiveKind>& pxn = schedule.options().ring_pxn;
    phase.pxn = std::find(pxn.begin(), pxn.end(), kind) != pxn.end();
    const std::vector<OpId> by_position =
        kind == CollectiveKind::all_reduce       ? ring_all_reduce_phase(schedule, phase)
        : kind == CollectiveKind::reduce_scatter ? ring_reduce_scatter_phase(schedule, phase)
                                                 : ring_all_gather_phase(schedule, phase);
    std::vector<OpId> done(schedule.size());
    for (std::size_t q = 0; q < done.size(); ++q) done[phase.order[q]] = by_position[q];
    return done;
}

/// Rails on which every server has a member, ascending.
std::vector<std::uint32_t> common_rails(const Schedule& schedule, const Servers& servers) {
    std::vector<std::uint32_t> common;
    for (const Member member : servers.front()) {
        const std::uint32_t rail = schedule.rail(member);
        const bool everywhere =
            std::all_of(servers.begin(), servers.end(), [&](const auto& server) {
                return std::any_of(server.begin(), server.end(),
                                   [&](Member other) { return schedule.rail(other) == rail; });
            });
        if (everywhere && (common.empty() || common.back() != rail)) common.push_back(rail);
    }
    return common;
}

/// Members of a server from the one on rail `first` on; the one on rail `last`, if it is another one, comes at the end.
void lead_from_to(const Schedule& schedule, std::uint32_t first, std::uint32_t last,
                  std::vector<Member>& members) {
    const auto on = [&](std::uint32_t rail) {
        return std::find_if(members.begin(), members.end(),
                            [&](Member member) { return schedule.rail(member) == rail; });
    };
    std::rotate(members.begin(), on(first), members.end());
    if (const auto at = on(last); at != members.begin()) std::rotate(at, at + 1, members.end());
}

/// RingOrder::rail. A channel enters and leaves all servers by the same two rails of those that all have, each by
/// another pair; where there are none, by whatever rails come at the ends.
std::vector<Member> rail_order(const Schedule& schedule, std::size_t channel) {
    const Servers servers = schedule.servers();
    const std::vector<std::uint32_t> rails = common_rails(schedule, servers);
    const std::size_t pairs = std::max<std::size_t>(1, rails.size());
    std::vector<Member> order;
    bool backwards = false;
    for (std::vector<Member> members : servers) {
        if (rails.empty()) {
            const auto shift = static_cast<std::ptrdiff_t>(channel % members.size());
            std::rotate(members.begin(), members.begin() + shift, members.end());
            if (backwards) std::reverse(members.begin(), members.end());
        } else {
            const std::uint32_t in = rails[channel % pairs];
            const std::uint32_t out = rails[(channel + pairs - 1) % pairs];
            if (backwards) std::reverse(members.begin(), members.end());
            lead_from_to(schedule, backwards ? out : in, backwards ? in : out, members);
        }
        order.insert(order.end(), members.begin(), members.end());
        backwards = !backwards;
    }
    return order;
}

}  // namespace

std::vector<Member> ring_order(const Schedule& schedule, std::size_t channel) {
    if (schedule.options().ring_order == RingOrder::rail) return rail_order(schedule, channel);
    std::vector<Member> order(schedule.size());
    for (Member member = 0; member < schedule.size(); ++member) order[member] = member;
    for (auto begin = order.begin(); begin != order.end();) {
        const auto end = std::find_if(begin, order.end(), [&](Member member) {
            return !schedule.same_server(*begin, member);
        });
        const auto shift = static_cast<std::ptrdiff_t>(channel) % (end - begin);
        std::rotate(begin, begin + shift, end);
        begin = end;
    }
    return order;
}

std::vector<OpId> ring_reduce_scatter_phase(Schedule& schedule, const RingPhase& phase) {
    return pass_once(schedule, phase, phase.order.size() - 1, true);
}

std::vector<OpId> ring_all_gather_phase(Schedule& schedule, const RingPhase& phase) {
    return pass_once(schedule, phase, 0, false);
}

std::vector<OpId> ring_all_reduce_phase(Schedule& schedule, const RingPhase& phase) {
    Ring ring(schedule, phase);
    ring.pass(0, true);
    ring.pass(1, false);
    return ring.done();
}

namespace {

std::vector<OpId> add_ring(Schedule& schedule, CollectiveKind kind) {
    return add_channels(schedule, [&](std::size_t channel, Slice slice) {
        return add_ring_channel(schedule, kind, channel, slice);
    });
}

}  // namespace

extern const AlgorithmType kRingAlgorithm{
    "ring",
    "parts around a ring; broadcast and reduce along a chain",
    {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
     CollectiveKind::broadcast, CollectiveKind::reduce},
    add_ring,
    nullptr,
    UsualChannels::per_member_in_order};

}  // namespace sluice
