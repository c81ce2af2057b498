// SPDX-License-Identifier: Apache-2.0
/// PXN (NCCL 2.12): all-to-all in which a member hands what is for another server to its server's
/// member on the destination's rail; that one sends one message per destination for all of them.
#include <algorithm>

#include "workloads/collective/proxied_exchange.h"

namespace sluice {

namespace {

class Pxn : ProxiedExchange {
  public:
    Pxn(Schedule& schedule, const AllToAllSizes& sizes) : ProxiedExchange(schedule, sizes) {
        if (servers_.size() == 1) schedule.fail("algorithm pxn needs members in several servers");
    }

    std::vector<OpId> add() {
        expect_messages();
        send_inside();
        for (std::size_t k = 0; k < servers_.size(); ++k) {
            for (std::size_t step = 1; step < servers_.size(); ++step) {
                for (const Member to : servers_[(k + step) % servers_.size()]) {
                    send_across(servers_[k], to);
                }
            }
        }
        return ends();
    }

  private:
    /// One message from each server to each member of another, unless nobody has anything for it.
    void expect_messages() const {
        std::size_t messages = 0;
        for (std::size_t k = 0; k < servers_.size() && messages <= kMostMessages; ++k) {
            for (Member to = 0; to < schedule_.size(); ++to) {
                const auto sends = [&](Member from) { return sizes_.sent(from, to); };
                if (schedule_.same_server(servers_[k].front(), to)) continue;
                messages += std::any_of(servers_[k].begin(), servers_[k].end(), sends) ? 1 : 0;
            }
        }
        schedule_.expect(messages, 1);
    }

    /// Blocks for members of the same server go straight there.
    void send_inside() {
        for (const std::vector<Member>& server : servers_) {
            for_each_pair(server, [&](Member from, Member to) {
                ends_[to].push_back(hand_over(from, to, sizes_.block(from, to)));
            });
        }
    }

    OpId hand_over(Member from, Member to, Slice block) {
        const Hop hop = schedule_.transfer(from, to, block, false);
        schedule_.depend(hop.first, schedule_.start(from));
        schedule_.depend(hop.received, schedule_.start(to));
        sent_[from].push_back(hop.sent);
        return hop.received;
    }

    /// What all of `server` have for `to`, through the one on its rail; each by itself where there
    /// is none.
    void send_across(const std::vector<Member>& server, Member to) {
        const auto proxy = on_rail(server, to);
        if (proxy == server.end()) {
            for (const Member from : server) {
                if (!sizes_.sent(from, to)) continue;
                ends_[to].push_back(hand_over(from, to, sizes_.block(from, to)));
            }
            return;
        }
        std::vector<Slice> pieces;
        std::vector<OpId> gathered = {schedule_.start(*proxy)};
        for (const Member from : server) {
            if (!sizes_.sent(from, to)) continue;
            pieces.push_back(sizes_.block(from, to));
            if (from != *proxy) gathered.push_back(hand_over(from, *proxy, pieces.back()));
        }
        if (pieces.empty()) return;
        const Hop hop = schedule_.transfer(*proxy, to, pieces, false);
        for (const OpId op : gathered) schedule_.depend(hop.first, op);
        schedule_.depend(hop.received, schedule_.start(to));
        sent_[*proxy].push_back(hop.sent);
        ends_[to].push_back(hop.received);
    }
};

std::vector<OpId> add_pxn_all_to_all(Schedule& schedule, const AllToAllSizes& sizes) {
    return Pxn(schedule, sizes).add();
}

}  // namespace

extern const AlgorithmType kPxnAlgorithm{
    "pxn",
    "through the server's member on the destination's rail; needs several servers",
    {},
    nullptr,
    add_pxn_all_to_all};

}  // namespace sluice
