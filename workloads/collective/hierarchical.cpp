// SPDX-License-Identifier: Apache-2.0
/// Two levels: inside servers, and across them among members on one rail. Parts are numbered by
/// (rail, server), so that what a rail is about is one piece of the tensor.
#include <algorithm>

#include "workloads/collective/algorithms.h"

namespace sluice {

namespace {

/// One piece of the tensor through its phases. Phases of one piece follow each other at each
/// member; a phase of the next piece also follows that phase of this one, but for trees across.
class TwoLevel {
  public:
    /// The first `rails` members of each server have parts; others, of larger servers, have what inside a server
    /// is everybody's.
    TwoLevel(Schedule& schedule, const Servers& servers, std::size_t rails,
             const IntraNode& in_server, AcrossServers across)
        : schedule_(schedule),
          servers_(servers),
          rails_(rails),
          in_server_(in_server),
          by_tree_(across == AcrossServers::tree),
          computed_(schedule.options().computed_in_server) {}

    /// Kinds of the phases, as they are named inside a server and across them.
    struct Phase {
        CollectiveKind kind;
        bool across;
    };

    void add(Slice slice, const std::vector<Phase>& phases) {
        std::vector<OpId> held;
        for (Member member = 0; member < schedule_.size(); ++member) {
            held.push_back(schedule_.start(member));
        }
        first_ = before_.empty();
        before_.resize(phases.size(), std::vector<OpId>(schedule_.size(), kNone));
        for (std::size_t i = 0; i < phases.size(); ++i) {
            // A tree's pieces follow each other on their connections.
            const bool in_turn = !(by_tree_ && phases[i].across);
            for (Member member = 0; in_turn && member < schedule_.size(); ++member) {
                held[member] = both(member, held[member], before_[i][member]);
            }
            held = phases[i].across ? across(slice, phases[i].kind, held)
                                    : inside(slice, phases[i].kind, held);
            before_[i] = held;
        }
        done_ = held;
    }

    const std::vector<OpId>& done() const { return done_; }

  private:
    OpId both(Member member, OpId a, OpId b) {
        if (a == kNone || b == kNone) return a == kNone ? b : a;
        return schedule_.join(member, {a, b});
    }

    Slice part(Slice slice, std::size_t rail, std::size_t server) const {
        return part_of(slice, rails_ * servers_.size(), rail * servers_.size() + server);
    }
    /// All parts of a rail.
    Slice rail_part(Slice slice, std::size_t rail) const {
        const Slice first = part(slice, rail, 0);
        const Slice last = part(slice, rail, servers_.size() - 1);
        return {first.offset, last.offset + last.bytes - first.offset};
    }

    std::vector<OpId> inside(Slice slice, CollectiveKind kind, const std::vector<OpId>& held) {
        std::vector<OpId> done(schedule_.size());
        const auto part = [&](std::size_t rail) {
            return rail < rails_ ? rail_part(slice, rail) : Slice{slice.offset + slice.bytes, 0};
        };
        for (const std::vector<Member>& server : servers_) {
            if (server.size() == 1) {
                take(done, server, of(server, held));
            } else if (computed_) {
                const Tick time = time_inside(kind, server.size(), slice.bytes);
                take(done, server, schedule_.meet(server, time, of(server, held)));
            } else {
                const std::int64_t least = part(rails_ - 1).bytes;
                take(done, server, ring(server, part, least, kind, of(server, held)));
            }
        }
        return done;
    }

    Tick time_inside(CollectiveKind kind, std::size_t members, std::int64_t bytes) const {
        const auto count = static_cast<std::uint32_t>(members);
        if (!by_tree_) return in_server_.time(kind, count, bytes);
        // One piece is added up while another is multicast: each has the rate of an all-reduce, and its latency is that of both
        // phases.
        const Tick latency = in_server_.cost(CollectiveKind::all_reduce, count).latency;
        const Tick time = in_server_.time(CollectiveKind::all_reduce, count, bytes) - latency;
        return first_ ? time + latency / 2 : time;
    }

