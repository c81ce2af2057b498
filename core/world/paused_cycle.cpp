// SPDX-License-Identifier: Apache-2.0
#include "core/world/paused_cycle.h"

#include <algorithm>

namespace sluice::step {

namespace {

/// Depth first through ports that are paused and hold packets.
class Search {
  public:
    explicit Search(const WorldStore& store)
        : store_(store), state_(store.topology().port_count(), State::unseen) {}

    std::vector<PortId> cycle() {
        for (PortId port = 0; port < state_.size(); ++port) {
            if (waits(port) && state_[port] == State::unseen) {
                if (std::vector<PortId> found = from(port); !found.empty()) {
                    return found;
                }
            }
        }
        return {};
    }

  private:
    enum class State : std::uint8_t { unseen, open, done };
    struct Step {
        PortId port = kNone;
        PortId next = kNone;  ///< of the switch that has paused it: to be looked at
    };

    bool waits(PortId port) const {
        const Egress& egress = store_.world().egress[port];
        return egress.paused != 0 && egress.queued_bytes > 0;
    }

    Step step_to(PortId port) {
        state_[port] = State::open;
        const World& world = store_.world();
        const NodeId peer = store_.topology().node_of(world.egress[port].peer);
        return {port, world.is_host[peer] != 0 ? kNone : world.first_port[peer]};
    }

    std::vector<PortId> from(PortId first) {
        std::vector<Step> way{step_to(first)};
        while (!way.empty()) {
            Step& last = way.back();
            const NodeId peer = store_.topology().node_of(store_.world().egress[last.port].peer);
            if (last.next == kNone || last.next == store_.world().first_port[peer + 1]) {
                state_[last.port] = State::done;
                way.pop_back();
                continue;
            }
            const PortId next = last.next++;
            if (!waits(next) || state_[next] == State::done) {
                continue;
            }
            if (state_[next] == State::open) {
                std::vector<PortId> found;
                for (const Step& step : way) {
                    if (!found.empty() || step.port == next) {
                        found.push_back(step.port);
                    }
                }
                return found;
            }
            way.push_back(step_to(next));
        }
        return {};
    }

    const WorldStore& store_;
    std::vector<State> state_;
};

}  // namespace

std::vector<PortId> paused_cycle(const WorldStore& store) { return Search(store).cycle(); }

}  // namespace sluice::step
