// SPDX-License-Identifier: Apache-2.0
/// DeepEP's normal kernels (DeepSeek-AI, 2025), which exchange tokens among experts, as all-to-alls. What leaves a server
/// crosses on the sender's rail, chunk by chunk, and NVLink does the rest. A token whose experts are on several members of a
/// server crosses once (CollectiveOptions::server_copies).
///     dispatch   to the member of the other server on the sender's rail, which hands each chunk to its experts' members
///     combine    to the member of the own server on the receiver's rail, which adds up, and sends across what it has
#include <cmath>

#include "workloads/collective/proxied_exchange.h"

namespace sluice {

namespace {

class Experts : ProxiedExchange {
  public:
    Experts(Schedule& schedule, const AllToAllSizes& sizes) : ProxiedExchange(schedule, sizes) {}

    std::vector<OpId> add(bool combine) {
        expect_messages(combine);
        // NVLink has first what it delays least: a dispatch's own tokens, which are there, and what a
        // combine adds up, for which the network waits.
        if (!combine) send_inside();
        for (std::size_t k = 0; k < servers_.size(); ++k) {
            for (std::size_t step = 1; step < servers_.size(); ++step) {
                const std::vector<Member>& other = servers_[(k + step) % servers_.size()];
                if (combine) {
                    for (const Member to : other) combine_to(servers_[k], to);
                } else {
                    for (const Member from : servers_[k]) dispatch_from(from, other);
                }
            }
        }
        if (combine) send_inside();
        return ends();
    }

  private:
    /// Of one pair of a member and another server: how much crosses, in how many chunks.
    struct Crossing {
        std::int64_t bytes = 0;
        std::size_t chunks = 1;
    };
    Crossing crossing(std::int64_t uncombined) const {
        const auto bytes = static_cast<std::int64_t>(
            std::ceil(static_cast<double>(uncombined) / schedule_.options().server_copies));
        return {bytes, chunk_count(schedule_, bytes)};
    }

    /// Each chunk crosses once, and reaches or leaves the server's members.
    void expect_messages(bool combine) const {
        std::size_t messages = schedule_.size();
        for (const std::vector<Member>& server : servers_) {
            for (Member member = 0; member < schedule_.size(); ++member) {
                if (messages > kMostMessages) break;
                if (schedule_.same_server(server.front(), member)) {
                    messages += server.size();
                } else {
                    messages += crossing(copies(server, member, combine)).chunks * server.size();
                }
            }
        }
        schedule_.expect(messages, 1);
    }

    /// Who of a server is on the rail of `member`, who is of another one: its first, where nobody is.
    Member proxy_of(const std::vector<Member>& server, Member member) const {
        const auto found = on_rail(server, member);
        return found == server.end() ? server.front() : *found;
    }

    void send_inside() {
        for (const std::vector<Member>& server : servers_) {
            for_each_pair(server, [&](Member from, Member to) {
                hand_over(from, to, sizes_.block(from, to), schedule_.start(from));
            });
        }
    }

    /// Inside a server, after `after`.
    Hop hand_over(Member from, Member to, Slice piece, OpId after) {
        const Hop hop = schedule_.transfer(from, to, piece, false);
        schedule_.depend(hop.first, after);
        schedule_.depend(hop.received, schedule_.start(to));
        sent_[from].push_back(hop.sent);
        ends_[to].push_back(hop.received);
        return hop;
    }

    Hop cross(Member from, Member to, const std::vector<Slice>& pieces, std::int64_t bytes) {
        const Hop hop = schedule_.transfer(from, to, pieces, false, bytes);
        schedule_.depend(hop.received, schedule_.start(to));
        sent_[from].push_back(hop.sent);
        ends_[to].push_back(hop.received);
        return hop;
    }

    void dispatch_from(Member from, const std::vector<Member>& server) {
        const Member proxy = proxy_of(server, from);
        const Crossing all = crossing(copies(server, from, false));
        for (std::size_t chunk = 0; chunk < all.chunks; ++chunk) {
            std::vector<Slice> pieces;
            for (const Member to : server) {
                if (sizes_.sent(from, to)) pieces.push_back(part(from, to, all, chunk));
            }
            if (pieces.empty()) return;
            const Hop hop =
                cross(from, proxy, pieces, part_of({0, all.bytes}, all.chunks, chunk).bytes);
            schedule_.depend(hop.first, schedule_.start(from));
            for (const Member to : server) {
                if (to == proxy || !sizes_.sent(from, to)) continue;
                hand_over(proxy, to, part(from, to, all, chunk), hop.received);
            }
        }
    }

    void combine_to(const std::vector<Member>& server, Member to) {
        const Member proxy = proxy_of(server, to);
        const Crossing all = crossing(copies(server, to, true));
        for (std::size_t chunk = 0; chunk < all.chunks; ++chunk) {
            std::vector<Slice> pieces;
            std::vector<OpId> gathered = {schedule_.start(proxy)};
            for (const Member from : server) {
                if (!sizes_.sent(from, to)) continue;
                pieces.push_back(part(from, to, all, chunk));
                if (from == proxy) continue;
                gathered.push_back(
                    hand_over(from, proxy, pieces.back(), schedule_.start(from)).received);
            }
            if (pieces.empty()) return;
            const Hop hop =
                cross(proxy, to, pieces, part_of({0, all.bytes}, all.chunks, chunk).bytes);
            for (const OpId op : gathered) schedule_.depend(hop.first, op);
        }
    }

    /// Bytes between a server's members and one of another server: from those to it, or from it to them.
    std::int64_t copies(const std::vector<Member>& server, Member other, bool to_it) const {
        std::int64_t bytes = 0;
        for (const Member member : server) {
            bytes += (to_it ? sizes_.block(member, other) : sizes_.block(other, member)).bytes;
        }
        return bytes;
    }
    Slice part(Member from, Member to, const Crossing& all, std::size_t chunk) const {
        return part_of(sizes_.block(from, to), all.chunks, chunk);
    }
};

std::vector<OpId> add_dispatch(Schedule& schedule, const AllToAllSizes& sizes) {
    return Experts(schedule, sizes).add(false);
}

std::vector<OpId> add_combine(Schedule& schedule, const AllToAllSizes& sizes) {
    return Experts(schedule, sizes).add(true);
}

std::int64_t forwarded_chunk(std::int64_t, std::uint32_t) { return kForwardedChunk; }

}  // namespace

extern const AlgorithmType kDeepepDispatchAlgorithm{
    "deepep-dispatch",
    "to the other server on the sender's rail, then inside it; copies of a token cross once "
    "(server_copies)",
    {},
    nullptr,
    add_dispatch,
    UsualChannels::one,
    forwarded_chunk};

extern const AlgorithmType kDeepepCombineAlgorithm{
    "deepep-combine",
    "inside the server to the receiver's rail, then "
    "across; what is added up crosses once (server_copies)",
    {},
    nullptr,
    add_combine,
    UsualChannels::one,
    forwarded_chunk};

}  // namespace sluice