    std::vector<OpId> across(Slice slice, CollectiveKind kind, const std::vector<OpId>& held) {
        if (servers_.size() == 1) return held;
        std::vector<OpId> done = held;  // of those on no common rail, too
        for (std::size_t rail = 0; rail < rails_; ++rail) {
            std::vector<Member> members;
            for (const std::vector<Member>& server : servers_) members.push_back(server[rail]);
            const auto part = [&](std::size_t server) { return this->part(slice, rail, server); };
            if (by_tree_) {
                take(done, members,
                     tree_all_reduce_phase(schedule_, members, rail_part(slice, rail),
                                           of(members, held)));
                continue;
            }
            const std::int64_t least = part(servers_.size() - 1).bytes;
            take(done, members, ring(members, part, least, kind, of(members, held)));
        }
        return done;
    }

    /// In as many copies as there are channels, each with its share of every part; `least`: bytes of the smallest
    /// that is one.
    std::vector<OpId> ring(const std::vector<Member>& members,
                           const std::function<Slice(std::size_t)>& part, std::int64_t least,
                           CollectiveKind kind, const std::vector<OpId>& held) {
        const std::size_t channels = channel_count(schedule_, least);
        std::vector<std::vector<OpId>> ends(members.size());
        for (std::size_t channel = 0; channel < channels; ++channel) {
            schedule_.use_channel(channel);
            const RingPhase phase{
                members, [&](std::size_t q) { return part_of(part(q), channels, channel); }, held};
            const std::vector<OpId> done = kind == CollectiveKind::all_reduce
                                               ? ring_all_reduce_phase(schedule_, phase)
                                           : kind == CollectiveKind::reduce_scatter
                                               ? ring_reduce_scatter_phase(schedule_, phase)
                                               : ring_all_gather_phase(schedule_, phase);
            for (std::size_t q = 0; q < members.size(); ++q) ends[q].push_back(done[q]);
        }
        std::vector<OpId> done;
        for (std::size_t q = 0; q < members.size(); ++q) {
            done.push_back(schedule_.join(members[q], ends[q]));
        }
        return done;
    }

    static std::vector<OpId> of(const std::vector<Member>& members, const std::vector<OpId>& all) {
        std::vector<OpId> ops;
        ops.reserve(members.size());
        for (const Member member : members) ops.push_back(all[member]);
        return ops;
    }
    static void take(std::vector<OpId>& all, const std::vector<Member>& members,
                     const std::vector<OpId>& ops) {
        for (std::size_t i = 0; i < members.size(); ++i) all[members[i]] = ops[i];
    }

    Schedule& schedule_;
    const Servers& servers_;
    std::size_t rails_;
    const IntraNode& in_server_;
    bool by_tree_;
    bool computed_;
    bool first_ = true;                      ///< the piece that is being added
    std::vector<std::vector<OpId>> before_;  ///< by phase and member, of the piece before
    std::vector<OpId> done_;
};

/// From `from` to each of its server's members: what those carry on along their rails, and their
/// own. Computed as one all-to-all of the server, or messages.
class InsideExchange {
  public:
    InsideExchange(Schedule& schedule, const AllToAllSizes& sizes, const Servers& servers)
        : schedule_(schedule), sizes_(sizes), servers_(servers) {}

    std::vector<Slice> pieces(Member from, std::size_t rail) const {
        std::vector<Slice> pieces;
        for (const std::vector<Member>& server : servers_) {
            if (server[rail] == from || !sizes_.sent(from, server[rail])) continue;
            pieces.push_back(sizes_.block(from, server[rail]));
        }
        return pieces;
    }

    /// Per member, what is complete when it has all that it is to carry on.
    std::vector<OpId> add() {
        std::vector<std::vector<OpId>> received(schedule_.size());
        for (const std::vector<Member>& server : servers_) {
            for (std::size_t i = 0; i < server.size(); ++i) {
                received[server[i]].push_back(schedule_.start(server[i]));
            }
        }
        const ServerShares shares(schedule_,
                                  [&](Member from, Member to) { return bytes(from, rail_of(to)); });
        for (const std::vector<Member>& server : servers_) {
            for (std::size_t i = 0; i < server.size(); ++i) {
                for (std::size_t step = 1; step < server.size(); ++step) {
                    send(server[i], server[(i + step) % server.size()], shares, received);
                }
            }
        }
        std::vector<OpId> done;
        for (Member member = 0; member < schedule_.size(); ++member) {
            done.push_back(schedule_.join(member, received[member]));
        }
        return done;
    }

