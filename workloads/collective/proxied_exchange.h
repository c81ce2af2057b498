// SPDX-License-Identifier: Apache-2.0
/// What all-to-alls have in common whose blocks between servers go by a member on the right rail (pxn.cpp, deepep.cpp).
#pragma once

#include <algorithm>
#include <vector>

#include "workloads/collective/algorithms.h"

namespace sluice {

class ProxiedExchange {
  protected:
    /// Both must outlive it.
    ProxiedExchange(Schedule& schedule, const AllToAllSizes& sizes)
        : schedule_(schedule),
          sizes_(sizes),
          servers_(schedule.servers()),
          ends_(schedule.size()),
          sent_(schedule.size()) {}

    /// By member, the operation after which it is done: it has received, or sent, all it was to.
    std::vector<OpId> ends() {
        std::vector<OpId> done;
        for (Member member = 0; member < schedule_.size(); ++member) {
            const std::vector<OpId>& last = ends_[member].empty() ? sent_[member] : ends_[member];
            done.push_back(last.empty() ? schedule_.start(member) : schedule_.join(member, last));
        }
        return done;
    }

    /// The first member of `server` on the rail of `member`, who is of another one; end() if there is none.
    std::vector<Member>::const_iterator on_rail(const std::vector<Member>& server,
                                                Member member) const {
        return std::find_if(server.begin(), server.end(), [&](Member other) {
            return schedule_.rail(other) == schedule_.rail(member);
        });
    }

    /// Calls send(from, to) for each pair inside `server` that has something to send.
    template <class Send>
    void for_each_pair(const std::vector<Member>& server, Send&& send) const {
        for (std::size_t i = 0; i < server.size(); ++i) {
            for (std::size_t step = 1; step < server.size(); ++step) {
                const Member to = server[(i + step) % server.size()];
                if (sizes_.sent(server[i], to)) send(server[i], to);
            }
        }
    }

    Schedule& schedule_;
    const AllToAllSizes& sizes_;
    Servers servers_;
    std::vector<std::vector<OpId>> ends_;  ///< by member, its receives
    std::vector<std::vector<OpId>> sent_;  ///< by member, its sends
};

}  // namespace sluice