  private:
    std::size_t rail_of(Member member) const {
        for (const std::vector<Member>& server : servers_) {
            const auto found = std::find(server.begin(), server.end(), member);
            if (found != server.end()) return static_cast<std::size_t>(found - server.begin());
        }
        return 0;
    }
    std::int64_t bytes(Member from, std::size_t rail) const {
        std::int64_t sum = 0;
        for (const Slice& piece : pieces(from, rail)) sum += piece.bytes;
        return sum;
    }
    void send(Member from, Member to, const ServerShares& shares,
              std::vector<std::vector<OpId>>& received) {
        const std::vector<Slice> carried = pieces(from, rail_of(to));
        if (carried.empty()) return;
        const Hop hop = schedule_.computed(from, to)
                            ? schedule_.computed_transfer(from, to, carried, shares.time(from, to))
                            : schedule_.transfer(from, to, carried, false);
        schedule_.depend(hop.first, schedule_.start(from));
        schedule_.depend(hop.received, schedule_.start(to));
        received[to].push_back(hop.received);
    }

    Schedule& schedule_;
    const AllToAllSizes& sizes_;
    const Servers& servers_;
};

}  // namespace

std::vector<OpId> add_two_level(Schedule& schedule, CollectiveKind kind, const Servers& servers,
                                std::size_t rails, const IntraNode& in_server,
                                AcrossServers across) {
    TwoLevel levels(schedule, servers, rails, in_server, across);
    using Phases = std::vector<TwoLevel::Phase>;
    const Phases phases =
        kind == CollectiveKind::all_reduce       ? Phases{{CollectiveKind::reduce_scatter, false},
                                                    {CollectiveKind::all_reduce, true},
                                                    {CollectiveKind::all_gather, false}}
        : kind == CollectiveKind::reduce_scatter ? Phases{{kind, false}, {kind, true}}
                                                 : Phases{{kind, true}, {kind, false}};
    const std::size_t pieces = chunk_count(schedule, schedule.tensor().bytes);
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        levels.add(part_of(schedule.tensor(), pieces, piece), phases);
    }
    return levels.done();
}

namespace {

std::vector<OpId> add_hierarchical(Schedule& schedule, CollectiveKind kind) {
    const IntraNode& in_server = schedule.options().intra_node;
    if (kind == CollectiveKind::all_reduce) {
        std::size_t rails = 0;
        const Servers servers = schedule.railed_servers(rails);
        return add_two_level(schedule, kind, servers, rails, in_server, AcrossServers::ring);
    }
    // What is left with each member is numbered by rail and server: all servers must have the same.
    const Servers servers = schedule.equal_servers("hierarchical");
    return add_two_level(schedule, kind, servers, servers.front().size(), in_server,
                         AcrossServers::ring);
}

std::vector<OpId> add_hierarchical_all_to_all(Schedule& schedule, const AllToAllSizes& sizes) {
    const Servers servers = schedule.equal_servers("hierarchical");
    InsideExchange inside(schedule, sizes, servers);
    const std::vector<OpId> held = inside.add();
    std::vector<std::vector<OpId>> ends(schedule.size());
    for (Member member = 0; member < schedule.size(); ++member) ends[member] = {held[member]};
    for (std::size_t rail = 0; rail < servers.front().size(); ++rail) {
        for (std::size_t k = 0; k < servers.size(); ++k) {
            for (std::size_t step = 1; step < servers.size(); ++step) {
                const Member from = servers[k][rail];
                const Member to = servers[(k + step) % servers.size()][rail];
                std::vector<Slice> pieces;
                for (const Member source : servers[k]) {
                    if (sizes.sent(source, to)) pieces.push_back(sizes.block(source, to));
                }
                if (pieces.empty()) continue;
                const Hop hop = schedule.transfer(from, to, pieces, false);
                schedule.depend(hop.first, held[from]);
                schedule.depend(hop.received, schedule.start(to));
                ends[to].push_back(hop.received);
            }
        }
    }
    std::vector<OpId> done;
    for (Member member = 0; member < schedule.size(); ++member) {
        done.push_back(schedule.join(member, ends[member]));
    }
    return done;
}

}  // namespace

extern const AlgorithmType kHierarchicalAlgorithm{
    "hierarchical",
    "inside servers, across them by rail, inside again; but for all-reduce needs the same rails in "
    "all servers",
    {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather},
    add_hierarchical,
    add_hierarchical_all_to_all};

}  // namespace sluice
